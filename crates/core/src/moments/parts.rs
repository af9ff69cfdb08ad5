//! Moments as plain numbers, to be written to files and read back.

use super::builder::MomentsSweep;
use super::{BLOCK_ROWS, Moments, MomentsBuilder, MomentsForm};
use crate::Error;
use crate::blocks::BlockSums;
use crate::packed::{pack_lower, unpack_lower};
use faer::Mat;

/// All numbers of [`Moments`].
#[derive(Debug, Clone, PartialEq)]
pub struct MomentsParts {
    /// Rows with a positive weight.
    pub n_rows: usize,
    /// Sum of weights.
    pub weight: f64,
    /// Sum of squared weights.
    pub weight_sq: f64,
    /// A number near the mean of each column, the target last.
    pub shift: Vec<f64>,
    /// What has to be added for the mean itself.
    pub offset: Vec<f64>,
    /// How the triangle is to be read.
    pub form: MomentsForm,
    /// Sums of products about the mean, or their root: lower triangle, column
    /// by column.
    pub lower: Vec<f64>,
    /// The largest sums of squares before rows were removed.
    pub peak: Option<Vec<f64>>,
}

/// All numbers of a [`MomentsBuilder`].
#[derive(Debug, Clone, PartialEq)]
pub struct BuilderParts {
    /// Features of a row.
    pub n_features: usize,
    /// Rows so far.
    pub n_rows: usize,
    /// Rows of a block that is not full, column by column, the target last.
    pub pending: Vec<f64>,
    /// Their weights, if there are any.
    pub pending_weights: Option<Vec<f64>>,
    /// Whether a fit will centre the columns.
    pub intercept: bool,
    /// How second moments are held, once that is decided.
    pub form: Option<MomentsForm>,
    /// Merged blocks, each `2^level` of them, largest first.
    pub merged: Vec<(u32, MomentsParts)>,
}

impl Moments {
    /// All numbers, from which [`from_parts`](Self::from_parts) makes the same
    /// moments again.
    pub fn to_parts(&self) -> MomentsParts {
        MomentsParts {
            n_rows: self.n_rows,
            weight: self.weight,
            weight_sq: self.weight_sq,
            shift: self.shift.clone(),
            offset: self.offset.clone(),
            form: self.form,
            lower: pack_lower(&self.lower),
            peak: self.peak.clone(),
        }
    }

    /// Moments from their numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of moments.
    pub fn from_parts(parts: MomentsParts) -> Result<Self, Error> {
        let k = parts.shift.len();
        let wrong = |what| Err(Error::Contradiction { what });
        let Some(lower) = unpack_lower(&parts.lower, k).filter(|_| k > 0 && parts.offset.len() == k) else {
            return wrong("the moments do not match the columns in size");
        };
        if parts.peak.as_ref().is_some_and(|peak| peak.len() != k || !peak.iter().all(|p| p.is_finite())) {
            return wrong("the records of forgotten rows do not match the columns in size");
        }
        let moments = Self {
            n_rows: parts.n_rows,
            weight: parts.weight,
            weight_sq: parts.weight_sq,
            shift: parts.shift,
            offset: parts.offset,
            form: parts.form,
            lower,
            peak: parts.peak,
        };
        let sums = (0..k).map(|j| moments.lower[(j, j)]);
        let counted = |sum: f64| sum.is_finite() && if moments.n_rows > 0 { sum > 0.0 } else { sum == 0.0 };
        if !moments.is_finite() || moments.offset.iter().any(|offset| !offset.is_finite()) {
            return wrong("a moment is not finite");
        }
        if sums.into_iter().any(|sum| sum < 0.0) || !counted(moments.weight) || !counted(moments.weight_sq) {
            return wrong("a sum of squares is negative");
        }
        Ok(moments)
    }
}

impl MomentsBuilder {
    /// All numbers, from which [`from_parts`](Self::from_parts) makes the same
    /// builder again.
    pub fn to_parts(&self) -> BuilderParts {
        let sums = &self.sums;
        let pending = (0..=sums.n_features)
            .filter(|_| sums.n_pending > 0)
            .flat_map(|j| sums.pending.col_as_slice(j)[..sums.n_pending].iter().copied())
            .collect();
        BuilderParts {
            n_features: sums.n_features,
            n_rows: sums.n_rows,
            pending,
            pending_weights: sums.pending_weights.clone(),
            intercept: sums.sweep.intercept,
            form: sums.sweep.form,
            merged: sums.merged.iter().map(|(level, moments)| (*level, moments.to_parts())).collect(),
        }
    }

    /// A builder from its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of a builder.
    pub fn from_parts(parts: BuilderParts) -> Result<Self, Error> {
        let contradiction = || Error::Contradiction { what: "the rows read so far do not add up" };
        let mut n_blocks = 0_u64;
        let mut merged = Vec::with_capacity(parts.merged.len());
        let mut above = u32::MAX;
        for (level, moments) in parts.merged {
            let moments = Moments::from_parts(moments)?;
            if level >= above
                || level > 50
                || moments.n_features() != parts.n_features
                || Some(moments.form) != parts.form
            {
                return Err(contradiction());
            }
            above = level;
            n_blocks += 1 << level;
            merged.push((level, moments));
        }
        let k = parts.n_features.checked_add(1).ok_or_else(contradiction)?;
        let n_pending = parts.pending.len() / k;
        let in_blocks = n_blocks.checked_mul(BLOCK_ROWS as u64).ok_or_else(contradiction)?;
        let weights_fit = parts.pending_weights.as_ref().is_none_or(|weights| {
            weights.len() == n_pending && weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        });
        if parts.pending.len() != n_pending * k
            || n_pending >= BLOCK_ROWS
            || parts.n_rows as u64 != in_blocks + n_pending as u64
            || !weights_fit
            || !parts.pending.iter().all(|cell| cell.is_finite())
        {
            return Err(contradiction());
        }
        let pending = match n_pending {
            0 => Mat::new(),
            n => Mat::from_fn(n, k, |i, j| parts.pending[j * n + i]),
        };
        let sums = BlockSums {
            sweep: MomentsSweep { intercept: parts.intercept, form: parts.form },
            n_features: parts.n_features,
            n_rows: parts.n_rows,
            pending,
            n_pending,
            pending_weights: parts.pending_weights,
            n_blocks,
            merged,
        };
        Ok(Self { sums })
    }
}
