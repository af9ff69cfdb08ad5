//! The four kernels, each with its convolution with itself.

use std::f64::consts::PI;

/// A kernel `k` on the line; in `d` dimensions the product over coordinates is
/// taken, `k_h(u) = h^{−d} Π k(uᵢ/h)`.
///
/// | kernel | `k(u)` | `(k*k)(u)` |
/// |---|---|---|
/// | Gaussian | `exp(−u²/2)/√(2π)` | `exp(−u²/4)/√(4π)` |
/// | uniform | 1 for `\|u\| ≤ ½` | `(1 − \|u\|)₊` |
/// | Epanechnikov | `¾(1 − u²)₊` | `(3/160)(2 − \|u\|)₊³(u² + 6\|u\| + 4)` |
/// | triangular | `(1 − \|u\|)₊` | `⅔ − u² + \|u\|³/2` for `\|u\| ≤ 1`, then `(2 − \|u\|)₊³/6` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kernel {
    /// The standard normal density.
    #[default]
    Gaussian,
    /// Constant on an interval of length 1.
    Uniform,
    /// The parabola on `[−1, 1]`.
    Epanechnikov,
    /// The triangle on `[−1, 1]`.
    Triangular,
}

/// `1 − 3u²/2 + 3|u|³/4` and `(2 − |u|)³/4`: the triangular convolution over its peak.
const TRIANGULAR_PEAK: f64 = 2.0 / 3.0;

impl Kernel {
    /// All of them.
    pub const ALL: [Kernel; 4] =
        [Kernel::Gaussian, Kernel::Uniform, Kernel::Epanechnikov, Kernel::Triangular];

    /// The name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Gaussian => "gaussian",
            Kernel::Uniform => "uniform",
            Kernel::Epanechnikov => "epanechnikov",
            Kernel::Triangular => "triangular",
        }
    }

    /// `k(u)`.
    pub fn at(self, u: f64) -> f64 {
        self.shape(u) * self.peak()
    }

    /// `(k*k)(u)`.
    pub fn convolved_at(self, u: f64) -> f64 {
        self.convolved_shape(u) * self.convolved_peak()
    }

    /// `k(0)`.
    pub fn peak(self) -> f64 {
        match self {
            Kernel::Gaussian => 1.0 / (2.0 * PI).sqrt(),
            Kernel::Uniform | Kernel::Triangular => 1.0,
            Kernel::Epanechnikov => 0.75,
        }
    }

    /// `(k*k)(0) = ∫k²`.
    pub fn convolved_peak(self) -> f64 {
        match self {
            Kernel::Gaussian => 1.0 / (4.0 * PI).sqrt(),
            Kernel::Uniform => 1.0,
            Kernel::Epanechnikov => 0.6,
            Kernel::Triangular => TRIANGULAR_PEAK,
        }
    }

    /// `ln k_h(0)` in `dim` dimensions.
    pub fn log_peak(self, bandwidth: f64, dim: usize) -> f64 {
        dim as f64 * (self.peak().ln() - bandwidth.ln())
    }

    /// `ln (k*k)_h(0)` in `dim` dimensions.
    pub fn log_convolved_peak(self, bandwidth: f64, dim: usize) -> f64 {
        dim as f64 * (self.convolved_peak().ln() - bandwidth.ln())
    }

    /// How far from 0 `k` is positive; infinite for the Gaussian.
    pub fn reach(self) -> f64 {
        match self {
            Kernel::Gaussian => f64::INFINITY,
            Kernel::Uniform => 0.5,
            Kernel::Epanechnikov | Kernel::Triangular => 1.0,
        }
    }

    /// `k(u)/k(0)`, without a branch on `u`.
    #[inline(always)]
    pub fn shape(self, u: f64) -> f64 {
        match self {
            Kernel::Gaussian => (-0.5 * u * u).exp(),
            Kernel::Uniform => uniform_shape(u.abs()),
            Kernel::Epanechnikov => epanechnikov_shape(u.abs()),
            Kernel::Triangular => triangular_shape(u.abs()),
        }
    }

    /// `(k*k)(u)/(k*k)(0)`, without a branch on `u`.
    #[inline(always)]
    pub fn convolved_shape(self, u: f64) -> f64 {
        match self {
            Kernel::Gaussian => (-0.25 * u * u).exp(),
            Kernel::Uniform => uniform_convolved_shape(u.abs()),
            Kernel::Epanechnikov => epanechnikov_convolved_shape(u.abs()),
            Kernel::Triangular => triangular_convolved_shape(u.abs()),
        }
    }
}

// Shapes of `|u|`, without branches so that they become vector arithmetic.

#[inline(always)]
pub(crate) fn uniform_shape(u: f64) -> f64 {
    if u <= 0.5 { 1.0 } else { 0.0 }
}

#[inline(always)]
pub(crate) fn uniform_convolved_shape(u: f64) -> f64 {
    positive(1.0 - u)
}

#[inline(always)]
pub(crate) fn epanechnikov_shape(u: f64) -> f64 {
    // (1 − u)(1 + u), not 1 − u²: this keeps the digits next to the edge.
    positive(1.0 - u) * (1.0 + u)
}

#[inline(always)]
pub(crate) fn epanechnikov_convolved_shape(u: f64) -> f64 {
    let t = positive(2.0 - u);
    (t * t) * t * u.mul_add(u + 6.0, 4.0) * (1.0 / 32.0)
}

#[inline(always)]
pub(crate) fn triangular_shape(u: f64) -> f64 {
    positive(1.0 - u)
}

#[inline(always)]
pub(crate) fn triangular_convolved_shape(u: f64) -> f64 {
    let t = positive(2.0 - u);
    let far = (t * t) * t * 0.25;
    let near = (u * u).mul_add(u.mul_add(0.75, -1.5), 1.0);
    if u <= 1.0 { near } else { far }
}

#[inline(always)]
fn positive(u: f64) -> f64 {
    if u > 0.0 { u } else { 0.0 }
}
