//! The driver of a distributed fit: from pass to pass to a valuer.

use super::bad;
use super::part::Part;
use super::pass::{Plan, StepDocument, What};
use super::sums::{LogisticSums, MomentSums, SampleSums, Sums};
use crate::design::{begun_survey, projected, survey_pass, surveyed};
use crate::fit::{Fitted, input_warning, of_fit};
use crate::settings;
use crate::summary::FitSummary;
use crate::{file_warnings, owner_sums};
use dshap::MomentsForm;
use dshap::linear::DistanceTable;
use dshap_catalogue::options::{BY, CATEGORICAL, PCA, TEST};
use dshap_catalogue::{Given, Task, Value, check};
use dshap_io::Source;
use dshap_models::linear::{FormWord, LinearModel};
use dshap_models::logistic::{LogisticModel, SpreadLogistic};
use dshap_models::neighbours::Tests;
use dshap_models::{
    Action, Error, ExtraPass, FittedValuer, HeldRows, How, Learned, Makes, Method, Model, OwnerMoments,
    RowCounts, RowRole, RowSample, Step, Unwatched, Warning, density, linear, methods, neighbours,
};
use dshap_table::{Design, Survey};
use std::sync::Arc;

/// A pass that the driver waits for.
#[derive(Debug, Clone)]
pub struct NextPass {
    /// What is summed.
    pub plan: Vec<u8>,
    /// A valuer that goes with it, for some passes.
    pub valuer: Option<Vec<u8>>,
    /// What it is called, for people who watch.
    pub name: &'static str,
    /// Whether the rows of the whole table must be numbered.
    pub needs_numbers: bool,
    /// Whether it goes over test rows instead of the reference.
    pub of_tests: bool,
}

/// A fit whose rows lie on several machines.
pub struct SpreadFit {
    /// A table with the columns of the rows; no row of it is read.
    source: Source,
    method: &'static Method,
    given: Given,
    task: Task,
    has_tests: bool,
    design: Option<Design>,
    extra_passes: Vec<ExtraPass>,
    n_passes: usize,
    stage: Stage,
}

enum Stage {
    Survey(Box<Survey>),
    Components,
    Moments {
        form: Option<MomentsForm>,
        extra: Vec<ExtraPass>,
    },
    Logistic {
        fit: Box<SpreadLogistic>,
        form: Option<MomentsForm>,
    },
    Sample,
    Rows,
    Tests {
        held: HeldRows,
        rows: RowCounts,
    },
    Distances(Box<Found>),
    Done(Box<Found>),
    /// A pass failed.
    Over,
}

/// A fit, nearly a valuer.
struct Found {
    valuer: FittedValuer,
    rows: RowCounts,
    sample: Option<RowSample>,
    n_tests_left_out: u64,
}

impl SpreadFit {
    /// A fit of rows with the columns of `source`, of which no row is read.
    ///
    /// # Errors
    ///
    /// [`Error::NotSpread`], and whatever is wrong with columns and options.
    pub fn new(
        source: Source,
        method: &'static Method,
        given: &Given,
        has_tests: bool,
    ) -> Result<Self, Error> {
        let given = match has_tests {
            true => given.clone().with(&TEST, Value::List(Vec::new())),
            false => given.clone(),
        };
        How::new(method, settings::task(&given), given.clone())?;
        let task = settings::task(&given).unwrap_or(Task::Regression);
        check(&method.entry, Some(task), &given, &methods::entries())?;
        let needs = (method.needs)(&given, task);
        let is_sum = matches!(needs, None | Some(ExtraPass::Calibration));
        let is_spread = match method.makes {
            Makes::Fit { .. } => is_sum,
            Makes::Density(_) | Makes::Neighbours { .. } => true,
            Makes::Sets(_) => false,
        };
        if !is_spread {
            return Err(Error::NotSpread { method: method.name() });
        }
        let survey = begun_survey(&source, &given, method, task)?;
        let mut fit = Self {
            source,
            method,
            given,
            task,
            has_tests,
            design: None,
            extra_passes: Vec::new(),
            n_passes: 0,
            stage: Stage::Over,
        };
        match survey.is_needed() {
            true => fit.stage = Stage::Survey(Box::new(survey)),
            false => fit.surveyed(survey)?,
        }
        Ok(fit)
    }

    fn how(&self) -> How {
        How { method: self.method, given: of_fit(&self.given) }
    }

    fn design(&self) -> Result<&Design, Error> {
        self.design.as_ref().ok_or_else(|| bad("a pass came before its design"))
    }

    /// The pass that is waited for; nothing when the fit is done.
    ///
    /// # Errors
    ///
    /// [`Error::BadPart`] after an error.
    pub fn next_pass(&self) -> Result<Option<NextPass>, Error> {
        let word = |form: &Option<MomentsForm>| form.map(FormWord::from);
        let (name, what) = match &self.stage {
            Stage::Survey(survey) => {
                let categorical = self.given.list(&CATEGORICAL).to_vec();
                ("levels and labels", What::Survey { survey: survey.clone(), categorical })
            }
            Stage::Components => {
                let form = Some(FormWord::Products);
                ("principal components", What::Moments { intercept: true, form, by: None })
            }
            Stage::Moments { form, .. } => {
                let by = self.given.word(&BY).filter(|_| self.keeps_owners()).map(String::from);
                let intercept = self.how().intercept();
                ("moments", What::Moments { intercept, form: word(form), by })
            }
            Stage::Logistic { fit, form } => {
                let plans = fit.plan().ok_or_else(|| bad("all steps are done"))?;
                let plans = plans.into_iter().map(|plan| plan.map(StepDocument::of)).collect();
                ("a step", What::Logistic { first: fit.is_new(), form: word(form), plans })
            }
            Stage::Sample => {
                let (most, seed) = density::sample_of(&self.how());
                ("a sample", What::Sample { most, seed })
            }
            Stage::Rows => ("rows", What::Rows { is_reference: true }),
            Stage::Tests { .. } => ("test rows", What::Rows { is_reference: false }),
            Stage::Distances(_) => ("distances", What::Distances),
            Stage::Done(_) => return Ok(None),
            Stage::Over => return Err(bad("a pass before it failed")),
        };
        let valuer = match &self.stage {
            Stage::Distances(found) => Some(without_distances(&found.valuer)?),
            _ => None,
        };
        let plan = Plan::new(self.design.as_ref().map(|design| design.parts().clone()), what).to_bytes();
        let needs_numbers = matches!(self.stage, Stage::Sample);
        Ok(Some(NextPass {
            plan,
            valuer,
            name,
            needs_numbers,
            of_tests: matches!(self.stage, Stage::Tests { .. }),
        }))
    }

    /// Whether the moments of owners are kept in the valuer.
    fn keeps_owners(&self) -> bool {
        self.design.as_ref().is_some_and(|design| design.weight().is_none())
            && self.method.entry.updates_for(self.task)
    }

    /// Goes on with the merged part of the pass that was waited for.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the rows. After an error the fit cannot go on.
    pub fn take(&mut self, part: &[u8]) -> Result<(), Error> {
        let next = self.next_pass()?.ok_or_else(|| bad("the fit is done"))?;
        let plan = Plan::from_bytes(&next.plan)?;
        let part = Part::from_bytes(part, &plan, self.design.as_ref())?;
        let part = Part::merged(vec![part], self.design.as_ref())?;
        let rows = part.rows;
        let sums = part.total(self.design.as_ref())?;
        self.n_passes += 1;
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Some(sums) = sums else { return Err(Error::NothingLeft) };
        match (stage, sums) {
            (Stage::Survey(_), Sums::Survey(survey)) => {
                self.extra_passes.push(survey_pass(self.task));
                self.surveyed(*survey)
            }
            (Stage::Components, Sums::Moments(sums)) => self.reduced(&sums),
            (Stage::Moments { form, extra }, Sums::Moments(sums)) => self.moments(*sums, rows, form, extra),
            (Stage::Logistic { fit, form }, Sums::Logistic(sums)) => self.stepped(*fit, *sums, rows, form),
            (Stage::Sample, Sums::Sample(sums)) => self.sampled(*sums, rows),
            (Stage::Rows, Sums::Rows(held)) if self.has_tests => {
                self.stage = Stage::Tests { held, rows };
                Ok(())
            }
            (Stage::Rows, Sums::Rows(held)) => self.held(held, rows, None),
            (Stage::Tests { held, rows: of_reference }, Sums::Rows(tests)) => {
                self.held(held, of_reference, Some((tests, rows)))
            }
            (Stage::Distances(found), Sums::Distances(tables)) => self.calibrated(*found, tables),
            _ => Err(bad("it is of another pass")),
        }
    }

    /// The valuer, and what is to be reported about it.
    ///
    /// # Errors
    ///
    /// [`Error::BadPart`] while passes are still needed, and what keeps it from valuing rows.
    pub fn finish(self) -> Result<Fitted, Error> {
        let Stage::Done(found) = self.stage else { return Err(bad("passes are still needed")) };
        let Found { valuer, rows, sample, n_tests_left_out } = *found;
        let mut warnings: Vec<Warning> =
            file_warnings::of_constant_text(&valuer.design).into_iter().collect();
        warnings.extend(Warning::rows_left_out(RowRole::Reference, rows.n_left_out(), &valuer.design));
        warnings.extend(Warning::rows_left_out(RowRole::Test, n_tests_left_out, &valuer.design));
        warnings.extend(owner_sums::not_kept(&valuer, &self.given));
        let sizes = valuer.sizes(&valuer.how)?;
        warnings.extend(valuer.model.label_warnings(&valuer.how, sizes, &valuer.design));
        warnings.extend(input_warning(&valuer, &valuer.how, sample.as_ref(), &warnings)?);
        let summary = FitSummary::of(&valuer, warnings)?;
        Ok(Fitted::new(valuer, summary))
    }

    fn surveyed(&mut self, survey: Survey) -> Result<(), Error> {
        self.design = Some(surveyed(survey, &self.source, &self.given)?);
        self.stage = match self.given.size(&PCA) {
            Some(_) => Stage::Components,
            None => self.first_stage()?,
        };
        Ok(())
    }

    /// The first stage of the fit itself.
    fn first_stage(&self) -> Result<Stage, Error> {
        Ok(match (self.method.makes, self.task) {
            (Makes::Neighbours { .. }, _) => Stage::Rows,
            (Makes::Density(_), _) => Stage::Sample,
            (_, Task::Classification) => {
                let fit = Box::new(SpreadLogistic::new(&self.how(), self.design()?)?);
                Stage::Logistic { fit, form: None }
            }
            _ => Stage::Moments { form: None, extra: Vec::new() },
        })
    }

    fn reduced(&mut self, sums: &MomentSums) -> Result<(), Error> {
        self.extra_passes.push(ExtraPass::Components);
        let n_components = self.given.size(&PCA).unwrap_or(1);
        let design = self.design()?.clone();
        self.design = Some(projected(design, &sums.moments, n_components, &self.source)?);
        self.stage = self.first_stage()?;
        Ok(())
    }

    fn moments(
        &mut self,
        sums: MomentSums,
        rows: RowCounts,
        form: Option<MomentsForm>,
        mut extra: Vec<ExtraPass>,
    ) -> Result<(), Error> {
        let MomentSums { moments, sample, owners, is_hard } = sums;
        let is_undecided = form.is_none() && is_hard;
        let design = self.design()?;
        let learned = match is_undecided {
            true => None,
            false => linear::learned_of(&self.how(), design, moments, sample, rows, extra.clone())?,
        };
        let Some(learned) = learned else {
            extra.push(ExtraPass::HardColumns);
            self.stage = Stage::Moments { form: Some(MomentsForm::Triangle), extra };
            return Ok(());
        };
        let by = self.given.word(&BY).filter(|_| self.keeps_owners());
        let owners = by.map(|by| OwnerMoments { by: by.into(), owners });
        self.learned(learned, owners, 0)
    }

    fn stepped(
        &mut self,
        mut fit: SpreadLogistic,
        sums: LogisticSums,
        rows: RowCounts,
        form: Option<MomentsForm>,
    ) -> Result<(), Error> {
        let LogisticSums { passes, first, is_hard } = sums;
        if fit.is_new() && form.is_none() && is_hard {
            self.stage = Stage::Logistic { fit: Box::new(fit), form: Some(MomentsForm::Triangle) };
            return Ok(());
        }
        fit.take(passes, first, rows.n_usable, self.design()?)?;
        if fit.plan().is_some() {
            self.stage = Stage::Logistic { fit: Box::new(fit), form };
            return Ok(());
        }
        let learned = fit.finish(rows).ok_or_else(|| bad("the first pass is missing"))?;
        self.learned(learned, None, 0)
    }

    fn sampled(&mut self, sums: SampleSums, rows: RowCounts) -> Result<(), Error> {
        let SampleSums { columns, sample } = sums;
        let n_seen = sample.n_seen();
        let learned =
            density::learned_of(&self.how(), self.design()?, columns, n_seen, rows, &Unwatched, |each| {
                sample.drain(each)
            })?;
        self.learned(learned, None, 0)
    }

    fn held(
        &mut self,
        held: HeldRows,
        rows: RowCounts,
        tests: Option<(HeldRows, RowCounts)>,
    ) -> Result<(), Error> {
        let left_out = tests.as_ref().map_or(0, |(_, rows)| rows.n_left_out());
        let tests = tests.map(|(tests, _)| (Tests::Given(Arc::new(tests)), Vec::new()));
        let learned = neighbours::learned_of(&self.how(), self.design()?, held, rows, tests)?;
        self.learned(learned, None, left_out)
    }

    fn learned(
        &mut self,
        learned: Learned,
        owners: Option<OwnerMoments>,
        n_tests_left_out: u64,
    ) -> Result<(), Error> {
        let Learned { model, rows, sample, .. } = learned;
        let step = Step::new(Action::Fit, Vec::new(), rows, model.n_rows());
        let valuer = FittedValuer {
            categorical: self.given.list(&CATEGORICAL).to_vec(),
            has_names: Some(true),
            owners,
            ..FittedValuer::new(self.design()?.clone(), model, self.how(), vec![step])?
        };
        let lacks = valuer.lacks();
        let found = Box::new(Found { valuer, rows, sample, n_tests_left_out });
        self.stage = match lacks {
            Some(ExtraPass::Calibration) => Stage::Distances(found),
            _ => Stage::Done(found),
        };
        Ok(())
    }

    fn calibrated(&mut self, found: Found, tables: Vec<DistanceTable>) -> Result<(), Error> {
        let valuer = &found.valuer;
        let linear = valuer.model.of::<LinearModel>().zip(tables.first());
        let model: Arc<dyn Model> = match (linear, valuer.model.of::<LogisticModel>()) {
            (Some((model, table)), _) => {
                Arc::new(LinearModel { distances: Some(table.clone()), ..model.clone() })
            }
            (None, Some(model)) => Arc::new(LogisticModel { distances: Some(tables), ..model.clone() }),
            (None, None) => return Err(bad("it is of another pass")),
        };
        let valuer = FittedValuer { model, ..found.valuer };
        self.stage = Stage::Done(Box::new(Found { valuer, ..found }));
        Ok(())
    }
}

/// The bytes of a valuer that lacks distances still, as one of the method that needs none.
fn without_distances(valuer: &FittedValuer) -> Result<Vec<u8>, Error> {
    let how = How { method: methods::default_for(Some(valuer.task())), given: Given::new() };
    let plain = FittedValuer { how, owners: None, ..valuer.clone() };
    plain.to_container().to_bytes().map_err(|error| bad(error.to_string()))
}
