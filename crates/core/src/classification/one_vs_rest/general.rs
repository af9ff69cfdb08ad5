//! Values by drawing sets, for more than two classes.

use super::{parts_of_total, total_of_classes, values_of_classes, warnings_of_classes, with_class};
use crate::classification::fit::LogisticFit;
use crate::classification::general::GeneralClassificationValuer;
use crate::labels::check_classes;
use crate::linear::{GeneralOptions, GeneralValues};
use crate::values::{Draws, Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};

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
            return Err(Error::BadOption { what: "at least two classes are needed" });
        }
        check_classes(reference, fits.len())?;
        let valuer = |(class, fit): (usize, LogisticFit)| {
            let seed = options.seed.wrapping_add(SEED_STEP.wrapping_mul(class as u64));
            let options = GeneralOptions { seed, ..options };
            with_class(reference, class, |rows| GeneralClassificationValuer::new(fit, rows, sizes, options))
        };
        let classes = fits.into_iter().enumerate().map(valuer).collect::<Result<_, _>>()?;
        Ok(Self { classes, parts_by_class: false })
    }

    /// Also returns the value and the probability of each class.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[GeneralClassificationValuer] {
        &self.classes
    }

    /// Values rows that are not part of the reference; `watch` gets the number of rounds
    /// done in all classes, and their maximum.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], and as for [`GeneralClassificationValuer::values`].
    pub fn values(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        self.values_at(points, Place::default(), watch).map(GeneralValues::from)
    }

    /// Values all rows of the reference, each against the others.
    ///
    /// # Errors
    ///
    /// As for [`GeneralClassificationValuer::leave_one_out`].
    pub fn leave_one_out(&self, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        let n_classes = self.classes.len();
        let of_class = |(class, valuer): (usize, &GeneralClassificationValuer)| {
            valuer.values_left_out(&|done, total| watch(class * total + done, n_classes * total))
        };
        let by_class = self.classes.iter().enumerate().map(of_class).collect::<Result<Vec<_>, _>>()?;
        Ok(self.total(&by_class).into())
    }

    /// The sum over classes, whose draws are independent.
    fn total(&self, by_class: &[Values]) -> Values {
        let mut sum = total_of_classes(by_class, self.parts_by_class);
        let errors = by_class.iter().map(|values| values.std_error.as_deref());
        if let Some(errors) = errors.collect::<Option<Vec<_>>>() {
            let joint = |i: usize| errors.iter().map(|errors| errors[i] * errors[i]).sum::<f64>().sqrt();
            sum.std_error = Some((0..sum.len()).map(joint).collect());
        }
        let worse = |all: Draws, class: Draws| Draws {
            n_rounds: all.n_rounds.max(class.n_rounds),
            reached: all.reached && class.reached,
            singular_share: all.singular_share.max(class.singular_share),
        };
        sum.draws = by_class.iter().filter_map(|values| values.draws).reduce(worse);
        sum
    }
}

/// Targets are classes.
impl Valuer for GeneralOneVsRest {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        Ok(self.total(&values_of_classes(&self.classes, rows, place, watch)?))
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

    fn wants(&self) -> Wants {
        Wants::All
    }
}
