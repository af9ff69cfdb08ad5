//! D-Shapley against the closed forms of core, with sets drawn from the population itself.
//!
//! Rows come from a generator, so there is no finite reference between the estimate and
//! the theorem. `DSHAP_SEEDS=100` runs every test with that many seeds.

use crate::common::{Table, patient};
use dshap::Sizes;
use dshap::density::{Kernel, PairIntegrals, SizeWeights};
use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap_baselines::{
    KernelDensity, LeastSquares, Population, Row, SmoothedDensity, Stopping, TestMoments, Utility, d_shapley,
};
use dshap_testkit::{MAX_ABS_Z, normal_density, seeds};
use faer::Mat;
use rand_chacha::rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

/// `y = xᵀβ + noise` with `x ~ N(0, LLᵀ)`.
struct GaussianModel {
    root: Vec<f64>,
    coef: Vec<f64>,
    noise_std: f64,
}

impl GaussianModel {
    fn dim(&self) -> usize {
        self.coef.len()
    }

    /// `LLᵀ`, row by row.
    fn covariance(&self) -> Vec<f64> {
        let p = self.dim();
        let cell = |i: usize, j: usize| (0..p).map(|k| self.root[i * p + k] * self.root[j * p + k]).sum();
        (0..p).flat_map(|i| (0..p).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).collect()
    }

    fn mean(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.coef).map(|(x, b)| x * b).sum()
    }
}

impl Population for GaussianModel {
    fn draw(&self, rng: &mut dyn Rng, len: usize, visit: &mut dyn FnMut(Row<'_>)) {
        let p = self.dim();
        for _ in 0..len {
            let u: Vec<f64> = (0..p).map(|_| StandardNormal.sample(rng)).collect();
            let x: Vec<f64> = (0..p).map(|i| (0..p).map(|k| self.root[i * p + k] * u[k]).sum()).collect();
            let noise: f64 = StandardNormal.sample(rng);
            visit(Row { x: &x, y: self.mean(&x) + self.noise_std * noise, memo: 0.0 });
        }
    }
}

/// Two-sided false-alarm rate 6e-7 for each of 4 points. Power: the closed form with one
/// more row in each set, MATH.md's most tempting mistake, is more than 8 standard errors
/// away for one of the points.
#[test]
fn regression_values_agree_with_theorem_2() {
    let model = GaussianModel {
        root: vec![1.2, 0.0, 0.0, 0.4, 0.8, 0.0, -0.3, 0.5, 1.0],
        coef: vec![1.0, -2.0, 0.5],
        noise_std: 0.9,
    };
    let (p, sizes, noise_var) = (3, Sizes::new(9, 24), 0.81);
    let moments = TestMoments::of_model(&model.covariance(), &model.coef, noise_var).unwrap();
    let utility = LeastSquares::on_population(moments, sizes.min() - 1, 0.0).unwrap();
    let form = |sizes| GaussianForm::new(p, sizes, Constant::Gain, Convention::Definition).unwrap();

    // Points by their whitened coordinates and residuals.
    let whitened = [[0.1, 0.0, 0.0], [1.0, -1.0, 0.5], [2.0, 1.0, -1.0], [0.5, 0.2, 2.5]];
    let residuals = [0.3, 1.4, -0.2, 2.0];
    let x = Mat::from_fn(4, p, |i, j| (0..p).map(|k| model.root[j * p + k] * whitened[i][k]).sum());
    let y =
        (0..4).map(|i| model.mean(&(0..p).map(|j| x[(i, j)]).collect::<Vec<_>>()) + residuals[i]).collect();
    let points = Table { x, y };
    let value = |form: &GaussianForm, i: usize| {
        let dist_sq = whitened[i].iter().map(|u: &f64| u * u).sum();
        form.value(PointStats { dist_sq, resid_sq: f64::powi(residuals[i], 2), noise_var }).value
    };
    let (exact, off_by_one) = (form(sizes), form(Sizes::new(10, 25)));
    for seed in seeds(71) {
        let stopping = Stopping { tolerance: 0.0, max_iterations: 120_000, seed };
        let found = d_shapley(&utility, &model, points.rows(), sizes, stopping, &patient).unwrap();
        let errors = found.values.std_error.unwrap();
        let mut power: f64 = 0.0;
        for (i, error) in errors.iter().enumerate() {
            let z = (found.values.value[i] - value(&exact, i)) / error;
            println!("point {i}: {:.5} ± {error:.5}, z = {z:.2}", found.values.value[i]);
            assert!(z.abs() < MAX_ABS_Z, "point {i}, seed {seed}: z = {z:.1}");
            let shifted = 25.0 / 24.0 * value(&off_by_one, i);
            power = power.max(((found.values.value[i] - shifted) / error).abs());
        }
        assert!(power > 8.0, "one row more is only {power:.1} standard errors away");
    }
}

/// Rows of one standard normal column. The utility's memos go with them.
struct Line<'a>(&'a KernelDensity<'a>);

impl Population for Line<'_> {
    fn draw(&self, rng: &mut dyn Rng, len: usize, visit: &mut dyn FnMut(Row<'_>)) {
        for _ in 0..len {
            let x = [StandardNormal.sample(rng)];
            visit(Row { x: &x, y: 0.0, memo: self.0.memo(&x, 0.0) });
        }
    }
}

/// False alarms as above. Power: the constant of Theorem 5 left out, or sizes from 1
/// to m, is more than 8 standard errors away for one of the points.
#[test]
fn density_values_agree_with_theorem_5() {
    let (h, m) = (0.45_f64, 8);
    let h2 = h * h;
    let smoothed = |x: &[f64]| normal_density(x[0], 1.0 + h2);
    let utility = KernelDensity::new(1, Kernel::Gaussian, h, SmoothedDensity::Known(&smoothed)).unwrap();
    let closed_form = |z: f64, m: usize| {
        let weights = SizeWeights::new(1, m).unwrap();
        let integrals = PairIntegrals {
            cross: normal_density(0.0, 2.0 + h2),
            smoothed_square: normal_density(0.0, 2.0 + 2.0 * h2),
            kernel_square: normal_density(0.0, 2.0 * h2),
        };
        // C_den − ∫p² = 0 makes the empty set worth 0.
        -weights.own * (normal_density(0.0, 2.0 * h2) - 2.0 * normal_density(z, 1.0 + h2))
            + weights.joint * (normal_density(z, 1.0 + h2) - normal_density(z, 1.0 + 2.0 * h2))
            + integrals.constant(weights, 0.0)
    };
    let points = Table::new(&[(&[0.3], 0.0), (&[-1.2], 0.0), (&[2.4], 0.0)]);
    for seed in seeds(72) {
        let stopping = Stopping { tolerance: 0.0, max_iterations: 150_000, seed };
        let sizes = Sizes::new(1, m);
        let found = d_shapley(&utility, &Line(&utility), points.rows(), sizes, stopping, &patient).unwrap();
        let errors = found.values.std_error.unwrap();
        let mut power: f64 = 0.0;
        for (i, error) in errors.iter().enumerate() {
            let (z_i, value) = (points.x[(i, 0)], found.values.value[i]);
            let z = (value - closed_form(z_i, m)) / error;
            println!("point {i}: {value:.5} ± {error:.5}, z = {z:.2}");
            assert!(z.abs() < MAX_ABS_Z, "point {i}, seed {seed}: z = {z:.1}");
            let alone = 2.0 * normal_density(z_i, 1.0 + h2) - normal_density(0.0, 2.0 * h2);
            let shifted = ((m + 1) as f64 * closed_form(z_i, m + 1) - alone) / m as f64;
            power = power.max(((value - shifted) / error).abs());
        }
        assert!(power > 8.0, "sizes from 1 to m are only {power:.1} standard errors away");
    }
}

/// Standard errors are the spread over seeds: 200 runs give it to 5 %, so 25 % are five
/// of its errors. Errors of sums instead of means are off by factors.
#[test]
fn standard_errors_are_the_spread_over_seeds() {
    let model = GaussianModel { root: vec![1.0, 0.0, 0.3, 0.9], coef: vec![1.0, -1.0], noise_std: 0.8 };
    let moments = TestMoments::of_model(&model.covariance(), &model.coef, 0.64).unwrap();
    let sizes = Sizes::new(9, 20);
    let utility = LeastSquares::on_population(moments, 8, 0.0).unwrap();
    let points = Table::new(&[(&[1.0, 0.5], 0.9)]);
    let runs: Vec<(f64, f64)> = (0..200)
        .map(|seed| {
            let stopping = Stopping { tolerance: 0.0, max_iterations: 300, seed };
            let found = d_shapley(&utility, &model, points.rows(), sizes, stopping, &patient).unwrap();
            (found.values.value[0], found.values.std_error.unwrap()[0])
        })
        .collect();
    let n = runs.len() as f64;
    let mean = runs.iter().map(|run| run.0).sum::<f64>() / n;
    let spread = (runs.iter().map(|run| (run.0 - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let reported = (runs.iter().map(|run| run.1 * run.1).sum::<f64>() / n).sqrt();
    assert!((reported / spread - 1.0).abs() < 0.25, "reported {reported:.2e}, spread {spread:.2e}");
}
