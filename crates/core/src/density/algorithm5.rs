//! The paper's Algorithm 5: Theorem 5 with two of its integrals by drawing.
//!
//! Kept to reproduce the paper's numbers. For each reference row one number is drawn from
//! the kernel; the squared estimate and the convolution are means over those draws.
//! Closed forms need no draws and have no noise.

use super::fit::DensityFit;
use super::kernel::Kernel;
use super::size_weights::SizeWeights;
use super::tiles::Tiles;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

/// Streams of sets, apart from those of rows.
const SETS: u64 = 1 << 63;

/// Algorithm 5 and its setting.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `seed` | 0 | each row has its own stream, so threads do not matter |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Algorithm5 {
    /// Seed of the generator.
    pub seed: u64,
}

impl Algorithm5 {
    /// The value of the point, row number `row`, in the unit of the fit.
    ///
    /// ```text
    /// for each z̃_b:  draw ξ_b ~ k in each coordinate
    /// value = −A·mean k_h(hξ_b) + (2A + B)·mean k_h(z − z̃_b) − B·mean k_h(z + hξ_b − z̃_b)
    /// ```
    pub(crate) fn estimate(
        &self,
        fit: &DensityFit,
        weights: SizeWeights,
        point: &[f64],
        own: Option<usize>,
        row: u64,
    ) -> f64 {
        let (a, b) = (weights.own, weights.joint);
        let (h, dim, kernel) = (fit.bandwidth(), fit.dim(), fit.kernel());
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(row);
        let log_peak = fit.log_peak() - fit.log_unit();
        let own = own.map(|own| fit.position(own));
        let mut sums = [0.0; 3];
        let mut n = 0.0;
        for other in (0..fit.n_rows()).filter(|&other| Some(other) != own) {
            let mut logs = [0.0; 3];
            for (j, &z) in point.iter().enumerate().take(dim) {
                let xi = draw(kernel, &mut rng);
                let u = (z - fit.tiles().cell(other, j)) / h;
                logs[0] += log_shape(kernel, xi);
                logs[1] += log_shape(kernel, u);
                logs[2] += log_shape(kernel, u + xi);
            }
            n += 1.0;
            for (sum, log) in sums.iter_mut().zip(logs) {
                *sum += (log + log_peak).exp();
            }
        }
        let [square, plain, convolved] = sums.map(|sum| sum / n);
        -a * square + (2.0 * a + b) * plain - b * convolved
    }
}

impl Algorithm5 {
    /// For a set of rows `S*`: the means of `p̂(z*_b)` and of `k_h(z*_b − z̃_b)`, with one draw
    /// `z*_b` from the smoothed set for each reference row that is met. `number` selects the
    /// random stream.
    pub(crate) fn set_means(
        &self,
        fit: &DensityFit,
        members: &Tiles,
        is_met: impl Fn(usize) -> bool,
        number: u64,
    ) -> (f64, f64) {
        let (h, dim, kernel, n) = (fit.bandwidth(), fit.dim(), fit.kernel(), members.n_rows());
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(SETS | number);
        let log_peak = fit.log_peak() - fit.log_unit();
        let at = |z: &[f64], cell: &dyn Fn(usize) -> f64| {
            let log: f64 = z.iter().enumerate().map(|(j, z)| log_shape(kernel, (z - cell(j)) / h)).sum();
            (log + log_peak).exp()
        };
        let (mut square, mut convolved, mut n_met) = (0.0, 0.0, 0.0);
        let mut drawn = vec![0.0; dim];
        for other in (0..fit.n_rows()).filter(|&other| is_met(other)) {
            let member = ((uniform(&mut rng) * n as f64) as usize).min(n - 1);
            for (j, z) in drawn.iter_mut().enumerate() {
                *z = members.cell(member, j) + h * draw(kernel, &mut rng);
            }
            let density: f64 = (0..n).map(|i| at(&drawn, &|j| members.cell(i, j))).sum();
            square += density / n as f64;
            convolved += at(&drawn, &|j| fit.tiles().cell(other, j));
            n_met += 1.0;
        }
        (square / n_met, convolved / n_met)
    }
}

/// `ln k(u)/k(0)`.
fn log_shape(kernel: Kernel, u: f64) -> f64 {
    match kernel {
        Kernel::Gaussian => -0.5 * u * u,
        _ => kernel.shape(u).ln(),
    }
}

/// One draw from the kernel.
fn draw(kernel: Kernel, rng: &mut ChaCha8Rng) -> f64 {
    match kernel {
        Kernel::Gaussian => StandardNormal.sample(rng),
        Kernel::Uniform => uniform(rng) - 0.5,
        Kernel::Triangular => uniform(rng) + uniform(rng) - 1.0,
        // Devroye and Györfi: of three uniform numbers on [−1, 1] the last, unless it
        // is the largest in absolute value; then the second.
        Kernel::Epanechnikov => {
            let [first, second, third] = [0; 3].map(|_| 2.0 * uniform(rng) - 1.0);
            if third.abs() >= second.abs() && third.abs() >= first.abs() { second } else { third }
        }
    }
}

/// A uniform number in `[0, 1)` with 53 bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
