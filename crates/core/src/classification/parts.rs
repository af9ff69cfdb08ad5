//! A logistic fit as plain numbers, to be written to files and read back.

use crate::Error;
use crate::plain::{are_columns, has_positive_diagonal};

/// All numbers of a [`LogisticFit`](super::LogisticFit).
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticParts {
    /// Reference rows.
    pub n_rows: usize,
    /// Those of label 1.
    pub n_positive: usize,
    /// Features, including dropped ones.
    pub n_features: usize,
    /// Whether the first column is all ones.
    pub intercept: bool,
    /// Features in the design, ascending.
    pub kept: Vec<usize>,
    /// Features left out, ascending.
    pub dropped: Vec<usize>,
    /// The feature with the smallest share of its own variation, and that share.
    pub weakest: Option<(usize, f64)>,
    /// What is subtracted from the kept features, without the offset.
    pub shift: Vec<f64>,
    /// What has to be added to that.
    pub offset: Vec<f64>,
    /// What they are multiplied by: powers of two.
    pub scale: Vec<f64>,
    /// Variances of the kept features, if the ridge is for standardised ones.
    pub variance: Option<Vec<f64>>,
    /// Coefficients of the columns, the intercept first.
    pub beta: Vec<f64>,
    /// Cholesky factor of `Σ W xxᵀ`: lower triangle, column by column.
    pub lower: Vec<f64>,
    /// The same with the ridge, if there is one.
    pub penalised: Option<Vec<f64>>,
    /// `γ`.
    pub ridge: f64,
    /// Summed log-loss of the reference.
    pub loss: f64,
    /// Passes the fit took.
    pub n_passes: usize,
    /// What a weight is multiplied by.
    pub weight_scale: f64,
    /// Number of equally weighted rows that carry as much information.
    pub effective_rows: f64,
    /// `(ΣW)²/(n ΣW²)`; fits of older files lack it.
    pub weight_share: Option<f64>,
}

impl LogisticParts {
    /// Whether the numbers can be those of a fit: sizes agree, every number is
    /// finite, and what must be positive is.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |what| Err(Error::Contradiction { what });
        let p = self.kept.len();
        let dim = p + usize::from(self.intercept);
        if !are_columns(self.n_features, &self.kept, &self.dropped, self.weakest) {
            return wrong("the columns of the fit contradict each other");
        }
        let lists = [&self.shift, &self.offset, &self.scale];
        let factors = [Some(&self.lower), self.penalised.as_ref()];
        let size = dim * (dim + 1) / 2;
        if lists.iter().any(|list| list.len() != p)
            || self.variance.as_ref().is_some_and(|variance| variance.len() != p)
            || self.beta.len() != dim
            || factors.iter().flatten().any(|factor| factor.len() != size)
            || self.penalised.is_some() != (self.ridge > 0.0)
        {
            return wrong("the factor does not match the columns in size");
        }
        let single = [self.ridge, self.loss, self.weight_scale, self.effective_rows];
        let lists = lists.into_iter().chain(&self.variance);
        let numbers = lists.chain(factors.into_iter().flatten()).chain([&self.beta]).flatten();
        if !numbers
            .chain(&single)
            .chain(&self.weakest.map(|(_, share)| share))
            .chain(&self.weight_share)
            .all(|number| number.is_finite())
        {
            return wrong("a number of the fit is not finite");
        }
        if !factors.into_iter().flatten().all(|factor| has_positive_diagonal(factor, dim))
            || !self.scale.iter().chain(self.variance.iter().flatten()).all(|&scale| scale > 0.0)
            || self.ridge < 0.0
            || self.loss <= 0.0
        {
            return wrong("the factor of the fit is not positive");
        }
        let enough = self.effective_rows >= dim as f64 + 2.0 && self.effective_rows <= self.n_rows as f64;
        if !enough || self.weight_scale <= 0.0 || self.n_positive == 0 || self.n_positive >= self.n_rows {
            return wrong("the rows of the fit do not add up");
        }
        Ok(())
    }
}
