//! What the valuer file of nearest neighbours holds.

use super::{Arrays, Taking, named};
use crate::fitted::{NeighbourModel, Tests};
use crate::general::Held;
use crate::neighbour_choice::{NeighbourChoice, metric_word, parse_metric, scale_word};
use crate::summary::InputFile;
use dshap::neighbours::{Scale, TestRows};
use dshap::{Rows, Sizes};
use dshap_table::{Design, Labels};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub(super) struct NeighbourDocument {
    /// `euclidean`, `manhattan` or `cosine`.
    metric: String,
    /// `std` or `none`.
    scale: String,
    /// Whether test rows are reference rows, by their numbers.
    test_from_reference: bool,
    /// The files that other test rows came from, and their rows that were left
    /// out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    test_files: Vec<InputFile>,
    #[serde(default)]
    test_left_out: u64,
    /// As far as they were given.
    samples: Option<usize>,
    seed: Option<u64>,
}

pub(super) fn write(model: &NeighbourModel) -> (NeighbourDocument, Arrays) {
    let choice = &model.choice;
    let document = NeighbourDocument {
        metric: metric_word(choice.metric.unwrap_or_default()).into(),
        scale: scale_word(choice.scale.unwrap_or_default()).into(),
        test_from_reference: matches!(model.tests, Tests::Reference(_)),
        test_files: model.test_files.clone(),
        test_left_out: model.n_tests_left_out,
        samples: choice.samples,
        seed: choice.seed,
    };
    let (x, y) = model.reference.to_parts();
    let mut arrays = vec![named("rows.x", x), named("rows.y", y)];
    match &model.tests {
        Tests::Given(held) => {
            let (x, y) = held.to_parts();
            arrays.extend([named("test.x", x), named("test.y", y)]);
        }
        Tests::Reference(numbers) => {
            arrays.push(named("test.rows", numbers.iter().map(|&number| number as f64).collect()));
        }
        // Test rows are held before a valuer is saved; one without them is refused when it is read.
        Tests::Streamed(_) => {}
    }
    (document, arrays)
}

pub(super) fn parse(
    design: &Design,
    stored: NeighbourDocument,
    arrays: &mut Taking<'_>,
) -> Result<NeighbourModel, String> {
    let unknown = |what: &str, word: &str| format!("its {what} `{word}` is unknown");
    let metric = parse_metric(&stored.metric).ok_or_else(|| unknown("metric", &stored.metric))?;
    let scales = [Scale::Standard, Scale::AsGiven];
    let scale = scales.into_iter().find(|scale| scale_word(*scale) == stored.scale);
    let scale = scale.ok_or_else(|| unknown("scale", &stored.scale))?;
    if design.target().is_none() {
        return Err("its design has no target, which neighbours are to predict".into());
    }
    let n_columns = design.n_columns();
    let mut rows = |x: &str, y: &str| {
        let (x, y) = (arrays.take(x)?, arrays.take(y)?);
        Held::from_parts(&x, y, n_columns).ok_or_else(|| String::from("its rows do not add up"))
    };
    let reference = rows("rows.x", "rows.y")?;
    let tests = if stored.test_from_reference {
        numbered(&arrays.take("test.rows")?, reference.n_rows())?
    } else {
        Tests::Given(Arc::new(rows("test.x", "test.y")?))
    };
    let choice = NeighbourChoice {
        metric: Some(metric),
        scale: Some(scale),
        test: Vec::new(),
        samples: stored.samples,
        seed: stored.seed,
    };
    let n_classes = design.labels().map(Labels::n_classes);
    let wrong = |error: dshap::Error| error.to_string();
    let mut model = NeighbourModel::of(reference, n_classes, tests, choice).map_err(wrong)?;
    (model.test_files, model.n_tests_left_out) = (stored.test_files, stored.test_left_out);
    check_tests(&model).map_err(wrong)?;
    Ok(model)
}

/// Test rows must be of the columns and labels of the reference.
fn check_tests(model: &NeighbourModel) -> Result<(), dshap::Error> {
    let sizes = Sizes::new(2, 2);
    match &model.tests {
        Tests::Given(held) => {
            let rows: Rows<'_> = held.rows()?;
            model.valuer(TestRows::Given(rows), 1, sizes).map(|_| ())
        }
        Tests::Reference(numbers) => model.valuer(TestRows::Reference(numbers), 1, sizes).map(|_| ()),
        Tests::Streamed(_) => Ok(()),
    }
}

/// Numbers of reference rows; that they are different is checked with the rest.
fn numbered(numbers: &[f64], n_rows: usize) -> Result<Tests, String> {
    let is_row = |number: &f64| number.fract() == 0.0 && (0.0..n_rows as f64).contains(number);
    if !numbers.iter().all(is_row) {
        return Err("the numbers of its test rows do not add up".into());
    }
    Ok(Tests::Reference(numbers.iter().map(|&number| number as usize).collect()))
}
