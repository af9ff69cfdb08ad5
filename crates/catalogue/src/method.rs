//! One method.

use crate::given::Given;
use crate::option::OptionEntry;
use crate::options::REFERENCE;
use crate::parts::Parts;
use crate::task::Task;
use serde::Serialize;

/// A method, described once for every front end.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MethodEntry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// One paragraph for people.
    pub about: &'static str,
    /// What its values assume, in sentences.
    pub assumes: &'static str,
    /// What kind of method it is.
    pub kind: MethodKind,
    /// What its values measure.
    pub measures: Measures,
    /// The tasks it values rows for.
    pub tasks: &'static [Task],
    /// The options it takes, beside those that every method takes.
    pub options: &'static [Takes],
    /// Why it does not take some options, where that needs a word.
    #[serde(skip)]
    pub refuses: &'static [(&'static OptionEntry, &'static str)],
    /// Which of its options do not go together.
    #[serde(skip)]
    pub rules: &'static [Rule],
    /// The parts its values come with.
    pub parts: Parts,
    /// Where standard errors come from; empty if there are none.
    pub std_errors: &'static str,
    /// Whether a valuer of it can be saved, and why not if it cannot.
    pub saved: Result<(), &'static str>,
    /// The tasks for which rows can be added to a saved valuer, and taken away.
    pub updates: &'static [Task],
    /// The tasks for which saved valuers can be merged.
    pub merges: &'static [Task],
    /// The passes over the reference that it takes.
    pub passes: &'static str,
    /// Where it comes from: a theorem, a paper.
    pub source: &'static str,
    /// The page of the documentation.
    pub page: &'static str,
    /// The arguments of an example command.
    pub example: &'static str,
}

/// What kind of method it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodKind {
    /// A closed form.
    ClosedForm,
    /// A bound in closed form.
    Bound,
    /// Sets are drawn.
    Drawing,
    /// Models are fitted to sets of rows, for comparison.
    Baseline,
}

/// What a value measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measures {
    /// The expected drop in squared error; for labels, that of the least-squares problem behind a
    /// logistic model.
    SquaredError,
    /// A bound on that.
    Bound,
    /// What a row adds to a classifier that is refitted on each set.
    RefittedModels,
    /// What a row adds to predictions from the nearest rows.
    Neighbours,
    /// What a row adds to a density estimate.
    Density,
    /// What a row adds to models that are judged on test rows.
    TestRows,
    /// Nothing: chance, for comparison.
    Nothing,
}

/// An option that a method takes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Takes {
    /// The option.
    #[serde(serialize_with = "by_name")]
    pub option: &'static OptionEntry,
    /// The tasks it goes with.
    pub tasks: &'static [Task],
    /// What it means for this method; empty if that is what it always means.
    pub role: &'static str,
    /// The default for this method.
    pub default: Default,
    /// The words it takes, if not all that the option has.
    pub words: Option<&'static [&'static str]>,
    /// What a saved valuer calls it; empty if it is not part of the method there.
    #[serde(skip)]
    pub saved_as: &'static str,
}

fn by_name<S: serde::Serializer>(option: &&OptionEntry, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(option.name)
}

/// A default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Default {
    /// That of the option.
    Usual,
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// A word.
    Word(&'static str),
    /// Something that depends on the rest, in words.
    Depends(&'static str),
}

impl Takes {
    /// An option in its usual meaning, for all tasks of the method.
    pub const fn new(option: &'static OptionEntry) -> Self {
        Self { option, tasks: &Task::ALL, role: "", default: Default::Usual, words: None, saved_as: "" }
    }

    /// For some tasks only.
    pub const fn tasks(self, tasks: &'static [Task]) -> Self {
        Self { tasks, ..self }
    }

    /// With a meaning of its own.
    pub const fn role(self, role: &'static str) -> Self {
        Self { role, ..self }
    }

    /// With a default of its own.
    pub const fn default(self, default: Default) -> Self {
        Self { default, ..self }
    }

    /// With some words of the option only.
    pub const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words: Some(words), ..self }
    }

    /// Kept in saved valuers, under this name.
    pub const fn saved_as(self, saved_as: &'static str) -> Self {
        Self { saved_as, ..self }
    }
}

/// Options that do not go together.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Whether the rule is broken; the task is absent while it is not known.
    pub is_broken: fn(&Given, Option<Task>) -> bool,
    /// The options it is about, the one to leave out first.
    pub options: &'static [&'static OptionEntry],
    /// Why they do not go together.
    pub why: &'static str,
}

impl MethodEntry {
    /// How it takes an option, if it does; the task is absent while it is not known.
    pub fn takes(&self, option: &OptionEntry, task: Option<Task>) -> Option<&'static Takes> {
        let fits = |takes: &&'static Takes| {
            let mut tasks = takes.tasks.iter().filter(|task| self.tasks.contains(task));
            takes.option.name == option.name && tasks.any(|have| task.is_none_or(|task| task == *have))
        };
        self.options.iter().find(fits)
    }

    /// Whether it values rows for a task.
    pub fn is_for(&self, task: Task) -> bool {
        self.tasks.contains(&task)
    }

    /// Whether its values have standard errors.
    pub fn has_std_errors(&self) -> bool {
        !self.std_errors.is_empty()
    }

    /// Whether rows can be added to a saved valuer for this task, and taken away.
    pub fn updates_for(&self, task: Task) -> bool {
        self.updates.contains(&task)
    }

    /// Whether saved valuers for this task can be merged.
    pub fn merges_for(&self, task: Task) -> bool {
        self.merges.contains(&task)
    }

    /// Whether it is a closed form of Theorem 2: what is expected of a target follows from the
    /// noise, and rows can be told apart by their errors.
    pub fn is_theorem_2(&self) -> bool {
        self.kind == MethodKind::ClosedForm && self.measures == Measures::SquaredError
    }

    /// Whether a value follows at once from the squared distance and the squared residual of a row.
    pub fn follows_from_distance(&self) -> bool {
        self.is_theorem_2() || self.measures == Measures::Bound
    }

    /// Whether it values the rows of one finite dataset instead of rows against a reference.
    pub fn is_of_one_dataset(&self) -> bool {
        self.takes(&REFERENCE, None).is_none()
    }

    /// Whether it is a baseline.
    pub fn is_baseline(&self) -> bool {
        self.kind == MethodKind::Baseline
    }
}
