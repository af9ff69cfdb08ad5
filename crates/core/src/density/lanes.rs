//! Sums over rows, and the order in which they are added.

use super::kernel::Kernel;
use super::tiles::TILE_ROWS;
use crate::numeric::exp_of_negative;

/// The number of lanes with partial sums, which fixes the order of additions.
pub(crate) const LANES: usize = 8;

/// Sums over rows `b` of the kernel's shape `κ = k/k(0)` and that of its
/// convolution, `χ = (k*k)/(k*k)(0)`.
///
/// For the Gaussian kernel `χ = exp(−r²/4h²)` and `κ = χ²`; each `χ` here is
/// multiplied by `exp(base/4h²)`, `base` being the smallest `r²` of all, so that
/// nothing underflows however far away the rows are. For the others `base` is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KernelSums {
    pub(crate) base: f64,
    /// `Σ κ`
    pub(crate) plain: f64,
    /// `Σ χ`
    pub(crate) convolved: f64,
    /// `Σ κ²`, `Σ κχ`, `Σ χ²`, if asked for.
    pub(crate) squares: [f64; 3],
}

/// [`KernelSums`] in progress, lane by lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    base: f64,
    plain: [f64; LANES],
    convolved: [f64; LANES],
    squares: [[f64; LANES]; 3],
}

impl Lanes {
    pub(crate) fn new(kernel: Kernel) -> Self {
        let base = KernelSums::empty(kernel).base;
        Self { base, plain: [0.0; LANES], convolved: [0.0; LANES], squares: [[0.0; LANES]; 3] }
    }

    #[inline(always)]
    pub(crate) fn add_gaussian<const SQUARES: bool>(&mut self, dist_sq: &[f64; TILE_ROWS], rate: f64) {
        let lanes = dist_sq.as_chunks::<LANES>().0;
        let mut least = lanes[0];
        for chunk in lanes {
            for l in 0..LANES {
                least[l] = if chunk[l] < least[l] { chunk[l] } else { least[l] };
            }
        }
        let least = least.iter().fold(f64::INFINITY, |a, &b| a.min(b));
        if least < self.base {
            // At the start, base is infinite and all sums are 0 times 0.
            let factor = exp_of_negative((least - self.base) * rate);
            self.rescale(factor);
            self.base = least;
        }
        if least == f64::INFINITY {
            return;
        }
        let shift = self.base * rate;
        // Sixteen at a time, to hide the latency of the polynomial.
        for chunk in dist_sq.as_chunks::<{ 2 * LANES }>().0 {
            let mut chi = [0.0; 2 * LANES];
            for l in 0..2 * LANES {
                chi[l] = exp_of_negative((-rate).mul_add(chunk[l], shift));
            }
            for chi in chi.as_chunks::<LANES>().0 {
                for (l, &chi) in chi.iter().enumerate() {
                    let kappa = chi * chi;
                    self.convolved[l] += chi;
                    self.plain[l] += kappa;
                    if SQUARES {
                        self.squares[0][l] = kappa.mul_add(kappa, self.squares[0][l]);
                        self.squares[1][l] = kappa.mul_add(chi, self.squares[1][l]);
                        self.squares[2][l] += kappa;
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn add_shapes(&mut self, plain: &[f64; TILE_ROWS], convolved: &[f64; TILE_ROWS]) {
        let (plain, convolved) = (plain.as_chunks::<LANES>().0, convolved.as_chunks::<LANES>().0);
        for (kappa, chi) in plain.iter().zip(convolved) {
            for l in 0..LANES {
                self.plain[l] += kappa[l];
                self.convolved[l] += chi[l];
                self.squares[0][l] = kappa[l].mul_add(kappa[l], self.squares[0][l]);
                self.squares[1][l] = kappa[l].mul_add(chi[l], self.squares[1][l]);
                self.squares[2][l] = chi[l].mul_add(chi[l], self.squares[2][l]);
            }
        }
    }

    #[inline(always)]
    fn rescale(&mut self, factor: f64) {
        let square = factor * factor;
        for l in 0..LANES {
            self.convolved[l] *= factor;
            self.plain[l] *= square;
            self.squares[0][l] *= square * square;
            self.squares[1][l] *= square * factor;
            self.squares[2][l] *= square;
        }
    }

    pub(crate) fn total(&self) -> KernelSums {
        let add = |x: &[f64; LANES]| ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
        KernelSums {
            base: self.base,
            plain: add(&self.plain),
            convolved: add(&self.convolved),
            squares: self.squares.each_ref().map(add),
        }
    }
}

impl KernelSums {
    pub(crate) fn empty(kernel: Kernel) -> Self {
        let base = if kernel == Kernel::Gaussian { f64::INFINITY } else { 0.0 };
        Self { base, plain: 0.0, convolved: 0.0, squares: [0.0; 3] }
    }

    /// Adds the sums over other rows; `rate` is that of `Smoother::rate`.
    pub(crate) fn merge(&mut self, mut other: Self, rate: f64) {
        if other.base < self.base {
            std::mem::swap(self, &mut other);
        }
        if other.base == f64::INFINITY {
            return;
        }
        let factor = exp_of_negative((self.base - other.base) * rate);
        let square = factor * factor;
        self.plain += other.plain * square;
        self.convolved += other.convolved * factor;
        self.squares[0] += other.squares[0] * square * square;
        self.squares[1] += other.squares[1] * square * factor;
        self.squares[2] += other.squares[2] * square;
    }
}
