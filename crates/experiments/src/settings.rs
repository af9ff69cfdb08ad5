//! What an experiment is asked to do.

use crate::data::{Handling, Task};
use crate::dataset::Library;
use crate::{Error, ExperimentOption, Unused};

/// The experiments of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Time against m.
    Fig1,
    /// Time on the twelve datasets.
    Table1,
    /// The datasets.
    Table2,
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
    pub const ALL: [Experiment; 8] = [
        Experiment::Fig1,
        Experiment::Table1,
        Experiment::Table2,
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
            Experiment::Table2 => "table2",
            Experiment::Fig2 => "fig2",
            Experiment::Fig3 => "fig3",
            Experiment::Fig4 => "fig4",
            Experiment::Fig5 => "fig5",
            Experiment::Fig6 => "fig6",
        }
    }
}

/// The constant of Theorem 2 that Figure 4 shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShownConstant {
    /// The drop in squared error.
    #[default]
    Gain,
    /// The sum of Theorem 2, by the definition's set sizes.
    Theorem,
}

impl ShownConstant {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ShownConstant::Gain => "gain",
            ShownConstant::Theorem => "theorem",
        }
    }
}

/// How an experiment is done.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `quick` | `false` | a version that takes about a minute, with fewer repetitions and smaller sizes |
/// | `seed` | 0 | seed of all random numbers; repetitions have numbered streams |
/// | `repetitions` | as in the paper | how often an experiment with randomness is repeated |
/// | `d_shapley` | as `repetitions`; if quick, regressions only | how many of these D-SHAPLEY takes part in; 0 leaves it out |
/// | `d_shapley_of` | none | the same for some panels, on which it is slower or faster |
/// | `only` | all | panels to show, by name |
/// | `constant` | gain | the constant that Figure 4 shows |
/// | `handling` | corrected | which tables `australian` and `diabetes` are |
/// | `library` | | where to look for datasets |
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Whether to do the version that takes about a minute.
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
    /// The constant that Figure 4 shows.
    pub constant: ShownConstant,
    /// Which tables two of the names mean.
    pub handling: Handling,
    /// Where to look for datasets.
    pub library: Library,
}

impl Settings {
    /// Refuses settings that the experiment would ignore.
    pub(crate) fn check_use(&self, experiment: Experiment) -> Result<(), Error> {
        let (is_random, has_panels, draws, handles) = match experiment {
            Experiment::Fig1 => (true, false, true, false),
            Experiment::Table1 | Experiment::Fig2 => (true, true, true, true),
            Experiment::Fig3 | Experiment::Fig4 => (false, false, false, false),
            Experiment::Fig5 | Experiment::Fig6 => (true, true, true, false),
            Experiment::Table2 => (false, true, false, true),
        };
        let named = !self.d_shapley_of.is_empty();
        let refused = [
            (ExperimentOption::Repetitions, self.repetitions.is_some() && !is_random, Unused::NothingRandom),
            (ExperimentOption::Seed, self.seed != 0 && !is_random, Unused::NothingRandom),
            (ExperimentOption::Data, !self.library.folders.is_empty() && !has_panels, Unused::NoTable),
            (ExperimentOption::Only, self.only.is_some() && !has_panels, Unused::NoDatasets),
            (ExperimentOption::DShapley, (self.d_shapley.is_some() || named) && !draws, Unused::NoDShapley),
            (ExperimentOption::DShapleyOfDataset, named && !has_panels, Unused::NoDatasets),
            (
                ExperimentOption::Constant,
                self.constant != ShownConstant::Gain && experiment != Experiment::Fig4,
                Unused::NoConstant,
            ),
            (
                ExperimentOption::DataHandling,
                self.handling == Handling::Paper && !handles,
                Unused::NoHandledDataset,
            ),
        ];
        match refused.into_iter().find(|(_, given, _)| *given) {
            Some((option, _, why)) => Err(Error::NoUse { experiment: experiment.name(), option, why }),
            None => Ok(()),
        }
    }

    /// Number of repetitions: as set, or `quick` or `full` of them.
    pub(crate) fn repetitions(&self, quick: usize, full: usize) -> usize {
        self.repetitions.unwrap_or(if self.quick { quick } else { full }).max(1)
    }

    /// Repetitions of a panel that D-SHAPLEY takes part in: as set, or `full`. The
    /// quick version includes it only where it is fast, that is where it need not
    /// refit models.
    pub(crate) fn d_shapley(&self, panel: &str, task: Task, full: usize) -> usize {
        let own = self.d_shapley_of.iter().find(|(name, _)| name == panel).map(|(_, n)| *n);
        let unless = if self.quick && task != Task::Regression { 0 } else { full };
        own.or(self.d_shapley).unwrap_or(unless)
    }

    /// The settings for D-SHAPLEY as text, which do not depend on the number of
    /// repetitions.
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
