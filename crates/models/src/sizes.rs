//! The set sizes of methods that fit coefficients.

use crate::Error;
use crate::how::How;
use crate::model::Model;
use dshap::Sizes;
use dshap_table::Design;
use serde::{Deserialize, Serialize};

/// Which rule finds the default `q`. A valuer keeps the rule it was fitted with, so that a file
/// has the same values in every later version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultQ {
    /// The number of coefficients alone: files of earlier versions.
    #[default]
    Coefficients,
    /// Also how many rows sets have of each category, and how many sets have a fit.
    Enough,
}

impl DefaultQ {
    /// Whether it is the rule of files that name none.
    pub(crate) fn is_first(&self) -> bool {
        *self == DefaultQ::Coefficients
    }
}

/// The set sizes for a fit with coefficients, with defaults filled in.
///
/// # Errors
///
/// [`Error::Core`] where there are too few rows for the default `m`, or for a
/// bound to say anything.
pub(crate) fn of_fit(model: &dyn Model, how: &How, design: &Design) -> Result<Sizes, Error> {
    let (n, p, choice) = (model.n_rows(), model.dim(how), how.sizes());
    if choice.max.is_none() && n < p + 3 {
        let error = dshap::Error::TooFewRows { n_rows: n, dim: p, needed: p + 3 };
        return Err(Error::core(error, design));
    }
    let max = choice.max.unwrap_or(n);
    // Finding a default may take a while.
    let mut default = choice.min.unwrap_or_else(|| model.default_min(how, design, max));
    if let Some(bound) = crate::methods::bounds::of(how) {
        default = default.max(bound.first_size(p, max) + 1);
        if choice.min.is_none() && default > max {
            // A larger m needs larger sets, too: the hint must name an m that is enough for itself.
            let mut first = default;
            while bound.first_size(p, first) + 1 > first {
                first = bound.first_size(p, first) + 1;
            }
            let error = dshap::Error::SilentBound { first, max };
            return Err(Error::core(error, design));
        }
    }
    Ok(Sizes::new(choice.min.unwrap_or(default), max).with_semivalue(how.semivalue()))
}
