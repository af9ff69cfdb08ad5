//! How a repetition divides the rows of a table.

use super::{Handling, Panel, Table};
use crate::Error;
use crate::seeds::permutation;
use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;

/// Rows that are valued in every point-addition experiment.
pub(crate) const N_POINTS: usize = 200;

/// Some rows.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
}

impl Part {
    /// The rows, for the core.
    pub(crate) fn rows(&self) -> Result<dshap::Rows<'_>, Error> {
        dshap::Rows::new(self.x.as_ref(), &self.y).map_err(Error::valuing("use rows"))
    }

    /// The rows named by `order`.
    pub(crate) fn pick(&self, order: &[usize]) -> Part {
        Part {
            x: Mat::from_fn(order.len(), self.x.ncols(), |i, j| self.x[(order[i], j)]),
            y: order.iter().map(|&i| self.y[i]).collect(),
        }
    }
}

/// The division of one repetition; features are standardised by the reference.
#[derive(Debug)]
pub(crate) struct Split {
    /// Rows that stand for the distribution.
    pub(crate) reference: Part,
    /// Rows that are valued.
    pub(crate) points: Part,
    /// Rows on which methods measure utilities.
    pub(crate) test: Part,
    /// Rows on which curves are measured.
    pub(crate) held_out: Part,
}

impl Split {
    /// Divides `table`: the first 200 of its shuffled rows are valued, the last are
    /// for tests and held out, and the reference is what remains. If the table has a
    /// test part of its own, each of the two gets half of it.
    pub(crate) fn new(
        table: &Table,
        panel: &Panel,
        handling: Handling,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, Error> {
        let n = table.y.len();
        let n_train = table.n_train.unwrap_or(n);
        let (n_test, n_held_out) = match table.n_train {
            Some(n_train) => ((n - n_train) / 2, (n - n_train).div_ceil(2)),
            None => panel.n_apart(handling),
        };
        let apart = if table.n_train.is_some() { 0 } else { n_test + n_held_out };
        if n_train < N_POINTS + apart + table.x.ncols() + 3 || n_held_out == 0 {
            let reason =
                format!("{n} rows are too few for {N_POINTS} points and {apart} test and held-out rows");
            return Err(Error::WrongTable { file: panel.dataset(handling).into(), reason });
        }
        let shuffled = permutation(n_train, rng);
        let mut others: Vec<usize> = match table.n_train {
            Some(n_train) => permutation(n - n_train, rng).into_iter().map(|i| n_train + i).collect(),
            None => shuffled[n_train - apart..].to_vec(),
        };
        let test = others.split_off(n_held_out);
        let reference = &shuffled[N_POINTS..n_train - apart];
        let scale = Standard::of(table.x.as_ref(), reference);
        let part = |rows: &[usize]| scale.part(table, rows);
        Ok(Self {
            reference: part(reference),
            points: part(&shuffled[..N_POINTS]),
            test: part(&test),
            held_out: part(&others),
        })
    }

    /// The same rows with some of the features.
    pub(crate) fn with_columns(&self, columns: &[usize]) -> Split {
        let part = |part: &Part| Part {
            x: Mat::from_fn(part.x.nrows(), columns.len(), |i, j| part.x[(i, columns[j])]),
            y: part.y.clone(),
        };
        Split {
            reference: part(&self.reference),
            points: part(&self.points),
            test: part(&self.test),
            held_out: part(&self.held_out),
        }
    }
}

/// Means and deviations of the reference.
struct Standard(Vec<(f64, f64)>);

impl Standard {
    fn of(x: MatRef<'_, f64>, rows: &[usize]) -> Self {
        let n = rows.len() as f64;
        let column = |j: usize| {
            let mean = rows.iter().map(|&i| x[(i, j)]).sum::<f64>() / n;
            let var = rows.iter().map(|&i| (x[(i, j)] - mean).powi(2)).sum::<f64>() / n;
            // A constant column minus its mean is 0, whatever it is divided by.
            (mean, if var > 0.0 { var.sqrt() } else { 1.0 })
        };
        Self((0..x.ncols()).map(column).collect())
    }

    fn part(&self, table: &Table, rows: &[usize]) -> Part {
        let cell = |i: usize, j: usize| (table.x[(rows[i], j)] - self.0[j].0) / self.0[j].1;
        Part {
            x: Mat::from_fn(rows.len(), table.x.ncols(), cell),
            y: rows.iter().map(|&i| table.y[i]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PANELS, gaussian_r};
    use super::*;
    use crate::seeds::{Purpose, stream};

    #[test]
    fn every_row_is_used_once_and_the_reference_is_standardised() {
        let mut table = gaussian_r(2500, 2, 1);
        // The target names the row, so that rows can be told apart.
        table.y = (0..2500).map(f64::from).collect();
        let mut rng = stream(1, 1, 0, Purpose::Split);
        let split = Split::new(&table, &PANELS[0], Handling::Corrected, &mut rng).unwrap();
        let parts = [&split.reference, &split.points, &split.test, &split.held_out];
        assert_eq!(parts.map(|part| part.y.len()), [300, 200, 1000, 1000]);
        let mut all: Vec<f64> = parts.iter().flat_map(|part| part.y.clone()).collect();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, table.y);
        let column: Vec<f64> = (0..300).map(|i| split.reference.x[(i, 1)]).collect();
        let mean = column.iter().sum::<f64>() / 300.0;
        let var = column.iter().map(|x| x * x).sum::<f64>() / 300.0;
        // Rounding of 300 terms of order 1.
        assert!(mean.abs() < 1e-13 && (var - 1.0).abs() < 1e-13);
    }

    #[test]
    fn tables_too_small_are_refused() {
        let mut rng = stream(1, 1, 0, Purpose::Split);
        let refused = Split::new(&gaussian_r(2200, 2, 1), &PANELS[0], Handling::Corrected, &mut rng);
        assert!(matches!(refused, Err(Error::WrongTable { .. })));
    }
}
