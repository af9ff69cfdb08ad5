//! Bounds of the authors' program, for more than two classes.

use super::{check_same, parts_of_total, total_of_classes, values_of_classes, warnings_of_classes};
use crate::classification::authors::AuthorsValuer;
use crate::values::{Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Warning, Watch};

/// The sum over classes of the authors' bound for telling that class from all others. The
/// paper has only two classes; this extends it to more.
#[derive(Debug)]
pub struct AuthorsOneVsRest {
    classes: Vec<AuthorsValuer>,
    parts_by_class: bool,
}

impl AuthorsOneVsRest {
    /// A valuer from one per class.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::Contradiction`] for
    /// valuers of different references.
    pub fn of(classes: Vec<AuthorsValuer>) -> Result<Self, Error> {
        check_same(classes.iter().map(|class| (class.fit().n_features(), class.fit().n_rows())))?;
        Ok(Self { classes, parts_by_class: false })
    }

    /// Also returns the value and the probability of each class.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[AuthorsValuer] {
        &self.classes
    }

    /// Values `rows`, which are some or all of the reference rows themselves;
    /// see [`AuthorsValuer::leave_one_out`].
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.values_at(rows, Place::of_reference(0), &|_, _| true)
    }
}

/// Targets are classes.
impl Valuer for AuthorsOneVsRest {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let by_class = values_of_classes(&self.classes, rows, place, watch)?;
        Ok(total_of_classes(&by_class, self.parts_by_class))
    }

    fn parts(&self) -> Vec<Part> {
        parts_of_total(&self.classes, self.parts_by_class)
    }

    fn sizes(&self) -> Sizes {
        self.classes[0].sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        warnings_of_classes(&self.classes)
    }
}
