//! Values of rows of any of several classes.

use super::{
    OneVsRestIrls, check_same, parts_of_total, total_of_classes, values_of_classes, warnings_of_classes,
    with_class,
};
use crate::classification::fit::LogisticFit;
use crate::classification::irls::LogisticOptions;
use crate::classification::valuer::{ClassificationMethod, ClassificationValuer, RowValue, ValuerWork};
use crate::labels::check_classes;
use crate::linear::calibrated::doubt;
use crate::linear::fit::PANEL_ROWS;
use crate::values::{Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Warning, Watch};
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

    /// Also returns the value and the probability of each class.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// Also reports standard errors; see [`ClassificationValuer::with_std_error`]. The
    /// classes share their reference rows, so their errors are added row by row of the
    /// sample, not as if they were independent.
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

    /// Values `rows`, which are some or all of the reference rows themselves,
    /// each against the others.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.values_at(rows, Place::of_reference(0), &|_, _| true)
    }

    /// The sum, and the values for each class against the others with all
    /// their parts; of reference rows themselves if they are `left_out`.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn values_by_class(&self, rows: Rows<'_>, left_out: bool) -> Result<(Values, Vec<Values>), Error> {
        self.value_rows(rows, Place { first_row: 0, in_reference: left_out }, &|_, _| true)
    }

    fn value_rows(
        &self,
        rows: Rows<'_>,
        place: Place,
        watch: Watch<'_>,
    ) -> Result<(Values, Vec<Values>), Error> {
        let by_class = values_of_classes(&self.classes, rows, place, watch)?;
        let mut sum = total_of_classes(&by_class, self.parts_by_class);
        if self.classes.iter().all(|class| class.influence().is_some()) {
            sum.std_error = Some(self.joint_errors(rows, place.in_reference, &sum)?);
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

/// Targets are classes.
impl Valuer for OneVsRest {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        Ok(self.value_rows(rows, place, watch)?.0)
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

    fn expect_targets(&mut self) -> bool {
        self.classes.iter_mut().all(|class| class.expect_targets())
    }

    fn check_inputs(&self, sample: Rows<'_>) -> Result<Option<Warning>, Error> {
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
}
