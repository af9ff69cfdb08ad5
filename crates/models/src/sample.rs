//! Some rows of a table, spread evenly over it.

use dshap::{Combination, Rows};
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

    /// Adds a sample of later rows. Where the rows before are whole blocks of 4096, merged as
    /// moments are, these are the rows that one sample of all would have; otherwise as many,
    /// spread evenly over both.
    pub fn absorb(&mut self, mut later: RowSample) {
        self.has_weights |= later.has_weights;
        for target in later.targets.drain(..) {
            if self.targets.len() <= 2 && !self.targets.contains(&target) {
                self.targets.push(target);
            }
        }
        let n_seen = self.n_seen + later.n_seen;
        let mut stride = self.stride.max(later.stride);
        while n_seen.div_ceil(stride) > self.most_rows as u64 {
            stride *= 2;
        }
        self.thin(stride);
        later.thin(stride);
        self.rows.append(&mut later.rows);
        self.n_seen = n_seen;
        let (have, wanted) = (self.rows.len(), n_seen.div_ceil(stride) as usize);
        if have > wanted {
            // Both began with a row of their own, wherever the stride was.
            let mut places = (0..wanted).map(|i| i * have / wanted).peekable();
            let mut place = 0;
            self.rows.retain(|_| {
                place += 1;
                places.next_if_eq(&(place - 1)).is_some()
            });
        }
    }

    /// Keeps rows in wider strides.
    fn thin(&mut self, stride: u64) {
        let step = (stride / self.stride) as usize;
        if step > 1 {
            let mut place = 0;
            self.rows.retain(|_| {
                place += 1;
                (place - 1_usize).is_multiple_of(step)
            });
        }
        self.stride = stride;
    }

    /// The same rows in other columns.
    pub fn recombined(mut self, columns: &[Combination]) -> Self {
        for row in &mut self.rows {
            let cell = |column: &Combination| {
                column.constant + column.terms.iter().map(|&(old, factor)| factor * row[old]).sum::<f64>()
            };
            let beside = row[self.n_columns..].iter().copied();
            *row = columns.iter().map(cell).chain(beside).collect();
        }
        self.n_columns = columns.len();
        self
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

    /// Number of rows it was taken from.
    pub fn n_seen(&self) -> u64 {
        self.n_seen
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

    /// Adds samples of later rows, class by class.
    pub fn absorb(&mut self, later: LabelSample) {
        self.classes.iter_mut().zip(later.classes).for_each(|(sample, later)| sample.absorb(later));
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

    /// Samples of classes from their numbers, to which others can be added.
    pub fn from_parts(n_columns: usize, parts: Vec<(SampleCounts, Vec<f64>)>) -> Option<Self> {
        let most = Self::new(n_columns, parts.len()).classes.first().map_or(MOST_ROWS, |one| one.most_rows);
        let sample = |(counts, cells): (SampleCounts, Vec<f64>)| {
            Some(RowSample { most_rows: most, ..RowSample::from_parts(n_columns, counts, &cells)? })
        };
        parts.into_iter().map(sample).collect::<Option<_>>().map(Self::of_classes)
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

    fn of_range(start: usize, len: usize) -> RowSample {
        let x = Mat::from_fn(len, 1, |i, _| (start + i) as f64);
        let mut sample = RowSample::new(1);
        sample.look_at(Rows::new(x.as_ref(), &vec![0.0; len]).expect("same length"));
        sample
    }

    #[test]
    fn samples_of_whole_blocks_are_one_sample() {
        for n in [4096, 5000, 3 * 4096, 11 * 4096 + 77] {
            // Like the digits of a counter, then from the end.
            let (mut runs, mut start): (Vec<(usize, RowSample)>, usize) = (Vec::new(), 0);
            while start < n {
                let len = 4096.min(n - start);
                let (mut level, mut sample) = (0, of_range(start, len));
                while let Some((_, mut left)) = runs.pop_if(|(have, _)| *have == level && len == 4096) {
                    left.absorb(sample);
                    (level, sample) = (level + 1, left);
                }
                runs.push((level, sample));
                start += len;
            }
            let (_, mut total) = runs.pop().expect("rows");
            while let Some((_, mut before)) = runs.pop() {
                before.absorb(total);
                total = before;
            }
            assert_eq!(
                total.with_rows(|rows| rows.x().col(0).iter().copied().collect()),
                Some(sampled(n, 7))
            );
        }
    }

    #[test]
    fn samples_of_any_parts_are_as_many_rows_from_everywhere() {
        let mut total = of_range(0, 1);
        for part in 0..300 {
            total.absorb(of_range(1 + 97 * part, 97));
        }
        let (counts, cells) = total.to_parts();
        let again = RowSample::from_parts(1, counts, &cells).expect("its own numbers");
        let rows =
            again.with_rows(|rows| rows.x().col(0).iter().copied().collect::<Vec<f64>>()).expect("rows");
        assert!(rows.len() <= MOST_ROWS && rows.len() >= MOST_ROWS / 2);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] < 200.0), "{rows:?}");
    }
}
