//! A fit as plain numbers, to be written to files and read back.

use crate::plain::{are_columns, has_positive_diagonal};
use crate::{Error, MomentsForm};

/// All numbers of a [`LinearFit`](super::LinearFit).
#[derive(Debug, Clone, PartialEq)]
pub struct FitParts {
    /// Reference rows.
    pub n_rows: usize,
    /// Features, including dropped ones.
    pub n_features: usize,
    /// Whether features and target are centred.
    pub intercept: bool,
    /// Whether models refit their intercept.
    pub refit_intercept: bool,
    /// Features in the design, ascending.
    pub kept: Vec<usize>,
    /// Features left out, ascending.
    pub dropped: Vec<usize>,
    /// The feature with the smallest share of its own variation, and that share.
    pub weakest: Option<(usize, f64)>,
    /// Means of the kept features, without the offset.
    pub shift: Vec<f64>,
    /// What has to be added for the means themselves.
    pub offset: Vec<f64>,
    /// What centred features are multiplied by: powers of two.
    pub scale: Vec<f64>,
    /// Mean of the target, as a sum of two doubles.
    pub target_centre: (f64, f64),
    /// Cholesky factor of the scaled features: lower triangle, column by column.
    pub lower: Vec<f64>,
    /// The target's row of that factor.
    pub target_row: Vec<f64>,
    /// Coefficients of the kept features.
    pub coef: Vec<f64>,
    /// Residual sum of squares.
    pub rss: f64,
    /// Sum of squares of the target.
    pub total: f64,
    /// How much larger rounding errors of the target are because rows were forgotten.
    pub target_inflation: f64,
    /// How the second moments were held.
    pub form: MomentsForm,
    /// What a weight is multiplied by.
    pub weight_scale: f64,
    /// Number of equally weighted rows that carry as much information.
    pub effective_rows: f64,
}

impl FitParts {
    /// Whether the numbers can be those of a fit: sizes agree, every number is
    /// finite, and what must be positive is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what| Err(Error::Contradiction { what });
        let p = self.kept.len();
        if !are_columns(self.n_features, &self.kept, &self.dropped, self.weakest) {
            return wrong("the columns of the fit contradict each other");
        }
        let lists = [&self.shift, &self.offset, &self.scale, &self.target_row, &self.coef];
        if lists.iter().any(|list| list.len() != p) || self.lower.len() != p * (p + 1) / 2 {
            return wrong("the factor does not match the columns in size");
        }
        let (first, second) = self.target_centre;
        let single = [first, second, self.rss, self.total, self.target_inflation];
        let weakest = self.weakest.map(|(_, share)| share);
        if !lists
            .into_iter()
            .chain([&self.lower])
            .flatten()
            .chain(&single)
            .chain(&weakest)
            .all(|number| number.is_finite())
        {
            return wrong("a number of the fit is not finite");
        }
        let used = (p + usize::from(self.intercept)) as f64;
        let positive = |number: f64| number > 0.0;
        if !has_positive_diagonal(&self.lower, p)
            || !self.scale.iter().copied().all(positive)
            || !positive(self.rss)
            || self.rss > self.total
            || self.target_inflation < 1.0
        {
            return wrong("the factor of the fit is not positive");
        }
        let enough = self.effective_rows >= used + 2.0 && self.effective_rows <= self.n_rows as f64;
        if !enough || !self.weight_scale.is_finite() || !positive(self.weight_scale) {
            return wrong("the rows of the fit do not add up");
        }
        Ok(())
    }
}
