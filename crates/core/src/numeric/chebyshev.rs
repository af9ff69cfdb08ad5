//! Interpolation of several smooth functions at once.

use std::f64::consts::PI;

/// Chebyshev coefficients of `LANES` functions on one panel, interleaved so
/// that all of them are evaluated by one sweep of vector arithmetic.
#[derive(Debug, Clone)]
pub(crate) struct Chebyshev<const NODES: usize, const LANES: usize> {
    coefficients: [[f64; LANES]; NODES],
}

impl<const NODES: usize, const LANES: usize> Chebyshev<NODES, LANES> {
    /// Interpolates `function`, given on `[-1, 1]`, at the Chebyshev points.
    pub(crate) fn interpolate(mut function: impl FnMut(f64) -> [f64; LANES]) -> Self {
        let n = NODES as f64;
        let mut coefficients = [[0.0; LANES]; NODES];
        for k in 0..NODES {
            let angle = PI * (k as f64 + 0.5) / n;
            let values = function(angle.cos());
            for (j, row) in coefficients.iter_mut().enumerate() {
                let factor = (j as f64 * angle).cos() * if j == 0 { 1.0 / n } else { 2.0 / n };
                for (coefficient, value) in row.iter_mut().zip(values) {
                    *coefficient += factor * value;
                }
            }
        }
        Self { coefficients }
    }

    /// All functions at `x` in `[-1, 1]`, by Clenshaw's recurrence.
    #[inline(always)]
    pub(crate) fn at(&self, x: f64) -> [f64; LANES] {
        let (mut b1, mut b2) = ([0.0; LANES], [0.0; LANES]);
        for row in self.coefficients[1..].iter().rev() {
            let mut b0 = [0.0; LANES];
            for l in 0..LANES {
                b0[l] = (2.0 * x) * b1[l] - b2[l] + row[l];
            }
            b2 = b1;
            b1 = b0;
        }
        let mut out = [0.0; LANES];
        for l in 0..LANES {
            out[l] = x * b1[l] - b2[l] + self.coefficients[0][l];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reproduces_smooth_functions_to_rounding() {
        let table = Chebyshev::<14, 2>::interpolate(|x| [x.exp(), 1.0 / (x + 7.0)]);
        for i in 0..=200 {
            let x = -1.0 + i as f64 / 100.0;
            let [exp, reciprocal] = table.at(x);
            assert!((exp / x.exp() - 1.0).abs() < 1e-14, "exp at {x}");
            assert!((reciprocal * (x + 7.0) - 1.0).abs() < 1e-14, "1/(x+7) at {x}");
        }
    }
}
