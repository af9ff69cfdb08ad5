//! Curves of Theorem 2 for the numbers of a few sliders.

use crate::problem::Problem;
use crate::wire::{Curve, TheoryView};
use dshap::Sizes;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats, PointValue};

/// Steps of a curve.
const STEPS: usize = 48;

/// Steps of a straight line, for the table of its numbers.
const STRAIGHT_STEPS: usize = 8;

/// Squared residuals of the curves, in units of the noise variance: those of Figure 4.
const RESIDUALS: [f64; 5] = [0.0, 1.0, 2.0, 4.0, 8.0];

/// The most columns; more would not fit a slider.
const MOST_COLUMNS: usize = 1000;

/// The largest m.
const LARGEST_M: usize = 10_000_000;

/// Sizes of a curve against m.
const N_SIZES: usize = 40;

/// What the sliders say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sliders {
    pub(crate) p: usize,
    pub(crate) q: usize,
    pub(crate) m: usize,
    pub(crate) stats: PointStats,
    /// Whether the curve against m is wanted, which takes longer than all others.
    pub(crate) sizes: bool,
}

impl Sliders {
    /// Reads `p=10&m=1000&q=20&sigma2=1&d2=10&e2=1&sizes=true`; what is absent has its usual value.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let (mut p, mut q, mut m, mut sizes) = (10, None, 1000, false);
        let mut stats = PointStats { dist_sq: f64::NAN, resid_sq: 1.0, noise_var: 1.0 };
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let wrong = || Problem::bad(format!("`{name}` cannot be `{value}`"));
            let size = |most| value.parse().ok().filter(|size| (1..=most).contains(size)).ok_or_else(wrong);
            let number = || {
                let number: Option<f64> = value.parse().ok();
                number.filter(|number| (0.0..=1e9).contains(number)).ok_or_else(wrong)
            };
            match &*name {
                "p" => p = size(MOST_COLUMNS)?,
                "q" => q = Some(size(LARGEST_M)?),
                "m" => m = size(LARGEST_M)?,
                "sigma2" => stats.noise_var = number()?,
                "d2" => stats.dist_sq = number()?,
                "e2" => stats.resid_sq = number()?,
                "sizes" => sizes = value.parse().map_err(|_| wrong())?,
                _ => return Err(Problem::bad(format!("there is no parameter `{name}`"))),
            }
        }
        if stats.dist_sq.is_nan() {
            stats.dist_sq = p as f64;
        }
        Ok(Self { p, q: q.unwrap_or(p + p.max(10)), m, stats, sizes })
    }

    fn form(&self, m: usize) -> Result<GaussianForm, Problem> {
        GaussianForm::new(self.p, Sizes::new(self.q, m), Constant::Gain, Convention::Definition).map_err(
            |_| {
                let least = self.p + 3;
                Problem::bad(format!("q = {} and m = {m} are impossible for p = {}", self.q, self.p))
                    .hint(format!("q has to be at least p + 3 = {least}, and m at least q"))
            },
        )
    }

    /// All curves.
    pub(crate) fn curves(&self) -> Result<TheoryView, Problem> {
        let form = self.form(self.m)?;
        let PointStats { noise_var, dist_sq, resid_sq } = self.stats;
        // The value falls in a straight line with the squared residual, so one row at each distance tells all.
        // A few dozen rows are faster without the table that thousands of rows share.
        let at = |dist_sq: f64| form.value_once(PointStats { dist_sq, resid_sq: 1.0, noise_var });
        let farthest = (3.0 * self.p as f64).max(1.2 * dist_sq);
        let distances = steps(farthest, STEPS);
        let rows: Vec<PointValue> = distances.iter().map(|&distance| at(distance)).collect();
        let by_distance = RESIDUALS.iter().map(|ratio| {
            let resid_sq = ratio * noise_var;
            let y = rows.iter().map(|row| row.potential - resid_sq * row.penalty).collect();
            Curve { at: resid_sq, y, x: distances.clone() }
        });
        let here = at(dist_sq);
        let value = |resid_sq: f64| here.potential - resid_sq * here.penalty;
        let residuals = steps((8.0 * noise_var).max(1.2 * resid_sq), STRAIGHT_STEPS);
        let by_residual =
            Curve { at: dist_sq, y: residuals.iter().map(|&x| value(x)).collect(), x: residuals };
        Ok(TheoryView {
            p: self.p,
            q: self.q,
            m: self.m,
            value: value(resid_sq),
            potential: here.potential,
            penalty: resid_sq * here.penalty,
            break_even: Some(here.potential / here.penalty).filter(|at| at.is_finite() && *at >= 0.0),
            by_distance: by_distance.collect(),
            by_residual,
            by_size: self.sizes.then(|| self.by_size()),
        })
    }

    /// The value of the row for other m, from q to ten times m.
    fn by_size(&self) -> Curve {
        let (least, most) = (self.q as f64, 10.0 * self.m as f64);
        let mut sizes: Vec<usize> = (0..N_SIZES)
            .map(|k| (least * (most / least).powf(k as f64 / (N_SIZES - 1) as f64)).round() as usize)
            .chain([self.m])
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let at = |m: &usize| Some((*m as f64, self.form(*m).ok()?.value_once(self.stats).value));
        let (x, y) = sizes.iter().filter_map(at).unzip();
        Curve { at: self.stats.dist_sq, x, y }
    }
}

/// Numbers from 0 to `most`, at equal steps.
fn steps(most: f64, n_steps: usize) -> Vec<f64> {
    (0..=n_steps).map(|k| most * k as f64 / n_steps as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_agree_with_each_other_and_with_the_row() {
        let sliders =
            Sliders::parse("p=10&m=500&q=50&sigma2=2&d2=12&e2=3&sizes=true").expect("it can be read");
        let found = sliders.curves().expect("the sizes are possible");
        assert_eq!(found.value, found.potential - found.penalty);
        let stats = sliders.stats;
        let form = sliders.form(500).expect("the sizes are possible");
        assert!((found.value - form.value(stats).value).abs() < 1e-12 * found.potential);
        let by_size = found.by_size.as_ref().expect("it was asked for");
        let at = by_size.x.iter().position(|&x| x == 500.0).expect("m is on the curve");
        assert!((by_size.y[at] - found.value).abs() < 1e-12 * found.potential);
        let even = found.break_even.expect("a row of average noise helps");
        let text = format!("p=10&m=500&q=50&sigma2=2&d2=12&e2={even}");
        let none = Sliders::parse(&text).expect("reads").curves().expect("possible");
        assert!(none.value.abs() < 1e-12 * none.potential, "{}", none.value);
        // At the centre a row teaches nothing.
        assert!(found.by_distance.iter().all(|curve| curve.y[0] == 0.0));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for wrong in
            ["p=0", "p=1001", "m=0", "m=99999999", "sigma2=-1", "d2=nan", "e2=inf", "x=1", "p=", "sizes=7"]
        {
            assert_eq!(Sliders::parse(wrong).map_err(|problem| problem.status).err(), Some(400), "{wrong}");
        }
        for wrong in ["p=10&q=12", "q=100&m=50"] {
            let found = Sliders::parse(wrong).expect("reads").curves();
            assert_eq!(found.map_err(|problem| problem.status).err(), Some(400), "{wrong}");
        }
    }
}
