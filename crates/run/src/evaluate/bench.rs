//! Rows in memory, as several methods see them.

use super::judging::set_apart;
use super::orders::{Stream, seed_of};
use crate::Error;
use crate::baseline::{AnyUtility, Baseline, Frame, Parts, Points};
use crate::choice::MethodName;
use crate::general::Held;
use crate::look::settle_task;
use crate::memory::Budget;
use crate::observer::{Observer, Quiet};
use crate::overwriting::refuse_overwriting;
use crate::reference::learn_design;
use crate::request::{Method, Model, Resources, Task};
use crate::said::{Said, Told};
use crate::warnings;
use dshap::Sizes;
use dshap::second_order::Utility;
use dshap_evaluate::Kind;
use dshap_io::Source;
use dshap_table::{Design, Labels};
use std::path::PathBuf;

/// A method of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyMethod {
    /// One that values rows by what was fitted to the others.
    Valuer(MethodName),
    /// One that fits models to sets of them.
    Baseline(Baseline),
}

impl AnyMethod {
    /// Chance, which any method must beat.
    pub const CHANCE: AnyMethod = AnyMethod::Baseline(Baseline::Random);

    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            AnyMethod::Valuer(name) => name.word(),
            AnyMethod::Baseline(baseline) => baseline.word(),
        }
    }

    /// The method of that name.
    pub fn parse(word: &str) -> Option<Self> {
        let baseline = Baseline::parse(word).map(AnyMethod::Baseline);
        baseline.or_else(|| MethodName::parse(word).map(AnyMethod::Valuer))
    }

    /// Whether it looks at what sets of rows are worth to test rows of their own.
    pub(super) fn measures(self) -> bool {
        matches!(self, AnyMethod::Baseline(baseline) if baseline.measures())
    }

    /// Whether its values are computed from test rows; `are_given`: from a file, which
    /// neighbours look at too.
    pub(super) fn looks_at_tests(self, are_given: bool) -> bool {
        self.measures() || are_given && self.is_of_neighbours()
    }

    fn is_of_neighbours(self) -> bool {
        matches!(self, AnyMethod::Valuer(name) if MethodName::OF_NEIGHBOURS.contains(&name))
    }
}

/// Rows, and the methods they are to be valued by.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRequest {
    /// Files with the rows.
    pub points: Vec<String>,
    /// What was said about columns and methods. The test rows of its neighbours are
    /// those of every method that measures; without them one row in five is, where
    /// one does. Where there are curves beside such methods, half of them are for
    /// the methods and half for the curves.
    pub said: Said,
    /// The methods, each of which is told what it knows.
    pub methods: Vec<AnyMethod>,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// Rows in memory.
pub(super) struct Bench {
    pub(super) methods: Vec<AnyMethod>,
    pub(super) told: Told,
    pub(super) design: Design,
    pub(super) task: Task,
    pub(super) task_guessed: bool,
    pub(super) points: Points,
    /// Rows to be valued, and test rows that methods value them by.
    pub(super) parts: Parts,
    /// Test rows that curves are judged on, where they are others.
    judging: Option<Held>,
    /// Sets of fewer rows have no model, where that was said.
    q: Option<usize>,
    /// The same rows as neighbours see them, where that is something else.
    near: Option<Near>,
    has_tests: bool,
    /// Whether there are curves beside the methods.
    has_trial: bool,
    wants_brier: bool,
}

/// Tables that are open, and how much memory there is.
pub(super) struct Tables<'a> {
    pub(super) points: &'a Source,
    pub(super) test: Option<&'a Source>,
    pub(super) budget: Budget,
}

/// Rows with a column for every level of their text.
struct Near {
    design: Design,
    parts: Parts,
}

impl Bench {
    /// Reads the rows of a request; with `has_trial` sets of them are measured
    /// beside the methods.
    pub(super) fn read(
        request: &BenchRequest,
        methods: Vec<AnyMethod>,
        has_trial: bool,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let open = |files: &[String]| {
            let source = Source::open(files)?;
            refuse_overwriting(&source, &request.outputs)?;
            Ok::<_, Error>(source)
        };
        let points = open(&request.points)?;
        let files = &request.said.model.neighbours.test;
        let test = (!files.is_empty()).then(|| open(files)).transpose()?;
        let budget = Budget::new(request.resources.memory);
        let tables = Tables { points: &points, test: test.as_ref(), budget };
        Self::of(tables, &request.said, methods, has_trial, observer)
    }

    /// The same with the tables at hand.
    pub(super) fn of(
        tables: Tables<'_>,
        said: &Said,
        methods: Vec<AnyMethod>,
        has_trial: bool,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let Tables { points: source, test, budget } = tables;
        if said.model.selection.weight.is_some() {
            let what = "`--weight` does not go with several methods: rows count alike in all of them";
            return Err(Error::Misplaced { what: what.into() });
        }
        // What does not go together is known before the first pass.
        let (task, _) = settle_task(source, &said.model)?;
        let told = said.among(&methods, has_trial, task)?;

        let is_measured = has_trial || methods.iter().any(|method| method.measures());
        let divided = |rows: &Held, test: Option<Held>, design: &Design| match test {
            None if !is_measured => Ok(Parts::whole(rows, design)),
            test => Parts::split(rows, None, test, said.seed(), design),
        };
        let (design, task, task_guessed) = learn_design(source, &said.model, budget, observer)?;
        let points = Points::read(source, &design, &said.model.selection, budget, observer)?;
        let held = |design: &Design| test.map(|test| Held::read(test, design, budget, observer));
        let mut parts = divided(&points.rows, held(&design).transpose()?, &design)?;
        // The same rows whichever way they are seen, since targets are the same.
        let looks = methods
            .iter()
            .copied()
            .filter(|_| has_trial)
            .find(|method| method.looks_at_tests(test.is_some()));
        let split = |parts: &mut Parts, design: &Design| {
            let seed = seed_of(said.seed(), 0, Stream::Judging);
            looks.map(|method| set_apart(parts, method, (task, design), seed)).transpose()
        };
        let judging = split(&mut parts, &design)?;
        let near =
            match methods.iter().any(|method| method.is_of_neighbours()) && !design.has_plain_features() {
                false => None,
                true => {
                    let model = Model { method: Method::Knn { k: 1 }, ..said.model.clone() };
                    let quiet = Quiet(observer);
                    let (design, ..) = learn_design(source, &model, budget, &quiet)?;
                    let rows = Points::read(source, &design, &model.selection, budget, &quiet)?.rows;
                    let mut parts = divided(&rows, held(&design).transpose()?, &design)?;
                    split(&mut parts, &design)?;
                    Some(Near { design, parts })
                }
            };
        let has_tests = test.is_some();
        let wants_brier = said.choice.second_order.utility == Some(Utility::Brier);
        let q = said.model.sizes.min;
        Ok(Self {
            methods,
            told,
            design,
            task,
            task_guessed,
            points,
            parts,
            judging,
            q,
            near,
            has_tests,
            has_trial,
            wants_brier,
        })
    }

    /// Says which methods, and whether curves, measure something else than the Brier
    /// score, where that was asked for.
    pub(super) fn doubts_of_brier(&self) -> Option<String> {
        let measuring = self.methods.iter().filter(|method| method.measures());
        let mut names: Vec<String> = measuring.map(|method| format!("`{}`", method.word())).collect();
        let has = if names.len() == 1 && !self.has_trial { "has" } else { "have" };
        names.extend(self.has_trial.then(|| "the curves".to_string()));
        let said = || format!("{} {has} no Brier score: accuracy takes its place", names.join(" and "));
        (self.wants_brier && !names.is_empty()).then(said)
    }

    /// Says how many rows are left out for a missing cell, each of which `consequence`.
    pub(super) fn doubts_of_missing(&self, consequence: &str) -> Option<String> {
        let n_left_out = self.points.n_rows - self.points.rows.n_rows() as u64;
        warnings::of_rows_left_out("point", n_left_out, consequence)
    }

    /// What targets are.
    pub(super) fn kind(&self) -> Kind {
        match self.task {
            Task::Classification => Kind::Labels(self.design.labels().map_or(2, Labels::n_classes)),
            Task::Regression | Task::Density => Kind::Numbers,
        }
    }

    /// The rows as a method sees them, and test rows where they were given.
    pub(super) fn seen_by(&self, method: AnyMethod) -> (&Design, &Held, Option<&Held>) {
        let (design, parts) = match &self.near {
            Some(near) if method.is_of_neighbours() => (&near.design, &near.parts),
            _ => (&self.design, &self.parts),
        };
        (design, &parts.players, Some(&parts.test).filter(|_| self.has_tests))
    }

    /// Test rows that curves are judged on.
    pub(super) fn judging(&self) -> &Held {
        self.judging.as_ref().unwrap_or(&self.parts.test)
    }

    /// How many test rows methods value by that are not judged on, and who does.
    pub(super) fn valuing(&self) -> (usize, Vec<&'static str>) {
        match self.judging {
            None => (0, Vec::new()),
            Some(_) => {
                let looks = self.methods.iter().filter(|method| method.looks_at_tests(self.has_tests));
                (self.parts.test.n_rows(), looks.map(|method| method.word()).collect())
            }
        }
    }

    /// How sets of rows are measured along orders.
    pub(super) fn measure(&self) -> Result<Measure, Error> {
        let trial = self.told.trial.baseline(Baseline::LeaveOneOut);
        let (model, choice) = trial.map_err(|what| Error::Misplaced { what })?;
        let players = &self.parts.players;
        let frame = Frame::of(players, self.task, &model, &choice, &self.design)
            .map_err(|error| self.parts.explain(error))?;
        // Models of hardly more rows than columns fit anything without a ridge; so the
        // sets of curves are those that count in values.
        let default = match (self.task, frame.ridge()) {
            (Task::Regression, Some(0.0)) => Sizes::default_min(frame.dim(), players.n_rows()),
            _ => 1,
        };
        let least_rows = self.q.unwrap_or(default).clamp(1, players.n_rows().max(1));
        let utility = frame.utility(self.judging(), least_rows, &self.design)?;
        Ok(Measure { utility, seen: frame.see(players), name: frame.utility_name(), least_rows })
    }
}

/// How sets of rows are measured along orders.
pub(super) struct Measure {
    pub(super) utility: AnyUtility,
    /// The rows as the utility sees them.
    pub(super) seen: Held,
    /// What it is called.
    pub(super) name: &'static str,
    /// Sets of fewer rows have no model.
    pub(super) least_rows: usize,
}
