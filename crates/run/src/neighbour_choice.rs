//! What was said about nearest neighbours, and what it comes to.

use crate::Error;
use crate::overwriting::refuse_overwriting;
use crate::request::{Method, Model, Task};
use crate::summary::InputFile;
use dshap::neighbours::{Metric, Scale};
use dshap_io::Source;
use std::path::PathBuf;

/// Most reference rows that are test rows unless more are asked for: time grows
/// with the product of test rows and reference rows.
pub const DEFAULT_TESTS: usize = 10_000;

/// What was said about nearest neighbours beside the method, as far as anything
/// was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NeighbourChoice {
    /// How far apart rows are; Euclidean by default.
    pub metric: Option<Metric>,
    /// The units of columns; their standard deviations by default.
    pub scale: Option<Scale>,
    /// Files with the rows that utility is measured on; reference rows if there
    /// are none.
    pub test: Vec<String>,
    /// Most reference rows that are test rows; of more, so many are drawn.
    /// [`DEFAULT_TESTS`] by default.
    pub samples: Option<usize>,
    /// Seed of that sample; 0 by default.
    pub seed: Option<u64>,
}

impl NeighbourChoice {
    /// The most reference rows that are test rows.
    pub(crate) fn most_tests(&self) -> usize {
        self.samples.unwrap_or(DEFAULT_TESTS)
    }

    /// The first option that only neighbours have, if one was given.
    pub fn first_said(&self) -> Option<&'static str> {
        let said = [
            ("--metric", self.metric.is_some()),
            ("--scale", self.scale.is_some()),
            ("--test", !self.test.is_empty()),
        ];
        said.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// The metric that a word stands for: `euclidean`, `manhattan` or `cosine`.
pub fn parse_metric(word: &str) -> Option<Metric> {
    [Metric::Euclidean, Metric::Manhattan, Metric::Cosine]
        .into_iter()
        .find(|metric| metric_word(*metric) == word)
}

/// A metric as it is typed.
pub(crate) fn metric_word(metric: Metric) -> &'static str {
    match metric {
        Metric::Euclidean => "euclidean",
        Metric::Manhattan => "manhattan",
        Metric::Cosine => "cosine",
    }
}

/// How columns are made comparable, as it is typed.
pub(crate) fn scale_word(scale: Scale) -> &'static str {
    match scale {
        Scale::Standard => "std",
        Scale::AsGiven => "none",
    }
}

/// Rows apart from the reference that utility is measured on.
#[derive(Debug, Clone)]
pub(crate) struct TestTable {
    pub(crate) source: Source,
    pub(crate) files: Vec<InputFile>,
}

impl TestTable {
    /// The test rows that a model asks for, if it does.
    pub(crate) fn open(model: &Model, outputs: &[PathBuf], digests: bool) -> Result<Option<Self>, Error> {
        if model.neighbours.test.is_empty() || model.method.neighbours().is_none() {
            return Ok(None);
        }
        let source = Source::open(&model.neighbours.test)?;
        refuse_overwriting(&source, outputs)?;
        Self::of(source, digests).map(Some)
    }

    /// Test rows of a table at hand.
    pub(crate) fn of(source: Source, digests: bool) -> Result<Self, Error> {
        let files = InputFile::of(&source, digests)?;
        Ok(Self { source, files })
    }
}

impl Model {
    /// The method for neighbours, unless something was said that they have no
    /// use for.
    pub(crate) fn settled_for_neighbours(&self, task: Task) -> Result<Method, Error> {
        let name = self.method.name();
        let misplaced = |what: String| Err(Error::Misplaced { what });
        if task == Task::Density {
            return misplaced(format!(
                "`--method {name}` is for predictions; a density is valued by `closed` or `monte-carlo`"
            ));
        }
        let said = [
            ("--weight", self.selection.weight.is_some(), "reference rows count alike"),
            ("--positive", self.positive.is_some(), "labels agree or not, and none counts as 1"),
            ("--ridge", self.ridge.is_some(), NO_RIDGE),
            ("--no-intercept", !self.fit.intercept, NO_INTERCEPT),
            ("--refit-intercept", self.fit.refit_intercept, NO_INTERCEPT),
            (
                "--dependent",
                !self.fit.allow_dependent,
                "only constant columns are left out, and `--strict` makes that an error",
            ),
        ];
        if let Some((flag, _, why)) = said.into_iter().find(|(_, given, _)| *given) {
            return misplaced(format!("`{flag}` does not go with `--method {name}`: {why}"));
        }
        let is_shapley = matches!(self.method, Method::KnnShapley { .. });
        if is_shapley && (self.sizes.min.is_some() || self.sizes.max.is_some()) {
            return misplaced(NO_SIZES.into());
        }
        if self.neighbours.samples.is_some() && !self.neighbours.test.is_empty() {
            return misplaced(SAMPLES_OR_TEST.into());
        }
        Ok(self.method)
    }
}

/// Why neighbours take no ridge.
pub(crate) const NO_RIDGE: &str = "neighbours have no coefficients to be shrunk";

/// Why test rows are not sampled.
pub(crate) const SAMPLES_OR_TEST: &str =
    "`--samples` says how many reference rows are test rows; with `--test` all rows of that file are";

const NO_INTERCEPT: &str = "neighbours have no intercept";

/// Why KNN-Shapley takes neither `m` nor `q`.
pub(crate) const NO_SIZES: &str = "`--m` and `--q` do not go with `--method knn-shapley`: it counts sets of every size; `--method knn` has set sizes";

/// Why KNN-Shapley does not value rows against a reference.
pub(crate) const NO_UNSEEN: &str = "`--method knn-shapley` values the rows of one finite dataset, each by what it adds to all sets of the others: \
     rows that are not part of it have no such value. Leave `--reference` out to value rows against each other, or say \
     `--method knn`, which values any row";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_words() {
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
            assert_eq!(parse_metric(metric_word(metric)), Some(metric));
        }
        assert_eq!(parse_metric("Euclidean"), None);
    }
}
