//! Means and spreads of the columns of a reference.

use dshap::{Moments, Rows};

/// Means and standard deviations over the reference, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStats {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub std_dev: Vec<f64>,
}

impl ColumnStats {
    /// Those of the design columns and, last, of the target.
    pub fn of(moments: &Moments) -> Self {
        let columns = 0..=moments.n_features();
        let std_dev = |j: usize| (moments.centred(j, j) / moments.weight()).sqrt();
        Self {
            mean: columns.clone().map(|j| moments.mean(j)).collect(),
            std_dev: columns.map(std_dev).collect(),
        }
    }

    /// Whether there is a finite number for each of `n_columns` columns.
    pub(crate) fn is_sound(&self, n_columns: usize) -> bool {
        let sound = |numbers: &[f64]| numbers.len() == n_columns && numbers.iter().all(|x| x.is_finite());
        sound(&self.mean) && sound(&self.std_dev)
    }
}

/// Sums over rows, each less the first one: the same bits however they come.
#[derive(Debug, Clone)]
pub struct ColumnSums {
    n_rows: u64,
    first: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl ColumnSums {
    /// No rows yet.
    pub fn new(n_columns: usize) -> Self {
        let zeros = || vec![0.0; n_columns];
        Self { n_rows: 0, first: zeros(), sum: zeros(), squares: zeros() }
    }

    /// Adds rows.
    pub fn add(&mut self, rows: Rows<'_>) {
        if rows.is_empty() {
            return;
        }
        for (j, cells) in rows.x().col_iter().enumerate() {
            if self.n_rows == 0 {
                self.first[j] = cells[0];
            }
            for cell in cells.iter() {
                let difference = cell - self.first[j];
                self.sum[j] += difference;
                self.squares[j] += difference * difference;
            }
        }
        self.n_rows += rows.len() as u64;
    }

    /// Means and standard deviations of the rows added.
    pub fn finish(self) -> ColumnStats {
        let n = self.n_rows.max(1) as f64;
        let mean = self.first.iter().zip(&self.sum).map(|(first, sum)| first + sum / n);
        let var = |(squares, sum): (&f64, &f64)| ((squares - sum * sum / n) / n).max(0.0);
        ColumnStats {
            mean: mean.collect(),
            std_dev: self.squares.iter().zip(&self.sum).map(|sums| var(sums).sqrt()).collect(),
        }
    }
}
