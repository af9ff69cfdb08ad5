//! Second-order values: what a row adds to a model that is refitted on each set.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: its passes over the reference, and what values rows by it |
//! | `options.rs` | its settings, and what follows from them |
//! | `probe.rs` | sets on which no model can be fitted |
//! | `facts.rs` | what is known about it, and what is doubtful |
//! | `document.rs` | its part of the valuer file |

mod document;
mod facts;
mod options;
mod probe;

pub(crate) use document::SecondOrderDocument;
pub use facts::{OneVsRestReason, SecondOrderFacts, large_sets};
pub use options::{SecondOrder, Shift};
pub use probe::Probed;

use crate::Error;
use crate::how::How;
use crate::logistic::LogisticModel;
use crate::model::{Ask, Extras};
use crate::observer::Stage;
use crate::reference::{Pass, Reference};
use crate::sample::RowSample;
use dshap::classification::{LogisticFit, LogisticOptions, with_class};
use dshap::second_order::{
    BootstrapOptions, SecondOrderOneVsRest, SecondOrderPasses, SecondOrderStep, SecondOrderValuer,
    ShiftOptions, SoftmaxFit, SoftmaxPasses, SoftmaxStep, SoftmaxValuer, measured_shift,
};
use dshap::{Rows, Sizes, Valuer};

/// Sets that are drawn and fitted to measure the shift of set sizes.
const SETS_TO_MEASURE: usize = 1000;

/// Reference rows that they are drawn from at most: the shift is known to two or
/// three rows at best.
const ROWS_TO_MEASURE: usize = 4096;

/// The expansion that second-order values are made of, by the models that are
/// refitted on each set.
#[derive(Debug, Clone)]
pub enum SecondOrderModel {
    /// Two labels.
    Binary(SecondOrderValuer),
    /// More, each told from all others.
    OneVsRest(SecondOrderOneVsRest),
    /// More, by one model of all of them.
    Softmax(SoftmaxValuer),
}

impl SecondOrderModel {
    /// `κ`, where the sum over set sizes has one.
    pub fn shift(&self) -> Option<f64> {
        match self {
            SecondOrderModel::Binary(valuer) => valuer.shift(),
            SecondOrderModel::OneVsRest(valuer) => valuer.classes().first().and_then(|class| class.shift()),
            SecondOrderModel::Softmax(valuer) => Some(valuer.shift()),
        }
    }

    /// The name of the models that are refitted.
    pub fn kind(&self) -> &'static str {
        match self {
            SecondOrderModel::Binary(_) => "logistic",
            SecondOrderModel::OneVsRest(_) => "one-vs-rest",
            SecondOrderModel::Softmax(_) => "softmax",
        }
    }

    /// The one model of all labels, where there is one.
    pub fn softmax_fit(&self) -> Option<&SoftmaxFit> {
        match self {
            SecondOrderModel::Softmax(valuer) => Some(valuer.fit()),
            SecondOrderModel::Binary(_) | SecondOrderModel::OneVsRest(_) => None,
        }
    }

    /// Bytes of the references that are drawn for standard errors.
    pub(crate) fn drawn_bytes(&self) -> u64 {
        let each = match self {
            SecondOrderModel::Binary(valuer) => valuer.n_bytes_of_draw(),
            SecondOrderModel::OneVsRest(valuer) => valuer.n_bytes_of_draw(),
            SecondOrderModel::Softmax(valuer) => valuer.n_bytes_of_draw(),
        };
        (BootstrapOptions::default().n_replicates * each) as u64
    }

    /// The default `q` for a shift: as far above it as for the default shift, `p + 1`.
    fn default_min_above(shift: f64, dim: usize) -> usize {
        (shift.clamp(0.0, 1e15).ceil() as usize).max(dim + 1).saturating_sub(1) + dim.max(10)
    }

    /// Sums what second-order values are made of. Returns the passes that took as
    /// well.
    pub(crate) fn learn(
        model: &LogisticModel,
        how: &How,
        sizes: Sizes,
        reference: &dyn Reference,
    ) -> Result<(Self, usize), Error> {
        let choice = SecondOrder::of(how)
            .ok_or_else(|| Error::Incomplete { method: how.method.name(), needs: None })?;
        let design = reference.design();
        let core = |error| Error::core(error, design);
        let n_classes = if model.only().is_some() { 2 } else { model.fits.len() };
        let sums = choice.sums(n_classes, design.n_columns(), model.options.ridge, sizes.max() as u64);
        let each = |push: Push<'_>| {
            let pass = Pass { sums, ..Pass::new(Stage::Refine) };
            reference.each(pass, &mut |rows, _| push(rows)).map(|_| ())
        };
        let Some(fit) = model.only() else {
            return Self::learn_classes(model, choice, sizes, reference, &each);
        };
        let measured = match choice.shift {
            Shift::Measured => Some(measure_shift(fit, choice.seed, reference)?),
            Shift::Default | Shift::Given(_) => None,
        };
        // Where there is a shift the moments are the same for all sizes, and those that
        // are summed over may have to be larger than was known before it was measured.
        let sizes = match measured {
            Some(shift) => {
                let q = Self::default_min_above(shift, fit.dim());
                Sizes::new(q, q)
            }
            None => sizes,
        };
        let mut passes =
            SecondOrderPasses::new(fit.clone(), sizes, choice.options(measured)).map_err(core)?;
        loop {
            let mut pass = passes.begin_pass();
            each(&mut |rows| pass.push(rows))?;
            if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass).map_err(core)? {
                let n_passes = passes.n_passes() + usize::from(measured.is_some());
                return Ok((SecondOrderModel::Binary(*valuer), n_passes));
            }
        }
    }

    /// The same for more than two labels.
    fn learn_classes(
        model: &LogisticModel,
        choice: SecondOrder,
        sizes: Sizes,
        reference: &dyn Reference,
        each: Passing<'_>,
    ) -> Result<(Self, usize), Error> {
        let design = reference.design();
        let core = |error| Error::core(error, design);
        if choice.shift == Shift::Measured {
            return Err(Error::NoMeasuredShift { weighted: false });
        }
        let n_classes = model.fits.len();
        if choice.takes_softmax(n_classes, model.largest_dim(), model.options.ridge) {
            let options = choice.softmax_options(model.options);
            let mut passes =
                SoftmaxPasses::new(design.n_columns(), n_classes, sizes, options).map_err(core)?;
            loop {
                let mut pass = passes.begin_pass();
                each(&mut |rows| pass.push(rows))?;
                if let SoftmaxStep::Done(valuer) = passes.finish_pass(pass).map_err(core)? {
                    return Ok((SecondOrderModel::Softmax(*valuer), passes.n_passes()));
                }
            }
        }
        let begin = |fit: &LogisticFit| SecondOrderPasses::new(fit.clone(), sizes, choice.options(None));
        let mut under_way: Vec<Option<SecondOrderPasses>> =
            model.fits.iter().map(|fit| begin(fit).map(Some)).collect::<Result<_, _>>().map_err(core)?;
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
                let step = passes.finish_pass(pass).map_err(|error| core(in_class(class, error)))?;
                if let SecondOrderStep::Done(valuer) = step {
                    (done[class], under_way[class]) = (Some(*valuer), None);
                }
            }
        }
        let all = SecondOrderOneVsRest::of(done.into_iter().flatten().collect()).map_err(core)?;
        Ok((SecondOrderModel::OneVsRest(all), n_passes))
    }

    /// What values rows by it for these set sizes; standard errors are computed from
    /// the sample that the logistic model carries.
    fn valuer(
        &self,
        model: &LogisticModel,
        sizes: Sizes,
        seed: u64,
        extras: Extras,
    ) -> Result<Box<dyn Valuer>, dshap::Error> {
        let bootstrap = BootstrapOptions { seed, ..BootstrapOptions::default() };
        match self {
            SecondOrderModel::Binary(valuer) => {
                let valuer = valuer.with_sizes(sizes)?;
                if !extras.std_error {
                    return Ok(Box::new(valuer));
                }
                let with =
                    |rows: Rows<'_>, counts: &[f64]| valuer.with_std_error_of(rows, Some(counts), bootstrap);
                Ok(Box::new(model.with_errors(with)?))
            }
            SecondOrderModel::OneVsRest(valuer) => {
                let valuer = valuer.with_sizes(sizes)?;
                let valuer = if extras.by_class { valuer.with_parts_by_class() } else { valuer };
                if !extras.std_error {
                    return Ok(Box::new(valuer));
                }
                let with =
                    |rows: Rows<'_>, counts: &[f64]| valuer.with_std_error_of(rows, Some(counts), bootstrap);
                Ok(Box::new(model.with_errors(with)?))
            }
            SecondOrderModel::Softmax(valuer) => {
                let valuer = valuer.with_sizes(sizes)?;
                let valuer = if extras.by_class { valuer.with_parts_by_class() } else { valuer };
                if !extras.std_error {
                    return Ok(Box::new(valuer));
                }
                let with =
                    |rows: Rows<'_>, counts: &[f64]| valuer.with_std_error_of(rows, Some(counts), bootstrap);
                Ok(Box::new(model.with_errors(with)?))
            }
        }
    }
}

/// What values rows for models that are refitted on each set.
///
/// # Errors
///
/// [`Error::Incomplete`] for a model that was fitted for another method.
pub(crate) fn valuer(model: &LogisticModel, ask: &Ask<'_>, sizes: Sizes) -> Result<Box<dyn Valuer>, Error> {
    let expanded = model.second_order.as_ref().ok_or_else(|| ask.incomplete())?;
    let made = expanded.valuer(model, sizes, ask.how.seed(), ask.extras);
    made.map_err(|error| Error::core(error, ask.design))
}

/// Takes slices of rows.
type Push<'a> = &'a mut (dyn FnMut(Rows<'_>) -> Result<(), dshap::Error> + Send);

/// Reads the reference once.
type Passing<'a> = &'a dyn Fn(Push<'_>) -> Result<(), Error>;

fn in_class(class: usize, error: dshap::Error) -> dshap::Error {
    match error {
        error @ (dshap::Error::NoRows | dshap::Error::TooLarge) => error,
        error => dshap::Error::InClass { class, error: Box::new(error) },
    }
}

/// `κ` of a reference, from sets drawn of rows spread evenly over it.
fn measure_shift(fit: &LogisticFit, seed: u64, reference: &dyn Reference) -> Result<f64, Error> {
    let design = reference.design();
    let mut sample = RowSample::of_at_most(ROWS_TO_MEASURE, design.n_columns());
    let mut is_weighted = false;
    reference.each(Pass::new(Stage::Refine), &mut |rows, _| {
        is_weighted |= rows.weights().is_some();
        sample.look_at(rows);
        Ok(())
    })?;
    if is_weighted {
        return Err(Error::NoMeasuredShift { weighted: true });
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
    measured.unwrap_or(Err(dshap::Error::NoRows)).map_err(|error| Error::core(error, design))
}
