//! The set sizes of methods that fit coefficients.

use crate::Error;
use crate::how::How;
use crate::model::Model;
use dshap::Sizes;
use dshap_table::Design;

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
