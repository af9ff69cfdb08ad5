//! What is needed before the first point is read.

use crate::at::{at, require_columns};
use crate::checkpoint::Checkpoint;
use crate::fit::{FitRun, Tables, method_of, read_tests};
use crate::inputs::{self, TestTable};
use crate::memory::Budget;
use crate::request::{Resources, ValueRequest};
use crate::settings;
use crate::table::Table;
use dshap_catalogue::Given;
use dshap_catalogue::options::{
    BY, ID, KEEP, MISSING, PER_CLASS, POPULATION, REFERENCE, SETS, STDERR, TARGET, UNSEEN,
};
use dshap_io::Source;
use dshap_models::{
    Error, ExtraPass, FittedValuer, How, Makes, Method, Observer, RowCounts, RowSample, Warning,
};
use dshap_table::{Design, Selection};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What rows are valued against.
#[derive(Debug)]
pub(crate) enum Against {
    /// Each other: every row against the rest.
    Themselves,
    /// A reference.
    Reference(Source),
    /// A valuer that was saved.
    Valuer(PathBuf),
    /// A valuer at hand.
    Fitted,
}

impl Against {
    /// The reference, if it is a table of its own.
    pub(crate) fn reference(&self) -> Option<&Source> {
        match self {
            Against::Reference(source) => Some(source),
            _ => None,
        }
    }
}

/// A valuer, and how it values these points.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) valuer: FittedValuer,
    /// As the valuer's, with policies for these points.
    pub(crate) design: Design,
    pub(crate) how: How,
    /// The same for further `m`, if there are several.
    pub(crate) more: Vec<How>,
    pub(crate) selection: Selection,
    pub(crate) against: Against,
    /// What the fit took, if a reference was fitted for these points.
    pub(crate) fit: Option<FitFacts>,
    /// Test rows that are read while points are valued.
    pub(crate) tests: Option<TestTable>,
}

/// What a fit took.
#[derive(Debug)]
pub(crate) struct FitFacts {
    pub(crate) rows: RowCounts,
    pub(crate) n_passes: usize,
    pub(crate) extra_passes: Vec<ExtraPass>,
    pub(crate) sample: Option<RowSample>,
    /// What is doubtful about test rows that were read with the fit.
    pub(crate) warnings: Vec<Warning>,
    checkpoint: Option<Checkpoint>,
}

impl FitFacts {
    /// Removes the state that was kept: the values are complete.
    pub(crate) fn is_safe(&self) {
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.remove();
        }
    }
}

/// How points become numbers. Those without the column of the target have no target, if the
/// method can do without.
pub(crate) fn design_of<'a>(points: &Source, design: &'a Design, how: &How) -> Cow<'a, Design> {
    let has_target = design.target().is_none_or(|target| points.schema().column(target).is_some());
    match has_target || !how.method.expects_targets() {
        true => Cow::Borrowed(design),
        false => Cow::Owned(design.without_target()),
    }
}

impl Prepared {
    /// Everything a request needs: a valuer that was saved, or a fit.
    pub(crate) fn of(
        request: &ValueRequest,
        points: &Source,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let ValueRequest { valuer, method, given, outputs, resources, .. } = request;
        if let Some(file) = valuer {
            return Self::saved(file, *method, given, points);
        }
        let method = method_of(*method, given);
        How::new(method, settings::task(given), given.clone())?;
        let reference = match given.list(&REFERENCE) {
            [] => None,
            files => Some(inputs::open_given(files, given, outputs)?),
        };
        let test = TestTable::open(given, outputs, request.digests)?;
        Self::fitted(points, reference, test, method, given, resources, observer)
    }

    /// The same for tables at hand.
    pub(crate) fn of_tables(
        tables: &Tables,
        method: &'static Method,
        given: &Given,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let has_targets = !given.has(&POPULATION);
        let test = tables.test.clone().map(|source| TestTable::of(source, false, has_targets)).transpose()?;
        let reference = tables.reference.clone();
        Self::fitted(&tables.points, reference, test, method, given, &Resources::default(), observer)
    }

    fn fitted(
        points: &Source,
        reference: Option<Source>,
        tests: Option<TestTable>,
        method: &'static Method,
        given: &Given,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let selection = settings::selection(given);
        // A column to be carried through that is missing is reported before any pass.
        let carried = selection.carried(points.schema()).map_err(|e| at(e, points, 0))?;
        let source = reference.as_ref().unwrap_or(points);
        // Rows that are their own reference are read again with what is carried through.
        source.expect(if reference.is_none() { carried } else { Vec::new() });
        let reads_again = reference.is_none();
        let run = FitRun { source, test: tests.as_ref(), method, given, resources, reads_again, observer };
        let fit = run.run()?;
        let mut facts = FitFacts {
            rows: fit.rows,
            n_passes: fit.n_passes,
            extra_passes: fit.extra_passes,
            sample: fit.sample,
            warnings: Vec::new(),
            checkpoint: fit.checkpoint,
        };
        let mut valuer = fit.valuer;
        // Rows that are their own reference are read with the points.
        let lacks = valuer.lacks().filter(|pass| *pass != ExtraPass::Rows || reference.is_some());
        if let Some(pass) = lacks {
            let design = valuer.design.clone();
            let table = Table::reference(source, &design, Budget::new(resources.memory), observer);
            let (completed, n_passes) = valuer.completed(&table)?;
            valuer = completed;
            facts.n_passes += n_passes;
            facts.extra_passes.push(pass);
        }
        if let Some(reference) = &reference {
            reference.forget_kept();
        }
        let mut warnings = Vec::new();
        if let (Some(test), Makes::Fit { .. }) = (&tests, method.makes) {
            let budget = Budget::new(resources.memory);
            valuer = read_tests(valuer, test, budget, observer, &mut warnings)?;
        }
        facts.warnings = warnings;
        let against = reference.map_or(Against::Themselves, Against::Reference);
        Ok(Self {
            design: valuer.design.clone(),
            how: valuer.how.clone(),
            more: Vec::new(),
            valuer,
            selection,
            against,
            fit: Some(facts),
            tests,
        })
    }

    /// A valuer that was saved, with what is given for these points.
    fn saved(
        file: &Path,
        method: Option<&'static Method>,
        given: &Given,
        points: &Source,
    ) -> Result<Self, Error> {
        let valuer = FittedValuer::load(file)?;
        let prepared = Self::by_valuer(valuer, method, given, Against::Valuer(file.into()))?;
        let design = design_of(points, &prepared.valuer.design, &prepared.how);
        require_columns(points, &design.wanted(), file)?;
        Ok(prepared)
    }

    /// A valuer at hand.
    pub(crate) fn by_valuer(
        valuer: FittedValuer,
        method: Option<&'static Method>,
        given: &Given,
        against: Against,
    ) -> Result<Self, Error> {
        let agrees = given.word(&TARGET).is_some_and(|target| valuer.design.target() == Some(target));
        // Naming the target that the valuer has changes nothing.
        let own;
        let given = if agrees {
            own = given.clone().without(&TARGET);
            &own
        } else {
            given
        };
        let carried = [&ID, &BY, &KEEP, &SETS, &MISSING, &UNSEEN];
        let mut settings_given = given.only(|option| carried.iter().all(|other| other.name != option.name));
        if method.is_none() {
            // A valuer whose method has no standard errors gives values without them.
            settings_given = settings_given.without(&STDERR);
        }
        let how = valuer.how_with(method, &settings_given)?;
        let output = [&STDERR, &PER_CLASS];
        let how = How { method: how.method, given: output.into_iter().fold(how.given, Given::without) };
        let policies = (settings::missing(given), settings::unseen(given));
        let design = valuer.design.with_policies(policies.0, policies.1, |column| valuer.model.mean(column));
        let of_points = given.only(|option| carried.iter().any(|other| other.name == option.name));
        let selection = settings::selection(&of_points);
        Ok(Self { valuer, design, how, more: Vec::new(), selection, against, fit: None, tests: None })
    }
}
