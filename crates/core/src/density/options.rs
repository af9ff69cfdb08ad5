//! How a reference is smoothed.

use super::bandwidth::Bandwidth;
use super::kernel::Kernel;

/// How columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// Minus the mean of the reference, divided by its standard deviation (divisor `n`).
    #[default]
    Standard,
    /// Not at all.
    None,
}

/// Which rows of the reference a sum visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// All, or by the tree if trials show that it visits far fewer.
    #[default]
    Auto,
    /// All.
    All,
    /// Those that matter, by a tree of boxes: the relative error of a sum is at most
    /// [`TREE_TOLERANCE`](super::TREE_TOLERANCE).
    Tree,
}

/// How a reference is smoothed.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `kernel` | Gaussian | the kernel |
/// | `bandwidth` | cross-validated | its width, in units of the scaled columns |
/// | `scaling` | standard | what makes columns comparable |
/// | `search` | auto | whether sums may leave out what cannot matter |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DensityOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// How wide it is.
    pub bandwidth: Bandwidth,
    /// How columns are scaled.
    pub scaling: Scaling,
    /// Which rows a sum visits.
    pub search: Search,
}
