//! More than two classes: each against all others, and the values summed.

use super::fit::LogisticFit;
use super::irls::{Irls, LogisticOptions, PassBuilder, Step};
use super::valuer::{ClassificationMethod, ClassificationValuer, RowValue, ValuerWork};
use crate::linear::fit::PANEL_ROWS;
use crate::values::{Part, Values};
use crate::{Error, Rows, Sizes, Valuer, Warning};
use rayon::prelude::*;

/// Logistic fits of each class against the others, under way. Labels are whole
/// numbers from 0 to one less than the number of classes.
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
            return Err(Error::BadOption { what: "there must be two classes at least" });
        }
        let irls = || Ok(ClassIrls::Running(Irls::new(n_features, options)?));
        Ok(Self { classes: (0..n_classes).map(|_| irls()).collect::<Result<_, Error>>()? })
    }

    /// A pass over all rows, to be handed to [`finish_pass`](Self::finish_pass).
    pub fn begin_pass(&self) -> OneVsRestPass {
        let pass = |class: &ClassIrls| match class {
            ClassIrls::Running(irls) => Some(irls.begin_pass()),
            ClassIrls::Done(_) => None,
        };
        OneVsRestPass { classes: self.classes.iter().map(pass).collect() }
    }

    /// Takes a pass over all rows in; returns whether another one is needed.
    ///
    /// # Errors
    ///
    /// [`Error::InClass`] with what [`Irls::finish_pass`] says of a class.
    pub fn finish_pass(&mut self, pass: OneVsRestPass) -> Result<bool, Error> {
        let mut again = false;
        for (class, (state, pass)) in self.classes.iter_mut().zip(pass.classes).enumerate() {
            let (ClassIrls::Running(irls), Some(pass)) = (&mut *state, pass) else { continue };
            match irls.finish_pass(pass).map_err(in_class(class))? {
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

/// Values rows of any of several classes: the sum over classes of the value for
/// telling that class from all others.
///
/// Each class contributes `potential − penalty`; the sums of both are the parts.
/// With two classes both contributions are the same, by symmetry.
#[derive(Debug)]
pub struct OneVsRest {
    classes: Vec<ClassificationValuer>,
}

impl OneVsRest {
    /// Fits rows that are in memory; see [`OneVsRestIrls`] for others.
    ///
    /// # Errors
    ///
    /// As for [`OneVsRestIrls`].
    pub fn fits(
        rows: Rows<'_>,
        n_classes: usize,
        options: LogisticOptions,
    ) -> Result<Vec<LogisticFit>, Error> {
        let mut irls = OneVsRestIrls::new(rows.n_features(), n_classes, options)?;
        loop {
            let mut pass = irls.begin_pass();
            pass.push(rows)?;
            if !irls.finish_pass(pass)? {
                return irls.finish();
            }
        }
    }

    /// A valuer from a fit per class, all by the same method.
    ///
    /// # Errors
    ///
    /// As for [`ClassificationValuer::new`] and [`of`](Self::of).
    pub fn new(fits: Vec<LogisticFit>, sizes: Sizes, method: ClassificationMethod) -> Result<Self, Error> {
        let valuer = |fit| ClassificationValuer::new(fit, sizes, method);
        Self::of(fits.into_iter().map(valuer).collect::<Result<_, _>>()?)
    }

    /// A valuer from one per class, all by the same method; calibrated ones,
    /// for example.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::Contradiction`] for
    /// valuers of different references.
    pub fn of(classes: Vec<ClassificationValuer>) -> Result<Self, Error> {
        if classes.len() < 2 {
            return Err(Error::BadOption { what: "there must be two classes at least" });
        }
        let what = |class: &ClassificationValuer| {
            (class.fit().n_features(), class.fit().n_rows(), class.influence().is_some())
        };
        if classes.iter().any(|class| what(class) != what(&classes[0])) {
            return Err(Error::Contradiction { what: "the classes were fitted to different references" });
        }
        Ok(Self { classes })
    }

    /// Reports standard errors too; see [`ClassificationValuer::with_std_error`].
    /// The classes share their reference rows, so their errors are added row by
    /// row of the sample, not as if they were independent.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], and as for [`ClassificationValuer::with_std_error`].
    pub fn with_std_error(self, sample: Rows<'_>) -> Result<Self, Error> {
        check_classes(sample, self.classes.len())?;
        let with = |(class, valuer): (usize, ClassificationValuer)| {
            with_class(sample, class, |rows| valuer.with_std_error(rows))
        };
        Ok(Self { classes: self.classes.into_iter().enumerate().map(with).collect::<Result<_, _>>()? })
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[ClassificationValuer] {
        &self.classes
    }

    /// What is doubtful before a single row was valued, with the class where
    /// it is not the same for all.
    pub fn warnings(&self) -> Vec<(Option<usize>, Warning)> {
        let all: Vec<Vec<Warning>> = self.classes.iter().map(ClassificationValuer::warnings).collect();
        let everywhere = |warning: &Warning| all.iter().all(|other| other.contains(warning));
        let mut out: Vec<(Option<usize>, Warning)> = Vec::new();
        for (class, warnings) in all.iter().enumerate() {
            for warning in warnings {
                match everywhere(warning) {
                    false => out.push((Some(class), warning.clone())),
                    true if class == 0 => out.push((None, warning.clone())),
                    true => {}
                }
            }
        }
        out
    }

    /// Values `rows`, which are some or all of the reference rows themselves,
    /// each against the others.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        Ok(self.value_rows(rows, true)?.0)
    }

    /// The sum, and the values for each class against the others with all
    /// their parts; of reference rows themselves if they are `left_out`.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn values_by_class(&self, rows: Rows<'_>, left_out: bool) -> Result<(Values, Vec<Values>), Error> {
        self.value_rows(rows, left_out)
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<(Values, Vec<Values>), Error> {
        check_classes(rows, self.classes.len())?;
        let by_class = self.classes.iter().enumerate().map(|(class, valuer)| {
            with_class(rows, class, |rows| match left_out {
                true => valuer.leave_one_out(rows),
                false => valuer.values(rows),
            })
        });
        let by_class = by_class.collect::<Result<Vec<_>, _>>()?;
        let mut sum = sum_of_classes(&by_class);
        if self.classes.iter().all(|class| class.influence().is_some()) {
            sum.std_error = Some(self.joint_errors(rows, left_out, &sum)?);
        }
        Ok((sum, by_class))
    }

    /// Standard errors of the sums, from the sums of influences.
    fn joint_errors(&self, rows: Rows<'_>, left_out: bool, sum: &Values) -> Result<Vec<f64>, Error> {
        let mut out = vec![f64::NAN; rows.len()];
        let done = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each(|(panel, out)| {
            let start = panel * PANEL_ROWS;
            let rows = rows.slice(start, out.len());
            let mut values = vec![RowValue::default(); out.len()];
            let mut psi = None;
            for (class, valuer) in self.classes.iter().enumerate() {
                let mut work = ValuerWork::new(valuer);
                if psi.is_some() {
                    work.psi = psi.take();
                }
                with_class(rows, class, |rows| {
                    valuer.value_panel(rows, 0, left_out, &mut work, &mut values)
                })?;
                psi = work.psi.take();
            }
            if let (Some(psi), Some(influence)) = (&psi, self.classes[0].influence()) {
                let variances = influence.variances(psi);
                for (i, out) in out.iter_mut().enumerate() {
                    if sum.value[start + i].is_finite() {
                        *out = (variances[i] / values[i].effective).sqrt();
                    }
                }
            }
            Ok(())
        });
        done.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(out)
    }
}

impl Valuer for OneVsRest {
    /// Values `points`, whose targets are classes.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotAClass`], [`Error::NotFinite`] and
    /// [`Error::TooLarge`].
    fn values(&self, points: Rows<'_>) -> Result<Values, Error> {
        Ok(self.value_rows(points, false)?.0)
    }
}

/// The sum over classes of values of the same rows, by any method: values,
/// potentials and penalties. A row without a value in one class has none.
///
/// Standard errors are not summed: the classes share their reference.
pub fn sum_of_classes(by_class: &[Values]) -> Values {
    let Some(first) = by_class.first() else { return Values::default() };
    let sum = |column: &dyn Fn(&Values) -> Option<Vec<f64>>| {
        let mut total = vec![0.0; first.len()];
        for values in by_class {
            total.iter_mut().zip(column(values)?).for_each(|(total, add)| *total += add);
        }
        Some(total)
    };
    let part = |part: Part| Some((part, sum(&|values| Some(values.part(part)?.to_vec()))?));
    let mut notes: Vec<_> = by_class.iter().flat_map(|values| values.notes.iter().copied()).collect();
    notes.sort_by_key(|(row, _)| *row);
    notes.dedup_by_key(|(row, _)| *row);
    Values {
        value: sum(&|values| Some(values.value.clone())).unwrap_or_default(),
        parts: [Part::Potential, Part::Penalty].into_iter().filter_map(part).collect(),
        notes,
        ..Values::default()
    }
}

/// The same rows with label 1 for those of `class` and 0 for all others.
pub(crate) fn with_class<T>(rows: Rows<'_>, class: usize, then: impl FnOnce(Rows<'_>) -> T) -> T {
    let labels: Vec<f64> = rows.y().iter().map(|&y| f64::from(u8::from(y == class as f64))).collect();
    let relabelled = Rows::new(rows.x(), &labels).expect("there is a label for each row");
    then(match rows.weights() {
        Some(weights) => relabelled.with_weights(weights).expect("there is a weight for each row"),
        None => relabelled,
    })
}

fn check_classes(rows: Rows<'_>, n_classes: usize) -> Result<(), Error> {
    let is_class = |label: f64| label >= 0.0 && label < n_classes as f64 && label.fract() == 0.0;
    match rows.y().iter().position(|&label| !is_class(label)) {
        Some(row) if !rows.y()[row].is_finite() => Err(Error::NotFinite { row, column: rows.n_features() }),
        Some(row) => Err(Error::NotAClass { row, n_classes }),
        None => Ok(()),
    }
}

fn in_class(class: usize) -> impl Fn(Error) -> Error {
    move |error| match error {
        // These are about the rows as such.
        Error::NoRows | Error::TooLarge | Error::NoFeatures { .. } | Error::TooFewRows { .. } => error,
        error => Error::InClass { class, error: Box::new(error) },
    }
}
