//! What is known about a reference that neighbours are found in.

use super::options::{metric, metric_word, scale, scale_word, seed};
use super::{NeighbourModel, Tests};
use crate::file::InputFile;
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
    /// The share of all weight that far rows may have and not count, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Rows that utility is measured on. If they are read while points are valued,
    /// the run fills this in at its end.
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
    /// Bytes of the lists of neighbours that the valuer file has, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_bytes: Option<u64>,
}

impl NeighbourFacts {
    /// The facts of a model whose `k` neighbours predict.
    pub(super) fn of(model: &NeighbourModel, design: &Design, k: usize) -> Self {
        let (test_rows, test_seed, test_bytes) = match &model.tests {
            Tests::Given(held) => (Some(held.n_rows()), None, held.n_bytes()),
            Tests::Reference(numbers) => {
                let is_sample = numbers.len() < model.reference.n_rows();
                (Some(numbers.len()), is_sample.then(|| seed(&model.given)), 0)
            }
            Tests::Later => (None, None, 0),
        };
        Self {
            k,
            metric: metric_word(metric(&model.given)),
            scale: scale_word(scale(&model.given)),
            tolerance: model.tolerance(),
            test_rows,
            test_from_reference: matches!(model.tests, Tests::Reference(_)),
            test_seed,
            test_files: model.test_files.clone(),
            labels: design.labels().map(Labels::words).unwrap_or_default(),
            label_rows: model.label_rows(),
            row_bytes: model.reference.n_bytes(),
            test_bytes,
            list_bytes: model.saved_lists().map(|lists| 8 * lists.n_places() as u64),
        }
    }
}
