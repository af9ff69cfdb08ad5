//! How residuals vary over the reference, for standard errors that assume neither Gaussian
//! noise nor the same variance for all rows.
//!
//! To first order what is estimated differs from the truth by means over reference rows: with
//! whitened inputs `z` and noise `e`
//!
//! ```text
//! coefficients  mean e·z      intercept  mean e      noise variance  mean (e² − σ²)
//! covariances   mean (zzᵀ − I)                       means           mean z
//! ```
//!
//! So the variances and covariances of the first three are `E[e²zzᵀ]`, `E[e²z]`, `E[e³z]`,
//! `E[e³]` and `E[e⁴] − σ⁴`, all over `n`; covariances of the noise variance with those of the
//! inputs follow from the same numbers. Gaussian noise has `σ²I, 0, 0, 0, 2σ⁴`. These sums take
//! `p²/2` numbers, hold no row, and add up. Two things are still taken from the model: inputs
//! have the fourth moments of Gaussian ones, and `E[e | x] = 0`.
//!
//! A residual is divided by `√(1 − h)`, `h` its leverage, so that its expected square is `σ²`,
//! and given in units of the estimated `σ`.

use super::fit::{LinearFit, PANEL_ROWS, PanelWork};
use super::valuer::{LEVERAGE_ROOM, leverage};
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Moments, Rows};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par, Side};

/// After rows were taken away, a variance below this share of that with Gaussian noise is taken for
/// rounding and approximation instead of noise: a standard error next to 0 would be a false promise.
const LEAST_SPREAD: f64 = 0.05;

/// Sums over the rows of a reference, each with the square of its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseShape {
    /// Whether all rows of the reference were summed, so that one can be left out.
    is_all: bool,
    /// Of 1, `e²`, `e³` and `e⁴`.
    weight: f64,
    second: f64,
    third: f64,
    fourth: f64,
    /// Of `e²z` and `e³z`.
    second_by: Vec<f64>,
    third_by: Vec<f64>,
    /// Of `e²zzᵀ`.
    square: Mat<f64>,
}

/// All numbers of a [`NoiseShape`].
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseParts {
    /// Whether all rows of the reference were summed.
    pub is_all: bool,
    /// Sums of squared weights: alone, and with the second to fourth power of the residual.
    pub powers: [f64; 4],
    /// Sums of `e²z`.
    pub second_by: Vec<f64>,
    /// Sums of `e³z`.
    pub third_by: Vec<f64>,
    /// Sums of `e²zzᵀ`: lower triangle, column by column.
    pub square: Vec<f64>,
}

impl NoiseShape {
    /// Sums over `rows`, which are the reference of `fit` or an even sample of its `n_seen` rows.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`], [`Error::NoRows`] if no row says anything.
    pub fn of(fit: &LinearFit, rows: Rows<'_>, n_seen: u64) -> Result<Self, Error> {
        if rows.n_features() != fit.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: fit.n_features() });
        }
        let mut sums = Self::empty(fit.dim());
        let mut work = PanelWork::new(fit);
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            fit.solve_panel(rows, start, len, &mut work)?;
            sums.add_panel(fit, &work, len, |i| rows.weights().map_or(1.0, |weights| weights[start + i]));
        }
        if !(sums.weight > 0.0 && sums.second > 0.0) {
            return Err(Error::NoRows);
        }
        sums.is_all = rows.len() as u64 == n_seen;
        sums.scale(n_seen as f64 / rows.len() as f64);
        Ok(sums)
    }

    /// No rows.
    pub(super) fn empty(dim: usize) -> Self {
        Self {
            is_all: true,
            weight: 0.0,
            second: 0.0,
            third: 0.0,
            fourth: 0.0,
            second_by: vec![0.0; dim],
            third_by: vec![0.0; dim],
            square: Mat::zeros(dim, dim),
        }
    }

    /// Adds the first `len` rows of a solved panel, whose weights are given.
    pub(super) fn add_panel(
        &mut self,
        fit: &LinearFit,
        work: &PanelWork,
        len: usize,
        weight: impl Fn(usize) -> f64,
    ) {
        let root = fit.sample().n.sqrt();
        let mut factors = [0.0; PANEL_ROWS];
        let (mut squares, mut cubes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for i in 0..len {
            let Some(Own { weight_sq, residual: e }) = own(fit, work.norm_sq[i], work.residual[i], weight(i))
            else {
                continue;
            };
            squares[i] = weight_sq * e * e;
            cubes[i] = squares[i] * e;
            self.weight += weight_sq;
            self.second += squares[i];
            self.third += cubes[i];
            self.fourth += cubes[i] * e;
            factors[i] = squares[i].sqrt() * root;
        }
        for k in 0..fit.dim() {
            let z = &work.panel.col_as_slice(k)[..len];
            self.second_by[k] += root * dot(z, &squares[..len]);
            self.third_by[k] += root * dot(z, &cubes[..len]);
        }
        let scaled = Mat::from_fn(len, fit.dim(), |i, k| factors[i] * work.panel[(i, k)]);
        matmul(self.square.as_mut(), Accum::Add, scaled.transpose(), scaled.as_ref(), 1.0, Par::Seq);
    }

    fn scale(&mut self, factor: f64) {
        for sum in [&mut self.weight, &mut self.second, &mut self.third, &mut self.fourth] {
            *sum *= factor;
        }
        self.second_by.iter_mut().chain(&mut self.third_by).for_each(|sum| *sum *= factor);
        for k in 0..self.square.ncols() {
            self.square.col_as_slice_mut(k).iter_mut().for_each(|sum| *sum *= factor);
        }
    }

    /// Adds `factor` times other sums over rows seen by the same fit.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        self.weight += factor * other.weight;
        self.second += factor * other.second;
        self.third += factor * other.third;
        self.fourth += factor * other.fourth;
        let add = |sums: &mut [f64], others: &[f64]| {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += factor * other);
        };
        add(&mut self.second_by, &other.second_by);
        add(&mut self.third_by, &other.third_by);
        for k in 0..self.square.ncols() {
            add(self.square.col_as_slice_mut(k), other.square.col_as_slice(k));
        }
        self.is_all &= other.is_all;
    }

    /// Also the rows behind `other`, seen by the same fit.
    pub fn merge(&mut self, other: &Self) {
        self.add(other, 1.0);
    }

    /// Without the rows behind `gone`, seen by the same fit; nothing if these cannot have been
    /// among them, or if too little of the sums is left to tell how residuals vary.
    pub fn without(mut self, gone: &Self) -> Option<Self> {
        self.add(gone, -1.0);
        let mean = |sum: f64| sum / self.weight;
        let is_possible = self.weight > 0.0
            && self.second > 0.0
            && mean(self.fourth) >= mean(self.second).powi(2)
            && self.spreads_by_at_least(LEAST_SPREAD);
        is_possible.then_some(self)
    }

    /// Whether the variance of every estimate is at least this share of that with Gaussian noise. It
    /// could be negative: what is taken away is exact only if both fits have the same line.
    fn spreads_by_at_least(&self, share: f64) -> bool {
        let (dim, least) = (self.square.ncols(), share * self.second);
        // Of the coefficients and the intercept.
        let products = Mat::from_fn(dim + 1, dim + 1, |i, j| {
            let product = match (i.checked_sub(1), j.checked_sub(1)) {
                (None, None) => self.second,
                (Some(k), None) | (None, Some(k)) => self.second_by[k],
                (Some(k), Some(l)) => self.square[(k, l)],
            };
            product - if i == j { least } else { 0.0 }
        });
        products.llt(Side::Lower).is_ok()
    }

    /// Whether all rows of the reference were summed.
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    /// `E[e⁴]/σ⁴`: 3 for Gaussian noise.
    pub fn kurtosis(&self) -> f64 {
        self.fourth * self.weight / (self.second * self.second)
    }

    /// The same rows, a part of the reference, as the fit of the whole sees them. `own` are the
    /// moments and the fit of the part.
    ///
    /// The fits differ by a line. Along it inputs count as Gaussian, and noise as having mean 0
    /// whatever the inputs.
    pub fn seen_by(&self, own: (&Moments, &LinearFit), whole: &LinearFit) -> Self {
        let (moments, fit) = own;
        let Change { turn, shift, line, level } = Change::new(moments, fit, whole);
        let own = self.in_units(unit(fit) / unit(whole));
        let (line, level): (Vec<f64>, f64) =
            (line.iter().map(|slope| slope / unit(whole)).collect(), level / unit(whole));
        own.changed(&Change { turn, shift, line, level }, (fit, whole))
    }

    /// The same with residuals multiplied by a factor.
    fn in_units(&self, factor: f64) -> Self {
        let (square, cube) = (factor * factor, factor * factor * factor);
        let times = |sums: &[f64], factor: f64| sums.iter().map(|sum| factor * sum).collect();
        Self {
            is_all: self.is_all,
            weight: self.weight,
            second: square * self.second,
            third: cube * self.third,
            fourth: square * square * self.fourth,
            second_by: times(&self.second_by, square),
            third_by: times(&self.third_by, cube),
            square: Mat::from_fn(self.square.nrows(), self.square.ncols(), |i, j| {
                square * self.square[(i, j)]
            }),
        }
    }

    fn changed(&self, change: &Change, (fit, whole): (&LinearFit, &LinearFit)) -> Self {
        let Change { turn, shift, line, level } = change;
        let level = *level;
        let (p, q) = (whole.dim(), fit.dim());
        let n = self.weight;
        let times = |vector: &[f64]| -> Vec<f64> {
            (0..p).map(|i| (0..q).map(|k| turn[(i, k)] * vector[k]).sum()).collect()
        };
        let square_line: Vec<f64> = (0..q).map(|k| dot(self.square.col_as_slice(k), line)).collect();
        let (along2, along3) = (dot(&self.second_by, line), dot(&self.third_by, line));
        let (line_sq, level_sq) = (dot(line, line), level * level);
        let (own_second, own_line) = (times(&self.second_by), times(line));
        let (own_third, own_square) = (times(&self.third_by), times(&square_line));
        // The mean square of the difference, and its third and fourth powers.
        let gap2 = level_sq + line_sq;
        let gap3 = level * (level_sq + 3.0 * line_sq);
        let gap4 = level_sq * level_sq + 6.0 * level_sq * line_sq + 3.0 * line_sq * line_sq;
        let turned = product(product(turn.as_ref(), self.square.as_ref()).as_ref(), turn.transpose());
        let plain = product(turn.as_ref(), turn.transpose());
        let mut seen = Self {
            is_all: self.is_all,
            weight: n,
            second: self.second + n * gap2,
            third: self.third + 3.0 * (level * self.second + along2) + n * gap3,
            fourth: self.fourth
                + 4.0 * (level * self.third + along3)
                + 6.0 * (level_sq * self.second + 2.0 * level * along2 + dot(&square_line, line))
                + n * gap4,
            second_by: (0..p)
                .map(|i| {
                    own_second[i] + self.second * shift[i] + n * (2.0 * level * own_line[i] + gap2 * shift[i])
                })
                .collect(),
            third_by: (0..p)
                .map(|i| {
                    let of_noise = own_third[i] + self.third * shift[i];
                    let mixed =
                        level * (own_second[i] + self.second * shift[i]) + own_square[i] + along2 * shift[i];
                    of_noise + 3.0 * mixed + n * (3.0 * gap2 * own_line[i] + gap3 * shift[i])
                })
                .collect(),
            square: Mat::from_fn(p, p, |i, j| {
                turned[(i, j)]
                    + own_second[i] * shift[j]
                    + shift[i] * own_second[j]
                    + self.second * shift[i] * shift[j]
                    + n * (gap2 * (plain[(i, j)] + shift[i] * shift[j])
                        + 2.0 * own_line[i] * own_line[j]
                        + 2.0 * level * (own_line[i] * shift[j] + shift[i] * own_line[j]))
            }),
        };
        // Weights are scaled to sum to the number of rows.
        seen.scale((whole.sample().weight_scale / fit.sample().weight_scale).powi(2));
        seen
    }

    /// `B`, to be multiplied with whitened rows.
    pub(super) fn square(&self) -> &Mat<f64> {
        &self.square
    }

    /// The sum of `e²zzᵀ` times `x`: what [`NoiseView::form`] is given.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        for (k, x) in x.iter().enumerate() {
            let column = self.square.col_as_slice(k);
            out.iter_mut().zip(column).for_each(|(out, cell)| *out += x * cell);
        }
        out
    }

    /// What it says about the noise of the other rows, if `left_out`, a row of the reference
    /// with whitened features, is not among them. Nothing if there is no other noise.
    pub(super) fn view<'a>(&'a self, left_out: Option<(Own, &'a [f64])>) -> Option<NoiseView<'a>> {
        let own = left_out.filter(|_| self.is_all);
        let of =
            |sum: f64, power: i32| sum - own.map_or(0.0, |(own, _)| own.weight_sq * own.residual.powi(power));
        let (weight, second) = (of(self.weight, 0), of(self.second, 2));
        let is_noise = weight > 0.0 && second > 1e-12 * self.second;
        is_noise.then(|| NoiseView {
            shape: self,
            own,
            variance: second / weight,
            second,
            third: of(self.third, 3) / weight,
            fourth: of(self.fourth, 4) / weight,
        })
    }

    /// All numbers, from which [`from_parts`](Self::from_parts) makes the same again.
    pub fn to_parts(&self) -> NoiseParts {
        NoiseParts {
            is_all: self.is_all,
            powers: [self.weight, self.second, self.third, self.fourth],
            second_by: self.second_by.clone(),
            third_by: self.third_by.clone(),
            square: pack_lower(&self.square),
        }
    }

    /// From its numbers, for a fit with `dim` columns.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be those of a reference.
    pub fn from_parts(dim: usize, parts: NoiseParts) -> Result<Self, Error> {
        let NoiseParts { is_all, powers, second_by, third_by, square } = parts;
        let wrong = Error::Contradiction { what: "the moments of the noise contradict each other" };
        let [weight, second, third, fourth] = powers;
        let are_finite =
            powers.iter().chain(&second_by).chain(&third_by).chain(&square).all(|sum| sum.is_finite());
        let fit_together = second_by.len() == dim && third_by.len() == dim;
        if !(are_finite && fit_together && weight > 0.0 && second > 0.0 && fourth > 0.0) {
            return Err(wrong);
        }
        let mut square = unpack_lower(&square, dim).ok_or(wrong)?;
        for j in 0..dim {
            for i in 0..j {
                square[(i, j)] = square[(j, i)];
            }
        }
        Ok(Self { is_all, weight, second, third, fourth, second_by, third_by, square })
    }
}

/// A row among those that were summed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    weight_sq: f64,
    /// Divided by `√(1 − h)`.
    residual: f64,
}

/// Residuals are in units of this, or their fourth powers might leave the range of doubles.
fn unit(fit: &LinearFit) -> f64 {
    fit.noise_var().sqrt()
}

/// What a row of the reference adds to the sums; nothing without a weight, or if it alone
/// determines a coefficient.
pub(super) fn own(fit: &LinearFit, norm_sq: f64, residual: f64, weight: f64) -> Option<Own> {
    let w = weight * fit.sample().weight_scale;
    let room = 1.0 - leverage(fit, norm_sq, w).1;
    let residual = residual / unit(fit) / room.sqrt();
    let counts = w > 0.0 && room >= LEVERAGE_ROOM && residual.is_finite();
    counts.then_some(Own { weight_sq: w * w, residual })
}

/// Moments of noise with variance 1, without the row that is left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoiseView<'a> {
    shape: &'a NoiseShape,
    own: Option<(Own, &'a [f64])>,
    variance: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl NoiseView<'_> {
    /// `xᵀE[e²zzᵀ]y`; `by_x` is the product of the matrix with `x`.
    pub(crate) fn form(&self, x: &[f64], by_x: &[f64], y: &[f64]) -> f64 {
        let own = |(own, z): (Own, &[f64])| own.weight_sq * own.residual.powi(2) * dot(z, x) * dot(z, y);
        (dot(by_x, y) - self.own.map_or(0.0, own)) / self.second
    }

    /// See [`NoiseShape::times`].
    pub(crate) fn times(&self, x: &[f64]) -> Vec<f64> {
        self.shape.times(x)
    }

    /// `tr(E[e²zzᵀ]M)` for a symmetric matrix.
    pub(crate) fn trace(&self, matrix: &Mat<f64>) -> f64 {
        let column = |k: usize| dot(self.shape.square.col_as_slice(k), matrix.col_as_slice(k));
        let whole: f64 = (0..matrix.ncols()).map(column).sum();
        let own = |(own, z): (Own, &[f64])| {
            let along = |k: usize| z[k] * dot(matrix.col_as_slice(k), z);
            own.weight_sq * own.residual.powi(2) * (0..z.len()).map(along).sum::<f64>()
        };
        (whole - self.own.map_or(0.0, own)) / self.second
    }

    /// `E[e²z]ᵀx`.
    pub(crate) fn second_along(&self, x: &[f64]) -> f64 {
        let own = |(own, z): (Own, &[f64])| own.weight_sq * own.residual.powi(2) * dot(z, x);
        (dot(&self.shape.second_by, x) - self.own.map_or(0.0, own)) / self.second
    }

    /// `E[e³z]ᵀx`.
    pub(crate) fn third_along(&self, x: &[f64]) -> f64 {
        let own = |(own, z): (Own, &[f64])| own.weight_sq * own.residual.powi(3) * dot(z, x);
        (dot(&self.shape.third_by, x) - self.own.map_or(0.0, own)) / (self.second * self.variance.sqrt())
    }

    /// `E[e³]`.
    pub(crate) fn third(&self) -> f64 {
        self.third / self.variance.powf(1.5)
    }

    /// `E[e⁴]`, at least 1.
    pub(crate) fn fourth(&self) -> f64 {
        (self.fourth / self.variance.powi(2)).max(1.0)
    }
}

/// What the noise does to the standard error of one row, or of a sum of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNoise {
    /// `Var(ê)` over that of noise, times `n`.
    pub(crate) spread: f64,
    /// `E[(e² − 1)(zzᵀ − I)]` along the row, mean included.
    pub(crate) with_inputs: f64,
    /// `E[e³]` along the row, intercept included.
    pub(crate) with_noise: f64,
    /// `E[e⁴]`.
    pub(crate) fourth: f64,
}

impl RowNoise {
    /// For a row at squared distance `dist_sq`. `zeta` and `shift` say what the products of the
    /// others with it are: `zetaᵀz + shift`. `by_zeta` is the product of the matrix with `zeta`.
    pub(super) fn of(
        view: &NoiseView<'_>,
        (zeta, shift): (&[f64], f64),
        by_zeta: &[f64],
        dist_sq: f64,
        is_centred: bool,
    ) -> Self {
        let c = if is_centred { 1.0 } else { 0.0 };
        let (square, along) = (view.form(zeta, by_zeta, zeta), view.second_along(zeta));
        let reach = c + shift;
        Self {
            spread: (square + 2.0 * reach * along + reach * reach).max(0.0),
            // (ζᵀz + s)² + 2c(ζᵀz + s)
            with_inputs: square + 2.0 * reach * along + shift * (shift + 2.0 * c) - dist_sq,
            with_noise: view.third_along(zeta) + reach * view.third(),
            fourth: view.fourth(),
        }
    }
}

/// The variance of a sum of estimates from their variances and covariances with the second,
/// which cannot exceed what the variances allow: the third is taken from the model.
pub(crate) fn total_variance([first, second, third]: [f64; 3], with_first: f64, with_third: f64) -> f64 {
    let clip = |covariance: f64, one: f64, other: f64| {
        let most = (one * other).sqrt();
        // Numbers that are none must not end the program.
        covariance.max(-most).min(most)
    };
    let mixed = clip(with_first, first, second) + clip(with_third, third, second);
    (first + second + third + 2.0 * mixed).max(0.0)
}

/// Coordinates of the whole, from those of a part: `z ↦ turn·z + shift`, and
/// `e ↦ e + lineᵀz + level`.
struct Change {
    turn: Mat<f64>,
    shift: Vec<f64>,
    line: Vec<f64>,
    level: f64,
}

impl Change {
    fn new(moments: &Moments, fit: &LinearFit, whole: &LinearFit) -> Self {
        let (lower, target_row, n) = fit.factor();
        let (whole_lower, whole_target, whole_n) = whole.factor();
        // Covariances of the whole's columns with the part's whitened ones.
        let products = fit.products_with(moments, whole);
        let mut by_part = products.transpose().to_owned();
        solve_lower_triangular_in_place(lower, by_part.as_mut(), Par::Seq);
        let stretch = (whole_n / n).sqrt();
        let mut turn = Mat::from_fn(whole.dim(), fit.dim(), |i, k| stretch * by_part[(k, i)]);
        solve_lower_triangular_in_place(whole_lower, turn.as_mut(), Par::Seq);
        let is_centred = whole.intercept();
        let (shifts, target) =
            if is_centred { whole.shifts_of(moments) } else { (vec![0.0; whole.dim()], 0.0) };
        let mut shift = Mat::from_fn(whole.dim(), 1, |k, _| whole_n.sqrt() * shifts[k]);
        solve_lower_triangular_in_place(whole_lower, shift.as_mut(), Par::Seq);
        let shift = shift.col_as_slice(0).to_vec();
        let line = (0..fit.dim())
            .map(|k| target_row[k] / n.sqrt() - dot(turn.col_as_slice(k), whole_target) / whole_n.sqrt())
            .collect();
        let level = target - dot(&shift, whole_target) / whole_n.sqrt();
        Self { turn, shift, line, level }
    }
}

fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    matmul(out.as_mut(), Accum::Replace, left, right, 1.0, Par::Seq);
    out
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
