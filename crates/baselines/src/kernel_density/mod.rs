//! Kernel density: a set is worth the integrated squared error it saves.
//!
//! ```text
//! U(S) = ∫p² − ∫(p̂_S − p)² = −(1/s²) Σ_{il} (k*k)_h(z_i − z_l) + (2/s) Σ_i ∫p(z) k_h(z_i − z) dz
//! ```
//!
//! in closed form, as in Theorem 5, except for the density `p` itself: it is a mean over
//! test rows, or known ([`SmoothedDensity`]). `∫p²` makes the empty set, whose estimate
//! is 0 everywhere, worth 0. A row that joins or leaves a set of `s` rows costs `s`
//! kernels. Targets are ignored.

mod tiles;

use crate::Error;
use crate::utility::{Row, Utility};
use dshap::density::{BANDWIDTH_RANGE, Kernel};
use faer::MatRef;
use tiles::{Shape, Tiles};

/// A density smoothed by a kernel, as a function of the place.
pub type Smoothed<'a> = dyn Fn(&[f64]) -> f64 + Sync + 'a;

/// `∫p(z) k_h(x − z) dz`, the density smoothed by the kernel.
#[derive(Clone, Copy)]
pub enum SmoothedDensity<'a> {
    /// A mean over test rows.
    Rows(MatRef<'a, f64>),
    /// A known function.
    Known(&'a Smoothed<'a>),
}

/// The utility: integrated squared error saved.
pub struct KernelDensity<'a> {
    kernel: Kernel,
    bandwidth: f64,
    dim: usize,
    known: Option<&'a Smoothed<'a>>,
    test: Tiles,
    /// `k_h(0)` and `(k*k)_h(0)`.
    peak: f64,
    convolved_peak: f64,
}

impl std::fmt::Debug for KernelDensity<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kernel, bandwidth, dim, .. } = self;
        write!(f, "KernelDensity {{ kernel: {kernel:?}, bandwidth: {bandwidth}, dim: {dim}, .. }}")
    }
}

/// A set of rows, and sums of kernels over it.
#[derive(Debug, Clone)]
pub struct KernelDensitySet {
    rows: Tiles,
    /// `Σ_{il} (k*k)_h(z_i − z_l)`, including pairs of a row with itself.
    pairs: f64,
    memos: f64,
}

impl KernelDensity<'static> {
    /// As [`new`](KernelDensity::new) with the density of test rows, which are
    /// copied.
    ///
    /// # Errors
    ///
    /// As for [`new`](KernelDensity::new).
    pub fn tested_on(test: MatRef<'_, f64>, kernel: Kernel, bandwidth: f64) -> Result<Self, Error> {
        let cells = packed(test, test.ncols()).map_err(Error::in_test)?;
        Self::from_cells(test.ncols(), kernel, bandwidth, None, cells)
    }
}

impl<'a> KernelDensity<'a> {
    /// Estimates with `kernel`, of bandwidth `bandwidth` in the units of the rows.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::BadBandwidth`], [`dshap::Error::NoTestRows`],
    /// [`dshap::Error::InTest`], [`dshap::Error::NoFeatures`],
    /// [`Error::KernelRange`].
    pub fn new(
        dim: usize,
        kernel: Kernel,
        bandwidth: f64,
        density: SmoothedDensity<'a>,
    ) -> Result<Self, Error> {
        let (known, test) = match density {
            SmoothedDensity::Known(known) => (Some(known), Tiles::new(dim)),
            SmoothedDensity::Rows(rows) => (None, packed(rows, dim).map_err(Error::in_test)?),
        };
        Self::from_cells(dim, kernel, bandwidth, known, test)
    }

    fn from_cells(
        dim: usize,
        kernel: Kernel,
        bandwidth: f64,
        known: Option<&'a Smoothed<'a>>,
        test: Tiles,
    ) -> Result<Self, Error> {
        if !BANDWIDTH_RANGE.contains(&bandwidth) {
            return Err(dshap::Error::BadBandwidth { bandwidth }.into());
        }
        if dim == 0 {
            return Err(dshap::Error::NoFeatures { n_features: 0 }.into());
        }
        if known.is_none() && test.n_rows() == 0 {
            return Err(dshap::Error::NoTestRows.into());
        }
        let peak = kernel.log_peak(bandwidth, dim).exp();
        let convolved_peak = kernel.log_convolved_peak(bandwidth, dim).exp();
        if !(peak.is_normal() && convolved_peak.is_normal()) {
            return Err(Error::KernelRange { bandwidth, dim });
        }
        Ok(Self { kernel, bandwidth, dim, known, test, peak, convolved_peak })
    }

    /// `(k*k)_h(a − b)`.
    pub(crate) fn convolved(&self, a: &[f64], b: &[f64]) -> f64 {
        let ratios = || a.iter().zip(b).map(|(a, b)| (a - b) / self.bandwidth);
        let shape: f64 = match self.kernel {
            Kernel::Gaussian => (-0.25 * ratios().map(|u| u * u).sum::<f64>()).exp(),
            kernel => ratios().map(|u| kernel.convolved_shape(u)).product(),
        };
        self.convolved_peak * shape
    }

    /// `(k*k)_h(0)`.
    pub(crate) fn convolved_peak(&self) -> f64 {
        self.convolved_peak
    }

    /// `Σ (k*k)_h(x − row)` over the rows of a set.
    fn cross(&self, set: &KernelDensitySet, x: &[f64]) -> f64 {
        self.convolved_peak * set.rows.sum(x, self.shape(true))
    }

    fn shape(&self, is_convolved: bool) -> Shape {
        Shape { kernel: self.kernel, bandwidth: self.bandwidth, is_convolved }
    }

    fn worth(&self, n_rows: usize, pairs: f64, memos: f64) -> f64 {
        if n_rows == 0 {
            return 0.0;
        }
        let s = n_rows as f64;
        2.0 * memos / s - pairs / (s * s)
    }
}

impl Utility for KernelDensity<'_> {
    type Set = KernelDensitySet;

    fn n_features(&self) -> usize {
        self.dim
    }

    fn memo(&self, x: &[f64], _y: f64) -> f64 {
        match self.known {
            Some(known) => known(x),
            None => self.peak * self.test.sum(x, self.shape(false)) / self.test.n_rows() as f64,
        }
    }

    fn empty(&self) -> KernelDensitySet {
        KernelDensitySet { rows: Tiles::new(self.dim), pairs: 0.0, memos: 0.0 }
    }

    fn push(&self, set: &mut KernelDensitySet, row: Row<'_>) {
        set.pairs += 2.0 * self.cross(set, row.x) + self.convolved_peak;
        set.rows.push(row.x);
        set.memos += row.memo;
    }

    fn value(&self, set: &mut KernelDensitySet) -> f64 {
        self.worth(set.rows.n_rows(), set.pairs, set.memos)
    }

    fn gain(&self, set: &KernelDensitySet, row: Row<'_>) -> f64 {
        let n_rows = set.rows.n_rows();
        let pairs = set.pairs + 2.0 * self.cross(set, row.x) + self.convolved_peak;
        self.worth(n_rows + 1, pairs, set.memos + row.memo) - self.worth(n_rows, set.pairs, set.memos)
    }

    fn loss(&self, set: &KernelDensitySet, _index: usize, row: Row<'_>) -> f64 {
        let n_rows = set.rows.n_rows();
        // The row is in the set and meets itself, which is the peak to the last bit.
        let cross = self.cross(set, row.x) - self.convolved_peak;
        let pairs = set.pairs - 2.0 * cross - self.convolved_peak;
        self.worth(n_rows, set.pairs, set.memos) - self.worth(n_rows - 1, pairs, set.memos - row.memo)
    }
}

fn packed(rows: MatRef<'_, f64>, dim: usize) -> Result<Tiles, dshap::Error> {
    if rows.ncols() != dim {
        return Err(dshap::Error::FeatureCount { found: rows.ncols(), expected: dim });
    }
    let mut tiles = Tiles::new(dim);
    let mut x = vec![0.0; dim];
    for row in 0..rows.nrows() {
        for (column, x) in x.iter_mut().enumerate() {
            *x = rows[(row, column)];
            if !x.is_finite() {
                return Err(dshap::Error::NotFinite { row, column });
            }
        }
        tiles.push(&x);
    }
    Ok(tiles)
}
