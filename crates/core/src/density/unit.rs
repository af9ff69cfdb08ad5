//! The unit in which densities are in the range of doubles.

use super::fit::DensityFit;
use super::kernel::Kernel;
use super::lanes::KernelSums;
use super::sums::CHUNK_POINTS;
use crate::Error;

/// Rows whose density is checked first.
const PROBES: usize = 64;

/// `e^±700` are doubles, with some room.
const LOG_RANGE: f64 = 700.0;

/// Densities within `e^±600` are left in their own unit.
const LOG_COMFORT: f64 = 600.0;

impl DensityFit {
    /// The logarithm of the unit in which densities and values are doubles: 0 if none is
    /// needed. Refuses bandwidths so small that no row is near another.
    pub(crate) fn find_unit(&self) -> Result<f64, Error> {
        let peak = self.log_convolved_peak();
        let n = self.n_rows();
        if n < 2 {
            return Ok(if peak.abs() <= LOG_COMFORT { 0.0 } else { peak.round() });
        }
        let probes: Vec<usize> = evenly(n, PROBES).collect();
        let mut best = self.largest_density(&probes);
        if best.is_none() {
            // Rare, so it may be slow: some other row may have a neighbour.
            let chunks = n.div_ceil(CHUNK_POINTS);
            best = (0..chunks).find_map(|chunk| {
                let rows: Vec<usize> = (chunk * CHUNK_POINTS..n.min((chunk + 1) * CHUNK_POINTS)).collect();
                self.largest_density(&rows)
            });
        }
        let Some(best) = best else {
            let enough = self.enough_for(&probes);
            return Err(Error::NoDensity { bandwidth: self.bandwidth(), enough });
        };
        let fits = peak <= LOG_COMFORT && best >= -LOG_COMFORT;
        Ok(if fits { 0.0 } else { ((peak + best) / 2.0).round() })
    }

    /// The largest log density of some rows, each left out of the reference; `None` if
    /// all are too small compared with the kernel's peak.
    fn largest_density(&self, rows: &[usize]) -> Option<f64> {
        let points = self.rows_of(rows);
        let sums = self.kernel_sums(&self.smoother(), &points, Some(rows), true);
        let log = |sums: &KernelSums| {
            let densities = self.log_densities(sums, self.n_rows() - 1);
            let is_there = densities.plain > f64::NEG_INFINITY
                && self.log_convolved_peak() - densities.convolved < LOG_RANGE;
            is_there.then_some(densities.plain)
        };
        sums.iter().filter_map(log).reduce(f64::max)
    }

    /// A bandwidth with which half of these rows have a neighbour.
    fn enough_for(&self, rows: &[usize]) -> f64 {
        let points = self.rows_of(rows);
        let kernel = self.kernel();
        let nearest = |(&row, point): (&usize, &[f64])| {
            let own = self.position(row);
            let distance = |other: usize| {
                let gaps = (0..self.dim()).map(|j| (self.tiles().cell(other, j) - point[j]).abs());
                match kernel {
                    Kernel::Gaussian => gaps.map(|gap| gap * gap).sum::<f64>().sqrt(),
                    _ => gaps.fold(0.0, f64::max),
                }
            };
            (0..self.n_rows()).filter(|&other| other != own).map(distance).fold(f64::INFINITY, f64::min)
        };
        let mut nearest: Vec<f64> =
            rows.iter().zip(points.chunks_exact(self.dim())).map(nearest).filter(|gap| *gap > 0.0).collect();
        nearest.sort_by(f64::total_cmp);
        let median = nearest.get(nearest.len() / 2).copied().unwrap_or(1.0);
        // A compact kernel must reach a little further.
        match kernel {
            Kernel::Gaussian => median,
            _ => 1.01 * median / kernel.reach(),
        }
    }
}

/// Up to `most` of `0..n`, evenly spaced.
pub(crate) fn evenly(n: usize, most: usize) -> impl ExactSizeIterator<Item = usize> {
    let count = n.min(most);
    (0..count).map(move |i| i * n / count)
}
