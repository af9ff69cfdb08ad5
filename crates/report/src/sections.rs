//! The parts of the page. A part with nothing to show is left out.

use crate::charts::{self, Followed, sorted};
use crate::gather::{SAMPLED_ROWS, SHOWN_ROWS};
use crate::html::{Cell, escaped, rows_table, section, sentence, table};
use crate::{Gathered, Report};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_catalogue::Measures;
use dshap_models::InputFile;
use dshap_run::{Arrange, Error, Spread, quantile};
use dshap_words::{counted, grouped, quartiles};

/// Owners that are listed; the page stays small.
const SHOWN_OWNERS: usize = 200;

/// What was valued, and how.
pub(crate) fn overview(report: &Report) -> String {
    let Report { summary, described, .. } = report;
    let lines: String = described.lines().map(|line| format!("<li>{}</li>\n", sentence(line))).collect();
    let spread = summary.values;
    let mut tiles = vec![("rows valued", grouped(spread.n_valued))];
    if let Some(r_squared) = summary.left_out_r_squared {
        tiles.push(("R² on rows left out", format!("{r_squared:.3}")));
    }
    if let Some(found) = spread.quartiles {
        let [_, median, _] = quartiles(found, spread.quartiles_of.is_none());
        tiles.push(("median value", median));
    }
    if spread.n_without > 0 {
        tiles.push(("rows without a value", grouped(spread.n_without)));
    }
    let tiles: String = tiles
        .iter()
        .map(|(name, number)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(number)))
        .collect();
    section(
        "overview",
        "What was valued",
        meaning(report),
        &format!("<dl class=\"tiles\">\n{tiles}</dl>\n<ul>\n{lines}</ul>\n"),
    )
}

/// What a value means, in a sentence.
fn meaning(report: &Report) -> &'static str {
    let facts = &report.summary.facts;
    match facts.described().entry.measures {
        Measures::TestRows | Measures::Nothing => {
            "The value of a row is what it adds, on average, to a model that is judged on test rows."
        }
        Measures::Density => {
            "The value of a row is what it adds to a density estimate; only differences between rows have a meaning."
        }
        Measures::Neighbours => {
            "The value of a row is what it adds to predictions from the nearest rows. Low values often have wrong targets."
        }
        Measures::RefittedModels => {
            "The value of a row is what it adds to a classifier that is refitted on each set. A low value does not \
             mean a wrong label."
        }
        Measures::SquaredError | Measures::Bound if facts.classification.is_some() => {
            "The value of a row is what it adds to the least-squares problem behind a logistic model. Look at the \
             penalty to find wrong labels."
        }
        Measures::SquaredError | Measures::Bound => {
            "The value of a row is the expected drop in squared error when it joins a random set of other rows. A \
             positive value means that it is expected to help."
        }
    }
}

/// What is doubtful.
pub(crate) fn doubts(report: &Report) -> Option<String> {
    if report.warnings.is_empty() {
        return None;
    }
    let items: String =
        report.warnings.iter().map(|warning| format!("<li>{}</li>\n", sentence(warning))).collect();
    Some(section(
        "warnings",
        "Before you act on this",
        "What dshap noticed about the table and the assumptions of the method.",
        &format!("<ul class=\"warnings\">\n{items}</ul>\n"),
    ))
}

/// How values are spread.
pub(crate) fn distribution(rows: &Gathered, spread: Option<&Spread>) -> Option<String> {
    let values = rows.sample.column("value")?;
    let chart = charts::histogram(values, spread)?;
    let sorted = sorted(values);
    let known = spread.and_then(|spread| Some((spread.quartiles?, spread.quartiles_of.is_none())));
    // Of a random sample, quartiles are those of the summary: two numbers for one thing confuse.
    let of_share = |share: f64| match known.filter(|_| rows.sample.is_part()) {
        Some((found, are_exact)) if [0.25, 0.5, 0.75].contains(&share) => {
            let place = (4.0 * share) as usize - 1;
            Cell::text(quartiles(found, are_exact)[place].as_str())
        }
        _ => Cell::number(quantile(&sorted, share)),
    };
    let shares = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
    let lines: Vec<Vec<Cell>> =
        shares.iter().map(|&share| vec![Cell::share(share), of_share(share)]).collect();
    let quantiles = table("Quantiles of the values", &["share of rows", "have a value below"], &lines);
    let part = sample_note(rows);
    Some(section(
        "distribution",
        "Distribution of values",
        &format!(
            "Rows far out on the left deserve a look first. A long left tail is no reason to delete it.{part}"
        ),
        &format!("<div class=\"charts\">\n{chart}{quantiles}</div>\n"),
    ))
}

fn sample_note(rows: &Gathered) -> String {
    match rows.sample.is_part() {
        true => format!(" Charts and quantiles show {} rows chosen at random.", grouped(SAMPLED_ROWS as u64)),
        false => String::new(),
    }
}

/// Rows at both ends, and reasons for them if there are any.
pub(crate) fn rows(rows: &Gathered, reasons: Option<String>) -> Result<String, Error> {
    let Gathered { lowest, highest, penalised, .. } = rows;
    let low = lowest.arranged(Arrange::Lowest(SHOWN_ROWS))?;
    let high = highest.arranged(Arrange::Highest(Some(SHOWN_ROWS)))?;
    if low.num_rows() == 0 {
        return Ok(String::new());
    }
    let mut body = format!("<h3>Lowest values</h3>\n{}", rows_table("Rows with the lowest values", &low));
    if let Some(penalised) = penalised {
        let rows = penalised.arranged(Arrange::Penalty(Some(SHOWN_ROWS)))?;
        body += "<h3>Largest penalties</h3>\n<p>The penalty is what the error of a row costs. Wrong targets and labels \
                 are found here, also among rows whose position makes them valuable.</p>\n";
        body += &rows_table("Rows with the largest penalties", &rows);
    }
    body += &format!("<h3>Highest values</h3>\n{}", rows_table("Rows with the highest values", &high));
    body += &reasons.unwrap_or_default();
    Ok(section(
        "rows",
        "Rows that stand out",
        "Check the lowest rows for mistakes; the highest rows are those to have more of. Row numbers start at 0.",
        &body,
    ))
}

/// What values depend on.
pub(crate) fn dependence(rows: &Gathered) -> Option<String> {
    let sample = &rows.sample;
    let values = sample.column("value")?;
    let charts = [
        ("dist_sq", "squared distance", "Rows far from the others teach more, if their targets are right."),
        ("resid_sq", "squared residual", "Rows that the model predicts badly are worth less."),
        ("prob", "probability", "Rows that the model is sure about teach it little."),
    ];
    let body: String = charts
        .iter()
        .filter_map(|(name, label, words)| charts::against(values, sample.column(name)?, label, words))
        .collect();
    (!body.is_empty()).then(|| {
        section(
            "dependence",
            "What values depend on",
            "The lines show the middle and the range of values among rows of about the same distance or error.",
            &format!("<div class=\"charts\">\n{body}</div>\n"),
        )
    })
}

/// Value against m, for the closed form whose values depend on distance and residual
/// alone.
pub(crate) fn sizes(report: &Report) -> Result<Option<String>, Error> {
    let facts = &report.summary.facts;
    let is_plain = facts.described().corrected_by.is_some()
        && facts.task == "regression"
        && facts.convention == "definition"
        && facts.constant.as_deref() == Some("gain")
        && facts.semivalue.is_none()
        && !facts.refit_intercept
        // Values for given test rows, or for a population, depend on more.
        && facts.tests.is_none()
        && report.summary.test.is_none();
    let (Some(noise_var), true) = (facts.noise_var, is_plain) else { return Ok(None) };
    let sample = &report.rows.sample;
    let (Some(dist_sq), Some(resid_sq)) = (sample.column("dist_sq"), sample.column("resid_sq")) else {
        return Ok(None);
    };
    let low = report.rows.lowest.arranged(Arrange::Lowest(SHOWN_ROWS))?;
    let high = report.rows.highest.arranged(Arrange::Highest(Some(SHOWN_ROWS)))?;
    let typical = (quantile(&sorted(dist_sq), 0.5), quantile(&sorted(resid_sq), 0.5));
    let followed =
        [("lowest row", first(&low)), ("typical row", Some(typical)), ("highest row", first(&high))];
    let followed: Vec<Followed> = followed
        .into_iter()
        .filter_map(|(name, at)| at.map(|(dist_sq, resid_sq)| Followed { name, dist_sq, resid_sq }))
        .collect();
    let chart = charts::against_m(facts.p, facts.q, facts.m, noise_var, &followed);
    Ok(chart.map(|chart| {
        section(
            "sizes",
            "Value against the size of the data",
            "A row helps or harms less, the more rows there are. The typical row has the median distance and residual.",
            &chart,
        )
    }))
}

/// Distance and residual of the first row.
fn first(rows: &RecordBatch) -> Option<(f64, f64)> {
    let cell = |name: &str| {
        let column = rows.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        (rows.num_rows() > 0 && column.is_valid(0)).then(|| column.value(0))
    };
    Some((cell("dist_sq")?, cell("resid_sq")?))
}

/// Values by owner.
pub(crate) fn owners(rows: &Gathered) -> Option<String> {
    let owners = &rows.owners;
    if owners.is_empty() {
        return None;
    }
    let mut lines: Vec<_> = owners.iter().collect();
    lines.sort_by(|one, other| other.1.sum.total_cmp(&one.1.sum).then(one.0.cmp(other.0)));
    let rows: Vec<Vec<Cell>> = lines
        .iter()
        .take(SHOWN_OWNERS)
        .map(|(name, sums)| {
            vec![
                Cell::text(name.as_str()),
                Cell::count(sums.n_rows),
                Cell::number(sums.sum),
                Cell::number(sums.sum / sums.n_rows as f64),
                Cell::share(sums.n_below_zero as f64 / sums.n_rows as f64),
            ]
        })
        .collect();
    let hidden = match owners.len().saturating_sub(SHOWN_OWNERS) {
        0 => String::new(),
        more => format!(" {} with lower sums are not shown.", counted(more as u64, "owner")),
    };
    let header = ["owner", "rows", "sum of values", "mean value", "rows below 0"];
    Some(section(
        "owners",
        "Owners",
        &format!(
            "Sums of row values by owner. A copied row counts as much as its original here; `dshap owners` values \
             owners given each other, and finds copies.{hidden}"
        ),
        &table("Values by owner", &header, &rows),
    ))
}

/// How to make this page again.
pub(crate) fn reproduce(report: &Report) -> String {
    let Report { summary, command, .. } = report;
    let mut files: Vec<Vec<Cell>> = Vec::new();
    let mut add = |what: &str, inputs: &[InputFile]| {
        for input in inputs {
            let digest = input.sha256.clone().unwrap_or_default();
            files.push(vec![Cell::text(what), Cell::text(input.name.as_str()), digest_cell(digest)]);
        }
    };
    add("rows", &summary.points);
    add("reference", summary.reference.as_deref().unwrap_or_default());
    add("test rows", summary.test.as_deref().unwrap_or_default());
    add("valuer", summary.valuer.as_slice());
    let facts = &summary.facts;
    let dropped = match facts.dropped_columns.as_slice() {
        [] => String::new(),
        dropped => format!("<p>Columns left out: {}.</p>\n", escaped(&dropped.join(", "))),
    };
    section(
        "reproduce",
        "How to repeat this",
        "The same files, version and command give the same page.",
        &format!(
            "<pre><code>{}</code></pre>\n<p>dshap {}. {} used as features.</p>\n{dropped}{}",
            escaped(command),
            escaped(summary.version),
            counted(facts.features.len() as u64, "column"),
            table("Files", &["what", "file", "SHA-256"], &files)
        ),
    )
}

pub(crate) fn digest_cell(digest: String) -> Cell {
    // Long enough to tell files apart; `--summary` has the whole digest.
    Cell::text(digest.chars().take(16).collect::<String>())
}
