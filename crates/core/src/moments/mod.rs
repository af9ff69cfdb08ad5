//! First and second moments of the reference: all that a linear fit needs.
//!
//! | file | holds |
//! |---|---|
//! | `block.rs` | moments of a few thousand rows |
//! | `builder.rs` | moments of rows that arrive in chunks of any size |
//! | `triangle.rs` | a triangle instead of sums of products, if those lose too many digits |
//! | `view.rs` | moments as a fit needs them: centred or not, scaled, without dependent columns |
//! | `change.rs` | rows added, rows removed, columns recombined |
//! | `parts.rs` | the plain numbers, for files |

mod block;
mod builder;
mod change;
mod parts;
mod triangle;
mod view;

pub use block::panel_rows;
pub use builder::MomentsBuilder;
pub use change::Combination;
pub use parts::{BuilderParts, MomentsParts};
pub(crate) use view::{View, is_hard_share};

use crate::{Error, Rows};
use faer::Mat;

/// Rows that are summed together before anything is merged. Fixed, and merged
/// in a fixed tree, so that neither threads nor chunks change a bit.
pub const BLOCK_ROWS: usize = 4096;

/// Count, mean and second moments of rows and their target.
///
/// The second moments are about the mean. The mean is held as the unevaluated
/// sum `shift + offset`, where the shift is a number close to the data: with a
/// mean of 1e9 and a spread of 1 the offset still has all its digits, and so
/// have differences of means when two sets of rows are merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Rows with a positive weight.
    n_rows: usize,
    /// Sums of the weights and of their squares; without weights both are the
    /// number of rows.
    weight: f64,
    weight_sq: f64,
    shift: Vec<f64>,
    offset: Vec<f64>,
    form: MomentsForm,
    /// `G = Σ w (z − mean)(z − mean)ᵀ` with `z = (x, y)`, or `L` with
    /// `G = L Lᵀ`; zero above the diagonal.
    lower: Mat<f64>,
    /// After rows were removed: the largest sum of squares each column ever had, to which
    /// its rounding errors are proportional.
    peak: Option<Vec<f64>>,
}

/// How second moments are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentsForm {
    /// As sums of products: one matrix product.
    Products,
    /// As the triangle of an orthogonal factorisation, which keeps twice as
    /// many digits of columns that are nearly combinations of others.
    Triangle,
}

impl Moments {
    /// Moments of `rows`, on all threads of the current pool.
    ///
    /// Second moments are held as products, unless the first [`BLOCK_ROWS`] rows
    /// show that those lose too many digits.
    ///
    /// `O(n p²)` time, `O(p² log n)` memory besides the rows, one pass.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::NotFinite`], [`Error::BadWeight`],
    /// [`Error::TooLarge`].
    pub fn of(rows: Rows<'_>) -> Result<Self, Error> {
        let mut builder = MomentsBuilder::new(rows.n_features());
        builder.push(rows)?;
        builder.finish()
    }

    /// Number of rows; those of weight 0 do not count.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features; the target comes after them.
    pub fn n_features(&self) -> usize {
        self.shift.len() - 1
    }

    /// Sum of the weights: the number of rows if there are none.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `(Σw)² / Σw²`: the number of equally weighted rows that carry as much information.
    /// It is the number of rows if weights are equal or not given.
    pub fn effective_rows(&self) -> f64 {
        if self.weight == self.weight_sq {
            // Weights of one, where the square might not be exact.
            return self.weight;
        }
        (self.weight * (self.weight / self.weight_sq)).min(self.n_rows as f64)
    }

    /// Mean of a column, rounded to one double. The target is the last column.
    pub fn mean(&self, column: usize) -> f64 {
        self.shift[column] + self.offset[column]
    }

    /// Mean of a column as a sum of two doubles.
    pub(crate) fn mean_parts(&self, column: usize) -> (f64, f64) {
        (self.shift[column], self.offset[column])
    }

    /// Sum of weighted products of deviations from the means of two columns.
    pub fn centred(&self, i: usize, j: usize) -> f64 {
        match self.form {
            MomentsForm::Products => self.lower[(i.max(j), i.min(j))],
            MomentsForm::Triangle => (0..=i.min(j)).map(|l| self.lower[(i, l)] * self.lower[(j, l)]).sum(),
        }
    }

    /// Sum of weighted products of two columns as they are.
    pub fn raw(&self, i: usize, j: usize) -> f64 {
        self.centred(i, j) + self.weight * self.mean(i) * self.mean(j)
    }

    /// How second moments are held.
    pub fn form(&self) -> MomentsForm {
        self.form
    }

    /// How many times larger the rounding errors of a column are, relative to its sum of
    /// squares, than if no row had ever been removed.
    pub fn inflation(&self, column: usize) -> f64 {
        match &self.peak {
            None => 1.0,
            Some(peak) => (peak[column] / self.centred(column, column)).max(1.0),
        }
    }

    /// Decimal digits left in the column that lost most of them.
    pub fn digits(&self) -> f64 {
        let worst = (0..self.shift.len()).map(|column| self.inflation(column)).fold(1.0, f64::max);
        let loss = match self.form {
            MomentsForm::Products => worst,
            MomentsForm::Triangle => worst.sqrt(),
        };
        -(f64::EPSILON * loss).log10()
    }

    fn is_finite(&self) -> bool {
        self.weight_sq.is_finite()
            && (0..self.shift.len()).all(|j| {
                self.shift[j].is_finite()
                    && self.lower.col_as_slice(j)[j..].iter().all(|cell| cell.is_finite())
            })
    }
}
