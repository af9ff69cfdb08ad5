//! Moments of rows that arrive in chunks.

use super::{BLOCK_ROWS, Moments, MomentsForm, View};
use crate::{Error, Rows};
use faer::Mat;

/// Collects [`Moments`] from rows that arrive in chunks of any size.
///
/// The result has the same bits however the rows were cut: rows are gathered
/// into blocks of [`BLOCK_ROWS`] counted from the first row, and blocks are
/// merged like the digits of a binary counter. The first block also decides
/// whether second moments are held as products or as a triangle.
#[derive(Debug, Clone)]
pub struct MomentsBuilder {
    pub(super) n_features: usize,
    pub(super) n_rows: usize,
    /// Rows of a block that is not full yet, column-major with the target last.
    pub(super) pending: Mat<f64>,
    pub(super) n_pending: usize,
    /// Their weights, once there are any.
    pub(super) pending_weights: Option<Vec<f64>>,
    pub(super) n_blocks: u64,
    /// Whether a fit will centre the columns.
    pub(super) intercept: bool,
    /// Once it is decided.
    pub(super) form: Option<MomentsForm>,
    /// Merged blocks, each `2^level` of them, largest first.
    pub(super) merged: Vec<(u32, Moments)>,
}

impl MomentsBuilder {
    /// For rows of `n_features` features and a target.
    pub fn new(n_features: usize) -> Self {
        Self {
            n_features,
            n_rows: 0,
            pending: Mat::new(),
            n_pending: 0,
            pending_weights: None,
            n_blocks: 0,
            intercept: true,
            form: None,
            merged: Vec::new(),
        }
    }

    /// For a fit without an intercept: columns that are well apart when centred
    /// may be nearly the same when they are not.
    pub fn without_intercept(mut self) -> Self {
        self.intercept = false;
        self
    }

    /// In the form given, whatever the rows are like.
    pub fn with_form(mut self, form: MomentsForm) -> Self {
        self.form = Some(form);
        self
    }

    /// Rows so far, those of weight 0 included.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds rows; without weights each counts as one. After an error the
    /// builder must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`] and [`Error::BadWeight`]
    /// with the row counted within `rows`, [`Error::TooLarge`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        if rows.n_features() != self.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features });
        }
        rows.check_weights()?;
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
            let longest = available.ilog2().min(self.n_blocks.trailing_zeros());
            let level = if self.form.is_some() { longest } else { longest.min(1) };
            let len = BLOCK_ROWS << level;
            let run = self.of_blocks(rows.slice(start, len), level);
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
        if total.n_rows == 0 {
            return Err(Error::NoRows);
        }
        Ok(total)
    }

    /// Moments of `2^level` blocks; the first of all decides on the form.
    fn of_blocks(&mut self, rows: Rows<'_>, level: u32) -> Moments {
        if let Some(form) = self.form {
            return Moments::of_blocks(rows, level, form);
        }
        let first = rows.slice(0, rows.len().min(BLOCK_ROWS));
        let blocks = |form| {
            rayon::join(
                || Moments::of_block(first, form),
                || (level > 0).then(|| Moments::of_block(rows.slice(BLOCK_ROWS, BLOCK_ROWS), form)),
            )
        };
        let mut form = MomentsForm::Products;
        let (mut run, mut second) = blocks(form);
        if View::new(&run, self.intercept).is_hard(first) {
            form = MomentsForm::Triangle;
            (run, second) = blocks(form);
        }
        self.form = Some(form);
        if let Some(second) = second {
            run.absorb(&second);
        }
        run
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
        if rows.weights().is_some() || self.pending_weights.is_some() {
            let weights = self.pending_weights.get_or_insert_with(Vec::new);
            weights.resize(self.n_pending, 1.0);
            match rows.weights() {
                Some(added) => weights.extend_from_slice(&added[start..start + len]),
                None => weights.resize(needed, 1.0),
            }
        }
        self.n_pending = needed;
        Ok(start + len)
    }

    fn take_pending(&mut self) -> Moments {
        let pending = std::mem::replace(&mut self.pending, Mat::new());
        let block = self.moments_of_pending(&pending);
        self.pending = pending;
        block
    }

    fn moments_of_pending(&mut self, pending: &Mat<f64>) -> Moments {
        let (features, target) = pending.as_ref().split_at_col(self.n_features);
        let n = std::mem::take(&mut self.n_pending);
        let target = target.col(0).subrows(0, n);
        let target = target.try_as_col_major().expect("an owned matrix is column-major").as_slice();
        let mut rows = Rows::new(features.subrows(0, n), target).expect("both are cut to the same length");
        let weights = self.pending_weights.take();
        if let Some(weights) = &weights {
            rows = rows.with_weights(weights).expect("there is a weight for each pending row");
        }
        self.of_blocks(rows, 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(x: &Mat<f64>, y: &[f64], n: usize) -> Moments {
        Moments::of(Rows::new(x.as_ref().subrows(0, n), &y[..n]).unwrap()).unwrap()
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
