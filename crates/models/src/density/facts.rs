//! What is known about a smoothed reference.

use super::DensityModel;
use super::options::{bandwidth_word, options, scale_word};
use serde::Serialize;

/// What is known about a smoothed reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DensityFacts {
    /// The kernel.
    pub kernel: &'static str,
    /// Its width, in units of the scaled columns.
    pub bandwidth: f64,
    /// How that was found: `cross-validated`, `grid`, `scott`, `silverman` or `given`.
    pub bandwidth_from: &'static str,
    /// The bandwidths tried, and how well each did: larger is better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bandwidths_tried: Vec<(f64, f64)>,
    /// How columns are made comparable: `std` or `none`.
    pub scale: &'static str,
    /// Reference rows that values are against, all or a sample.
    pub rows_used: usize,
    /// Seed of that sample, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_seed: Option<u64>,
    /// Whether rows too far away to matter are left out of sums.
    pub tree: bool,
    /// Values are in units of e to this power: 0 unless there are hundreds of columns.
    pub log_unit: f64,
    /// Bytes of the rows held.
    pub row_bytes: usize,
}

impl DensityFacts {
    /// The facts of a model.
    pub(super) fn of(model: &DensityModel) -> Self {
        let (fit, options) = (&model.fit, options(&model.given));
        Self {
            kernel: fit.kernel().name(),
            bandwidth: fit.bandwidth(),
            bandwidth_from: bandwidth_word(options.bandwidth),
            bandwidths_tried: fit.curve().iter().map(|trial| (trial.bandwidth, trial.score)).collect(),
            scale: scale_word(options.scaling),
            rows_used: fit.n_rows(),
            sample_seed: model.is_sample().then(|| model.seed()),
            tree: fit.has_tree(),
            log_unit: fit.log_unit(),
            row_bytes: fit.n_bytes(),
        }
    }
}
