//! Fits a reference, whatever the method.

use crate::how::How;
use crate::linear::{self, Keeper};
use crate::method::Makes;
use crate::model::Learned;
use crate::reference::Reference;
use crate::{Error, density, logistic, neighbours, sets};
use dshap_catalogue::Task;

/// Fits the model that a method values rows by. `keeper` keeps the state of a
/// regression; `tests` are rows apart from the reference that measure utility.
///
/// # Errors
///
/// [`Error`].
pub fn learn(
    how: &How,
    task: Task,
    reference: &dyn Reference,
    tests: Option<&dyn Reference>,
    keeper: Option<&mut dyn Keeper>,
) -> Result<Learned, Error> {
    match (how.method.makes, task) {
        (Makes::Neighbours { .. }, _) => neighbours::learn(how, reference, tests),
        (Makes::Sets(baseline), _) => sets::learn(how, baseline, task, reference, tests),
        (Makes::Density(_), _) => density::learn(how, reference),
        (Makes::Fit { .. }, Task::Classification) => {
            logistic::learn(how, reference).map_err(|error| error.with_options(&how.given))
        }
        (Makes::Fit { .. }, _) => linear::learn(how, reference, keeper),
    }
}
