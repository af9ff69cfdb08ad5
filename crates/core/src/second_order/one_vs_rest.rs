//! More than two classes, each against all others.

use super::bootstrap::{BootstrapOptions, Drawn, replicates, std_errors};
use super::drawn::DrawnStart;
use super::options::SecondOrderOptions;
use super::terms::RowForm;
use super::valuer::SecondOrderValuer;
use crate::classification::one_vs_rest::{
    check_same, parts_of_total, total_of_classes, values_of_classes, warnings_of_classes,
};
use crate::classification::{LogisticFit, LogisticOptions, with_class};
use crate::labels::check_classes;
use crate::values::{Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};

/// Values rows of any of several classes: the sum over classes of the value for
/// models, refitted on each set, that tell that class from all others.
#[derive(Debug, Clone)]
pub struct SecondOrderOneVsRest {
    classes: Vec<SecondOrderValuer>,
    parts_by_class: bool,
    /// Expansions of each class about drawn references, if standard errors were
    /// asked for.
    drawn: Drawn<Vec<Vec<RowForm>>>,
}

impl SecondOrderOneVsRest {
    /// A valuer from one per class, all with the same options.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::Contradiction`] for
    /// valuers of different references, sizes or utilities.
    pub fn of(classes: Vec<SecondOrderValuer>) -> Result<Self, Error> {
        check_same(classes.iter().map(|class| {
            let fit = class.fit();
            (fit.n_features(), fit.n_rows(), class.sizes(), class.options().utility, class.options().spread)
        }))?;
        Ok(Self { classes, parts_by_class: false, drawn: Drawn::default() })
    }

    /// Fits and values rows that are in memory.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], [`Error::InClass`], and as for [`SecondOrderValuer::of`].
    pub fn of_rows(
        reference: Rows<'_>,
        n_classes: usize,
        logistic: LogisticOptions,
        sizes: Sizes,
        options: SecondOrderOptions,
    ) -> Result<Self, Error> {
        Self::of(valuers(reference, n_classes, logistic, sizes, options)?)
    }

    /// The same valuer for other set sizes, without standard errors; see
    /// [`SecondOrderValuer::with_sizes`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn with_sizes(&self, sizes: Sizes) -> Result<Self, Error> {
        let classes = self.classes.iter().map(|class| class.with_sizes(sizes));
        Ok(Self {
            classes: classes.collect::<Result<_, _>>()?,
            drawn: Drawn::default(),
            parts_by_class: self.parts_by_class,
        })
    }

    /// Also returns the value and the probability of each class.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// Also reports standard errors: the spread of the sums over references that are
    /// drawn from `sample`, the same for all classes; see
    /// [`SecondOrderValuer::with_std_error_of`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::NotAClass`].
    pub fn with_std_error_of(
        mut self,
        sample: Rows<'_>,
        stands_for: Option<&[f64]>,
        bootstrap: BootstrapOptions,
    ) -> Result<Self, Error> {
        check_classes(sample, self.classes.len())?;
        let classes = &self.classes;
        let start = |rows: Rows<'_>| {
            let of_class = |(class, valuer): (usize, &SecondOrderValuer)| {
                with_class(rows, class, |rows| DrawnStart::new(&valuer.rows, valuer.options, rows))
            };
            classes.iter().enumerate().map(of_class).collect::<Result<Vec<_>, Error>>()
        };
        let make = |starts: &Vec<DrawnStart>, rows: Rows<'_>| {
            let of_class = |(class, start): (usize, &DrawnStart)| {
                with_class(rows, class, |rows| start.with_weights(rows))
            };
            starts.iter().enumerate().map(of_class).collect::<Result<Vec<_>, Error>>()
        };
        self.drawn = replicates(sample, stands_for, bootstrap, start, make)?;
        Ok(self)
    }

    /// Bytes that one drawn reference takes.
    pub fn n_bytes_of_draw(&self) -> usize {
        self.classes.iter().map(SecondOrderValuer::n_bytes_of_draw).sum()
    }

    /// The valuers of the classes.
    pub fn classes(&self) -> &[SecondOrderValuer] {
        &self.classes
    }

    /// Values `rows`, which are some or all of the reference rows themselves;
    /// see [`SecondOrderValuer::leave_one_out`].
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.values_at(rows, Place::of_reference(0), &|_, _| true)
    }
}

/// Targets are classes.
impl Valuer for SecondOrderOneVsRest {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let by_class = values_of_classes(&self.classes, rows, place, watch)?;
        let mut sum = total_of_classes(&by_class, self.parts_by_class);
        sum.std_error = std_errors(&sum.value, &self.drawn, |by_class| {
            let mut sum = vec![0.0; rows.len()];
            for (class, (valuer, forms)) in self.classes.iter().zip(by_class).enumerate() {
                let value = |rows: Rows<'_>| valuer.values_by(forms, rows, place.in_reference);
                let values = with_class(rows, class, value)?;
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            Ok(sum)
        })?;
        Ok(sum)
    }

    fn parts(&self) -> Vec<Part> {
        parts_of_total(&self.classes, self.parts_by_class)
    }

    fn sizes(&self) -> Sizes {
        self.classes[0].sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = warnings_of_classes(&self.classes);
        warnings.extend(self.drawn.warning());
        warnings
    }

    fn wants(&self) -> Wants {
        self.drawn.wants()
    }
}

/// A valuer for each class.
fn valuers(
    reference: Rows<'_>,
    n_classes: usize,
    logistic: LogisticOptions,
    sizes: Sizes,
    options: SecondOrderOptions,
) -> Result<Vec<SecondOrderValuer>, Error> {
    check_classes(reference, n_classes)?;
    let of_class = |class: usize| {
        with_class(reference, class, |rows| {
            SecondOrderValuer::of(LogisticFit::of(rows, logistic)?, rows, sizes, options)
        })
        .map_err(|error| Error::InClass { class, error: Box::new(error) })
    };
    (0..n_classes).map(of_class).collect()
}
