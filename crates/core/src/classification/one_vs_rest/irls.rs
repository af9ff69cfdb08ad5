//! A logistic fit of each class against the others, in shared passes.

use super::with_class;
use crate::classification::fit::LogisticFit;
use crate::classification::irls::{Irls, LogisticOptions, PassBuilder, PassPlan, PassSums, Step};
use crate::labels::check_classes;
use crate::{Error, Rows};

/// Logistic fits of each class against the others, in progress. Labels are whole numbers
/// from 0 to one less than the number of classes.
#[derive(Debug)]
pub struct OneVsRestIrls {
    classes: Vec<ClassIrls>,
}

#[derive(Debug)]
enum ClassIrls {
    Running(Irls),
    Done(Box<LogisticFit>),
}

/// A pass for all classes that are not fitted yet.
#[derive(Debug)]
pub struct OneVsRestPass {
    classes: Vec<Option<PassBuilder>>,
}

impl OneVsRestIrls {
    /// For rows of `n_features` features and a label below `n_classes`.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two classes, or as for [`Irls::new`].
    pub fn new(n_features: usize, n_classes: usize, options: LogisticOptions) -> Result<Self, Error> {
        if n_classes < 2 {
            return Err(Error::BadOption { what: "at least two classes are needed" });
        }
        let irls = || Ok(ClassIrls::Running(Irls::new(n_features, options)?));
        Ok(Self { classes: (0..n_classes).map(|_| irls()).collect::<Result<_, Error>>()? })
    }

    /// A new pass over all rows, for [`finish_pass`](Self::finish_pass).
    pub fn begin_pass(&self) -> OneVsRestPass {
        let pass = |class: &ClassIrls| match class {
            ClassIrls::Running(irls) => Some(irls.begin_pass()),
            ClassIrls::Done(_) => None,
        };
        OneVsRestPass { classes: self.classes.iter().map(pass).collect() }
    }

    /// Uses a finished pass over all rows; returns whether another one is needed.
    ///
    /// # Errors
    ///
    /// [`Error::InClass`] with an error of [`Irls::finish_pass`].
    pub fn finish_pass(&mut self, pass: OneVsRestPass) -> Result<bool, Error> {
        self.finish_sums(pass.finish()?)
    }

    /// What the next pass sums, class by class; nothing for classes that are fitted.
    pub fn plan(&self) -> Vec<Option<PassPlan>> {
        let plan = |class: &ClassIrls| match class {
            ClassIrls::Running(irls) => Some(irls.plan()),
            ClassIrls::Done(_) => None,
        };
        self.classes.iter().map(plan).collect()
    }

    /// As [`finish_pass`](Self::finish_pass), with the merged sums of a pass over all rows.
    ///
    /// # Errors
    ///
    /// As for [`finish_pass`](Self::finish_pass).
    pub fn finish_sums(&mut self, sums: Vec<Option<PassSums>>) -> Result<bool, Error> {
        let mut again = false;
        for (class, (state, sums)) in self.classes.iter_mut().zip(sums).enumerate() {
            let (ClassIrls::Running(irls), Some(sums)) = (&mut *state, sums) else { continue };
            match irls.finish_sums(sums).map_err(in_class(class))? {
                Step::Again => again = true,
                Step::Converged(fit) => *state = ClassIrls::Done(fit),
            }
        }
        Ok(again)
    }

    /// The fits, one per class.
    ///
    /// # Errors
    ///
    /// [`Error::NotConverged`] while passes are still needed.
    pub fn finish(self) -> Result<Vec<LogisticFit>, Error> {
        let fit = |class| match class {
            ClassIrls::Done(fit) => Ok(*fit),
            ClassIrls::Running(irls) => Err(Error::NotConverged { n_passes: irls.n_passes() }),
        };
        self.classes.into_iter().map(fit).collect()
    }
}

impl OneVsRestPass {
    /// A pass by its plans, class by class.
    ///
    /// # Errors
    ///
    /// As for [`PassPlan::begin`].
    pub fn begin(plans: &[Option<PassPlan>]) -> Result<Self, Error> {
        let pass = |plan: &Option<PassPlan>| plan.as_ref().map(PassPlan::begin).transpose();
        Ok(Self { classes: plans.iter().map(pass).collect::<Result<_, _>>()? })
    }

    /// The sums over the rows of this pass, class by class.
    ///
    /// # Errors
    ///
    /// As for [`PassBuilder::finish`].
    pub fn finish(self) -> Result<Vec<Option<PassSums>>, Error> {
        let each = self.classes.into_iter().enumerate();
        let sums =
            each.map(|(class, pass)| pass.map(PassBuilder::finish).transpose().map_err(in_class(class)));
        sums.collect()
    }

    /// Adds rows; see [`PassBuilder::push`].
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], and as for [`PassBuilder::push`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        check_classes(rows, self.classes.len())?;
        for (class, pass) in self.classes.iter_mut().enumerate() {
            if let Some(pass) = pass {
                with_class(rows, class, |rows| pass.push(rows))?;
            }
        }
        Ok(())
    }
}

fn in_class(class: usize) -> impl Fn(Error) -> Error {
    move |error| match error {
        // These are about the rows, not the class.
        Error::NoRows | Error::TooLarge | Error::NoFeatures { .. } | Error::TooFewRows { .. } => error,
        error => Error::InClass { class, error: Box::new(error) },
    }
}
