//! Kernel sums and values computed directly, for comparison.

use dshap::density::{
    Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel, Scaling, Search, SizeWeights,
};
use dshap_testkit::Draws;
use faer::{Mat, MatRef};

pub(crate) fn given(kernel: Kernel, bandwidth: f64) -> DensityOptions {
    DensityOptions {
        kernel,
        bandwidth: Bandwidth::Given(bandwidth),
        scaling: Scaling::None,
        search: Search::All,
    }
}

#[track_caller]
pub(crate) fn fit(rows: &Mat<f64>, options: DensityOptions) -> DensityFit {
    DensityFit::of(rows.as_ref(), options).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

#[track_caller]
pub(crate) fn valuer(rows: &Mat<f64>, options: DensityOptions, m: usize) -> DensityValuer {
    DensityValuer::new(fit(rows, options), m, DensityMethod::Closed).expect("m is at least 1")
}

pub(crate) fn normal_rows(seed: u64, n: usize, dim: usize) -> Mat<f64> {
    let mut draws = Draws::new(seed);
    Mat::from_fn(n, dim, |_, _| draws.normal())
}

/// `ln k_h` and `ln (k*k)_h` of the difference of two rows.
pub(crate) fn log_kernels(
    kernel: Kernel,
    h: f64,
    x: MatRef<'_, f64>,
    i: usize,
    y: MatRef<'_, f64>,
    b: usize,
) -> [f64; 2] {
    let mut logs = [0.0; 2];
    for j in 0..x.ncols() {
        let u = (x[(i, j)] - y[(b, j)]) / h;
        if kernel == Kernel::Gaussian {
            logs[0] += -0.5 * u * u + kernel.peak().ln() - h.ln();
            logs[1] += -0.25 * u * u + kernel.convolved_peak().ln() - h.ln();
        } else {
            logs[0] += (kernel.at(u) / h).ln();
            logs[1] += (kernel.convolved_at(u) / h).ln();
        }
    }
    logs
}

/// The value of a row, term by term.
pub(crate) struct Plain {
    pub(crate) relative: f64,
    pub(crate) log_density: f64,
    pub(crate) std_error: f64,
    /// The larger of the two terms of `relative`.
    pub(crate) scale: f64,
}

pub(crate) fn plain_value(
    kernel: Kernel,
    h: f64,
    m: usize,
    points: &Mat<f64>,
    i: usize,
    rows: &Mat<f64>,
    own: Option<usize>,
) -> Plain {
    let weights = SizeWeights::new(1, m).expect("m is at least 1");
    let (a, b) = (weights.own, weights.joint);
    let met: Vec<[f64; 2]> = (0..rows.nrows())
        .filter(|&row| Some(row) != own)
        .map(|row| log_kernels(kernel, h, points.as_ref(), i, rows.as_ref(), row))
        .collect();
    let n = met.len() as f64;
    let most = met.iter().map(|logs| logs[0]).fold(f64::NEG_INFINITY, f64::max);
    let log_density = most + (met.iter().map(|logs| (logs[0] - most).exp()).sum::<f64>() / n).ln();
    let mean = |of: usize| met.iter().map(|logs| logs[of].exp()).sum::<f64>() / n;
    let (plain, convolved) = ((2.0 * a + b) * mean(0), b * mean(1));
    let psi: Vec<f64> = met.iter().map(|logs| (2.0 * a + b) * logs[0].exp() - b * logs[1].exp()).collect();
    let relative = plain - convolved;
    let var = psi.iter().map(|psi| (psi - relative).powi(2)).sum::<f64>() / (n - 1.0);
    Plain {
        relative,
        log_density: if most == f64::NEG_INFINITY { most } else { log_density },
        std_error: (var / n).sqrt(),
        scale: plain.max(convolved),
    }
}
