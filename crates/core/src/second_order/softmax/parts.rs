//! A softmax valuer as plain numbers.

use super::fit::{SoftmaxFit, Whitened};
use super::passes::SoftmaxOptions;
use super::valuer::SoftmaxValuer;
use crate::classification::design::Design;
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Sizes};
use faer::Mat;

/// All numbers of a [`SoftmaxValuer`], without its standard errors. `p` counts
/// columns, `K` classes.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxParts {
    /// Features, including dropped ones.
    pub n_features: usize,
    /// Features in the design, ascending.
    pub kept: Vec<usize>,
    /// Features left out, ascending.
    pub dropped: Vec<usize>,
    /// Reference rows of each class.
    pub n_labels: Vec<usize>,
    /// What is subtracted from the kept features, without the offset.
    pub shift: Vec<f64>,
    /// What has to be added to that.
    pub offset: Vec<f64>,
    /// What they are multiplied by: powers of two.
    pub scale: Vec<f64>,
    /// Cholesky factor of the mean of `xxᵀ`: lower triangle, column by column.
    pub whitening: Vec<f64>,
    /// Coefficients of the recombined columns, class by class except the first.
    pub theta: Vec<f64>,
    /// Cholesky factor of `Σ R ⊗ xxᵀ`, as `whitening`.
    pub lower: Vec<f64>,
    /// `H⁻¹`: lower triangle, column by column.
    pub inverse: Vec<f64>,
    /// `V`, likewise.
    pub spread: Vec<f64>,
    /// `b`, class by class except the first.
    pub bias: Vec<f64>,
    /// Summed log-loss of the reference.
    pub loss: f64,
    /// Passes the fit took.
    pub n_passes: usize,
    /// What a weight is multiplied by.
    pub weight_scale: f64,
    /// Number of equally weighted rows that carry as much information.
    pub effective_rows: f64,
    /// The set sizes averaged over.
    pub sizes: Sizes,
    /// How values are computed.
    pub options: SoftmaxOptions,
}

impl SoftmaxValuer {
    /// All numbers of the valuer, from which [`from_parts`](Self::from_parts)
    /// makes the same valuer again.
    pub fn to_parts(&self) -> SoftmaxParts {
        let (fit, moments) = (&*self.fit, &*self.moments);
        let design = &fit.columns.design;
        let (shift, offset) = design.centre.iter().copied().unzip();
        SoftmaxParts {
            n_features: design.n_features,
            kept: design.kept.clone(),
            dropped: fit.dropped.clone(),
            n_labels: fit.n_labels.clone(),
            shift,
            offset,
            scale: design.scale.clone(),
            whitening: pack_lower(&fit.columns.lower),
            theta: fit.theta.col_iter().flat_map(|column| column.iter()).copied().collect(),
            lower: pack_lower(&fit.lower),
            inverse: pack_lower(&moments.inverse),
            spread: pack_lower(&moments.spread),
            bias: moments.bias.clone(),
            loss: fit.loss,
            n_passes: fit.n_passes,
            weight_scale: fit.weight_scale,
            effective_rows: fit.effective_rows,
            sizes: self.sizes,
            options: self.options,
        }
    }

    /// A valuer from its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of a valuer,
    /// [`Error::Sizes`] when the sums do not exist for its sizes.
    pub fn from_parts(parts: SoftmaxParts) -> Result<Self, Error> {
        let contradiction = |what| Error::Contradiction { what };
        parts.check().map_err(contradiction)?;
        let design = Design {
            n_features: parts.n_features,
            intercept: parts.options.intercept,
            kept: parts.kept,
            centre: parts.shift.into_iter().zip(parts.offset).collect(),
            scale: parts.scale,
            variance: None,
        };
        let (dim, size) = (design.dim(), parts.theta.len());
        let other_size = || contradiction("a matrix does not match the columns in size");
        let triangle = |packed: &[f64], size| unpack_lower(packed, size).ok_or_else(other_size);
        let symmetric = |packed: &[f64]| {
            let lower = triangle(packed, size)?;
            Ok(Mat::from_fn(size, size, |i, j| lower[(i.max(j), i.min(j))]))
        };
        let (inverse, spread) = (symmetric(&parts.inverse)?, symmetric(&parts.spread)?);
        let fit = SoftmaxFit {
            columns: Whitened { design, lower: triangle(&parts.whitening, dim)? },
            dropped: parts.dropped,
            theta: Mat::from_fn(dim, size / dim, |k, a| parts.theta[a * dim + k]),
            lower: triangle(&parts.lower, size)?,
            n_labels: parts.n_labels,
            loss: parts.loss,
            n_passes: parts.n_passes,
            weight_scale: parts.weight_scale,
            effective_rows: parts.effective_rows,
        };
        Self::new(fit, inverse, spread, parts.bias, parts.sizes, parts.options)
    }
}

impl SoftmaxParts {
    /// Refuses numbers that cannot be those of a valuer.
    fn check(&self) -> Result<(), &'static str> {
        let dim = self.kept.len() + usize::from(self.options.intercept);
        let size = self.n_labels.len().saturating_sub(1).checked_mul(dim);
        let numbers = [
            &self.shift,
            &self.offset,
            &self.scale,
            &self.whitening,
            &self.theta,
            &self.lower,
            &self.inverse,
            &self.spread,
            &self.bias,
        ];
        let scalars = [self.loss, self.weight_scale, self.effective_rows];
        if !numbers.into_iter().flatten().chain(&scalars).all(|number| number.is_finite()) {
            return Err("a number of the fit is not finite");
        }
        if self.kept.is_empty() || self.n_labels.len() < 2 || self.n_labels.contains(&0) {
            return Err("a fit needs a column, and at least two classes with rows");
        }
        if Some(self.theta.len()) != size || Some(self.bias.len()) != size {
            return Err("the number of coefficients does not match the columns and classes");
        }
        let per_column = [&self.shift, &self.offset, &self.scale];
        if per_column.iter().any(|column| column.len() != self.kept.len()) {
            return Err("the number of scales does not match the columns");
        }
        let ascending = |columns: &[usize]| columns.windows(2).all(|pair| pair[0] < pair[1]);
        let is_feature = |column: &usize| *column < self.n_features;
        let all = self.kept.iter().chain(&self.dropped);
        if !ascending(&self.kept) || !ascending(&self.dropped) || !all.clone().all(is_feature) {
            return Err("the columns are not features in ascending order");
        }
        if self.weight_scale <= 0.0 || self.effective_rows <= 0.0 || self.scale.iter().any(|s| *s <= 0.0) {
            return Err("a scale is not positive");
        }
        if self.options.shift.is_some_and(|shift| !shift.is_finite()) {
            return Err("the shift is not finite");
        }
        Ok(())
    }
}
