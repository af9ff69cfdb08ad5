//! What a regression keeps to say how residuals vary: an even sample of its rows while these are
//! at hand, and sums over it in the file of a valuer, which hold no row.

use crate::file::{Arrays, Reading, named};
use crate::sample::RowSample;
use dshap::linear::{LinearFit, NoiseParts, NoiseShape};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// How residuals of the reference vary; summed when it is first asked for.
#[derive(Debug, Clone, Default)]
pub struct KnownNoise {
    sample: Option<RowSample>,
    shape: OnceLock<Option<NoiseShape>>,
}

/// The sums without their arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct NoiseDocument {
    /// Whether all rows of the reference were summed.
    is_all: bool,
    powers: [f64; 4],
}

impl KnownNoise {
    /// From an even sample of the reference.
    pub fn of_sample(sample: RowSample) -> Self {
        Self { sample: Some(sample), shape: OnceLock::new() }
    }

    /// From sums, if there are any.
    pub fn of_shape(shape: Option<NoiseShape>) -> Self {
        Self { sample: None, shape: OnceLock::from(shape) }
    }

    /// The sums as `fit`, that of the reference, sees the rows.
    pub fn shape(&self, fit: &LinearFit) -> Option<&NoiseShape> {
        let summed = || {
            let sample = self.sample.as_ref()?;
            // Rows that were fitted are finite. Without any that counts there is nothing to know.
            sample.with_rows(|rows| NoiseShape::of(fit, rows, sample.n_seen()).ok())?
        };
        self.shape.get_or_init(summed).as_ref()
    }

    /// Its part of the valuer file.
    pub(super) fn write(&self, fit: &LinearFit, arrays: &mut Arrays) -> Option<NoiseDocument> {
        let NoiseParts { is_all, powers, second_by, third_by, square } = self.shape(fit)?.to_parts();
        arrays.extend([
            named("noise.second", second_by),
            named("noise.square", square),
            named("noise.third", third_by),
        ]);
        Some(NoiseDocument { is_all, powers })
    }
}

impl NoiseDocument {
    /// The sums that were written, for a fit with `dim` columns.
    pub(super) fn parse(self, dim: usize, arrays: &mut Reading<'_>) -> Result<NoiseShape, String> {
        let Self { is_all, powers } = self;
        let (second_by, third_by) = (arrays.take("noise.second")?, arrays.take("noise.third")?);
        let parts = NoiseParts { is_all, powers, second_by, third_by, square: arrays.take("noise.square")? };
        NoiseShape::from_parts(dim, parts).map_err(|error| error.to_string())
    }
}
