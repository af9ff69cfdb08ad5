//! What is known about labels and their fit, and what is doubtful.

use super::LogisticModel;
use crate::how::How;
use crate::model::Model;
use crate::warning::Warning;
use dshap::Sizes;
use dshap::classification::{LogisticFit, with_class};
use dshap_catalogue::MethodKind;
use dshap_table::{Design, Labels};
use serde::Serialize;

/// A rarer label than this makes errors from a sample of rows rough.
const RARE_LABEL: f64 = 0.02;

/// A label with fewer reference rows gets a warning.
const FEW_ROWS_OF_A_LABEL: usize = 5;

/// What is known about a fitted classification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFacts {
    /// The labels, class by class.
    pub labels: Vec<String>,
    /// Reference rows of each.
    pub label_rows: Vec<usize>,
    /// The label that counts as 1; absent where there are more than two.
    pub positive: Option<String>,
    /// `−2 ·` the log-likelihood of the reference, summed over fits.
    pub deviance: f64,
    /// Passes over the reference that the fit took.
    pub fit_passes: usize,
}

impl ClassFacts {
    pub(super) fn of(model: &LogisticModel, design: &Design) -> Self {
        Self {
            labels: design.labels().map(Labels::words).unwrap_or_default(),
            label_rows: model.label_rows(),
            positive: design.labels().and_then(Labels::positive),
            deviance: model.fits.iter().map(LogisticFit::deviance).sum(),
            fit_passes: model.fits.iter().map(LogisticFit::n_passes).max().unwrap_or(0),
        }
    }
}

impl LogisticModel {
    /// The number of rows with full weight that the smallest sets amount to.
    fn amounts_to(&self, sizes: Sizes) -> Option<f64> {
        Some(self.weight_share()? * (sizes.min() - 1) as f64)
    }

    /// The smallest sets that are large enough, if the fit is so certain of most rows that those
    /// of `sizes` are not.
    pub(super) fn enough_rows(&self, how: &How, sizes: Sizes) -> Option<usize> {
        if how.method.entry.kind != MethodKind::ClosedForm {
            return None;
        }
        let p = self.dim(how);
        let enough = ((p + p.max(10)) as f64 / self.weight_share()?).ceil() as usize;
        (self.amounts_to(sizes)? < (p + 3) as f64).then_some(enough)
    }

    /// Reference rows of each label, class by class.
    pub fn label_rows(&self) -> Vec<usize> {
        match self.only() {
            Some(fit) => vec![fit.n_rows() - fit.n_positive(), fit.n_positive()],
            None => self.fits.iter().map(LogisticFit::n_positive).collect(),
        }
    }

    /// `(ΣW)²/(n ΣW²)`: the share of rows that those of a set amount to, in the fit
    /// where it is least.
    fn weight_share(&self) -> Option<f64> {
        // Valuers written by older versions know it only for their sample of rows.
        let of_sample = |class: usize, fit: &LogisticFit| {
            self.sample.with_rows(|rows, counts| {
                let stats = match self.only() {
                    Some(fit) => fit.stats(rows),
                    None => with_class(rows, class, |rows| fit.stats(rows)),
                };
                let stats = stats.ok()?;
                let sums = stats.iter().zip(counts).fold([0.0; 3], |[n, sum, square], (row, count)| {
                    [n + count, sum + count * row.weight, square + count * row.weight * row.weight]
                });
                Some(sums[1] * sums[1] / (sums[0] * sums[2])).filter(|share| share.is_finite())
            })?
        };
        let shares = self
            .fits
            .iter()
            .enumerate()
            .filter_map(|(class, fit)| fit.weight_share().or_else(|| of_sample(class, fit)));
        shares.min_by(f64::total_cmp)
    }
}

/// Labels with so few rows that they may be misspelled.
pub(super) fn rare_labels(model: &LogisticModel, design: &Design) -> Vec<Warning> {
    let rows = model.label_rows().into_iter().enumerate();
    let rare = rows.filter(|(_, n_rows)| *n_rows < FEW_ROWS_OF_A_LABEL);
    let warning = |(class, n_rows): (usize, usize)| {
        let label = design.labels().map(|labels| labels.word(class)).unwrap_or_default();
        Warning::RareLabel { label, n_rows }
    };
    rare.map(warning).collect()
}

/// A fit that is so sure of most rows that small sets amount to fewer rows than
/// they have. Only closed forms that keep the weights of the fit are off then.
pub(super) fn sure_fit(model: &LogisticModel, how: &How, sizes: Sizes) -> Option<Warning> {
    let (dim, size, amounts_to) = (model.dim(how), sizes.min() - 1, model.amounts_to(sizes)?);
    let enough = model.enough_rows(how, sizes)?;
    Some(Warning::SureFit { size, amounts_to, dim, enough, most: sizes.max() })
}

/// Standard errors that depend on few rows of a sample: with a rare label hardly
/// any of the others matters, and which of them were kept is chance.
pub(super) fn rough_errors(model: &LogisticModel) -> Option<Warning> {
    let fit = model.only()?;
    let rarer = fit.n_positive().min(fit.n_rows() - fit.n_positive());
    let share = rarer as f64 / fit.n_rows() as f64;
    (share < RARE_LABEL && model.sample.len() < fit.n_rows()).then_some(Warning::RoughErrors { share })
}
