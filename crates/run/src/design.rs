//! How columns become numbers, learned from a reference.

use crate::at::at;
use crate::guess::{refuse_mixed_columns, settle_task};
use crate::memory::Budget;
use crate::scan::Scan;
use crate::settings;
use crate::table::Table;
use dshap::{MomentsBuilder, MomentsForm, PrincipalComponents};
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
        let (source, given) = (self.source, self.given);
        let selection = of_reference(&settings::selection(given), source);
        let target_as = match task {
            Task::Regression => TargetAs::Numbers,
            Task::Classification => TargetAs::Labels,
            Task::Density => TargetAs::Nothing,
        };
        let located = |error| at(error, source, 0);
        let roles = Roles::settle(source.schema(), &selection, target_as).map_err(located)?;
        let features: Vec<Wanted> = roles.features.clone();
        let wanted: Vec<Wanted> =
            roles.features.iter().chain(&roles.target).chain(&roles.weight).cloned().collect();
        let missing = settings::missing(given).unwrap_or_default();
        let mut survey = Survey::new(roles, missing, settings::unseen(given).unwrap_or_default());
        if task == Task::Density || self.method.is_of_neighbours() {
            // Distances between levels must not depend on which comes first.
            survey = survey.with_all_levels();
        }
        if let Some(fewest) = given.size(&RARE_LEVELS) {
            survey = survey.with_rare_levels(fewest);
        }
        let mut extra_passes = Vec::new();
        if survey.is_needed() {
            extra_passes.push(match task {
                Task::Classification => ExtraPass::Labels,
                _ => ExtraPass::Levels,
            });
            refuse_mixed_columns(source, &features, given.list(&CATEGORICAL))?;
            look_at_all(source, &wanted, &mut survey, self.budget, self.observer)?;
        }
        let mut design = survey.into_design().map_err(located)?;
        if let Some(positive) = given.word(&POSITIVE) {
            design = design.with_positive(positive).map_err(located)?;
        }
        Ok((design, extra_passes))
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
        let components =
            PrincipalComponents::of(&moments, n_components).map_err(|e| Error::core(e, &design))?;
        let projection = Projection {
            mean: components.mean().to_vec(),
            axes: components.axes().col_iter().map(|axis| axis.iter().copied().collect()).collect(),
            explained: components.explained(),
        };
        design.with_projection(projection).map_err(|e| at(e, self.source, 0))
    }
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

fn look_at_all(
    source: &Source,
    wanted: &[Wanted],
    survey: &mut Survey,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let options = budget.scan_options(source, wanted, 1)?;
    let scan = Scan { source, wanted, options, stage: Stage::Survey, observer };
    scan.run(|batch| survey.look_at(&batch.rows).map_err(|e| at(e, source, batch.first_row)))?;
    Ok(())
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
