//! Values of rows of any of several classes.

use super::{
    OneVsRestIrls, check_classes, check_same, parts_of_classes, sum_of_classes, warnings_of_classes,
    with_class,
};
use crate::classification::fit::LogisticFit;
use crate::classification::irls::LogisticOptions;
use crate::classification::valuer::{ClassificationMethod, ClassificationValuer, RowValue, ValuerWork};
use crate::linear::calibrated::doubt;
use crate::linear::fit::PANEL_ROWS;
use crate::values::Values;
use crate::{Error, Rows, Sizes, Valuer, Warning};
use rayon::prelude::*;

/// Values rows of any of several classes: the sum over classes of the value for
/// telling that class from all others.
///
/// Each class contributes `potential − penalty`; the sums of both are the parts.
#[derive(Debug)]
pub struct OneVsRest {
    classes: Vec<ClassificationValuer>,
    parts_by_class: bool,
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
        check_same(
            classes
                .iter()
                .map(|class| (class.fit().n_features(), class.fit().n_rows(), class.influence().is_some())),
        )?;
        Ok(Self { classes, parts_by_class: false })
    }

    /// Tells what each class contributes, and how likely it is.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// Reports standard errors too; see [`ClassificationValuer::with_std_error`].
    /// The classes share their reference rows, so their errors are added row by
    /// row of the sample, not as if they were independent.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], and as for [`ClassificationValuer::with_std_error`].
    pub fn with_std_error(self, sample: Rows<'_>) -> Result<Self, Error> {
        self.with_std_error_of(sample, None)
    }

    /// The same from a sample in which rows stand for different numbers of
    /// reference rows; see [`ClassificationValuer::with_std_error_of`].
    ///
    /// # Errors
    ///
    /// As for [`with_std_error`](Self::with_std_error), and [`Error::RowCount`].
    pub fn with_std_error_of(mut self, sample: Rows<'_>, stands_for: Option<&[f64]>) -> Result<Self, Error> {
        check_classes(sample, self.classes.len())?;
        let with = |(class, valuer): (usize, ClassificationValuer)| {
            with_class(sample, class, |rows| valuer.with_std_error_of(rows, stands_for))
        };
        self.classes = self.classes.into_iter().enumerate().map(with).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[ClassificationValuer] {
        &self.classes
    }

    /// What is doubtful before a single row was valued, with the class where
    /// it is not the same for all.
    pub fn warnings(&self) -> Vec<(Option<usize>, Warning)> {
        let all: Vec<Vec<Warning>> = self.classes.iter().map(ClassificationValuer::warnings).collect();
        warnings_of_classes(&all)
    }

    /// Whether values of these reference rows, a sample of all, would be others
    /// if the working variables were not taken for Gaussian; see
    /// [`ClassificationValuer::doubt_gaussian`].
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn doubt_gaussian(&self, sample: Rows<'_>) -> Result<Option<Warning>, Error> {
        check_classes(sample, self.classes.len())?;
        let both = self
            .classes
            .iter()
            .enumerate()
            .map(|(class, valuer)| with_class(sample, class, |rows| valuer.plain_and_calibrated(rows)));
        let both: Option<Vec<_>> = both.collect::<Result<_, _>>()?;
        let Some((plain, calibrated)) = both.map(|both| both.into_iter().unzip()) else { return Ok(None) };
        let plain = Self::of(plain)?.with_std_error(sample)?.leave_one_out(sample)?;
        Ok(doubt(&plain, &Self::of(calibrated)?.leave_one_out(sample)?))
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
        if self.parts_by_class {
            sum.parts.extend(parts_of_classes(&by_class));
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
