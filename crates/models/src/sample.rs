//! Some rows of a table, spread evenly over it.

use dshap::Rows;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// More rows than this are not needed to see how a table is distributed.
const MOST_ROWS: usize = 1024;

/// Rows of each label that are kept, however many labels there are.
const FEWEST_OF_A_CLASS: usize = 64;

/// What a sample has seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SampleCounts {
    stride: u64,
    n_seen: u64,
    has_weights: bool,
    /// Absent in older files.
    #[serde(default)]
    targets: Vec<f64>,
}

/// Every row of a table until there are too many, then every second, every
/// fourth, and so on: the same rows however the table is cut into batches.
#[derive(Debug, Clone)]
pub struct RowSample {
    n_columns: usize,
    most_rows: usize,
    stride: u64,
    n_seen: u64,
    /// Different targets seen, three at most.
    targets: Vec<f64>,
    /// Features, then target, then weight.
    rows: Vec<Vec<f64>>,
    has_weights: bool,
}

impl RowSample {
    /// An empty sample of rows with this many columns.
    pub fn new(n_columns: usize) -> Self {
        Self::of_at_most(MOST_ROWS, n_columns)
    }

    /// An empty sample that keeps at most `most_rows`.
    pub fn of_at_most(most_rows: usize, n_columns: usize) -> Self {
        Self {
            n_columns,
            most_rows,
            stride: 1,
            n_seen: 0,
            targets: Vec::new(),
            rows: Vec::new(),
            has_weights: false,
        }
    }

    /// Sees further rows.
    pub fn look_at(&mut self, rows: Rows<'_>) {
        self.has_weights |= rows.weights().is_some();
        for target in rows.y() {
            if self.targets.len() > 2 {
                break;
            }
            if !self.targets.contains(target) {
                self.targets.push(*target);
            }
        }
        for row in 0..rows.len() {
            if self.n_seen.is_multiple_of(self.stride) {
                let mut cells: Vec<f64> = (0..self.n_columns).map(|j| rows.x()[(row, j)]).collect();
                cells.push(rows.y()[row]);
                cells.push(rows.weights().map_or(1.0, |weights| weights[row]));
                self.rows.push(cells);
                if self.rows.len() > self.most_rows {
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

    /// Whether all the rows it saw, and it saw more than a handful, have one of
    /// two targets.
    pub fn has_two_targets(&self) -> bool {
        self.targets.len() == 2 && self.n_seen >= 5
    }

    /// Whether it holds no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows it holds.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All numbers: what was seen, and the rows one after the other.
    pub fn to_parts(&self) -> (SampleCounts, Vec<f64>) {
        let &Self { stride, n_seen, has_weights, .. } = self;
        let counts = SampleCounts { stride, n_seen, has_weights, targets: self.targets.clone() };
        (counts, self.rows.concat())
    }

    /// A sample from its numbers, unless they do not add up.
    pub fn from_parts(n_columns: usize, counts: SampleCounts, cells: &[f64]) -> Option<Self> {
        let SampleCounts { stride, n_seen, has_weights, targets } = counts;
        let rows: Vec<Vec<f64>> = cells.chunks(n_columns + 2).map(<[f64]>::to_vec).collect();
        let whole = cells.len().is_multiple_of(n_columns + 2) && stride.is_power_of_two();
        let expected = n_seen.div_ceil(stride.max(1));
        (whole && rows.len() as u64 == expected).then_some(Self {
            n_columns,
            most_rows: MOST_ROWS,
            stride,
            n_seen,
            targets,
            rows,
            has_weights,
        })
    }

    /// Does something with the rows.
    pub fn with_rows<T>(&self, work: impl FnOnce(Rows<'_>) -> T) -> Option<T> {
        let n = self.rows.len();
        let x = Mat::from_fn(n, self.n_columns, |i, j| self.rows[i][j]);
        let column = |j: usize| self.rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let (y, weights) = (column(self.n_columns), column(self.n_columns + 1));
        let rows = Rows::new(x.as_ref(), &y).ok()?;
        let rows = if self.has_weights { rows.with_weights(&weights).ok()? } else { rows };
        Some(work(rows))
    }
}

/// A sample of each class, so that a rare label is not left to chance.
#[derive(Debug, Clone)]
pub struct LabelSample {
    classes: Vec<RowSample>,
}

impl LabelSample {
    /// Empty samples, one for each class.
    pub fn new(n_columns: usize, n_classes: usize) -> Self {
        let most = (MOST_ROWS / n_classes.max(1)).max(FEWEST_OF_A_CLASS);
        Self { classes: vec![RowSample::of_at_most(most, n_columns); n_classes] }
    }

    /// Rows whose targets are classes.
    pub fn look_at(&mut self, rows: Rows<'_>) {
        for (row, &class) in rows.y().iter().enumerate() {
            if let Some(sample) = self.classes.get_mut(class as usize) {
                sample.look_at(rows.slice(row, 1));
            }
        }
    }

    /// Whether it holds no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows it holds.
    pub fn len(&self) -> usize {
        self.classes.iter().map(RowSample::len).sum()
    }

    /// The samples of the classes, or one of them all.
    pub fn classes(&self) -> &[RowSample] {
        &self.classes
    }

    /// Samples of classes, as they were saved.
    pub fn of_classes(classes: Vec<RowSample>) -> Self {
        Self { classes }
    }

    /// Does something with the rows, and with how many rows each stands for.
    pub fn with_rows<T>(&self, work: impl FnOnce(Rows<'_>, &[f64]) -> T) -> Option<T> {
        let first = self.classes.first()?;
        let mut all = RowSample::of_at_most(usize::MAX, first.n_columns);
        let mut stands_for = Vec::with_capacity(self.len());
        for sample in &self.classes {
            all.rows.extend(sample.rows.iter().cloned());
            all.has_weights |= sample.has_weights;
            let each = sample.n_seen as f64 / sample.rows.len().max(1) as f64;
            stands_for.resize(all.rows.len(), each);
        }
        all.with_rows(|rows| work(rows, &stands_for))
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
