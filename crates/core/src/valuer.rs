//! What every fitted method can do.

use crate::{Error, Rows, Values};

/// A way of assigning values to rows.
pub trait Valuer {
    /// Values `points`, in their own order.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`] for rows of another width, [`Error::NotFinite`]
    /// and [`Error::TooLarge`] for cells that cannot be computed with.
    fn values(&self, points: Rows<'_>) -> Result<Values, Error>;
}
