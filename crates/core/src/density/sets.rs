//! Values of sets of rows, comparable for any sizes.

use super::algorithm5::Algorithm5;
use super::fit::DensityFit;
use super::integrals::PairIntegrals;
use super::size_weights::SizeWeights;
use super::sums::{CHUNK_POINTS, Skip};
use super::tiles::{TILE_ROWS, Tiles};
use super::valuer::mean_std_error;
use crate::Error;
use faer::MatRef;
use rayon::prelude::*;

/// Values sets of rows against a smoothed reference.
///
/// ```text
/// ν(S*) = −A [ n⁻² Σᵢₗ (k*k)_h(zᵢ − zₗ) − 2 p̄ ] + B [ p̄ − c̄ ]
/// value = ν(S*) + C₀
/// ```
///
/// with the means over members and reference of `k_h`, `p̄`, and of `(k*k)_h`, `c̄`.
/// A set is worth `U(S) = offset + ∫p² − ∫(p̂_S − p)²`, and the empty set 0. With
/// `offset = 0` that is what a set explains beyond an estimate that is 0 everywhere.
#[derive(Debug, Clone)]
pub struct SetValuer<'a> {
    fit: &'a DensityFit,
    integrals: PairIntegrals,
    m: usize,
    offset: f64,
    /// Draws instead of two integrals, as in the paper's Algorithm 5.
    drawn: Option<Algorithm5>,
}

/// The value of a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetValue {
    /// Rows of the set.
    pub n_rows: usize,
    /// The value, comparable with those of sets of other sizes: `ν(S*) + C₀`.
    pub value: f64,
    /// Theorem 5 without its constant, `ν(S*)`: for sets of one size.
    pub without_constant: f64,
    /// The same without `−A (k*k)_h(0)/n`, which all sets of one size share, to full
    /// precision.
    pub relative: f64,
    /// Its standard error, from the spread over reference rows; it does not include that
    /// of `C₀`. NaN against a single row.
    pub std_error: f64,
    /// The sum of the members' own values.
    pub sum_of_members: f64,
}

/// The values of two sets, together and apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synergy {
    /// The first set.
    pub first: SetValue,
    /// The second set.
    pub second: SetValue,
    /// Both, as one set.
    pub union: SetValue,
    /// The value of the union minus those of the two sets.
    pub synergy: f64,
}

/// Means over pairs of members and reference rows, and over pairs of members.
#[derive(Debug, Clone, Copy)]
struct SetMeans {
    n: usize,
    /// Reference rows met.
    n_met: usize,
    plain: f64,
    convolved: f64,
    /// In units of the square of [`SetValuer::unit`].
    squares: [f64; 3],
    /// `n⁻² Σ_{i≠l} (k*k)_h`
    others: f64,
}

impl<'a> SetValuer<'a> {
    /// A valuer of sets that join sets of up to `m − 1` others. `offset` is `C_den −
    /// ∫p²`; it only matters for synergies.
    ///
    /// # Errors
    ///
    /// As for [`SizeWeights::new`]; [`Error::BadOption`] for an offset that is not finite.
    pub fn new(fit: &'a DensityFit, integrals: PairIntegrals, m: usize, offset: f64) -> Result<Self, Error> {
        SizeWeights::new(1, m)?;
        if !offset.is_finite() {
            return Err(Error::BadOption { what: "the utility's offset must be finite" });
        }
        Ok(Self { fit, integrals, m, offset, drawn: None })
    }

    /// The same by the paper's Algorithm 5: two integrals are means over one draw for each
    /// reference row. Standard errors are absent then.
    pub fn by_drawing(self, algorithm: Algorithm5) -> Self {
        Self { drawn: Some(algorithm), ..self }
    }

    /// Values the members as one set. `O(n²)` time within the set, `O(n)` memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`] for an empty set; [`Error::FeatureCount`],
    /// [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn value(&self, members: MatRef<'_, f64>) -> Result<SetValue, Error> {
        self.numbered(members, 0)
    }

    /// The same for set number `number`, which selects the stream of draws and nothing else.
    ///
    /// # Errors
    ///
    /// As for [`value`](Self::value).
    pub fn numbered(&self, members: MatRef<'_, f64>, number: u64) -> Result<SetValue, Error> {
        self.value_of(self.means(&self.packed(members)?, None, number)?)
    }

    /// Values some reference rows as one set, against the reference without them.
    /// Its scaling and bandwidth, and the constant `C₀`, stay those of all rows.
    ///
    /// # Errors
    ///
    /// [`Error::RowRange`] for rows that do not exist, [`Error::NoRows`] for an empty
    /// set, [`Error::NobodyLeft`] if no row is left.
    pub fn left_out(&self, rows: &[usize]) -> Result<SetValue, Error> {
        let n_rows = self.fit.n_rows();
        if let Some(&row) = rows.iter().find(|&&row| row >= n_rows) {
            return Err(Error::RowRange { first: row, len: 1, n_rows });
        }
        let mut members = Tiles::new(self.fit.dim());
        let mut marks = vec![0_u128; self.fit.tiles().n_tiles()];
        for point in self.fit.rows_of(rows).chunks_exact(self.fit.dim()) {
            members.push_row(point);
        }
        for &row in rows {
            let at = self.fit.position(row);
            marks[at / TILE_ROWS] |= 1 << (at % TILE_ROWS);
        }
        let number = rows.first().map_or(0, |row| *row as u64);
        self.value_of(self.means(&members, Some(&marks), number)?)
    }

    /// The value of two sets together minus their values apart.
    ///
    /// # Errors
    ///
    /// As for [`value`](Self::value).
    pub fn synergy(&self, first: MatRef<'_, f64>, second: MatRef<'_, f64>) -> Result<Synergy, Error> {
        let (mut one, two) = (self.packed(first)?, self.packed(second)?);
        let first = self.value_of(self.means(&one, None, 0)?)?;
        let second = self.value_of(self.means(&two, None, 1)?)?;
        let mut row = vec![0.0; self.fit.dim()];
        for i in 0..two.n_rows() {
            two.copy_row(i, &mut row);
            one.push_row(&row);
        }
        let union = self.value_of(self.means(&one, None, 2)?)?;
        Ok(Synergy { first, second, union, synergy: union.value - first.value - second.value })
    }

    fn packed(&self, members: MatRef<'_, f64>) -> Result<Tiles, Error> {
        let mut tiles = Tiles::new(self.fit.dim());
        for start in (0..members.nrows()).step_by(CHUNK_POINTS) {
            let len = CHUNK_POINTS.min(members.nrows() - start);
            for row in self.fit.scaled(members, start, len)?.chunks_exact(self.fit.dim()) {
                tiles.push_row(row);
            }
        }
        Ok(tiles)
    }

    fn value_of(&self, means: SetMeans) -> Result<SetValue, Error> {
        let weights = SizeWeights::new(means.n, self.m)?;
        let single = SizeWeights::new(1, self.m)?;
        let constant = |weights| self.integrals.constant(weights, self.offset);
        let (a, b, n) = (weights.own, weights.joint, means.n as f64);
        let from_reference = (2.0 * a + b) * means.plain - b * means.convolved;
        let relative = from_reference - a * means.others;
        let without_constant = relative - a * self.fit.convolved_peak() / n;
        let mean_of_one = (2.0 * single.own + single.joint) * means.plain
            - single.joint * means.convolved
            - single.own * self.fit.convolved_peak()
            + constant(single);
        Ok(SetValue {
            n_rows: means.n,
            value: without_constant + constant(weights),
            without_constant,
            relative,
            std_error: match self.drawn {
                Some(_) => f64::NAN,
                None => {
                    let unit = self.unit();
                    unit * mean_std_error(means.squares, 2.0 * a + b, b, from_reference / unit, means.n_met)
                }
            },
            sum_of_members: n * mean_of_one,
        })
    }

    /// About the size of densities, so that their squares are doubles.
    fn unit(&self) -> f64 {
        let typical = self.integrals.cross;
        if typical.is_normal() && typical > 0.0 { typical } else { 1.0 }
    }

    /// Means over the reference, except the marked rows. The members are smoothed and the
    /// reference rows are the points, so that their spread is known, too.
    fn means(&self, members: &Tiles, marks: Option<&[u128]>, number: u64) -> Result<SetMeans, Error> {
        let (fit, n) = (self.fit, members.n_rows());
        if n == 0 {
            return Err(Error::NoRows);
        }
        let is_met = |at: usize| marks.is_none_or(|marks| marks[at / TILE_ROWS] >> (at % TILE_ROWS) & 1 == 0);
        let unit = self.unit();
        let sums = sum_over(fit.tiles(), |start, points| {
            let sums = fit.smoother().sums(members, points, Skip::None, false);
            let mut totals = [0.0; 6];
            for (_, sums) in sums.iter().enumerate().filter(|(i, _)| is_met(start + i)) {
                let at = fit.densities(sums, n);
                let (p, c) = (at.plain / unit, at.convolved / unit);
                let terms = [1.0, at.plain, at.convolved, p * p, p * c, c * c];
                totals.iter_mut().zip(terms).for_each(|(total, term)| *total += term);
            }
            totals
        });
        let [n_met, plain, convolved, squares @ ..] = sums;
        if n_met == 0.0 {
            return Err(Error::NobodyLeft { n_rows: fit.n_rows() });
        }
        let [others] = sum_over(members, |start, points| {
            let own: Vec<usize> = (start..start + points.len() / fit.dim()).collect();
            let sums = fit.smoother().sums(members, points, Skip::Own(&own), false);
            [sums.iter().map(|sums| fit.densities(sums, n).convolved).sum()]
        });
        let means = SetMeans {
            n,
            n_met: n_met as usize,
            plain: plain / n_met,
            convolved: convolved / n_met,
            squares,
            others: others / n as f64,
        };
        let Some(algorithm) = self.drawn else { return Ok(means) };
        let (square, convolved) = algorithm.set_means(fit, members, is_met, number);
        // What a member has with itself is added to all sets of one size.
        Ok(SetMeans { convolved, others: square - fit.convolved_peak() / n as f64, ..means })
    }
}

/// Adds up what `each` returns for chunks of rows, in their order.
fn sum_over<const N: usize>(tiles: &Tiles, each: impl Fn(usize, &[f64]) -> [f64; N] + Sync) -> [f64; N] {
    let (n, dim) = (tiles.n_rows(), tiles.dim());
    let chunk = |chunk: usize| {
        let start = chunk * CHUNK_POINTS;
        let mut points = vec![0.0; CHUNK_POINTS.min(n - start) * dim];
        for (i, point) in points.chunks_exact_mut(dim).enumerate() {
            tiles.copy_row(start + i, point);
        }
        each(start, &points)
    };
    let chunks: Vec<[f64; N]> = (0..n.div_ceil(CHUNK_POINTS)).into_par_iter().map(chunk).collect();
    chunks.iter().fold([0.0; N], |mut sum, chunk| {
        sum.iter_mut().zip(chunk).for_each(|(sum, part)| *sum += part);
        sum
    })
}
