//! The utility of a set of rows, as all baselines use it.

use dshap::Rows;
use rayon::prelude::*;

/// One row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// Its features.
    pub x: &'a [f64],
    /// Its target.
    pub y: f64,
    /// The result of [`Utility::memo`] for it.
    pub memo: f64,
}

/// The utility of a set of rows.
///
/// A set grows row by row. The empty set is worth 0 in all utilities here, so
/// that Shapley values add up to the utility of all rows.
pub trait Utility: Sync {
    /// A set in progress, and its fit.
    type Set: Clone + Send;

    /// Features of a row.
    fn n_features(&self) -> usize;

    /// Sets of fewer rows are worth 0.
    fn least_rows(&self) -> usize {
        1
    }

    /// Refuses rows that the utility cannot use, besides those of another width and those
    /// that are not finite.
    ///
    /// # Errors
    ///
    /// Errors of the utility.
    fn check(&self, _rows: Rows<'_>) -> Result<(), dshap::Error> {
        Ok(())
    }

    /// A number that belongs to a row in any set, and is worth computing once.
    fn memo(&self, _x: &[f64], _y: f64) -> f64 {
        0.0
    }

    /// The set without rows.
    fn empty(&self) -> Self::Set;

    /// Adds a row. Nothing is fitted yet, unless that is cheap.
    fn push(&self, set: &mut Self::Set, row: Row<'_>);

    /// Fits the set if needed, and returns its utility.
    fn value(&self, set: &mut Self::Set) -> f64;

    /// `U(S ∪ row) − U(S)`. Asked for only after [`value`](Utility::value).
    fn gain(&self, set: &Self::Set, row: Row<'_>) -> f64 {
        let (mut before, mut after) = (set.clone(), set.clone());
        self.push(&mut after, row);
        self.value(&mut after) - self.value(&mut before)
    }

    /// [`gain`](Utility::gain) of each of some rows, for utilities that find them faster
    /// together. They use memory for each row, so callers pass at most a few hundred.
    fn gains(&self, set: &Self::Set, rows: &[Row<'_>]) -> Vec<f64> {
        rows.iter().map(|&row| self.gain(set, row)).collect()
    }

    /// `U(S) − U(S ∖ row)` for the row that was the `index`-th to be pushed.
    /// Asked for only after [`value`](Utility::value).
    fn loss(&self, set: &Self::Set, index: usize, row: Row<'_>) -> f64;

    /// Whether the set is large enough for a model but does not determine one, so that it
    /// is worth 0. Asked for only after [`value`](Utility::value).
    fn is_undetermined(&self, _set: &Self::Set) -> bool {
        false
    }
}

/// Rows together with their memos.
#[derive(Debug, Clone)]
pub(crate) struct Noted<'a> {
    pub(crate) rows: Rows<'a>,
    memos: Vec<f64>,
}

impl<'a> Noted<'a> {
    /// Checks that the rows fit the utility and are finite, and asks for their
    /// memos.
    pub(crate) fn new<U: Utility>(rows: Rows<'a>, utility: &U) -> Result<Self, dshap::Error> {
        check(rows, utility.n_features())?;
        utility.check(rows)?;
        let memos = (0..rows.len())
            .into_par_iter()
            .map_init(
                || vec![0.0; rows.n_features()],
                |x, row| {
                    gather(rows, row, x);
                    utility.memo(x, rows.y()[row])
                },
            )
            .collect();
        Ok(Self { rows, memos })
    }

    pub(crate) fn len(&self) -> usize {
        self.memos.len()
    }

    /// Row `row`, its features gathered in `x`.
    pub(crate) fn row<'x>(&self, row: usize, x: &'x mut [f64]) -> Row<'x> {
        gather(self.rows, row, x);
        Row { x, y: self.rows.y()[row], memo: self.memos[row] }
    }

    /// Rows `rows`, their features gathered in `x`.
    pub(crate) fn some<'x>(&self, rows: &[usize], x: &'x mut Vec<f64>) -> Vec<Row<'x>> {
        let dim = self.rows.n_features();
        x.resize(rows.len() * dim, 0.0);
        for (i, &row) in rows.iter().enumerate() {
            gather(self.rows, row, &mut x[i * dim..(i + 1) * dim]);
        }
        let x: &'x [f64] = x;
        let noted = |(i, &row): (usize, &usize)| Row {
            x: &x[i * dim..(i + 1) * dim],
            y: self.rows.y()[row],
            memo: self.memos[row],
        };
        rows.iter().enumerate().map(noted).collect()
    }

    /// Room for the features of one row.
    pub(crate) fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.rows.n_features()]
    }
}

/// Copies the features of a row.
pub(crate) fn gather(rows: Rows<'_>, row: usize, x: &mut [f64]) {
    for (column, x) in x.iter_mut().enumerate() {
        *x = rows.x()[(row, column)];
    }
}

/// Refuses rows of another width, with weights, or with cells that are not finite.
pub(crate) fn check(rows: Rows<'_>, n_features: usize) -> Result<(), dshap::Error> {
    if rows.n_features() != n_features {
        return Err(dshap::Error::FeatureCount { found: rows.n_features(), expected: n_features });
    }
    if rows.weights().is_some() {
        return Err(dshap::Error::Weighted);
    }
    for row in 0..rows.len() {
        let cell = |column| if column == n_features { rows.y()[row] } else { rows.x()[(row, column)] };
        if let Some(column) = (0..=n_features).find(|&column| !f64::is_finite(cell(column))) {
            return Err(dshap::Error::NotFinite { row, column });
        }
    }
    Ok(())
}

/// Refuses results that overflowed.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), dshap::Error> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(dshap::Error::TooLarge) }
}
