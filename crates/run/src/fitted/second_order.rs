//! Second-order values: what a row adds to a model that is refitted on each set.

use super::row_valuer::of_classes;
use super::{Extras, LogisticModel, RowValuer};
use crate::Error;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::reference::each_batch;
use crate::sample::RowSample;
use crate::second_order_choice::{SecondOrder, Shift};
use crate::warnings::in_words;
use dshap::classification::{LogisticFit, LogisticOptions, with_class};
use dshap::second_order::{
    BootstrapOptions, SecondOrderOneVsRest, SecondOrderPasses, SecondOrderStep, SecondOrderValuer,
    ShiftOptions, SoftmaxFit, SoftmaxPasses, SoftmaxStep, SoftmaxValuer, measured_shift,
};
use dshap::{Part, Rows, Sizes, Valuer, Values};
use dshap_io::Source;
use dshap_table::Design;

/// Sets that are drawn and fitted to measure the shift of set sizes.
const SETS_TO_MEASURE: usize = 1000;

/// Reference rows that they are drawn from at most: the shift is known to two or
/// three rows at best.
const ROWS_TO_MEASURE: usize = 4096;

/// The expansion that second-order values are made of.
#[derive(Debug)]
pub(crate) struct SecondOrderModel {
    pub(crate) engine: SecondOrderEngine,
    /// Passes over the reference that it took; 0 if it was read from a file.
    pub(crate) n_passes: usize,
}

/// Which models are refitted on each set.
#[derive(Debug, Clone)]
pub(crate) enum SecondOrderEngine {
    /// Two labels.
    Binary(SecondOrderValuer),
    /// More, each told from all others.
    OneVsRest(SecondOrderOneVsRest),
    /// More, by one model of all of them.
    Softmax(SoftmaxValuer),
}

impl SecondOrderModel {
    /// `κ`, where the sum over set sizes has one.
    pub(crate) fn shift(&self) -> Option<f64> {
        match &self.engine {
            SecondOrderEngine::Binary(valuer) => valuer.shift(),
            SecondOrderEngine::OneVsRest(valuer) => valuer.classes().first().and_then(|class| class.shift()),
            SecondOrderEngine::Softmax(valuer) => Some(valuer.shift()),
        }
    }

    /// The word for the models that are refitted.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.engine {
            SecondOrderEngine::Binary(_) => "logistic",
            SecondOrderEngine::OneVsRest(_) => "one-vs-rest",
            SecondOrderEngine::Softmax(_) => "softmax",
        }
    }

    /// The one model of all labels, if it is such.
    pub(crate) fn softmax_fit(&self) -> Option<&SoftmaxFit> {
        match &self.engine {
            SecondOrderEngine::Softmax(valuer) => Some(valuer.fit()),
            SecondOrderEngine::Binary(_) | SecondOrderEngine::OneVsRest(_) => None,
        }
    }

    /// Bytes that drawn references take, from which errors follow.
    pub(crate) fn drawn_bytes(&self) -> u64 {
        let each = match &self.engine {
            SecondOrderEngine::Binary(valuer) => valuer.n_bytes_of_draw(),
            SecondOrderEngine::OneVsRest(valuer) => valuer.n_bytes_of_draw(),
            SecondOrderEngine::Softmax(valuer) => valuer.n_bytes_of_draw(),
        };
        (BootstrapOptions::default().n_replicates * each) as u64
    }

    /// The parts that values come with.
    pub(super) fn parts(&self, n_classes: usize, by_class: bool) -> Vec<Part> {
        let classes = || 0..if by_class { n_classes } else { 0 };
        match &self.engine {
            SecondOrderEngine::Binary(_) => SecondOrderValuer::PARTS.to_vec(),
            SecondOrderEngine::Softmax(_) => {
                SoftmaxValuer::PARTS.into_iter().chain(classes().map(Part::ProbOf)).collect()
            }
            SecondOrderEngine::OneVsRest(_) => {
                let each = classes().flat_map(|class| [Part::ValueOf(class), Part::ProbOf(class)]);
                [Part::Potential, Part::Penalty, Part::Correction].into_iter().chain(each).collect()
            }
        }
    }
}

impl LogisticModel {
    /// Sums what second-order values are made of.
    pub(super) fn expand(
        &self,
        choice: SecondOrder,
        sizes: Sizes,
        source: &Source,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<SecondOrderModel, Error> {
        let core = |error| Error::core(error, design);
        let n_classes = if self.only().is_some() { 2 } else { self.fits.len() };
        let sums = choice.sums(n_classes, design.n_columns(), self.options.ridge, sizes.max() as u64);
        let each = |push: &mut (dyn FnMut(Rows<'_>) -> Result<(), dshap::Error> + Send)| {
            each_batch(source, design, budget.for_sums(sums), Stage::Refine, observer, push).map(|_| ())
        };
        let Some(fit) = self.only() else {
            return self.expand_classes(choice, sizes, design, &each);
        };
        let measured = match choice.shift {
            Shift::Measured => Some(measure_shift(fit, choice.seed, source, design, budget, observer)?),
            Shift::Default | Shift::Given(_) => None,
        };
        // Where there is a shift the moments are the same for all sizes, and those that
        // are summed over may have to be larger than was known before it was measured.
        let sizes = match measured {
            Some(shift) => sizes_above(shift, fit.dim()),
            None => sizes,
        };
        let mut passes =
            SecondOrderPasses::new(fit.clone(), sizes, choice.options(measured)).map_err(core)?;
        loop {
            let mut pass = passes.begin_pass();
            each(&mut |rows| pass.push(rows))?;
            if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass).map_err(core)? {
                let n_passes = passes.n_passes() + usize::from(measured.is_some());
                return Ok(SecondOrderModel { engine: SecondOrderEngine::Binary(*valuer), n_passes });
            }
        }
    }

    /// The same for more than two labels.
    fn expand_classes(
        &self,
        choice: SecondOrder,
        sizes: Sizes,
        design: &Design,
        each: Passing<'_>,
    ) -> Result<SecondOrderModel, Error> {
        let core = |error| Error::core(error, design);
        if choice.shift == Shift::Measured {
            let what = "`--shift measured` is for two labels, and the target has more; give a number";
            return Err(Error::Misplaced { what: what.into() });
        }
        let n_classes = self.fits.len();
        let dim = self.fits.iter().map(LogisticFit::dim).max().unwrap_or(0);
        if choice.takes_softmax(n_classes, dim, self.options.ridge) {
            let options = choice.softmax_options(self.options);
            let mut passes =
                SoftmaxPasses::new(design.n_columns(), n_classes, sizes, options).map_err(core)?;
            loop {
                let mut pass = passes.begin_pass();
                each(&mut |rows| pass.push(rows))?;
                if let SoftmaxStep::Done(valuer) = passes.finish_pass(pass).map_err(core)? {
                    let n_passes = passes.n_passes();
                    return Ok(SecondOrderModel { engine: SecondOrderEngine::Softmax(*valuer), n_passes });
                }
            }
        }
        let in_class = |class: usize| move |error| core_in_class(class, error);
        let begin = |fit: &LogisticFit| SecondOrderPasses::new(fit.clone(), sizes, choice.options(None));
        let mut under_way: Vec<Option<SecondOrderPasses>> =
            self.fits.iter().map(|fit| begin(fit).map(Some)).collect::<Result<_, _>>().map_err(core)?;
        let mut done: Vec<Option<SecondOrderValuer>> = vec![None; n_classes];
        let mut n_passes = 0;
        // Classes take turns within a pass; one whose fits came earlier waits for the others.
        while under_way.iter().any(Option::is_some) {
            n_passes += 1;
            let mut building: Vec<_> =
                under_way.iter().map(|passes| passes.as_ref().map(SecondOrderPasses::begin_pass)).collect();
            each(&mut |rows| {
                let mut classes = building.iter_mut().enumerate();
                classes.try_for_each(|(class, pass)| match pass {
                    Some(pass) => with_class(rows, class, |rows| pass.push(rows)),
                    None => Ok(()),
                })
            })?;
            for (class, pass) in building.into_iter().enumerate() {
                let (Some(passes), Some(pass)) = (&mut under_way[class], pass) else { continue };
                let step = passes.finish_pass(pass).map_err(in_class(class)).map_err(core)?;
                if let SecondOrderStep::Done(valuer) = step {
                    (done[class], under_way[class]) = (Some(*valuer), None);
                }
            }
        }
        let all = SecondOrderOneVsRest::of(done.into_iter().flatten().collect()).map_err(core)?;
        Ok(SecondOrderModel { engine: SecondOrderEngine::OneVsRest(all), n_passes })
    }

    /// What values rows by it.
    pub(super) fn second_order_valuer(
        &self,
        design: &Design,
        choice: SecondOrder,
        sizes: Sizes,
        extras: Extras,
    ) -> Result<RowValuer, Error> {
        let model = self.second_order.as_ref().ok_or(Error::NotExpanded)?;
        let bootstrap = BootstrapOptions { seed: choice.seed, ..BootstrapOptions::default() };
        let made = match &model.engine {
            SecondOrderEngine::Binary(valuer) => valuer.with_sizes(sizes).and_then(|valuer| {
                let with = |rows: Rows<'_>, counts: &[f64]| {
                    valuer.clone().with_std_error_of(rows, Some(counts), bootstrap)
                };
                let valuer = if extras.std_error { self.with_errors(with)? } else { valuer };
                Ok(SecondOrderEngine::Binary(valuer))
            }),
            SecondOrderEngine::OneVsRest(valuer) => valuer.with_sizes(sizes).and_then(|valuer| {
                let valuer = if extras.by_class { valuer.with_parts_by_class() } else { valuer };
                let with = |rows: Rows<'_>, counts: &[f64]| {
                    valuer.clone().with_std_error_of(rows, Some(counts), bootstrap)
                };
                let valuer = if extras.std_error { self.with_errors(with)? } else { valuer };
                Ok(SecondOrderEngine::OneVsRest(valuer))
            }),
            SecondOrderEngine::Softmax(valuer) => valuer.with_sizes(sizes).and_then(|valuer| {
                let valuer = if extras.by_class { valuer.with_parts_by_class() } else { valuer };
                let with = |rows: Rows<'_>, counts: &[f64]| {
                    valuer.clone().with_std_error_of(rows, Some(counts), bootstrap)
                };
                let valuer = if extras.std_error { self.with_errors(with)? } else { valuer };
                Ok(SecondOrderEngine::Softmax(valuer))
            }),
        };
        let engine = made.map_err(|e| Error::core(e, design))?;
        Ok(RowValuer::SecondOrder(Box::new(SecondOrderRows { engine, has_errors: extras.std_error })))
    }
}

/// Reads the reference once.
type Passing<'a> =
    &'a dyn Fn(&mut (dyn FnMut(Rows<'_>) -> Result<(), dshap::Error> + Send)) -> Result<(), Error>;

fn core_in_class(class: usize, error: dshap::Error) -> dshap::Error {
    match error {
        error @ (dshap::Error::NoRows | dshap::Error::TooLarge) => error,
        error => dshap::Error::InClass { class, error: Box::new(error) },
    }
}

/// Some set sizes that a shift leaves enough of.
fn sizes_above(shift: f64, dim: usize) -> Sizes {
    let q = default_min_above(shift, dim);
    Sizes::new(q, q)
}

/// The default `q` for a shift: as far above it as for the default shift, `p + 1`.
pub(crate) fn default_min_above(shift: f64, dim: usize) -> usize {
    (shift.clamp(0.0, 1e15).ceil() as usize).max(dim + 1).saturating_sub(1) + dim.max(10)
}

/// `κ` of a reference, from sets drawn of rows spread evenly over it.
fn measure_shift(
    fit: &LogisticFit,
    seed: u64,
    source: &Source,
    design: &Design,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<f64, Error> {
    let mut sample = RowSample::of_at_most(ROWS_TO_MEASURE, design.n_columns());
    let mut is_weighted = false;
    each_batch(source, design, budget, Stage::Refine, observer, |rows| {
        is_weighted |= rows.weights().is_some();
        sample.look_at(rows);
        Ok(())
    })?;
    if is_weighted {
        return Err(Error::Misplaced {
            what:
                "`--shift measured` draws sets of reference rows and knows no weights; leave `--weight` out, \
                   or give the shift as a number"
                    .into(),
        });
    }
    let measured = sample.with_rows(|rows| {
        let options = LogisticOptions { intercept: fit.intercept(), ..LogisticOptions::default() };
        let of_sample = LogisticFit::of(rows, options)?;
        // Small sets tell most, if nearly all of them have a fit.
        let mut size = (5 * fit.dim()).max(50);
        loop {
            let sets = ShiftOptions { size, n_sets: SETS_TO_MEASURE, seed };
            match measured_shift(&of_sample, rows, sets) {
                Err(dshap::Error::SingularSets { .. }) if 2 * size <= rows.len() => size *= 2,
                measured => return measured,
            }
        }
    });
    measured.unwrap_or(Err(dshap::Error::NoRows)).map_err(|e| Error::core(e, design))
}

/// Values rows for a model that is refitted on each set.
#[derive(Debug)]
pub(crate) struct SecondOrderRows {
    engine: SecondOrderEngine,
    has_errors: bool,
}

impl SecondOrderRows {
    pub(super) fn values(&self, rows: Rows<'_>, leave_one_out: bool) -> Result<Values, dshap::Error> {
        match (&self.engine, leave_one_out) {
            (SecondOrderEngine::Binary(valuer), true) => valuer.leave_one_out(rows),
            (SecondOrderEngine::Binary(valuer), false) => valuer.values(rows),
            (SecondOrderEngine::OneVsRest(valuer), true) => valuer.leave_one_out(rows),
            (SecondOrderEngine::OneVsRest(valuer), false) => valuer.values(rows),
            (SecondOrderEngine::Softmax(valuer), true) => valuer.leave_one_out(rows),
            (SecondOrderEngine::Softmax(valuer), false) => valuer.values(rows),
        }
    }

    pub(super) fn sizes(&self) -> Sizes {
        match &self.engine {
            SecondOrderEngine::Binary(valuer) => valuer.sizes(),
            SecondOrderEngine::OneVsRest(valuer) => valuer.sizes(),
            SecondOrderEngine::Softmax(valuer) => valuer.sizes(),
        }
    }

    /// With standard errors a row is valued a hundred times.
    pub(super) fn is_slow(&self) -> bool {
        self.has_errors
    }

    pub(super) fn warnings(&self, design: &Design) -> Vec<String> {
        match &self.engine {
            SecondOrderEngine::Binary(valuer) => in_words(&valuer.warnings(), design),
            SecondOrderEngine::OneVsRest(valuer) => of_classes(valuer.warnings(), design),
            SecondOrderEngine::Softmax(valuer) => in_words(&valuer.warnings(), design),
        }
    }
}
