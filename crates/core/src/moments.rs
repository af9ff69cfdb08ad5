//! First and second moments of the reference: all that a linear fit needs.

use crate::{Error, Rows};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use rayon::join;

/// Rows that are summed together before anything is merged. Fixed, and merged
/// in a fixed tree, so that neither threads nor chunks change a bit.
pub const BLOCK_ROWS: usize = 4096;

/// Rows copied and centred at a time; with 100 columns they fill a level-2 cache.
const PANEL_ROWS: usize = 256;

/// Count, mean and second moments of rows and their target.
///
/// The second moments are about the mean. The mean is held as the unevaluated
/// sum `shift + offset`, where the shift is a number close to the data: with a
/// mean of 1e9 and a spread of 1 the offset still has all its digits, and so
/// have differences of means when two sets of rows are merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    n_rows: usize,
    shift: Vec<f64>,
    offset: Vec<f64>,
    /// `Σ (z − mean)(z − mean)ᵀ` with `z = (x, y)`; lower triangle.
    gram: Mat<f64>,
}

impl Moments {
    /// Moments of `rows`, on all threads of the current pool.
    ///
    /// `O(n p²)` time, `O(p² log n)` memory besides the rows, one pass.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn of(rows: Rows<'_>) -> Result<Self, Error> {
        let mut builder = MomentsBuilder::new(rows.n_features());
        builder.push(rows)?;
        builder.finish()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features; the target comes after them.
    pub fn n_features(&self) -> usize {
        self.shift.len() - 1
    }

    /// Mean of a column, rounded to one double. The target is the last column.
    pub fn mean(&self, column: usize) -> f64 {
        self.shift[column] + self.offset[column]
    }

    /// Mean of a column as a sum of two doubles.
    pub(crate) fn mean_parts(&self, column: usize) -> (f64, f64) {
        (self.shift[column], self.offset[column])
    }

    /// Sum of products of deviations from the means of two columns.
    pub fn centred(&self, i: usize, j: usize) -> f64 {
        if i >= j { self.gram[(i, j)] } else { self.gram[(j, i)] }
    }

    /// Sum of products of two columns as they are.
    pub fn raw(&self, i: usize, j: usize) -> f64 {
        self.centred(i, j) + self.n_rows as f64 * self.mean(i) * self.mean(j)
    }

    /// Adds the moments of other rows (Chan, Golub and LeVeque).
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`] when the columns differ in number,
    /// [`Error::TooLarge`] when the means are too far apart to be squared; the
    /// moments must not be used further then.
    pub fn merge(&mut self, other: &Moments) -> Result<(), Error> {
        if other.n_features() != self.n_features() {
            return Err(Error::FeatureCount { found: other.n_features(), expected: self.n_features() });
        }
        self.absorb(other);
        if !self.is_finite() {
            return Err(Error::TooLarge);
        }
        Ok(())
    }

    fn absorb(&mut self, other: &Moments) {
        let (n1, n2) = (self.n_rows as f64, other.n_rows as f64);
        let k = self.shift.len();
        let delta: Vec<f64> =
            (0..k).map(|j| (other.shift[j] - self.shift[j]) + (other.offset[j] - self.offset[j])).collect();
        let weight = n1 * n2 / (n1 + n2);
        pulp::Arch::new().dispatch(|| {
            for j in 0..k {
                let scaled = weight * delta[j];
                let column = &mut self.gram.col_as_slice_mut(j)[j..];
                for ((sum, add), d) in
                    column.iter_mut().zip(&other.gram.col_as_slice(j)[j..]).zip(&delta[j..])
                {
                    *sum += add + scaled * d;
                }
            }
        });
        for (offset, d) in self.offset.iter_mut().zip(&delta) {
            *offset += d * (n2 / (n1 + n2));
        }
        self.n_rows += other.n_rows;
    }

    /// Moments of at most [`BLOCK_ROWS`] rows, on one thread.
    fn of_block(rows: Rows<'_>) -> Self {
        let (n, k) = (rows.len(), rows.n_features() + 1);
        let mut panel = Mat::<f64>::zeros(PANEL_ROWS.min(n), k);
        let starts = (0..n).step_by(PANEL_ROWS);

        // A first estimate of the mean, to be subtracted from every cell. What
        // it misses by is corrected below, so plain summation is good enough.
        let mut shift = vec![0.0; k];
        for start in starts.clone() {
            let len = PANEL_ROWS.min(n - start);
            for (j, shift) in shift.iter_mut().enumerate() {
                let cells = &mut panel.col_as_slice_mut(j)[..len];
                rows.copy_centred(j, start, 0.0, 0.0, cells);
                *shift += lane_sum(cells);
            }
        }
        shift.iter_mut().for_each(|sum| *sum /= n as f64);

        let mut rest = vec![0.0; k];
        let mut gram = Mat::<f64>::zeros(k, k);
        for start in starts {
            let len = PANEL_ROWS.min(n - start);
            for j in 0..k {
                let cells = &mut panel.col_as_slice_mut(j)[..len];
                rows.copy_centred(j, start, shift[j], 0.0, cells);
                rest[j] += lane_sum(cells);
            }
            let block = panel.as_ref().subrows(0, len);
            triangular::matmul(
                gram.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                block.transpose(),
                BlockStructure::Rectangular,
                block,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        for j in 0..k {
            let scaled = rest[j] / n as f64;
            for (sum, rest) in gram.col_as_slice_mut(j)[j..].iter_mut().zip(&rest[j..]) {
                *sum -= scaled * rest;
            }
        }
        let offset = rest.iter().map(|rest| rest / n as f64).collect();
        Self { n_rows: n, shift, offset, gram }
    }

    /// Moments of a power of two of full blocks, merged as a balanced tree.
    fn of_blocks(rows: Rows<'_>, level: u32) -> Self {
        if level == 0 {
            return Self::of_block(rows);
        }
        let half = BLOCK_ROWS << (level - 1);
        let (mut left, right) = join(
            || Self::of_blocks(rows.slice(0, half), level - 1),
            || Self::of_blocks(rows.slice(half, half), level - 1),
        );
        left.absorb(&right);
        left
    }

    fn is_finite(&self) -> bool {
        (0..self.shift.len()).all(|j| {
            self.shift[j].is_finite() && self.gram.col_as_slice(j)[j..].iter().all(|g| g.is_finite())
        })
    }
}

/// Collects [`Moments`] from rows that arrive in chunks of any size.
///
/// The result has the same bits however the rows were cut: rows are gathered
/// into blocks of [`BLOCK_ROWS`] counted from the first row, and blocks are
/// merged like the digits of a binary counter.
#[derive(Debug, Clone)]
pub struct MomentsBuilder {
    n_features: usize,
    n_rows: usize,
    /// Rows of a block that is not full yet, column-major with the target last.
    pending: Mat<f64>,
    n_pending: usize,
    n_blocks: u64,
    /// Merged blocks, each `2^level` of them, largest first.
    merged: Vec<(u32, Moments)>,
}

impl MomentsBuilder {
    /// For rows of `n_features` features and a target.
    pub fn new(n_features: usize) -> Self {
        Self { n_features, n_rows: 0, pending: Mat::new(), n_pending: 0, n_blocks: 0, merged: Vec::new() }
    }

    /// Rows so far.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds rows. After an error the builder must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`] with the row counted
    /// within `rows`, [`Error::TooLarge`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        if rows.n_features() != self.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features });
        }
        self.n_rows += rows.len();
        let mut start = 0;
        if self.n_pending > 0 {
            start = self.fill_pending(rows, 0)?;
            if self.n_pending == BLOCK_ROWS {
                let block = self.take_pending();
                self.push_merged(0, block)?;
            }
        }
        while rows.len() - start >= BLOCK_ROWS {
            // The longest aligned run of blocks: a subtree of the counter.
            let available = ((rows.len() - start) / BLOCK_ROWS) as u64;
            let level = available.ilog2().min(self.n_blocks.trailing_zeros());
            let len = BLOCK_ROWS << level;
            let run = Moments::of_blocks(rows.slice(start, len), level);
            if !run.is_finite() {
                return Err(rows.explain_not_finite(start, len));
            }
            self.push_merged(level, run)?;
            start += len;
        }
        self.fill_pending(rows, start)?;
        Ok(())
    }

    /// The moments of all rows.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::TooLarge`].
    pub fn finish(mut self) -> Result<Moments, Error> {
        if self.n_pending > 0 {
            let block = self.take_pending();
            self.merged.push((0, block));
        }
        let (_, mut total) = self.merged.pop().ok_or(Error::NoRows)?;
        while let Some((_, mut larger)) = self.merged.pop() {
            larger.absorb(&total);
            total = larger;
        }
        if !total.is_finite() {
            return Err(Error::TooLarge);
        }
        Ok(total)
    }

    /// Copies rows from `start` on until the pending block is full; returns
    /// the first row not copied.
    fn fill_pending(&mut self, rows: Rows<'_>, start: usize) -> Result<usize, Error> {
        let len = (BLOCK_ROWS - self.n_pending).min(rows.len() - start);
        if len == 0 {
            return Ok(start);
        }
        let needed = self.n_pending + len;
        if self.pending.nrows() < needed {
            // Grows by doubling, so that a small table stays small.
            let capacity = needed.next_power_of_two().min(BLOCK_ROWS);
            self.pending.resize_with(capacity, self.n_features + 1, |_, _| 0.0);
        }
        for j in 0..=self.n_features {
            let cells = &mut self.pending.col_as_slice_mut(j)[self.n_pending..needed];
            rows.copy_centred(j, start, 0.0, 0.0, cells);
            // Checked here, while the caller's row numbers are known.
            if !cells.iter().all(|cell| cell.is_finite()) {
                return Err(rows.explain_not_finite(start, len));
            }
        }
        self.n_pending = needed;
        Ok(start + len)
    }

    fn take_pending(&mut self) -> Moments {
        let (features, target) = self.pending.as_ref().split_at_col(self.n_features);
        let n = std::mem::take(&mut self.n_pending);
        let target = target.col(0).subrows(0, n);
        let target = target.try_as_col_major().expect("an owned matrix is column-major").as_slice();
        let rows = Rows::new(features.subrows(0, n), target).expect("both are cut to the same length");
        Moments::of_block(rows)
    }

    fn push_merged(&mut self, level: u32, run: Moments) -> Result<(), Error> {
        if !run.is_finite() {
            return Err(Error::TooLarge);
        }
        self.n_blocks += 1 << level;
        let (mut level, mut run) = (level, run);
        while let Some((_, mut left)) = self.merged.pop_if(|(have, _)| *have == level) {
            left.absorb(&run);
            (level, run) = (level + 1, left);
        }
        self.merged.push((level, run));
        Ok(())
    }
}

/// Sum in eight interleaved lanes: fast, and more accurate than one after the other.
fn lane_sum(cells: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = cells.chunks_exact(8);
    let tail: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, cell) in lanes.iter_mut().zip(chunk) {
            *lane += cell;
        }
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(x: &Mat<f64>, y: &[f64], n: usize) -> Moments {
        Moments::of(Rows::new(x.as_ref().subrows(0, n), &y[..n]).unwrap()).unwrap()
    }

    #[test]
    fn lane_sum_counts_every_cell_once() {
        for n in 0..40 {
            let cells: Vec<f64> = (0..n).map(|i| f64::from(i * i) - 7.5).collect();
            assert_eq!(lane_sum(&cells), cells.iter().sum::<f64>(), "{n} cells, exact either way");
        }
    }

    /// Eleven blocks are 8 + 2 + 1, as 11 is in binary, whatever the chunks.
    #[test]
    fn blocks_are_merged_like_the_digits_of_a_counter() {
        let n = 11 * BLOCK_ROWS + 3;
        let x = Mat::from_fn(n, 1, |i, _| (i % 101) as f64);
        let y: Vec<f64> = (0..n).map(|i| (i % 97) as f64).collect();
        for chunk in [n, BLOCK_ROWS, 3 * BLOCK_ROWS + 1] {
            let mut builder = MomentsBuilder::new(1);
            for start in (0..n).step_by(chunk) {
                let len = chunk.min(n - start);
                builder
                    .push(Rows::new(x.as_ref().subrows(start, len), &y[start..start + len]).unwrap())
                    .unwrap();
            }
            let levels: Vec<u32> = builder.merged.iter().map(|(level, _)| *level).collect();
            assert_eq!((levels, builder.n_blocks, builder.n_pending), (vec![3, 1, 0], 11, 3), "{chunk}");
        }
    }

    /// The first block's mean becomes the shift and the offset takes up the rest.
    #[test]
    fn a_mean_keeps_more_digits_than_a_double_holds() {
        // Means 1e9 + 1/3 and 1/3: the thirds must agree beyond the 7 digits
        // that 1e9 leaves of them.
        let n = 3 * BLOCK_ROWS;
        let third = |i: usize| f64::from(u8::from(i.is_multiple_of(3)));
        let x = Mat::from_fn(n, 2, |i, j| third(i) + [1e9, 0.0][j]);
        let y: Vec<f64> = (0..n).map(third).collect();
        let (shift, offset) = rows(&x, &y, n).mean_parts(0);
        assert!(((shift - 1e9) + offset - 1.0 / 3.0).abs() < 1e-14, "{shift} + {offset:e}");
        assert_ne!(shift + offset - 1e9, 1.0 / 3.0, "one double cannot tell");
    }

    #[test]
    fn pending_rows_grow_by_doubling() {
        let x = Mat::from_fn(70, 2, |i, j| (i + j) as f64);
        let y = vec![0.5; 70];
        let mut builder = MomentsBuilder::new(2);
        builder.push(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
        assert_eq!((builder.pending.nrows(), builder.n_pending), (128, 70));
        assert_eq!(builder.finish().unwrap(), rows(&x, &y, 70));
    }
}
