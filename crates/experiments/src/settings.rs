//! What an experiment is asked to do.

use crate::Error;
use crate::data::{Handling, Task};
use crate::dataset::Library;

/// The experiments of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Time against m.
    Fig1,
    /// Time on the twelve datasets.
    Table1,
    /// Point addition by exact values.
    Fig2,
    /// Synergy of two points of a density.
    Fig3,
    /// Value against distance.
    Fig4,
    /// Point addition by bounds, regression.
    Fig5,
    /// Point addition by bounds, classification.
    Fig6,
}

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 7] = [
        Experiment::Fig1,
        Experiment::Table1,
        Experiment::Fig2,
        Experiment::Fig3,
        Experiment::Fig4,
        Experiment::Fig5,
        Experiment::Fig6,
    ];

    /// Its name, which files begin with.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Fig1 => "fig1",
            Experiment::Table1 => "table1",
            Experiment::Fig2 => "fig2",
            Experiment::Fig3 => "fig3",
            Experiment::Fig4 => "fig4",
            Experiment::Fig5 => "fig5",
            Experiment::Fig6 => "fig6",
        }
    }
}

/// How it is done.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `quick` | `false` | a version of about a minute, with fewer repetitions and smaller sizes |
/// | `seed` | 0 | the first of all random numbers; repetitions have numbered streams |
/// | `repetitions` | as in the paper | how often an experiment with chance in it is repeated |
/// | `d_shapley` | as `repetitions`; if quick, regressions only | how many of these D-SHAPLEY takes part in; 0 leaves it out |
/// | `d_shapley_of` | none | the same for some panels, on which it is slower or faster |
/// | `only` | all | panels to show, by name |
/// | `handling` | corrected | which tables `australian` and `diabetes` are |
/// | `library` | | where datasets are looked for |
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// A version of about a minute.
    pub quick: bool,
    /// The seed.
    pub seed: u64,
    /// Repetitions, if not those of the paper.
    pub repetitions: Option<usize>,
    /// Repetitions with D-SHAPLEY, if not all.
    pub d_shapley: Option<usize>,
    /// The same for some panels, by name.
    pub d_shapley_of: Vec<(String, usize)>,
    /// Panels, if not all.
    pub only: Option<Vec<String>>,
    /// Which tables two of the names mean.
    pub handling: Handling,
    /// Where datasets are looked for.
    pub library: Library,
}

impl Settings {
    /// Refuses what the experiment would not look at.
    pub(crate) fn check_use(&self, experiment: Experiment) -> Result<(), Error> {
        let (has_chance, has_panels, draws, handles) = match experiment {
            Experiment::Fig1 => (true, false, true, false),
            Experiment::Table1 | Experiment::Fig2 => (true, true, true, true),
            Experiment::Fig3 | Experiment::Fig4 => (false, false, false, false),
            Experiment::Fig5 | Experiment::Fig6 => (true, true, false, false),
        };
        let named = !self.d_shapley_of.is_empty();
        let refused = [
            ("`--repetitions`", self.repetitions.is_some() && !has_chance, "there is no chance in it"),
            ("`--seed`", self.seed != 0 && !has_chance, "there is no chance in it"),
            ("`--data`", !self.library.folders.is_empty() && !has_panels, "it reads no table"),
            ("`--only`", self.only.is_some() && !has_panels, "it has no datasets to choose from"),
            ("`--d-shapley`", (self.d_shapley.is_some() || named) && !draws, "D-SHAPLEY takes no part in it"),
            ("`--d-shapley` of a dataset", named && !has_panels, "it has no datasets to choose from"),
            (
                "`--data-handling paper`",
                self.handling == Handling::Paper && !handles,
                "neither `australian` nor `diabetes` is in it",
            ),
        ];
        match refused.into_iter().find(|(_, given, _)| *given) {
            Some((setting, _, why)) => Err(Error::NoUse { experiment: experiment.name(), setting, why }),
            None => Ok(()),
        }
    }

    /// Repetitions: as told, or `quick` of them, or `full`.
    pub(crate) fn repetitions(&self, quick: usize, full: usize) -> usize {
        self.repetitions.unwrap_or(if self.quick { quick } else { full }).max(1)
    }

    /// Repetitions of a panel that D-SHAPLEY takes part in: as told, or `full`. A
    /// quick version has it where it is quick, which is where it need not fit models
    /// anew.
    pub(crate) fn d_shapley(&self, panel: &str, task: Task, full: usize) -> usize {
        let own = self.d_shapley_of.iter().find(|(name, _)| name == panel).map(|(_, n)| *n);
        let unless = if self.quick && task != Task::Regression { 0 } else { full };
        own.or(self.d_shapley).unwrap_or(unless)
    }

    /// What was said about D-SHAPLEY, which does not change with the repetitions.
    pub(crate) fn d_shapley_in_words(&self) -> String {
        let mut of: Vec<&(String, usize)> = self.d_shapley_of.iter().collect();
        of.sort();
        let all = self.d_shapley.map(|n| n.to_string());
        let words: Vec<String> =
            all.into_iter().chain(of.into_iter().map(|(panel, n)| format!("{panel}={n}"))).collect();
        if words.is_empty() { "not given".into() } else { words.join(",") }
    }

    /// Whether a panel is wanted.
    pub(crate) fn wants(&self, panel: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == panel))
    }
}
