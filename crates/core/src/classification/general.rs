//! Classification with inputs of any distribution: Proposition 1 on the working
//! variables.

use super::fit::LogisticFit;
use super::valuer::OF_FIT;
use super::working::WorkingStats;
use crate::linear::{
    FitOptions, FitParts, GeneralOptions, GeneralValuer, GeneralValues, LinearFit, SetTargets,
};
use crate::valuer::check_whole;
use crate::values::{Part, Values};
use crate::{Error, Moments, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};

/// Values any row, seen or unseen, by drawing sets of reference rows; see
/// [`GeneralValuer`], which does the work.
///
/// Sets are fitted by weighted least squares with the weights of the reference fit and
/// without a ridge, because that of the fit is already in the weights.
#[derive(Debug)]
pub struct GeneralClassificationValuer {
    fit: LogisticFit,
    general: GeneralValuer,
    reference: Vec<WorkingStats>,
}

impl GeneralClassificationValuer {
    /// A valuer against `reference`, the rows `fit` was made from.
    ///
    /// # Errors
    ///
    /// As for [`GeneralValuer::new`]; [`Error::BadOption`] for a ridge or observed targets in
    /// `options`, [`Error::DependentByWeight`] if the weights leave columns dependent.
    pub fn new(
        fit: LogisticFit,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
    ) -> Result<Self, Error> {
        if options.ridge != 0.0 {
            return Err(Error::BadOption { what: "in classification the ridge belongs to the fit" });
        }
        if options.targets != SetTargets::Expected {
            return Err(Error::BadOption { what: "only sets of a regression can keep observed targets" });
        }
        if fit.is_weighted() || reference.weights().is_some() {
            return Err(Error::Weighted);
        }
        let stats = fit.stats(reference)?;
        let (x, residual) = fit.residual_rows(reference)?;
        let working = Rows::new(x.as_ref(), &residual)?;
        let uncentred = FitOptions { intercept: false, ..FitOptions::default() };
        let products = LinearFit::new(&Moments::of(working)?, uncentred)?;
        if !products.dropped().is_empty() {
            let first = usize::from(fit.intercept());
            let columns = products.dropped().iter().map(|&k| fit.kept()[k.saturating_sub(first)]).collect();
            return Err(Error::DependentByWeight { columns });
        }
        // Targets are already residuals. The coefficients are those of the logistic fit,
        // which with a ridge is not least squares.
        let parts = products.to_parts();
        let none = vec![0.0; products.dim()];
        let known = FitParts { target_row: none.clone(), coef: none, rss: parts.total, ..parts };
        let general = GeneralValuer::new(LinearFit::from_parts(known)?, working, sizes, options)?;
        Ok(Self { fit, general: general.with_noise_var(1.0), reference: stats })
    }

    /// The fit of the reference.
    pub fn fit(&self) -> &LogisticFit {
        &self.fit
    }

    /// Values rows that are not part of the reference; `watch` as for
    /// [`GeneralValuer::values`].
    ///
    /// # Errors
    ///
    /// As for [`GeneralValuer::values`], and [`Error::NotBinary`].
    pub fn values(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        self.values_unseen(points, watch).map(GeneralValues::from)
    }

    /// Values all rows of the reference, each against the others, by one step
    /// of Newton's method.
    ///
    /// # Errors
    ///
    /// As for [`GeneralValuer::leave_one_out`].
    pub fn leave_one_out(&self, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        self.values_left_out(watch).map(GeneralValues::from)
    }

    fn values_unseen(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error> {
        let stats = self.fit.stats(points)?;
        let (x, residual) = self.fit.residual_rows(points)?;
        let found = self.general.values_unseen(Rows::new(x.as_ref(), &residual)?, watch)?;
        Ok(with_parts(found, &stats))
    }

    pub(super) fn values_left_out(&self, watch: Watch<'_>) -> Result<Values, Error> {
        Ok(with_parts(self.general.values_left_out(watch)?, &self.reference))
    }
}

/// Targets are labels, 0 or 1.
impl Valuer for GeneralClassificationValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let mut values = if place.in_reference {
            check_whole(rows, self.reference.len())?;
            self.values_left_out(watch)?
        } else {
            self.values_unseen(rows, watch)?
        };
        values.parts.extend(self.fit.label_parts(rows, place.in_reference)?);
        Ok(values)
    }

    fn parts(&self) -> Vec<Part> {
        OF_FIT.to_vec()
    }

    fn sizes(&self) -> Sizes {
        self.general.sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        let doubts =
            |warning: &Warning| matches!(warning, Warning::FewSizes { .. } | Warning::SmallReference { .. });
        warnings.extend(self.general.warnings().into_iter().filter(doubts));
        warnings
    }

    fn wants(&self) -> Wants {
        Wants::All
    }
}

/// Values with the parts that classification has.
fn with_parts(values: Values, stats: &[WorkingStats]) -> Values {
    let mut parts: Vec<_> = values.parts.into_iter().filter(|(part, _)| *part == Part::DistSq).collect();
    parts.push((Part::Prob, stats.iter().map(|row| row.prob).collect()));
    parts.push((Part::Weight, stats.iter().map(|row| row.weight).collect()));
    Values { parts, ..values }
}
