//! Coordinates of rows, and the distance that counts.
//!
//! Values depend only on the order and the ties of distances. Both are those of
//! **direct** distances: differences of the cells as given, times the scale of their
//! column, added up column by column in plain doubles. Nothing cancels in them, and they
//! depend on the two rows alone, so neither blocks nor threads nor vector units can
//! change an order. Faster ways to compute distances come with a bound on their error and
//! are never trusted beyond it (`list.rs`).

use super::column::{Column, Span, column_of, length, lift_of};
use super::options::{Metric, NeighbourOptions, Scale};
use crate::{Error, Rows};
use faer::MatRef;
use rayon::prelude::*;
use std::sync::Arc;

/// Larger cells than this cannot be squared.
const TOO_LARGE: f64 = 1e150;

/// How cells become coordinates.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) metric: Metric,
    n_features: usize,
    pub(super) columns: Vec<Column>,
    /// Features that do not vary, if columns are standardised.
    pub(super) constant: Vec<usize>,
}

/// A reference whose cells were checked, and how they become coordinates: what all valuers
/// of it share. It takes several passes over all cells, which is long where a single row is
/// to be valued.
#[derive(Debug, Clone)]
pub struct ReferenceSpace {
    pub(super) space: Arc<Space>,
    inverse_norm: Arc<[f64]>,
    scale: Scale,
    n_rows: usize,
}

impl ReferenceSpace {
    /// Checks a reference and its targets.
    ///
    /// # Errors
    ///
    /// As for [`NeighbourValuer::new`](super::NeighbourValuer::new).
    pub fn new(reference: Rows<'_>, options: NeighbourOptions) -> Result<Self, Error> {
        options.check()?;
        if reference.is_empty() {
            return Err(Error::NoRows);
        }
        if reference.weights().is_some() {
            return Err(Error::Weighted);
        }
        if u32::try_from(reference.len()).is_err() {
            return Err(Error::BadOption { what: "there can be at most 2³² − 1 reference rows" });
        }
        let space = Space::new(reference, options.metric, options.scale)?;
        let inverse_norm = space.place(reference)?.inverse_norm;
        options.task.check(reference)?;
        Ok(Self { space: Arc::new(space), inverse_norm, scale: options.scale, n_rows: reference.len() })
    }

    /// Whether it may be that of these rows.
    pub(super) fn fits(&self, reference: Rows<'_>, options: NeighbourOptions) -> bool {
        let found = (reference.len(), reference.n_features(), options.metric, options.scale);
        found == (self.n_rows, self.space.n_features, self.space.metric, self.scale)
            && reference.weights().is_none()
    }

    pub(super) fn placed<'a>(&self, reference: Rows<'a>) -> Placed<'a> {
        Placed { x: reference.x(), inverse_norm: Arc::clone(&self.inverse_norm) }
    }

    /// Design columns that are the same in every reference row and left out, if
    /// columns are standardised.
    pub fn constant_columns(&self) -> &[usize] {
        &self.space.constant
    }
}

/// Rows, and what is needed besides their cells.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) x: MatRef<'a, f64>,
    /// For cosines, one over the length of each row; 0 for a row of length 0.
    /// Otherwise empty.
    inverse_norm: Arc<[f64]>,
}

impl Space {
    /// The space in which `reference` is.
    pub(super) fn new(reference: Rows<'_>, metric: Metric, scale: Scale) -> Result<Self, Error> {
        check_cells(reference)?;
        let n_features = reference.n_features();
        if scale == Scale::Standard && reference.len() == 1 {
            // No column varies, but not because of the columns.
            return Err(Error::FewRows { n_rows: 1, needed: 2 });
        }
        let spans: Vec<Span> =
            (0..n_features).into_par_iter().map(|feature| Span::of(reference.x(), feature)).collect();
        // Columns as given share one unit, and lifting them together keeps it.
        let widest = spans.iter().map(|span| span.reach(metric)).fold(0.0, f64::max);
        let column = |feature: usize| {
            let span = spans[feature];
            let lift = lift_of(if scale == Scale::Standard { span.range() } else { widest });
            column_of(reference.x(), feature, span.lifted(lift), lift, metric, scale)
        };
        let columns: Vec<Option<Column>> = (0..n_features).into_par_iter().map(column).collect();
        let constant = (0..n_features).filter(|&feature| columns[feature].is_none()).collect();
        let columns: Vec<Column> = columns.into_iter().flatten().collect();
        if columns.is_empty() {
            return Err(Error::NoFeatures { n_features });
        }
        Ok(Self { metric, n_features, columns, constant })
    }

    /// Checks rows and computes their lengths if they are needed.
    pub(super) fn place<'a>(&self, rows: Rows<'a>) -> Result<Placed<'a>, Error> {
        if rows.n_features() != self.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features });
        }
        check_cells(rows)?;
        let mut placed = Placed { x: rows.x(), inverse_norm: Arc::default() };
        if self.metric == Metric::Cosine {
            let inverse_norm = |row| {
                let cell = |column: &Column| column.standardised(placed.x[(row, column.feature)]);
                let length = length(&self.columns, cell);
                let inverse = 1.0 / length;
                // Of length 0, or too short to have a reciprocal.
                if inverse.is_finite() { inverse } else { 0.0 }
            };
            placed.inverse_norm = (0..rows.len()).into_par_iter().map(inverse_norm).collect();
        }
        Ok(placed)
    }

    /// The coordinate of a row that direct distances compare.
    #[inline]
    pub(super) fn direct_coordinate(&self, rows: &Placed<'_>, row: usize, column: &Column) -> f64 {
        let cell = rows.x[(row, column.feature)];
        match self.metric {
            Metric::Euclidean | Metric::Manhattan => cell * column.lift,
            Metric::Cosine => self.product_coordinate(rows, row, column),
        }
    }

    /// Coordinates that direct distances compare, of rows from `start` on.
    pub(super) fn direct_coordinates(
        &self,
        rows: &Placed<'_>,
        start: usize,
        column: &Column,
        out: &mut [f64],
    ) {
        match self.metric {
            Metric::Euclidean | Metric::Manhattan => {
                rows.copy(column.feature, start, out);
                if column.lift != 1.0 {
                    out.iter_mut().for_each(|cell| *cell *= column.lift);
                }
            }
            Metric::Cosine => self.product_coordinates(rows, start, column, out),
        }
    }

    /// Coordinates whose products give distances, of rows from `start` on.
    pub(super) fn product_coordinates(
        &self,
        rows: &Placed<'_>,
        start: usize,
        column: &Column,
        out: &mut [f64],
    ) {
        rows.copy(column.feature, start, out);
        out.iter_mut().for_each(|cell| *cell = column.standardised(*cell));
        if self.metric == Metric::Cosine {
            out.iter_mut().zip(&rows.inverse_norm[start..]).for_each(|(cell, inverse)| *cell *= inverse);
        }
    }

    /// The same of one row.
    #[inline]
    pub(super) fn product_coordinate(&self, rows: &Placed<'_>, row: usize, column: &Column) -> f64 {
        let standardised = column.standardised(rows.x[(row, column.feature)]);
        if self.metric == Metric::Cosine { standardised * rows.inverse_norm[row] } else { standardised }
    }

    /// What a difference of direct coordinates is multiplied by.
    #[inline]
    pub(super) fn direct_scale(&self, column: &Column) -> f64 {
        if self.metric == Metric::Cosine { 1.0 } else { column.scale }
    }

    /// The direct distance (squared, except for Manhattan) between a test row, given by
    /// its direct coordinates, and row `row` of `rows`.
    pub(super) fn direct(&self, test: &TestRow, rows: &Placed<'_>, row: usize) -> f64 {
        if test.is_null || rows.is_null(row) {
            return RIGHT_ANGLE;
        }
        let mut sum = 0.0;
        for (column, &a) in self.columns.iter().zip(&test.direct) {
            let difference = (a - self.direct_coordinate(rows, row, column)) * self.direct_scale(column);
            sum += if self.metric == Metric::Manhattan { difference.abs() } else { difference * difference };
        }
        sum
    }

    /// A row that lists are made for.
    pub(super) fn test_row(&self, rows: &Placed<'_>, row: usize) -> TestRow {
        let direct = |column| self.direct_coordinate(rows, row, column);
        let product: Vec<f64> =
            self.columns.iter().map(|column| self.product_coordinate(rows, row, column)).collect();
        TestRow {
            direct: self.columns.iter().map(direct).collect(),
            norm_sq: product.iter().map(|c| c * c).sum(),
            product,
            is_null: rows.is_null(row),
        }
    }
}

/// The squared distance of unit vectors at a right angle.
pub(super) const RIGHT_ANGLE: f64 = 2.0;

/// A row that lists are made for.
#[derive(Debug)]
pub(super) struct TestRow {
    /// Coordinates for direct distances.
    pub(super) direct: Vec<f64>,
    /// Coordinates for products.
    pub(super) product: Vec<f64>,
    /// The squared length of the latter.
    pub(super) norm_sq: f64,
    /// Whether it lacks a direction that the metric needs.
    pub(super) is_null: bool,
}

impl Placed<'_> {
    pub(super) fn len(&self) -> usize {
        self.x.nrows()
    }

    /// Cells of a feature, of rows from `start` on.
    fn copy(&self, feature: usize, start: usize, out: &mut [f64]) {
        let cells = self.x.col(feature).subrows(start, out.len());
        match cells.try_as_col_major() {
            Some(cells) => out.copy_from_slice(cells.as_slice()),
            None => out.iter_mut().zip(cells.iter()).for_each(|(out, &cell)| *out = cell),
        }
    }

    /// Whether a row lacks a direction that the metric needs.
    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        !self.inverse_norm.is_empty() && self.inverse_norm[row] == 0.0
    }

    /// Whether any row does.
    pub(super) fn has_null(&self) -> bool {
        self.inverse_norm.contains(&0.0)
    }
}

/// Cells must be finite, and so must their squares.
fn check_cells(rows: Rows<'_>) -> Result<(), Error> {
    let is_good = |cell: &f64| cell.abs() <= TOO_LARGE;
    let features = (0..rows.n_features()).into_par_iter().all(|j| rows.x().col(j).iter().all(is_good));
    if features && rows.y().iter().all(is_good) {
        return Ok(());
    }
    Err(rows.explain_not_finite(0, rows.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn scales_do_not_depend_on_the_order_of_rows() {
        let x = mat![[0.1, 3.0], [0.7, 3.0], [0.3, 3.0], [0.2, 3.0], [1e3, 3.0], [0.05, 3.0_f64]];
        let y = mat![[1e3, 3.0], [0.05, 3.0], [0.2, 3.0], [0.3, 3.0], [0.7, 3.0], [0.1, 3.0_f64]];
        let space = |x: &faer::Mat<f64>| {
            let rows = Rows::new(x.as_ref(), &[0.0; 6]).expect("six targets");
            Space::new(rows, Metric::Euclidean, Scale::Standard).expect("one feature varies")
        };
        let (one, other) = (space(&x), space(&y));
        assert_eq!(one.columns[0].scale.to_bits(), other.columns[0].scale.to_bits());
        assert_eq!(one.constant, [1]);
    }

    /// Down to the smallest doubles, a power of two changes no order and no tie. With
    /// standardised columns it changes no bit of a distance.
    #[test]
    fn powers_of_two_change_nothing_however_small_cells_become() {
        // Multiples of 2⁻¹⁰⁷⁴ stay exact all the way down.
        let whole = [[3.0, 7.0], [1.0, 2.0], [5.0, 2.0], [4.0, 1.0], [1.0, 6.0], [9.0, 3.0], [2.0, 2.0_f64]];
        let distances = |power: i32, metric, scale| {
            let unit = 2.0_f64.powi(power / 2) * 2.0_f64.powi(power - power / 2);
            let x = faer::Mat::from_fn(7, 2, |i, j| whole[i][j] * unit);
            let rows = Rows::new(x.as_ref(), &[0.0; 7]).expect("seven targets");
            let space = Space::new(rows, metric, scale).expect("features vary");
            assert_eq!(space.constant, [0_usize; 0], "2^{power}");
            let placed = space.place(rows).expect("cells are finite");
            let test = space.test_row(&placed, 1);
            (0..7).map(|row| space.direct(&test, &placed, row)).collect::<Vec<f64>>()
        };
        let order = |distances: &[f64]| {
            let ties = |a: usize, b: usize| distances[a].total_cmp(&distances[b]);
            (0..7).flat_map(|a| (0..7).map(move |b| ties(a, b))).collect::<Vec<_>>()
        };
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
            for scale in [Scale::Standard, Scale::AsGiven] {
                let expected = distances(0, metric, scale);
                for power in [-40, -490, -520, -700, -1022, -1060, -1074] {
                    let found = distances(power, metric, scale);
                    assert_eq!(order(&found), order(&expected), "2^{power}, {metric:?}, {scale:?}");
                    if scale == Scale::Standard {
                        assert_eq!(found, expected, "2^{power}, {metric:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_single_row_has_no_spread() {
        let x = mat![[0.1, 3.0_f64]];
        let space = |scale| Space::new(Rows::new(x.as_ref(), &[0.0])?, Metric::Euclidean, scale).map(|_| ());
        assert_eq!(space(Scale::Standard), Err(Error::FewRows { n_rows: 1, needed: 2 }));
        assert_eq!(space(Scale::AsGiven), Ok(()));
    }
}
