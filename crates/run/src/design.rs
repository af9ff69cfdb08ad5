//! How columns become numbers, learned from a reference.

use crate::at::at;
use crate::guess::{refuse_mixed_columns, settle_task};
use crate::memory::Budget;
use crate::scan::Scan;
use crate::set_aside::SetAside;
use crate::settings;
use crate::table::Table;
use dshap::{Moments, MomentsBuilder, MomentsForm, PrincipalComponents};
use dshap_catalogue::options::{CATEGORICAL, PCA, POSITIVE, RARE_LEVELS};
use dshap_catalogue::{Given, Task, check};
use dshap_io::Source;
use dshap_models::{Error, ExtraPass, Method, Observer, Pass, Reference, Stage, methods};
use dshap_table::{Design, Kind, Projection, Roles, Selection, Survey, TargetAs, Wanted};

/// A design, and what it took to learn it.
#[derive(Debug, Clone)]
pub(crate) struct LearnedDesign {
    pub(crate) design: Design,
    pub(crate) task: Task,
    pub(crate) task_guessed: bool,
    pub(crate) extra_passes: Vec<ExtraPass>,
}

/// A table to learn from.
#[derive(Clone, Copy)]
pub(crate) struct Learning<'a> {
    pub(crate) source: &'a Source,
    pub(crate) given: &'a Given,
    pub(crate) method: &'static Method,
    pub(crate) budget: Budget,
    pub(crate) observer: &'a dyn Observer,
}

impl Learning<'_> {
    /// Learns how columns become numbers: one pass if there is text, or if means are
    /// needed, and one more for principal components.
    pub(crate) fn design(&self) -> Result<LearnedDesign, Error> {
        let (task, task_guessed) = settle_task(self.source, self.given)?;
        // What does not go together is known before the first pass.
        check(&self.method.entry, Some(task), self.given, &methods::entries())?;
        let (design, mut extra_passes) = self.survey(task)?;
        if task_guessed {
            refuse_late_labels(self.source, &design)?;
        }
        let design = match self.given.size(&PCA) {
            None => design,
            Some(n_components) => {
                extra_passes.push(ExtraPass::Components);
                self.reduced(design, n_components)?
            }
        };
        Ok(LearnedDesign { design, task, task_guessed, extra_passes })
    }

    fn survey(&self, task: Task) -> Result<(Design, Vec<ExtraPass>), Error> {
        let source = self.source;
        let mut survey = begun_survey(source, self.given, self.method, task)?;
        let mut extra_passes = Vec::new();
        if survey.is_needed() {
            extra_passes.push(survey_pass(task));
            let wanted = survey.wanted();
            refuse_mixed_columns(source, survey.features(), self.given.list(&CATEGORICAL))?;
            look_at_all(source, &wanted, &mut survey, self.budget, self.observer)?;
        }
        Ok((surveyed(survey, source, self.given)?, extra_passes))
    }

    /// Replaces the columns by principal components.
    fn reduced(&self, design: Design, n_components: usize) -> Result<Design, Error> {
        let table = Table::reference(self.source, &design, self.budget, self.observer);
        let mut moments = MomentsBuilder::new(design.n_columns()).with_form(MomentsForm::Products);
        let rows = table.each(Pass::new(Stage::Components), &mut |rows, _| moments.push(rows))?;
        let moments = match moments.finish() {
            Err(dshap::Error::NoRows) if rows.n_usable == 0 => return Err(Error::NothingLeft),
            finished => finished.map_err(|e| Error::core(e, &design))?,
        };
        projected(design, &moments, n_components, self.source)
    }
}

/// A survey of the columns of a table that has not looked at a row yet.
pub(crate) fn begun_survey(
    source: &Source,
    given: &Given,
    method: &Method,
    task: Task,
) -> Result<Survey, Error> {
    let mut selection = of_reference(&settings::selection(given), source);
    selection.exclude.extend(SetAside::of(source, given)?.names().cloned());
    let target_as = match task {
        Task::Regression => TargetAs::Numbers,
        Task::Classification => TargetAs::Labels,
        Task::Density => TargetAs::Nothing,
    };
    let roles = Roles::settle(source.schema(), &selection, target_as).map_err(|e| at(e, source, 0))?;
    let missing = settings::missing(given).unwrap_or_default();
    let mut survey = Survey::new(roles, missing, settings::unseen(given).unwrap_or_default());
    if task == Task::Density || method.is_of_neighbours() {
        // Distances between levels must not depend on which comes first.
        survey = survey.with_all_levels();
    }
    match given.size(&RARE_LEVELS) {
        Some(fewest) => Ok(survey.with_rare_levels(fewest)),
        None => Ok(survey),
    }
}

/// Why a survey reads the reference.
pub(crate) fn survey_pass(task: Task) -> ExtraPass {
    match task {
        Task::Classification => ExtraPass::Labels,
        _ => ExtraPass::Levels,
    }
}

/// The design that a survey of all rows leads to.
pub(crate) fn surveyed(survey: Survey, source: &Source, given: &Given) -> Result<Design, Error> {
    let located = |error| at(error, source, 0);
    let design = survey.into_design().map_err(located)?;
    match given.word(&POSITIVE) {
        Some(positive) => design.with_positive(positive).map_err(located),
        None => Ok(design),
    }
}

/// A design of principal components, given the moments of its columns.
pub(crate) fn projected(
    design: Design,
    moments: &Moments,
    n_components: usize,
    source: &Source,
) -> Result<Design, Error> {
    let components = PrincipalComponents::of(moments, n_components).map_err(|e| Error::core(e, &design))?;
    let projection = Projection {
        mean: components.mean().to_vec(),
        axes: components.axes().col_iter().map(|axis| axis.iter().copied().collect()).collect(),
        explained: components.explained(),
    };
    design.with_projection(projection).map_err(|e| at(e, source, 0))
}

/// The levels that further rows have, feature by feature.
pub(crate) fn levels_of(
    source: &Source,
    design: &Design,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Vec<Vec<String>>, Error> {
    let mut survey = Survey::of_more_rows(design);
    if survey.is_needed() {
        look_at_all(source, &design.wanted(), &mut survey, budget, observer)?;
    }
    Ok(survey.into_levels())
}

/// Surveys all rows of a table; returns their number.
pub(crate) fn look_at_all(
    source: &Source,
    wanted: &[Wanted],
    survey: &mut Survey,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<u64, Error> {
    let options = budget.scan_options(source, wanted, 1)?;
    let scan = Scan { source, wanted, options, stage: Stage::Survey, observer };
    scan.run(|batch| survey.look_at(&batch.rows).map_err(|e| at(e, source, batch.first_row)))
}

/// Refuses numbers that were taken for labels because the first rows have two of
/// them.
fn refuse_late_labels(source: &Source, design: &Design) -> Result<(), Error> {
    let is_number =
        |name: &str| source.schema().column(name).is_some_and(|column| column.kind == Kind::Number);
    match (design.labels(), design.target()) {
        (Some(labels), Some(target)) if labels.n_classes() > 2 && is_number(target) => {
            Err(Error::GuessedWrong { target: target.into(), more_later: true })
        }
        _ => Ok(()),
    }
}

/// The roles of columns in the reference: what is carried through to the output is
/// the matter of the points.
fn of_reference(selection: &Selection, source: &Source) -> Selection {
    let known = |name: &String| source.schema().column(name).is_some();
    Selection {
        id: selection.id.clone().filter(known),
        by: selection.by.clone().filter(known),
        keep: Vec::new(),
        ..selection.clone()
    }
}
