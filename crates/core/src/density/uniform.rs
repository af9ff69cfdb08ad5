//! The paper's Examples 1 and 2: a uniform kernel on uniform data, by hand.
//!
//! `P` is uniform on `[0, 1]`, the kernel is `1/h` on an interval of length `h`, and
//! integrals are over `[0, 1]`. Everything is elementary, which makes it a good place to
//! study synergy: two points that are close carry nearly the same information.

use super::size_weights::SizeWeights;
use crate::Error;

/// The tolerance of the outer integral of a probability, and the number of pieces it
/// starts with.
const TOLERANCE: f64 = 1e-13;
const PIECES: usize = 64;

/// The setting of Examples 1 and 2.
#[derive(Debug, Clone, Copy)]
pub struct UniformExample {
    h: f64,
    c_den: f64,
    border: Border,
    one: SizeWeights,
    two: SizeWeights,
}

/// How points near the ends of `[0, 1]` are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Border {
    /// As printed: points are treated as if they were in `[h, 1 − h]`.
    Printed,
    /// With the term `B·g`, `g(z) = ½(1 − z'/h)²` for `z' = min(z, 1 − z)` in `[h/2, h)`.
    #[default]
    Exact,
}

impl UniformExample {
    /// For bandwidth `h` in `(0, ½]`, sets of up to `m` rows, and a utility of
    /// `C_den − ∫(p̂ − p)²`.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for a bandwidth beyond ½ or a `C_den` that is not finite;
    /// as for [`SizeWeights::new`].
    pub fn new(h: f64, m: usize, c_den: f64, border: Border) -> Result<Self, Error> {
        if !(h > 0.0 && h <= 0.5) {
            return Err(Error::BadOption { what: "the examples need a bandwidth above 0 and up to ½" });
        }
        if !c_den.is_finite() {
            return Err(Error::BadOption { what: "C_den must be finite" });
        }
        Ok(Self { h, c_den, border, one: SizeWeights::new(1, m)?, two: SizeWeights::new(2, m)? })
    }

    /// `C₀` for one point or for two, from `EISE_s = (1/h − 5/4 + 5h/12)/s + h/12` and
    /// `∫p(p − p_h) = h/4`.
    fn constant(&self, weights: SizeWeights) -> f64 {
        let SizeWeights { own: a, joint: b, spread: d, .. } = weights;
        let (h, per_size) = (self.h, 1.0 / weights.m() as f64);
        self.c_den * per_size + d * (1.0 / h - 1.25 + 5.0 * h / 12.0) + (a + b - per_size) * (h / 12.0)
            - b * (h / 4.0)
    }

    /// `g(z) = ∫p_h-lack`: what the borders take from `p_h` under the kernel at `z`.
    fn border_term(&self, z: f64) -> f64 {
        let lack = |distance: f64| 0.5 * (1.0 - distance / self.h).max(0.0).powi(2);
        match self.border {
            Border::Printed => 0.0,
            Border::Exact => lack(z) + lack(1.0 - z),
        }
    }

    fn check(&self, z: f64) -> Result<(), Error> {
        // Some room for the rounding of h/2 and 1 − h/2.
        let (z, half) = (z.min(1.0 - z), self.h / 2.0);
        if z >= half * (1.0 - 4.0 * f64::EPSILON) - f64::EPSILON {
            return Ok(());
        }
        Err(Error::BadOption { what: "the examples need points from h/2 to 1 − h/2" })
    }

    /// The value of one point (Example 1).
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for points outside `[h/2, 1 − h/2]`.
    pub fn point(&self, z: f64) -> Result<f64, Error> {
        self.check(z)?;
        Ok(self.point_unchecked(z))
    }

    fn point_unchecked(&self, z: f64) -> f64 {
        let error = 1.0 / self.h - 1.0;
        -self.one.own * error + self.one.joint * self.border_term(z) + self.constant(self.one)
    }

    /// The value of two points as a set (Example 2).
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for points outside `[h/2, 1 − h/2]`.
    pub fn pair(&self, z1: f64, z2: f64) -> Result<f64, Error> {
        self.check(z1)?;
        self.check(z2)?;
        let overlap = (self.h - (z1 - z2).abs()).max(0.0);
        let error = 0.5 / self.h + overlap / (2.0 * self.h * self.h) - 1.0;
        let border = (self.border_term(z1) + self.border_term(z2)) / 2.0;
        Ok(-self.two.own * error + self.two.joint * border + self.constant(self.two))
    }

    /// `ν({z₁, z₂}) − ν(z₁) − ν(z₂)` for two points further than `h` apart whose
    /// border terms add up to `border`.
    fn synergy_apart(&self, border: f64) -> f64 {
        let pair = -self.two.own * (0.5 / self.h - 1.0) + self.constant(self.two);
        let points = -2.0 * self.one.own * (1.0 / self.h - 1.0) + 2.0 * self.constant(self.one);
        pair - points + (self.two.joint / 2.0 - self.one.joint) * border
    }

    /// What the overlap costs: `A·overlap/(2h²)`.
    fn overlap_rate(&self) -> f64 {
        self.two.own / (2.0 * self.h * self.h)
    }

    /// The smallest distance of two points in `[h, 1 − h]` with which they are worth at
    /// least as much together as apart (Figure 3); `None` if there is no such distance, 0
    /// if every distance is.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold_with(0.0)
    }

    /// The same for two points whose distances from the nearest end are given, as if
    /// they could be moved apart without changing those.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for distances below `h/2`.
    pub fn threshold_near(&self, first: f64, second: f64) -> Result<Option<f64>, Error> {
        self.check(first)?;
        self.check(second)?;
        Ok(self.threshold_with(self.border_term(first) + self.border_term(second)))
    }

    fn threshold_with(&self, border: f64) -> Option<f64> {
        let allowed = self.synergy_apart(border) / self.overlap_rate();
        (allowed >= 0.0).then(|| (self.h - allowed).max(0.0))
    }

    /// The probability that two independent points have synergy (Figure 3), given that
    /// they are where the forms hold. Printed: points uniform on `[h, 1 − h]`. Exact: on
    /// `[h/2, 1 − h/2]`, borders counted, to about 1e-12.
    pub fn synergy_probability(&self) -> f64 {
        match self.border {
            Border::Printed => {
                self.threshold().map_or(0.0, |threshold| further_apart(threshold, 1.0 - 2.0 * self.h))
            }
            Border::Exact => {
                let room = 1.0 - self.h;
                let cut = |i: usize| self.h / 2.0 + room * i as f64 / PIECES as f64;
                let share = |z: f64| self.synergy_measure(z) / room;
                let piece = |i: usize| integral(&share, cut(i), cut(i + 1), TOLERANCE / PIECES as f64);
                ((0..PIECES).map(piece).sum::<f64>() / room).min(1.0)
            }
        }
    }

    /// The probability as the paper has it: points uniform on `[h/2, 1 − h/2]`, and the ends
    /// of `[0, 1]` not counted, although they matter there.
    pub fn printed_probability(&self) -> f64 {
        let printed = Self { border: Border::Printed, ..*self };
        printed.threshold().map_or(0.0, |threshold| further_apart(threshold, 1.0 - self.h))
    }

    /// The length of the set of `z₂` that have synergy with `z₁`. Between the places
    /// where a border or an overlap begins, synergy is a quadratic function of `z₂`.
    fn synergy_measure(&self, z1: f64) -> f64 {
        let (low, high) = (self.h / 2.0, 1.0 - self.h / 2.0);
        let mut breaks = vec![low, high, self.h, 1.0 - self.h, z1, z1 - self.h, z1 + self.h];
        breaks.retain(|z| (low..=high).contains(z));
        breaks.sort_by(f64::total_cmp);
        let synergy = |z2: f64| {
            let overlap = (self.h - (z1 - z2).abs()).max(0.0);
            self.synergy_apart(self.border_term(z1) + self.border_term(z2)) - self.overlap_rate() * overlap
        };
        breaks.windows(2).map(|piece| measure_where_positive(piece[0], piece[1], synergy)).sum()
    }
}

/// The probability that two points of an interval of length `room` are at least `distance`
/// apart.
fn further_apart(distance: f64, room: f64) -> f64 {
    if distance > 0.0 { (1.0 - distance / room).max(0.0).powi(2) } else { 1.0 }
}

/// The integral of a function with kinks: Simpson's rule, halved where halves disagree.
fn integral(f: &dyn Fn(f64) -> f64, a: f64, b: f64, tolerance: f64) -> f64 {
    /// Below this width a kink is a point.
    const DEEPEST: u32 = 40;
    type Ends = (f64, f64, f64);
    fn refine(
        f: &dyn Fn(f64) -> f64,
        (a, b): (f64, f64),
        (fa, fm, fb): Ends,
        tolerance: f64,
        depth: u32,
    ) -> f64 {
        let (m, width) = (0.5 * (a + b), b - a);
        let (fl, fr) = (f(0.5 * (a + m)), f(0.5 * (m + b)));
        let whole = width / 6.0 * (fa + 4.0 * fm + fb);
        let halves = width / 12.0 * (fa + 4.0 * fl + 2.0 * fm + 4.0 * fr + fb);
        if depth == DEEPEST || (halves - whole).abs() <= 15.0 * tolerance {
            return halves + (halves - whole) / 15.0;
        }
        refine(f, (a, m), (fa, fl, fm), 0.5 * tolerance, depth + 1)
            + refine(f, (m, b), (fm, fr, fb), 0.5 * tolerance, depth + 1)
    }
    refine(f, (a, b), (f(a), f(0.5 * (a + b)), f(b)), tolerance, 0)
}

/// The length of the part of `[a, b]` where a quadratic function is not negative.
fn measure_where_positive(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    if b - a < 1e-14 {
        return 0.0;
    }
    let middle = (a + b) / 2.0;
    let (fa, fm, fb) = (f(a), f(middle), f(b));
    // On t in [0, 1]: c + bt + at².
    let (square, linear, constant) = (2.0 * (fa - 2.0 * fm + fb), 4.0 * fm - 3.0 * fa - fb, fa);
    let mut cuts = vec![0.0, 1.0];
    let discriminant = linear * linear - 4.0 * square * constant;
    if discriminant > 0.0 {
        // The larger root first; the other from their product, without cancellation.
        let q = -0.5 * (linear + discriminant.sqrt().copysign(linear));
        cuts.extend([q / square, constant / q].into_iter().filter(|t| *t > 0.0 && *t < 1.0));
    }
    cuts.sort_by(f64::total_cmp);
    let is_positive = |t: f64| constant + t * (linear + t * square) >= 0.0;
    let pieces = cuts.windows(2).filter(|piece| is_positive((piece[0] + piece[1]) / 2.0));
    pieces.map(|piece| piece[1] - piece[0]).sum::<f64>() * (b - a)
}
