//! Bounds as printed, for more than two classes.

use super::{check_classes, check_same, parts_of_classes, sum_of_classes, warnings_of_classes, with_class};
use crate::classification::printed::PrintedValuer;
use crate::values::Values;
use crate::{Error, Rows, Sizes, Valuer, Warning};

/// The sum over classes of the printed bound for telling that class from all
/// others. The paper knows two classes only; this is how it goes on for more.
#[derive(Debug)]
pub struct PrintedOneVsRest {
    classes: Vec<PrintedValuer>,
    parts_by_class: bool,
}

impl PrintedOneVsRest {
    /// A valuer from one per class.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::Contradiction`] for
    /// valuers of different references.
    pub fn of(classes: Vec<PrintedValuer>) -> Result<Self, Error> {
        check_same(classes.iter().map(|class| (class.fit().n_features(), class.fit().n_rows())))?;
        Ok(Self { classes, parts_by_class: false })
    }

    /// Tells what each class contributes, and how likely it is.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[PrintedValuer] {
        &self.classes
    }

    /// The set sizes summed over.
    pub fn sizes(&self) -> Sizes {
        self.classes[0].sizes()
    }

    /// What is doubtful before a single row was valued, with the class where
    /// it is not the same for all.
    pub fn warnings(&self) -> Vec<(Option<usize>, Warning)> {
        let all: Vec<Vec<Warning>> = self.classes.iter().map(PrintedValuer::warnings).collect();
        warnings_of_classes(&all)
    }

    /// Values `rows`, which are some or all of the reference rows themselves;
    /// see [`PrintedValuer::leave_one_out`].
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.sum(rows, PrintedValuer::leave_one_out)
    }

    fn sum(
        &self,
        rows: Rows<'_>,
        of_class: impl Fn(&PrintedValuer, Rows<'_>) -> Result<Values, Error>,
    ) -> Result<Values, Error> {
        check_classes(rows, self.classes.len())?;
        let by_class = self.classes.iter().enumerate();
        let by_class = by_class.map(|(class, valuer)| with_class(rows, class, |rows| of_class(valuer, rows)));
        let by_class = by_class.collect::<Result<Vec<_>, _>>()?;
        let mut sum = sum_of_classes(&by_class);
        if self.parts_by_class {
            sum.parts.extend(parts_of_classes(&by_class));
        }
        Ok(sum)
    }
}

impl Valuer for PrintedOneVsRest {
    fn values(&self, points: Rows<'_>) -> Result<Values, Error> {
        self.sum(points, PrintedValuer::values)
    }
}
