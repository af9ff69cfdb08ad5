//! Moments of rows that arrive in chunks.

use super::{BLOCK_ROWS, Moments, MomentsForm, View};
use crate::blocks::{BlockSums, Sweep, of_blocks};
use crate::{Error, Rows};

/// Collects [`Moments`] from rows that arrive in chunks of any size.
///
/// The result has the same bits however the rows are cut: rows are gathered into blocks
/// of [`BLOCK_ROWS`] counted from the first row, and blocks are merged like the digits of
/// a binary counter. The first block also decides whether second moments are held as
/// products or as a triangle.
#[derive(Debug, Clone)]
pub struct MomentsBuilder {
    pub(super) sums: BlockSums<MomentsSweep>,
}

impl MomentsBuilder {
    /// For rows of `n_features` features and a target.
    pub fn new(n_features: usize) -> Self {
        Self { sums: BlockSums::new(n_features, MomentsSweep { intercept: true, form: None }) }
    }

    /// For a fit without an intercept: columns that are well apart when centred
    /// may be nearly the same when they are not.
    pub fn without_intercept(mut self) -> Self {
        self.sums.sweep.intercept = false;
        self
    }

    /// In the form given, whatever the rows are like.
    pub fn with_form(mut self, form: MomentsForm) -> Self {
        self.sums.sweep.form = Some(form);
        self
    }

    /// Rows so far, including those of weight 0.
    pub fn n_rows(&self) -> usize {
        self.sums.n_rows()
    }

    /// Adds rows; without weights each counts as one. After an error the
    /// builder must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`] and [`Error::BadWeight`]
    /// with the row counted within `rows`, [`Error::TooLarge`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        self.sums.push(rows)
    }

    /// The moments of all rows.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::TooLarge`].
    pub fn finish(self) -> Result<Moments, Error> {
        let total = self.sums.finish()?;
        if total.n_rows == 0 {
            return Err(Error::NoRows);
        }
        Ok(total)
    }
}

/// Sums moments in a form that the first block decides on.
#[derive(Debug, Clone)]
pub(super) struct MomentsSweep {
    /// Whether a fit will centre the columns.
    pub(super) intercept: bool,
    /// Once it is decided.
    pub(super) form: Option<MomentsForm>,
}

impl Sweep for MomentsSweep {
    type Sums = Moments;

    fn of_block(&self, rows: Rows<'_>) -> Moments {
        Moments::of_block(rows, self.form.unwrap_or(MomentsForm::Products))
    }

    fn absorb(sums: &mut Moments, later: Moments) {
        sums.absorb(&later);
    }

    fn is_finite(sums: &Moments) -> bool {
        sums.is_finite()
    }

    /// Two blocks until the form is decided: only these are summed again if it is not the
    /// usual one.
    fn longest_run(&self) -> u32 {
        if self.form.is_some() { u32::MAX } else { 1 }
    }

    fn of_run(&mut self, rows: Rows<'_>, level: u32) -> Moments {
        if self.form.is_some() {
            return of_blocks(self, rows, level);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

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
            let levels: Vec<u32> = builder.sums.merged.iter().map(|(level, _)| *level).collect();
            assert_eq!(
                (levels, builder.sums.n_blocks, builder.sums.n_pending),
                (vec![3, 1, 0], 11, 3),
                "{chunk}"
            );
        }
    }

    /// The first block's mean becomes the shift, and the offset holds the rest.
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
        assert_eq!((builder.sums.pending.nrows(), builder.sums.n_pending), (128, 70));
        assert_eq!(builder.finish().unwrap(), rows(&x, &y, 70));
    }
}
