//! Triangular factors that leave out columns that depend on earlier ones.
//!
//! | file | holds |
//! |---|---|
//! | `products.rs` | from sums of products: fast, and good while no column is nearly a combination of others |
//! | `root.rs` | the triangle of an orthogonal factorisation |
//! | `triangle.rs` | from that triangle: twice the digits, where that matters |
//! | `condition.rs` | how much a factor magnifies errors |

mod condition;
mod products;
mod root;
mod triangle;

pub(crate) use condition::condition;
pub(crate) use root::{add_to_root, lower_root};
pub(crate) use triangle::{Reduced, reduce};

use faer::Mat;

/// A share of variation above this needs no closer look.
const CLEAR_SHARE: f64 = 1e-6;

/// `L` with `L Lᵀ` = the products of the independent columns.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// Lower triangular, the strict upper part zero.
    pub(crate) lower: Mat<f64>,
    /// The columns kept, ascending.
    pub(crate) kept: Vec<usize>,
    /// The columns found to depend on earlier ones, ascending.
    pub(crate) dropped: Vec<usize>,
    /// The kept column with the smallest share of its own variation, and that share: `1 −
    /// R²` on the columns before it, less if rounding errors are inflated.
    pub(crate) weakest: Option<(usize, f64)>,
}
