//! Some rows of a table, spread evenly over it.

use dshap::Rows;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// More rows than this are not needed to see how a table is distributed.
const MOST_ROWS: usize = 1024;

/// What a sample has seen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SampleCounts {
    stride: u64,
    n_seen: u64,
    has_weights: bool,
}

/// Every row of a table until there are too many, then every second, every
/// fourth, and so on: the same rows however the table is cut into batches.
#[derive(Debug, Clone)]
pub(crate) struct RowSample {
    n_columns: usize,
    stride: u64,
    n_seen: u64,
    /// Features, then target, then weight.
    rows: Vec<Vec<f64>>,
    has_weights: bool,
}

impl RowSample {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { n_columns, stride: 1, n_seen: 0, rows: Vec::new(), has_weights: false }
    }

    pub(crate) fn look_at(&mut self, rows: Rows<'_>) {
        self.has_weights |= rows.weights().is_some();
        for row in 0..rows.len() {
            if self.n_seen.is_multiple_of(self.stride) {
                let mut cells: Vec<f64> = (0..self.n_columns).map(|j| rows.x()[(row, j)]).collect();
                cells.push(rows.y()[row]);
                cells.push(rows.weights().map_or(1.0, |weights| weights[row]));
                self.rows.push(cells);
                if self.rows.len() > MOST_ROWS {
                    let mut keep = false;
                    self.rows.retain(|_| {
                        keep = !keep;
                        keep
                    });
                    self.stride *= 2;
                }
            }
            self.n_seen += 1;
        }
    }

    /// Number of rows it holds.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// All numbers: what was seen, and the rows one after the other.
    pub(crate) fn to_parts(&self) -> (SampleCounts, Vec<f64>) {
        let counts = SampleCounts { stride: self.stride, n_seen: self.n_seen, has_weights: self.has_weights };
        (counts, self.rows.concat())
    }

    /// A sample from its numbers, unless they do not add up.
    pub(crate) fn from_parts(n_columns: usize, counts: SampleCounts, cells: &[f64]) -> Option<Self> {
        let SampleCounts { stride, n_seen, has_weights } = counts;
        let rows: Vec<Vec<f64>> = cells.chunks(n_columns + 2).map(<[f64]>::to_vec).collect();
        let whole = cells.len().is_multiple_of(n_columns + 2) && stride.is_power_of_two();
        let expected = n_seen.div_ceil(stride.max(1));
        (whole && rows.len() as u64 == expected).then_some(Self {
            n_columns,
            stride,
            n_seen,
            rows,
            has_weights,
        })
    }

    /// Does something with the rows.
    pub(crate) fn with_rows<T>(&self, work: impl FnOnce(Rows<'_>) -> T) -> Option<T> {
        let n = self.rows.len();
        let x = Mat::from_fn(n, self.n_columns, |i, j| self.rows[i][j]);
        let column = |j: usize| self.rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let (y, weights) = (column(self.n_columns), column(self.n_columns + 1));
        let rows = Rows::new(x.as_ref(), &y).ok()?;
        let rows = if self.has_weights { rows.with_weights(&weights).ok()? } else { rows };
        Some(work(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(n: usize, batch: usize) -> Vec<f64> {
        sampled_through(n, batch, |sample| sample)
    }

    fn sampled_through(n: usize, batch: usize, between: impl Fn(RowSample) -> RowSample) -> Vec<f64> {
        let x = Mat::from_fn(n, 1, |i, _| i as f64);
        let y = vec![0.0; n];
        let mut sample = RowSample::new(1);
        for start in (0..n).step_by(batch) {
            let len = batch.min(n - start);
            sample.look_at(
                Rows::new(x.as_ref().subrows(start, len), &y[start..start + len]).expect("same length"),
            );
            sample = between(sample);
        }
        sample.with_rows(|rows| rows.x().col(0).iter().copied().collect()).expect("rows")
    }

    #[test]
    fn rows_are_spread_evenly_however_they_come() {
        for n in [0, 5, MOST_ROWS, MOST_ROWS + 1, 10 * MOST_ROWS + 7] {
            let rows = sampled(n, usize::MAX / 2);
            assert_eq!(rows, sampled(n, 7), "{n} rows");
            assert!(rows.len() <= MOST_ROWS && rows.len() >= n.min(MOST_ROWS / 2));
            let again = |sample: RowSample| {
                let (counts, cells) = sample.to_parts();
                RowSample::from_parts(1, counts, &cells).expect("its own numbers")
            };
            assert_eq!(sampled_through(n, 7, again), rows, "{n} rows");
            let gaps: Vec<f64> = rows.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{n} rows: {gaps:?}");
        }
    }
}
