//! A utility that is any function of the numbers of rows.

use crate::utility::{Row, Utility};
use dshap::Rows;
use faer::Mat;

/// What sets of rows are worth, by a function of their numbers.
///
/// The function gets the numbers of the rows of a set in ascending order, so that it does not
/// depend on the order of draws. A set is worth what it is worth more than no row.
///
/// ```
/// use dshap_baselines::{RowSets, exact_shapley};
///
/// // Rows 0 and 1 are worth something only together.
/// let game = RowSets::new(|rows: &[usize]| f64::from(rows.starts_with(&[0, 1])), 1);
/// let players = game.players(3);
/// let values = exact_shapley(&game, players.rows()?, &|_, _| true)?.value;
/// assert!((values[0] - 0.5).abs() < 1e-15 && (values[1] - 0.5).abs() < 1e-15);
/// assert_eq!(values[2], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowSets<F> {
    worth: F,
    least_rows: usize,
    of_none: f64,
}

/// A set of rows by their numbers, and what it is worth once that is known.
#[derive(Debug, Clone, Default)]
pub struct RowSet {
    rows: Vec<usize>,
    worth: Option<f64>,
}

/// The rows of a [`RowSets`]: each has its number as its only feature.
#[derive(Debug, Clone)]
pub struct Players {
    x: Mat<f64>,
    y: Vec<f64>,
}

impl Players {
    /// The rows, as the baselines take them.
    ///
    /// # Errors
    ///
    /// [`dshap::Error`].
    pub fn rows(&self) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), &self.y)
    }
}

impl<F: Fn(&[usize]) -> f64 + Sync> RowSets<F> {
    /// Sets are worth `worth`, or nothing if they have fewer than `least_rows` rows. The
    /// function is asked once about no rows.
    pub fn new(worth: F, least_rows: usize) -> Self {
        let of_none = worth(&[]);
        Self { worth, least_rows: least_rows.max(1), of_none }
    }

    /// `n` rows.
    pub fn players(&self, n: usize) -> Players {
        Players { x: Mat::from_fn(n, 1, |row, _| row as f64), y: vec![0.0; n] }
    }

    fn worth_of(&self, rows: &[usize]) -> f64 {
        if rows.len() < self.least_rows {
            return 0.0;
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        (self.worth)(&rows) - self.of_none
    }
}

impl<F: Fn(&[usize]) -> f64 + Sync> Utility for RowSets<F> {
    type Set = RowSet;

    fn n_features(&self) -> usize {
        1
    }

    fn least_rows(&self) -> usize {
        self.least_rows
    }

    fn empty(&self) -> RowSet {
        RowSet::default()
    }

    fn push(&self, set: &mut RowSet, row: Row<'_>) {
        // Numbers of rows are whole and far below 2⁵³.
        set.rows.push(row.x[0] as usize);
        set.worth = None;
    }

    fn value(&self, set: &mut RowSet) -> f64 {
        *set.worth.get_or_insert_with(|| self.worth_of(&set.rows))
    }

    fn loss(&self, set: &RowSet, index: usize, _: Row<'_>) -> f64 {
        let mut others = set.rows.clone();
        others.remove(index);
        set.worth.unwrap_or_else(|| self.worth_of(&set.rows)) - self.worth_of(&others)
    }
}
