//! Doubts, in words.

use crate::Error;
use crate::fitted::{Extras, FittedModel, LogisticModel, NeighbourModel, Tests};
use crate::request::{Method, SizeChoice};
use crate::sample::RowSample;
use crate::saved::{SavedValuer, Step, forgotten_again, repeated};
use crate::second_order_choice::SecondOrder;
use crate::summary::{InputFile, Spread};
use dshap::classification::LogisticFit;
use dshap::second_order::Utility;
use dshap::{Sizes, Warning};
use dshap_io::Source;
use dshap_table::{Design, Missing};
use std::path::Path;

/// A rarer label than this makes errors from a sample of rows rough.
const RARE_LABEL: f64 = 0.02;

/// Sets that are drawn to see how many have a fit, and how few without are few: 4 %
/// or less are found in 50 with probability 0.95 where 1.7 % are such.
const SETS_TO_PROBE: usize = 50;
const FEW_SETS_WITHOUT_FIT: usize = 2;

/// Up to so large a share of `n²` rows of a set, values of rows against each other by
/// accuracy are off by less than a tenth of their spread: a row moves the boundary by
/// a share of `1/n`, sets of `m` rows spread it by `1/√m`.
const LARGEST_SETS_BY_ACCURACY: f64 = 0.03;

/// A label of fewer reference rows deserves a word.
const FEW_ROWS_OF_A_LABEL: usize = 5;

pub(crate) fn in_words(warnings: &[Warning], design: &Design) -> Vec<String> {
    warnings.iter().map(|warning| warning.describe(|column| design.column_name(column).into())).collect()
}

/// What readers noticed, and files that are both points and reference.
pub(crate) fn of_sources(points: &Source, reference: Option<&Source>) -> Vec<String> {
    let sources = reference.into_iter().chain([points]);
    let mut notes: Vec<String> =
        sources.flat_map(|source| source.notes()).map(|note| note.to_string()).collect();
    if let Some(reference) = reference
        && let Some(shared) = points.files().find(|file| reference.files().any(|other| other == *file))
    {
        notes.push(format!(
            "`{shared}` is both points and reference: its rows are valued with themselves in the reference; \
             leave `--reference` out to value rows against the others"
        ));
    }
    notes
}

/// Test rows that are also points or reference, by the names of their files.
pub(crate) fn of_shared_tests(
    points: &Source,
    reference: Option<&Source>,
    model: &NeighbourModel,
) -> Option<String> {
    let Tests::Streamed(tests) = &model.tests else { return None };
    of_tests_in_reference(reference.unwrap_or(points), tests).or_else(|| {
        let shared = points.files().find(|file| tests.files().any(|other| other == *file))?;
        Some(format!("`{shared}` is both points and test rows: each row is also valued by its use to itself"))
    })
}

/// Test rows that are reference rows too, by the names of their files; tables in
/// memory have none.
pub(crate) fn of_tests_in_reference(reference: &Source, tests: &Source) -> Option<String> {
    if tests.is_in_memory() {
        return None;
    }
    let shared = reference.files().find(|file| tests.files().any(|other| other == *file))?;
    Some(format!(
        "`{shared}` is both test rows and reference: each test row is its own nearest neighbour; leave `--test` out \
         to have reference rows as test rows that are not"
    ))
}

/// Points that a saved valuer was fitted to.
pub(crate) fn of_points_in_reference(
    points: &Source,
    reference: &[&InputFile],
    valuer: &Path,
) -> Result<Option<String>, Error> {
    Ok(shared_file(points, reference)?.map(|file| {
        format!(
            "the rows of `{file}` are part of the reference of `{}`: they are valued with themselves in it; \
             leave `--valuer` out to value rows against the others",
            valuer.display()
        )
    }))
}

/// Points that are the test rows of a saved valuer.
pub(crate) fn of_points_in_tests(
    points: &Source,
    model: &NeighbourModel,
    valuer: &Path,
) -> Result<Option<String>, Error> {
    let tests: Vec<&InputFile> = model.test_files.iter().collect();
    Ok(shared_file(points, &tests)?.map(|file| {
        format!(
            "the rows of `{file}` are test rows of `{}`: each is also valued by its use to itself; fit the valuer \
             with another `--test` to value them",
            valuer.display()
        )
    }))
}

/// The first file of a table that has the contents of one of these. Only files of
/// the same length are read again to make sure.
fn shared_file(table: &Source, known: &[&InputFile]) -> Result<Option<String>, Error> {
    let lengths: Vec<u64> = table.stamps().iter().map(|stamp| stamp.bytes).collect();
    if !known.iter().any(|file| file.bytes.is_some_and(|bytes| lengths.contains(&bytes))) {
        return Ok(None);
    }
    let is_known = |file: &InputFile| known.iter().any(|other| other.same_contents(file));
    Ok(InputFile::of(table, true)?.into_iter().find(is_known).map(|file| file.name))
}

/// Rows with a missing cell, where such rows are left out.
pub(crate) fn of_rows_left_out(rows: &str, n_left_out: u64, consequence: &str) -> Option<String> {
    match n_left_out {
        0 => None,
        1 => Some(format!("1 {rows} row has a missing cell and {consequence}")),
        n => Some(format!("{n} {rows} rows have a missing cell; each {consequence}")),
    }
}

pub(crate) fn of_constant_text(design: &Design) -> Option<String> {
    let names: Vec<_> = design.constant_features().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("{} dropped: one level only", names.join(", ")))
}

/// Inputs that are too far from Gaussian for the closed form.
pub(crate) fn of_other_inputs(
    valuer: &SavedValuer,
    method: Method,
    choice: SizeChoice,
    sample: &RowSample,
) -> Result<Option<String>, Error> {
    if !matches!(method, Method::Gaussian { .. }) {
        return Ok(None);
    }
    let row_valuer = valuer.row_valuer(method, choice, Extras::default())?;
    let doubt = sample.with_rows(|rows| row_valuer.doubt_gaussian(rows)).transpose();
    let doubt = doubt.map_err(|e| Error::core(e, &valuer.design))?.flatten();
    Ok(in_words(doubt.as_slice(), &valuer.design).pop())
}

/// Labels with so few rows that they may be slips, and rows that the fit is so
/// sure of that sets amount to fewer rows than they have.
pub(crate) fn of_labels(valuer: &SavedValuer, method: Method, sizes: Sizes) -> Vec<String> {
    let mut said = Vec::new();
    let rows = match &valuer.model {
        FittedModel::Neighbours(model) => model.label_rows(),
        FittedModel::Logistic(model) => match model.only() {
            Some(fit) => vec![fit.n_rows() - fit.n_positive(), fit.n_positive()],
            None => model.fits.iter().map(LogisticFit::n_positive).collect(),
        },
        FittedModel::Linear(_) | FittedModel::Density(_) => return said,
    };
    for (class, n_rows) in rows.into_iter().enumerate().filter(|(_, n_rows)| *n_rows < FEW_ROWS_OF_A_LABEL) {
        let label = valuer.design.labels().map(|labels| labels.word(class)).unwrap_or_default();
        let rows =
            if n_rows == 1 { "1 reference row has".into() } else { format!("{n_rows} reference rows have") };
        said.push(format!(
            "only {rows} the label `{label}`: is it spelled as meant? What is said of such rows rests on few others"
        ));
    }
    let FittedModel::Logistic(model) = &valuer.model else { return said };
    if let Method::SecondOrder(choice) = method {
        if choice.utility == Utility::Accuracy && model.only().is_none() {
            said.push(
                "of more than two labels accuracy is that of telling each from all others, summed: not how often the \
                 most probable label is right, by which rows rank otherwise (`--method d-shapley` draws sets for that)"
                    .into(),
            );
        }
        said.extend(of_sets_without_fit(model, choice, sizes));
        return said;
    }
    let is_summed = matches!(method, Method::Gaussian { .. } | Method::Calibrated);
    let p = model.dim(method);
    if let Some(share) = model.weight_share().filter(|_| is_summed) {
        let amounts_to = share * (sizes.min() - 1) as f64;
        if amounts_to < (p + 3) as f64 {
            let enough = ((p + p.max(10)) as f64 / share).ceil();
            said.push(format!(
                "the fit is sure of most rows: sets of {} amount to {amounts_to:.1} rows for {p} columns, and values \
                 of so small sets are far from what this method says; `--q {enough}` leaves them out, \
                 `--method general` draws them",
                sizes.min() - 1
            ));
        }
    }
    said
}

/// Sets of the smallest size on which no model can be fitted, if more than a few
/// of those drawn from the sample are such, and the `q` from which on few are.
fn of_sets_without_fit(model: &LogisticModel, choice: SecondOrder, sizes: Sizes) -> Option<String> {
    let n_without = |size: usize| model.sets_without_fit(choice, size, SETS_TO_PROBE);
    let smallest = sizes.min() - 1;
    let first = n_without(smallest).filter(|&n| n > FEW_SETS_WITHOUT_FIT)?;
    let doubled = std::iter::successors(Some(2 * sizes.min()), |q| q.checked_mul(2));
    let mut larger = doubled.take_while(|&q| q <= sizes.max()).map_while(|q| Some((q, n_without(q - 1)?)));
    let cure = match larger.find(|&(_, n)| n <= FEW_SETS_WITHOUT_FIT) {
        Some((q, n)) => format!("; with `--q {q}` {n} of {SETS_TO_PROBE} are such"),
        None if sizes.min() < sizes.max() => "; a larger `--q` leaves fewer of them".into(),
        None => String::new(),
    };
    let (why, or_ridge) = match model.options.ridge > 0.0 {
        true => ("a label is missing, and the intercept has no ridge", ""),
        false => (
            "their labels are separated, or one is missing",
            "; fitted with `--ridge`, sets with all labels have a fit",
        ),
    };
    Some(format!(
        "of {SETS_TO_PROBE} sets of {smallest} rows drawn from the reference {first} have no fit ({why}), and values \
         count such sets as if they had{cure}{or_ridge}"
    ))
}

/// Values that are not sums over labels, where those were asked for.
pub(crate) fn of_whole_values(design: &Design) -> Option<String> {
    let n_classes = design.labels().map_or(0, |labels| labels.n_classes());
    (n_classes > 2).then(|| {
        "one model tells all labels apart, and a value is no sum over labels: `--per-class` adds the \
         probabilities only"
            .into()
    })
}

/// Rows valued against each other by accuracy, for sets far larger than the
/// reference: see `docs/refitted.md`.
pub(crate) fn of_large_sets(method: Method, sizes: Sizes, n_rows: usize) -> Option<String> {
    let Method::SecondOrder(SecondOrder { utility: Utility::Accuracy, .. }) = method else { return None };
    let n = n_rows as f64;
    let most = (LARGEST_SETS_BY_ACCURACY * n * n).max(n).floor();
    (sizes.max() as f64 > most).then(|| {
        format!(
            "sets of up to m = {} rows are too large for {n_rows} rows that are valued against each other by accuracy, \
             which then hangs on the few of them nearest the boundary; give an `--m` of at most {most}, or a \
             `--reference` that the rows are not part of",
            sizes.max()
        )
    })
}

/// Standard errors that rest on few rows of a sample: with a rare label hardly
/// any of the others matters, and which of them were kept is chance.
pub(crate) fn of_rough_errors(valuer: &SavedValuer) -> Option<String> {
    let FittedModel::Logistic(model) = &valuer.model else { return None };
    let fit = model.only()?;
    let rarer = fit.n_positive().min(fit.n_rows() - fit.n_positive());
    let share = rarer as f64 / fit.n_rows() as f64;
    (share < RARE_LABEL && model.sample.len() < fit.n_rows()).then(|| {
        format!(
            "one label has {:.2} % of the rows: standard errors are rough, some of them off by a factor of two and more",
            100.0 * share
        )
    })
}

/// Files whose rows count twice, or were taken away twice.
pub(crate) fn of_repeated_files(history: &[Step]) -> Vec<String> {
    let twice = |name: String| format!("`{name}` is in the reference more than once: its rows count again");
    let again =
        |name: String| format!("the rows of `{name}` were forgotten before; others were taken away now");
    let mut said: Vec<String> = repeated(history).into_iter().map(twice).collect();
    said.extend(forgotten_again(history).into_iter().map(again));
    said
}

/// Cells that were filled with means which are not those of the whole.
pub(crate) fn of_filled_cells(design: &Design, steps: &[Step]) -> Option<String> {
    let n_filled: u64 = steps.iter().map(|step| step.filled).sum();
    (design.parts().missing == Missing::Mean && n_filled > 0).then(|| {
        format!(
            "{n_filled} missing cells were filled with the means of a part of the reference; \
             a fit of the whole would fill them with its own"
        )
    })
}

/// Values of a density that their common constant leaves few digits.
pub(crate) fn of_swallowed_digits(method: Method, values: &Spread) -> Option<String> {
    const FEW_DIGITS: f64 = 1e-9;
    let (Method::Closed, Some(lowest), Some(highest)) = (method, values.lowest, values.highest) else {
        return None;
    };
    let is_told_apart = highest - lowest > FEW_DIGITS * lowest.abs().max(highest.abs());
    (values.n_valued > 1 && !is_told_apart).then(|| {
        "values differ in their last digits at most, since a constant that all share outweighs the rest: \
         `relative` is the value without it, and what rows are ranked by where values are equal"
            .into()
    })
}
