//! Values by drawing sets, for more than two classes.

use super::{check_classes, parts_of_classes, sum_of_classes, warnings_of_classes, with_class};
use crate::classification::fit::LogisticFit;
use crate::classification::general::GeneralClassificationValuer;
use crate::linear::{GeneralOptions, GeneralValues};
use crate::{Error, Rows, Sizes, Warning};

/// Keeps the draws of one class apart from those of the next: the golden ratio
/// as a fraction of all seeds.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sum over classes of the value for telling that class from all others,
/// by drawing sets of reference rows.
///
/// Each class has draws of its own, so that their errors are independent and
/// add up as squares.
#[derive(Debug)]
pub struct GeneralOneVsRest {
    classes: Vec<GeneralClassificationValuer>,
    max_rounds: usize,
    parts_by_class: bool,
}

impl GeneralOneVsRest {
    /// A valuer against `reference`, whose targets are classes, each of which
    /// has one of `fits`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], [`Error::BadOption`] for fewer than two classes, and
    /// as for [`GeneralClassificationValuer::new`].
    pub fn new(
        fits: Vec<LogisticFit>,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
    ) -> Result<Self, Error> {
        if fits.len() < 2 {
            return Err(Error::BadOption { what: "there must be two classes at least" });
        }
        check_classes(reference, fits.len())?;
        let valuer = |(class, fit): (usize, LogisticFit)| {
            let seed = options.seed.wrapping_add(SEED_STEP.wrapping_mul(class as u64));
            let options = GeneralOptions { seed, ..options };
            with_class(reference, class, |rows| GeneralClassificationValuer::new(fit, rows, sizes, options))
        };
        let classes = fits.into_iter().enumerate().map(valuer).collect::<Result<_, _>>()?;
        Ok(Self { classes, max_rounds: options.max_rounds, parts_by_class: false })
    }

    /// Tells what each class contributes, and how likely it is.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[GeneralClassificationValuer] {
        &self.classes
    }

    /// What is doubtful before a single row was valued, with the class where
    /// it is not the same for all.
    pub fn warnings(&self) -> Vec<(Option<usize>, Warning)> {
        let all: Vec<Vec<Warning>> = self.classes.iter().map(|class| class.warnings()).collect();
        warnings_of_classes(&all)
    }

    /// Values rows that are not part of the reference; `watch` is told how many
    /// rounds of all classes are done, and of how many at most.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], and as for [`GeneralClassificationValuer::values`].
    pub fn values(
        &self,
        points: Rows<'_>,
        watch: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<GeneralValues, Error> {
        check_classes(points, self.classes.len())?;
        self.sum(watch, |class, valuer, watch| with_class(points, class, |rows| valuer.values(rows, watch)))
    }

    /// Values all rows of the reference, each against the others.
    ///
    /// # Errors
    ///
    /// As for [`GeneralClassificationValuer::leave_one_out`].
    pub fn leave_one_out(
        &self,
        watch: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<GeneralValues, Error> {
        self.sum(watch, |_, valuer, watch| valuer.leave_one_out(watch))
    }

    fn sum(
        &self,
        watch: &(dyn Fn(usize, usize) -> bool + Sync),
        of_class: impl Fn(
            usize,
            &GeneralClassificationValuer,
            &(dyn Fn(usize, usize) -> bool + Sync),
        ) -> Result<GeneralValues, Error>,
    ) -> Result<GeneralValues, Error> {
        let most = self.max_rounds * self.classes.len();
        let (mut by_class, mut n_rounds, mut reached, mut singular_share) = (Vec::new(), 0, true, 0.0_f64);
        for (class, valuer) in self.classes.iter().enumerate() {
            let watch_all = |done: usize, _: usize| watch(class * self.max_rounds + done, most);
            let found = of_class(class, valuer, &watch_all)?;
            n_rounds = found.n_rounds.max(n_rounds);
            reached &= found.reached;
            singular_share = found.singular_share.max(singular_share);
            by_class.push(found.values);
        }
        let mut values = sum_of_classes(&by_class);
        let errors = by_class.iter().map(|values| values.std_error.as_deref());
        if let Some(errors) = errors.collect::<Option<Vec<_>>>() {
            let joint = |i: usize| errors.iter().map(|errors| errors[i] * errors[i]).sum::<f64>().sqrt();
            values.std_error = Some((0..values.len()).map(joint).collect());
        }
        if self.parts_by_class {
            values.parts.extend(parts_of_classes(&by_class));
        }
        Ok(GeneralValues { values, n_rounds, reached, singular_share })
    }
}
