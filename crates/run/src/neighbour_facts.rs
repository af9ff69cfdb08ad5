//! What is known about a reference that neighbours are found in.

use crate::fitted::{NeighbourModel, Tests};
use crate::neighbour_choice::{metric_word, scale_word};
use crate::summary::InputFile;
use dshap_table::{Design, Labels};
use serde::Serialize;

/// What is known about a reference that neighbours are found in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeighbourFacts {
    /// Neighbours that are averaged over.
    pub k: usize,
    /// How far apart rows are: `euclidean`, `manhattan` or `cosine`.
    pub metric: &'static str,
    /// How columns are made comparable: `std` or `none`.
    pub scale: &'static str,
    /// Rows that utility is measured on; absent if they are read only while
    /// points are valued, and none was.
    pub test_rows: Option<usize>,
    /// Whether they are reference rows.
    pub test_from_reference: bool,
    /// Seed by which those were drawn, if they are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_seed: Option<u64>,
    /// The files that other test rows came from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<InputFile>,
    /// The labels, class by class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Reference rows of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_rows: Vec<usize>,
    /// Bytes of the reference rows held.
    pub row_bytes: u64,
    /// Bytes of the test rows held beside them.
    pub test_bytes: u64,
}

impl NeighbourFacts {
    pub(crate) fn of(model: &NeighbourModel, design: &Design, k: usize) -> Self {
        let (test_rows, test_seed, test_bytes) = match &model.tests {
            Tests::Given(held) => (Some(held.n_rows()), None, held.n_bytes()),
            Tests::Reference(numbers) => {
                let is_sample = numbers.len() < model.reference.n_rows();
                (Some(numbers.len()), is_sample.then(|| model.choice.seed.unwrap_or(0)), 0)
            }
            Tests::Streamed(_) => (None, None, 0),
        };
        Self {
            k,
            metric: metric_word(model.choice.metric.unwrap_or_default()),
            scale: scale_word(model.choice.scale.unwrap_or_default()),
            test_rows,
            test_from_reference: matches!(model.tests, Tests::Reference(_)),
            test_seed,
            test_files: model.test_files.clone(),
            labels: design.labels().map(Labels::words).unwrap_or_default(),
            label_rows: model.label_rows(),
            row_bytes: model.reference.n_bytes(),
            test_bytes,
        }
    }
}
