//! `value`: from files to values.
//!
//! One pipeline for every method: what is needed before the first point
//! (`prepare.rs`), then one pass over the points, valued per batch, per block or
//! all at once as the method wants them, and a summary.

use crate::inputs;
use crate::look;
use crate::memory::Budget;
use crate::output::OutputTable;
use crate::points::{BatchPlace, Points};
use crate::prepare::{Against, Prepared, design_of};
use crate::queue::{self, Queue};
use crate::receiver::Receiver;
use crate::request::{Resources, ValueRequest};
use crate::run_warnings;
use crate::sets;
use crate::several_sizes::{self, SeveralSizes};
use crate::summary::{Summary, Tally};
use crate::table::Table;
use dshap::{Part, Values};
use dshap_catalogue::options::{PER_CLASS, SETS, STDERR};
use dshap_io::Source;
use dshap_models::logistic::LogisticModel;
use dshap_models::{
    Ask, Error, Extras, Facts, InputFile, Observer, Outcome, Quiet, Reference, RowValuer, Stage, WantsRows,
    Warning,
};
use dshap_table::Design;
use faer::Mat;
use std::borrow::Cow;

/// Values the points of a request; rows go to `receiver` in their own order.
///
/// Numeric tables of a regression take two passes: one for the moments of the
/// reference, one to value the points. A logistic fit takes a pass for the labels
/// and one for each of its steps. Text columns, and means for missing cells, take
/// one more pass over the reference. With a saved valuer there is one pass over the
/// points. Later passes take rows from memory if they were kept.
///
/// # Errors
///
/// [`Error`], with nothing written that was not completed.
pub fn value(
    request: &ValueRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    value_request(request, observer, receiver).map_err(|error| look::all_problems(error, request))
}

fn value_request(
    request: &ValueRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let (given, several) = several_sizes::split(&request.given)?;
    let request = &ValueRequest { given, ..request.clone() };
    let points = inputs::open_given(&request.points, &request.given, &request.outputs)?;
    let prepared = Prepared::of(request, &points, observer)?.for_sizes(&several);
    let job = Job {
        prepared: &prepared,
        points: &points,
        in_reference: matches!(prepared.against, Against::Themselves),
        extras: Extras { std_error: request.given.has(&STDERR), by_class: request.given.has(&PER_CLASS) },
        judges: true,
        digests: request.digests,
        resources: &request.resources,
        observer,
    };
    match request.given.word(&SETS) {
        None => job.value(receiver),
        Some(column) => sets::value(&job, column, &request.given, receiver),
    }
}

/// Standard errors that nobody asked for may take about this many multiplications, a fraction of
/// a second.
const MOST_OPERATIONS: usize = 200_000_000;

/// Points to be valued, with everything prepared.
pub(crate) struct Job<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) points: &'a Source,
    /// Whether the points are the reference: each row is valued against the others.
    pub(crate) in_reference: bool,
    pub(crate) extras: Extras,
    /// Whether values are to be judged by their standard errors even if those are not asked
    /// for.
    pub(crate) judges: bool,
    pub(crate) digests: bool,
    pub(crate) resources: &'a Resources,
    pub(crate) observer: &'a dyn Observer,
}

/// What came of the points.
pub(crate) struct Valued {
    pub(crate) n_points: u64,
    pub(crate) n_usable: u64,
    pub(crate) tally: Tally,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) outcome: Outcome,
    pub(crate) has_class_values: bool,
}

impl Job<'_> {
    /// Values all points.
    pub(crate) fn value(&self, receiver: &mut dyn Receiver) -> Result<Summary, Error> {
        let Prepared { valuer, tests, .. } = self.prepared;
        match tests {
            None => self.value_with(None, receiver),
            Some(test) => {
                let budget = self.budget().reserving(valuer.model.held_bytes());
                let quiet = Quiet(self.observer);
                // How test rows become numbers is settled by the fit, not by these points.
                let (source, design) = (&test.source, &test.design(&valuer.design));
                let tests = Table { source, design, is_reference: false, budget, observer: &quiet };
                self.value_with(Some(&tests), receiver)
            }
        }
    }

    fn value_with(
        &self,
        tests: Option<&dyn Reference>,
        receiver: &mut dyn Receiver,
    ) -> Result<Summary, Error> {
        let Prepared { valuer, how, .. } = self.prepared;
        let drawn_bytes = if self.extras.std_error { valuer.model.drawn_bytes(how) } else { 0 };
        self.budget().check_held(drawn_bytes, 1.0)?;
        let mut row_valuer = self.row_valuer(tests)?;
        let valued = self.value_points(row_valuer.as_mut(), drawn_bytes, receiver)?;
        drop(row_valuer);
        self.check_unchanged(&valued)?;
        self.summary(valued, None)
    }

    /// What values rows, for one `m` or for several.
    fn row_valuer<'a>(&'a self, tests: Option<&'a dyn Reference>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        let Prepared { valuer, how, more, .. } = self.prepared;
        let mut ask = self.ask(tests);
        ask.extras.std_error |= self.has_errors_to_judge();
        let first = valuer.model.row_valuer(ask)?;
        if more.is_empty() {
            return Ok(first);
        }
        let others = more.iter().map(|how| valuer.model.row_valuer(Ask { how, ..self.ask(tests) }));
        let each = std::iter::once(Ok(first)).chain(others).collect::<Result<Vec<_>, Error>>()?;
        let with_errors = self.extras.std_error && how.method.entry.has_std_errors();
        Ok(Box::new(SeveralSizes::new(each, with_errors)))
    }

    /// What the model is asked.
    pub(crate) fn ask<'a>(&'a self, tests: Option<&'a dyn Reference>) -> Ask<'a> {
        Ask {
            how: &self.prepared.how,
            design: &self.prepared.design,
            extras: self.extras,
            in_reference: self.in_reference,
            tests,
            observer: self.observer,
        }
    }

    /// How the points become numbers. Standard errors, and values by class, need targets.
    fn points_design(&self) -> Cow<'_, Design> {
        let Prepared { design, how, .. } = self.prepared;
        let by_class = self.extras.by_class && design.labels().is_some_and(|labels| labels.n_classes() > 2);
        let is_plain = !self.in_reference && !self.extras.std_error && !by_class;
        if is_plain { design_of(self.points, design, how) } else { Cow::Borrowed(design) }
    }

    /// Whether the points have no target, although there is one.
    fn lacks_targets(&self) -> bool {
        self.prepared.design.target().is_some() && self.points_design().target().is_none()
    }

    /// Whether standard errors that were not asked for are computed all the same, because that
    /// takes next to no time.
    pub(crate) fn has_errors_to_judge(&self) -> bool {
        let Prepared { valuer, how, .. } = self.prepared;
        let model = valuer.model.as_ref();
        let n_operations = match model.of::<LogisticModel>() {
            Some(fits) => fits.fits.len() * fits.sample.len() * model.dim(how),
            None => model.dim(how).saturating_pow(2),
        };
        let is_quick = n_operations.saturating_mul(model.n_rows()) < MOST_OPERATIONS;
        self.judges && !self.extras.std_error && self.stands_out() && is_quick
    }

    /// Whether it is of interest which values stand out: each row is valued against the others,
    /// by a closed form.
    fn stands_out(&self) -> bool {
        self.in_reference && self.prepared.how.method.entry.is_theorem_2()
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.resources.memory)
    }

    /// One pass over the points.
    fn value_points(
        &self,
        row_valuer: &mut dyn RowValuer,
        drawn_bytes: u64,
        receiver: &mut dyn Receiver,
    ) -> Result<Valued, Error> {
        let Prepared { valuer, design, selection, how, .. } = self.prepared;
        let in_reference = self.in_reference;
        let own_design = self.points_design();
        if self.lacks_targets() {
            row_valuer.expect_targets();
        }
        let points = Points::new(self.points, &own_design, selection, in_reference)?;
        let with_errors = self.extras.std_error && how.method.entry.has_std_errors();
        let parts = row_valuer.parts();
        let table = OutputTable::new(&points.carried_fields()?, &parts, design, with_errors);
        receiver.begin(table.schema())?;

        let held = receiver.held_bytes(table.schema().fields().len()) + valuer.model.held_bytes();
        let budget = self.budget().reserving(held + drawn_bytes);
        let (most_waiting, options) = queue::sized(row_valuer, &points, budget, in_reference)?;
        let is_quiet = matches!(row_valuer.wants(), WantsRows::Blocks(_));
        let mut hand_over = |place: BatchPlace, values: &Values| {
            let BatchPlace { first_row, n_rows, carried, remaining } = place;
            receiver.rows(table.batch(first_row, n_rows, carried, values, remaining.as_deref()))
        };
        let mut queue = Queue::new(self, row_valuer, &mut hand_over);
        if is_quiet {
            self.observer.begin(Stage::Value, self.points.n_bytes());
        }
        let quiet = Quiet(self.observer);
        let observer: &dyn Observer = if is_quiet { &quiet } else { self.observer };
        let n_points = points.each(options, observer, |waiting| {
            queue.push(waiting);
            if queue.n_waiting() >= most_waiting { queue.flush() } else { Ok(Mat::new()) }
        })?;
        queue.flush_rest()?;
        if is_quiet {
            self.observer.end();
        }
        let (tally, n_usable) = queue.into_counts();
        Ok(Valued {
            n_points,
            n_usable,
            tally,
            warnings: row_valuer.warnings(),
            outcome: row_valuer.outcome(),
            has_class_values: parts.iter().any(|part| matches!(part, Part::ValueOf(_))),
        })
    }

    /// Refuses a table that had other rows when it was fitted.
    pub(crate) fn check_unchanged(&self, valued: &Valued) -> Result<(), Error> {
        match &self.prepared.fit {
            Some(fit) if self.in_reference => {
                let before = (fit.rows.n_usable, fit.rows.n_read);
                if before == (valued.n_usable, valued.n_points) {
                    return Ok(());
                }
                Err(Error::Changed { before: fit.rows.n_usable, after: valued.n_usable })
            }
            _ => Ok(()),
        }
    }

    /// What ran. The one builder of summaries.
    pub(crate) fn summary(&self, mut valued: Valued, n_sets: Option<usize>) -> Result<Summary, Error> {
        let Prepared { valuer, how, against, fit, tests, .. } = self.prepared;
        let mut facts = Facts::of(valuer, how)?;
        if let (Some(neighbours), Some(tests)) = (&mut facts.neighbours, valued.outcome.tests) {
            neighbours.test_rows = Some(tests.n_usable as usize);
        }
        if let Some(baseline) = &mut facts.baseline {
            baseline.set_own_reference(self.in_reference);
        }
        let mut warnings = run_warnings::of(self, &mut valued, n_sets.is_some())?;
        let left_out_r_squared = self.left_out_r_squared(&facts, &valued);
        let left_out_labels = match self.in_reference && facts.weight.is_none() {
            true => valued.tally.label_quality(),
            false => None,
        };
        warnings.extend(left_out_r_squared.and_then(Warning::of_weak_model));
        warnings.extend(
            left_out_labels
                .and_then(|labels| Warning::of_weak_labels(labels.log_loss, labels.constant_log_loss)),
        );
        let standing_out = if self.stands_out() { valued.tally.standing_out() } else { None };
        if let Some(fit) = fit {
            fit.is_safe();
        }
        let iterations = valued.outcome.iterations;
        Ok(Summary {
            version: env!("CARGO_PKG_VERSION"),
            facts,
            n_points: valued.n_points,
            leave_one_out: self.in_reference,
            expected_targets: self.lacks_targets(),
            reference_passes: fit.as_ref().map_or(0, |fit| fit.n_passes),
            extra_passes: fit.as_ref().map_or(Vec::new(), |fit| fit.extra_passes.clone()),
            rounds: valued.outcome.draws.map(|draws| draws.n_rounds),
            n_sets,
            sizes: self.prepared.several_sizes()?,
            iterations: iterations.map(|iterations| iterations.n_iterations),
            converged: iterations.map(|iterations| iterations.converged),
            evaluated_share: iterations.and_then(|iterations| iterations.evaluated_share),
            values: valued.tally.spread(),
            left_out_r_squared,
            left_out_labels,
            standing_out,
            warnings,
            points: InputFile::of(self.points, self.digests)?,
            reference: against.reference().map(|source| InputFile::of(source, self.digests)).transpose()?,
            test: tests.as_ref().map(|test| test.files.clone()),
            valuer: match against {
                Against::Valuer(file) => Some(InputFile::of_valuer(file, self.digests)?),
                _ => None,
            },
        })
    }

    /// Share of the target's variance that the model predicts in rows left out. Compared
    /// with predicting the mean of the other rows, or 0 without an intercept.
    fn left_out_r_squared(&self, facts: &Facts, valued: &Valued) -> Option<f64> {
        if !self.in_reference || facts.weight.is_some() {
            return None;
        }
        let n = facts.n_reference as f64;
        let of_others = if facts.intercept { (n / (n - 1.0)).powi(2) } else { 1.0 };
        Some(1.0 - valued.tally.mean_resid_sq()? / (facts.target_var? * of_others))
    }
}
