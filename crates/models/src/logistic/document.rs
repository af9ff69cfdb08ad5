//! What the valuer file of a classification holds.

use super::LogisticModel;
use crate::columns::ColumnStats;
use crate::file::{Arrays, Document, Reading, named};
use crate::how::{How, LogisticRidge};
use crate::kept_tests::KeptTests;
use crate::linear::{MomentsDocument, read_moments, write_moments};
use crate::reference::ExtraPass;
use crate::sample::{LabelSample, RowSample, SampleCounts};
use crate::second_order::{Probed, SecondOrder, SecondOrderDocument, SecondOrderModel};
use dshap::Moments;
use dshap::classification::{LogisticFit, LogisticOptions, LogisticParts};
use dshap_catalogue::options::RIDGE;
use dshap_catalogue::{Given, Value};
use dshap_table::{Design, Labels};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A classification without its arrays.
#[derive(Serialize, Deserialize)]
pub struct LogisticDocument {
    ridge: f64,
    /// Whether the ridge is for standardised features.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    standardised: bool,
    max_passes: usize,
    /// One for two classes, else one for each.
    fits: Vec<LogisticFitDocument>,
    /// The rows that standard errors are computed from: spread over all, in files
    /// that were written before rare labels had their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<SampleCounts>,
    /// Those of each label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<SampleCounts>,
    /// For bounds as printed, with one fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authors: Option<MomentsDocument>,
    /// The same for each of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    authors_of_classes: Vec<MomentsDocument>,
    /// For second-order values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second_order: Option<SecondOrderDocument>,
}

/// A logistic fit without its arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct LogisticFitDocument {
    n_rows: usize,
    n_positive: usize,
    kept: Vec<usize>,
    dropped: Vec<usize>,
    weakest: Option<(usize, f64)>,
    loss: f64,
    n_passes: usize,
    weight_scale: f64,
    effective_rows: f64,
    /// `(ΣW)²/(n ΣW²)`; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight_share: Option<f64>,
    /// `γ`, where it is not that of the valuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ridge: Option<f64>,
}

pub(super) fn write(model: &LogisticModel, document: &mut Document) -> Arrays {
    let mut arrays = vec![
        named("columns.mean", model.columns.mean.clone()),
        named("columns.std_dev", model.columns.std_dev.clone()),
    ];
    let mut samples = Vec::new();
    for (label, sample) in model.sample.classes().iter().enumerate() {
        let (counts, cells) = sample.to_parts();
        samples.push(counts);
        arrays.push((format!("sample.{label}"), cells));
    }
    let mut fits = Vec::with_capacity(model.fits.len());
    for (class, fit) in model.fits.iter().enumerate() {
        let (document, parts) = write_fit(&prefix(class), fit.to_parts());
        fits.push(LogisticFitDocument { ridge: None, ..document });
        arrays.extend(parts);
    }
    for (class, table) in model.distances.iter().flatten().enumerate() {
        arrays.push((distances_name(class), table.to_parts()));
    }
    let mut authors = Vec::new();
    for (class, moments) in model.authors.iter().flatten().enumerate() {
        let (document, parts) = write_moments(&authors_prefix(class, fits.len()), moments);
        arrays.extend(parts);
        authors.push(document);
    }
    let (authors, authors_of_classes) = match fits.len() {
        1 => (authors.pop(), Vec::new()),
        _ => (None, authors),
    };
    let second_order = model.second_order.as_ref().map(|expanded| {
        let (document, parts) = expanded.write();
        arrays.extend(parts);
        document
    });
    if let Some(rows) = &model.rows {
        let (x, y) = rows.to_parts();
        arrays.extend([named("rows.x", x), named("rows.y", y)]);
    }
    let LogisticOptions { ridge, standardised, max_passes, intercept, allow_dependent } = model.options;
    document.tests = model.tests.as_ref().map(|tests| tests.write(&mut arrays));
    document.default_q = model.default_q;
    document.logistic = Some(LogisticDocument {
        ridge,
        standardised,
        max_passes,
        fits,
        sample: None,
        samples,
        authors,
        authors_of_classes,
        second_order,
    });
    (document.intercept, document.allow_dependent) = (intercept, allow_dependent);
    document.leave_ridge_to_fit();
    arrays
}

/// What the arrays of the fit of a class are called.
fn prefix(class: usize) -> String {
    format!("logistic.{class}")
}

/// What the distances of a class are called.
fn distances_name(class: usize) -> String {
    format!("logistic.{class}.distances")
}

/// What the arrays of the authors' moments are called.
fn authors_prefix(class: usize, n_fits: usize) -> String {
    if n_fits == 1 { "authors".into() } else { format!("authors.{class}") }
}

/// A fit, with arrays whose names begin with `prefix`.
pub(crate) fn write_fit(prefix: &str, parts: LogisticParts) -> (LogisticFitDocument, Arrays) {
    let name = |array: &str| format!("{prefix}.{array}");
    let mut arrays = vec![
        (name("beta"), parts.beta),
        (name("factor"), parts.lower),
        (name("offset"), parts.offset),
        (name("scale"), parts.scale),
        (name("shift"), parts.shift),
    ];
    arrays.extend(parts.variance.map(|variance| (name("variance"), variance)));
    arrays.extend(parts.penalised.map(|factor| (name("penalised"), factor)));
    let document = LogisticFitDocument {
        n_rows: parts.n_rows,
        n_positive: parts.n_positive,
        kept: parts.kept,
        dropped: parts.dropped,
        weakest: parts.weakest,
        loss: parts.loss,
        n_passes: parts.n_passes,
        weight_scale: parts.weight_scale,
        effective_rows: parts.effective_rows,
        weight_share: parts.weight_share,
        ridge: Some(parts.ridge),
    };
    (document, arrays)
}

/// A classification that was written. The ridge of its fit, unless it is the default,
/// becomes an option in `given`.
pub(crate) fn parse(
    document: &mut Document,
    design: &Design,
    how: &How,
    needs: Option<ExtraPass>,
    given: &mut Given,
    arrays: &mut Reading<'_>,
) -> Result<LogisticModel, String> {
    let stored = document.logistic.take().ok_or("its document lacks `logistic`")?;
    let n_fits = match design.labels().map(Labels::n_classes).ok_or("its design has no labels")? {
        2 => 1,
        n => n,
    };
    if stored.fits.len() != n_fits {
        return Err("its labels are not those of its fit".into());
    }
    let options = LogisticOptions {
        intercept: document.intercept,
        ridge: stored.ridge,
        standardised: stored.standardised,
        allow_dependent: document.allow_dependent,
        max_passes: stored.max_passes,
    };
    let mut fits = Vec::with_capacity(n_fits);
    for (class, stored) in stored.fits.into_iter().enumerate() {
        fits.push(parse_fit(&prefix(class), stored, design.n_columns(), options, arrays)?);
    }
    let n_rows = fits[0].n_rows();
    if fits.iter().any(|fit| fit.n_rows() != n_rows) {
        return Err("its fits are of different references".into());
    }
    let columns =
        ColumnStats { mean: arrays.take("columns.mean")?, std_dev: arrays.take("columns.std_dev")? };
    if !columns.is_sound(design.n_columns() + 1) {
        return Err("the means of its columns do not add up".into());
    }
    let sample = parse_samples(stored.sample, stored.samples, design, arrays)?;
    let distances = match needs {
        Some(ExtraPass::Calibration) => {
            let tables = (0..n_fits).map(|class| arrays.distances(&distances_name(class)));
            Some(tables.collect::<Result<Vec<_>, _>>()?)
        }
        _ => None,
    };
    let rows = match needs {
        Some(ExtraPass::Rows) => Some(arrays.rows(design.n_columns(), n_rows)?),
        _ => None,
    };
    let authors = stored.authors.into_iter().chain(stored.authors_of_classes).collect();
    let authors = parse_authors(authors, n_fits, n_rows, arrays)?;
    let second_order = match SecondOrder::of(how) {
        Some(choice) => {
            let stored = stored.second_order.ok_or("its moments of refitted models are missing")?;
            Some(Arc::new(SecondOrderModel::parse(&fits, choice, stored, options, arrays)?))
        }
        None => None,
    };
    settle_ridge(how, options, given)?;
    let widths: Vec<usize> = fits.iter().map(LogisticFit::dim).collect();
    let tests = document.tests.take();
    let tests = tests.map(|tests| KeptTests::parse(tests, &widths, arrays)).transpose()?;
    Ok(LogisticModel {
        fits,
        options,
        columns,
        sample,
        distances,
        authors,
        rows,
        second_order,
        tests,
        default_q: document.default_q,
        probed: Probed::default(),
    })
}

/// Moments of the authors' variables, one for each fit or none.
fn parse_authors(
    stored: Vec<MomentsDocument>,
    n_fits: usize,
    n_rows: usize,
    arrays: &mut Reading<'_>,
) -> Result<Option<Vec<Moments>>, String> {
    let read = |(class, moments)| read_moments(&authors_prefix(class, n_fits), moments, arrays);
    let authors = stored.into_iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let are_whole = authors.is_empty() || authors.len() == n_fits;
    if !are_whole || authors.iter().any(|authors| authors.n_rows() != n_rows) {
        return Err("the moments of the authors' variables are not of its rows".into());
    }
    Ok((!authors.is_empty()).then_some(authors))
}

/// Makes the ridge of the fit an option, unless it is the default.
fn settle_ridge(how: &How, options: LogisticOptions, given: &mut Given) -> Result<(), String> {
    let stored = LogisticRidge { ridge: options.ridge, standardised: options.standardised };
    let by_default = How { method: how.method, given: std::mem::take(given).without(&RIDGE) };
    *given = by_default.given.clone();
    if by_default.logistic_ridge() != stored {
        let ridge =
            if stored.standardised { Value::Word("auto".into()) } else { Value::Number(stored.ridge) };
        given.set(&RIDGE, ridge).map_err(|expected| format!("its ridge is {}: {expected}", stored.ridge))?;
    }
    Ok(())
}

/// The sample of all rows, in older files, or those of each label.
fn parse_samples(
    of_all: Option<SampleCounts>,
    of_labels: Vec<SampleCounts>,
    design: &Design,
    arrays: &mut Reading<'_>,
) -> Result<LabelSample, String> {
    let named: Vec<(String, SampleCounts)> = match of_all {
        Some(counts) => vec![("sample".to_string(), counts)],
        None => {
            let labels = of_labels.into_iter().enumerate();
            labels.map(|(label, counts)| (format!("sample.{label}"), counts)).collect()
        }
    };
    let mut samples = Vec::with_capacity(named.len());
    for (name, counts) in named {
        let cells = arrays.take(&name)?;
        let sample = RowSample::from_parts(design.n_columns(), counts, &cells)
            .filter(|_| cells.iter().all(|cell| cell.is_finite()))
            .ok_or("its sample of rows does not add up")?;
        samples.push(sample);
    }
    if samples.is_empty() {
        return Err("its sample of rows is missing".into());
    }
    Ok(LabelSample::of_classes(samples))
}

/// A fit whose arrays have names that begin with `prefix`.
pub(crate) fn parse_fit(
    prefix: &str,
    stored: LogisticFitDocument,
    n_features: usize,
    options: LogisticOptions,
    arrays: &mut Reading<'_>,
) -> Result<LogisticFit, String> {
    let mut take = |array: &str| arrays.take(&format!("{prefix}.{array}"));
    LogisticFit::from_parts(LogisticParts {
        n_rows: stored.n_rows,
        n_positive: stored.n_positive,
        n_features,
        intercept: options.intercept,
        kept: stored.kept,
        dropped: stored.dropped,
        weakest: stored.weakest,
        shift: take("shift")?,
        offset: take("offset")?,
        scale: take("scale")?,
        variance: if options.standardised { Some(take("variance")?) } else { None },
        beta: take("beta")?,
        lower: take("factor")?,
        penalised: if options.ridge > 0.0 { Some(take("penalised")?) } else { None },
        ridge: options.ridge,
        loss: stored.loss,
        n_passes: stored.n_passes,
        weight_scale: stored.weight_scale,
        effective_rows: stored.effective_rows,
        weight_share: stored.weight_share,
    })
    .map_err(|error| error.to_string())
}
