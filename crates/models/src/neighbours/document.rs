//! What the valuer file of nearest neighbours holds.

use super::options::{METRICS, metric, metric_word, scale, scale_word};
use super::{NeighbourModel, Tests};
use crate::file::{Arrays, InputFile, Reading, named};
use crate::held_rows::HeldRows;
use dshap::Sizes;
use dshap::neighbours::{KeptLists, Metric, Scale, TestRows};
use dshap_catalogue::options::{LISTS, METRIC, SAMPLES, SCALE, SEED, TOLERANCE};
use dshap_catalogue::{Given, OptionEntry, Value};
use dshap_table::{Design, Labels};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// Rows of neighbours without their arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct NeighbourDocument {
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
    /// Absent if they were not given.
    samples: Option<usize>,
    seed: Option<u64>,
    /// The share of all weight that far rows may have without counting; absent if it was
    /// not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    /// Places that each list of neighbours has at least; absent if none are saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lists: Option<usize>,
}

/// What stands in the file of nearest neighbours.
pub(super) fn write(model: &NeighbourModel) -> (NeighbourDocument, Arrays) {
    let given = &model.given;
    let mut document = NeighbourDocument {
        metric: metric_word(metric(given)).into(),
        scale: scale_word(scale(given)).into(),
        test_from_reference: matches!(model.tests, Tests::Reference(_)),
        test_files: model.test_files.clone(),
        test_left_out: model.n_tests_left_out,
        samples: given.size(&SAMPLES),
        seed: given.count(&SEED),
        tolerance: given.number(&TOLERANCE),
        lists: None,
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
        // Test rows are held before a valuer is saved; a file without them is refused when it is read.
        Tests::Later => {}
    }
    if let Some(lists) = model.saved_lists() {
        let (keep, lengths, places) = lists.to_parts();
        document.lists = Some(keep);
        arrays.extend([named("lists.lengths", lengths), named("lists.places", places)]);
    }
    (document, arrays)
}

/// The neighbours in a file; `given` receives the options they were fitted with.
///
/// # Errors
///
/// What does not fit together.
pub(crate) fn parse(
    design: &Design,
    stored: NeighbourDocument,
    given: &mut Given,
    arrays: &mut Reading<'_>,
) -> Result<NeighbourModel, String> {
    let fitted_with = given_for(&stored)?;
    if design.target().is_none() {
        return Err("its design has no target, but neighbours predict one".into());
    }
    let n_columns = design.n_columns();
    let mut rows = |x: &str, y: &str| {
        let (x, y) = (arrays.take(x)?, arrays.take(y)?);
        HeldRows::from_parts(&x, y, n_columns).ok_or_else(|| String::from("its rows do not add up"))
    };
    let reference = rows("rows.x", "rows.y")?;
    let tests = if stored.test_from_reference {
        numbered(&arrays.take("test.rows")?, reference.n_rows())?
    } else {
        Tests::Given(Arc::new(rows("test.x", "test.y")?))
    };
    let n_classes = design.labels().map(Labels::n_classes);
    let wrong = |error: dshap::Error| error.to_string();
    let mut model = NeighbourModel::of(reference, n_classes, tests, fitted_with.clone()).map_err(wrong)?;
    (model.test_files, model.n_tests_left_out) = (stored.test_files, stored.test_left_out);
    check_tests(&model).map_err(wrong)?;
    if let Some(keep) = stored.lists {
        let (lengths, places) = (arrays.take("lists.lengths")?, arrays.take("lists.places")?);
        let n_rows = model.reference.n_rows();
        let lists = KeptLists::from_parts(n_rows, keep, &lengths, &places).map_err(wrong)?;
        if lists.n_tests() != model.n_tests() {
            return Err("its lists of neighbours are not those of its test rows".into());
        }
        model.lists = Arc::new(OnceLock::from(lists));
    }
    *given = given.or(&fitted_with);
    Ok(model)
}

/// The options that neighbours were fitted with; those that are the default are
/// absent, and so are those that were not given.
fn given_for(stored: &NeighbourDocument) -> Result<Given, String> {
    let unknown = |what: &str, word: &str| format!("its {what} `{word}` is unknown");
    let metric = METRICS.into_iter().find(|metric| metric_word(*metric) == stored.metric);
    let metric = metric.ok_or_else(|| unknown("metric", &stored.metric))?;
    let scale = [Scale::Standard, Scale::AsGiven].into_iter().find(|s| scale_word(*s) == stored.scale);
    let scale = scale.ok_or_else(|| unknown("scale", &stored.scale))?;

    let mut given = Given::new();
    let mut set = |option: &'static OptionEntry, value: Option<Value>| match value {
        None => Ok(()),
        Some(value) => given.set(option, value).map_err(|_| format!("its {} makes no sense", option.name)),
    };
    set(&METRIC, (metric != Metric::default()).then(|| Value::Word(metric_word(metric).into())))?;
    set(&SCALE, (scale != Scale::default()).then(|| Value::Word(scale_word(scale).into())))?;
    set(&SAMPLES, stored.samples.map(|samples| Value::Count(samples as u64)))?;
    set(&SEED, stored.seed.map(Value::Count))?;
    set(&TOLERANCE, stored.tolerance.map(Value::Number))?;
    set(&LISTS, stored.lists.map(|_| Value::On))?;
    Ok(given)
}

/// Test rows must have the columns and labels of the reference.
fn check_tests(model: &NeighbourModel) -> Result<(), dshap::Error> {
    let sizes = Sizes::new(2, 2);
    match &model.tests {
        Tests::Given(held) => model.valuer_by(TestRows::Given(held.rows()?), 1, sizes).map(|_| ()),
        Tests::Reference(numbers) => model.valuer_by(TestRows::Reference(numbers), 1, sizes).map(|_| ()),
        Tests::Later => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(metric: &str, scale: &str, samples: Option<usize>, seed: Option<u64>) -> NeighbourDocument {
        NeighbourDocument {
            metric: metric.into(),
            scale: scale.into(),
            test_from_reference: true,
            test_files: Vec::new(),
            test_left_out: 0,
            samples,
            seed,
            tolerance: None,
            lists: None,
        }
    }

    #[test]
    fn options_are_those_of_the_fit_and_defaults_are_absent() {
        let given = given_for(&stored("cosine", "none", Some(9), Some(0))).expect("a sound document");
        assert_eq!((metric(&given), scale(&given)), (Metric::Cosine, Scale::AsGiven));
        assert_eq!((given.size(&SAMPLES), given.count(&SEED)), (Some(9), Some(0)));
        assert_eq!(given_for(&stored("euclidean", "std", None, None)), Ok(Given::new()));
    }

    #[test]
    fn words_that_nobody_wrote_are_refused() {
        let wrong = [stored("Cosine", "std", None, None), stored("cosine", "", None, None)];
        let too_much = NeighbourDocument { tolerance: Some(1.0), ..stored("cosine", "none", None, None) };
        assert!(given_for(&too_much).is_err());
        assert!(wrong.iter().all(|stored| given_for(stored).is_err()));
        assert!(given_for(&stored("cosine", "std", Some(0), None)).is_err());
    }
}
