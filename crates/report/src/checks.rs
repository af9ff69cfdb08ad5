//! Parts about the model: how well it predicts, whether its assumptions hold, and whether
//! other settings say the same.

use crate::Report;
use crate::charts::sorted;
use crate::findings::{Agreement, Varied};
use crate::html::{Cell, chart, section, table};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};
use dshap_run::quantile;
use dshap_words::significant;

/// Fewer rows have no distribution worth a chart.
const FEWEST_ROWS: usize = 50;

/// A leverage above this one is a row that decides its own prediction.
const LARGE_LEVERAGE: f64 = 0.5;

/// How well the model predicts rows left out.
pub(crate) fn quality(report: &Report) -> Option<String> {
    let summary = report.summary;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut add =
        |what: &str, model: Cell, constant: Cell| rows.push(vec![Cell::text(what), model, constant]);
    if let Some(r_squared) = summary.left_out_r_squared {
        add("R² on rows left out", Cell::number(r_squared), Cell::number(0.0));
        if let Some(variance) = summary.facts.target_var {
            let error = ((1.0 - r_squared) * variance).max(0.0).sqrt();
            add("typical error (root mean square)", Cell::number(error), Cell::number(variance.sqrt()));
        }
    }
    if let Some(labels) = summary.left_out_labels {
        add("labels predicted right", Cell::share(labels.accuracy), Cell::share(labels.constant_accuracy));
        add("log-loss", Cell::number(labels.log_loss), Cell::number(labels.constant_log_loss));
        if let Some(auc) = labels.auc {
            add("area under the ROC curve", Cell::number(auc), Cell::number(0.5));
        }
    }
    let is_good = match (summary.left_out_r_squared, summary.left_out_labels) {
        (Some(r_squared), _) => r_squared > 0.1,
        (None, Some(labels)) => labels.log_loss < 0.95 * labels.constant_log_loss,
        (None, None) => return None,
    };
    let words = match is_good {
        true => {
            "The model predicts rows left out clearly better than a constant, so its values say something."
        }
        false => {
            "The model predicts rows left out hardly better than a constant: its values say little about these data."
        }
    };
    let header = ["measure", "model", "constant prediction"];
    Some(section(
        "quality",
        "Quality of the model",
        words,
        &table("Predictions of rows left out", &header, &rows),
    ))
}

/// Whether inputs, fit and rows are as the method assumes.
pub(crate) fn assumptions(report: &Report) -> Option<String> {
    let facts = &report.summary.facts;
    if !facts.described().entry.follows_from_distance() {
        return None;
    }
    let distances = report.rows.sample.column("dist_sq").map(sorted).unwrap_or_default();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut add = |what: &str, found: Cell, means: &str| {
        rows.push(vec![Cell::text(what), found, Cell::long_text(means)]);
    };
    if let Some(tails) = tails(&distances, facts.p) {
        let means = match tails {
            tails if tails > 1.5 => {
                "heavy tails: the furthest hundredth of the rows lies further out than Gaussian inputs would"
            }
            tails if tails < 0.67 => {
                "light tails: the furthest hundredth of the rows lies less far out than Gaussian inputs would"
            }
            _ => "about as Gaussian inputs",
        };
        add("spread of distances (Gaussian: 1)", Cell::number(tails), means);
    }
    if let Some(condition) = facts.condition {
        let digits = facts.value_digits.map(|digits| format!("; {digits} digits of a value are certain"));
        let judged = if condition < 1e3 { "well conditioned" } else { "columns nearly depend on each other" };
        let means = format!("{judged}{}", digits.unwrap_or_default());
        add("condition number", Cell::number(condition), &means);
    }
    if let Some(&furthest) = distances.last() {
        // Of a row left out at distance d² from n others.
        let n = (facts.n_reference as f64 - 1.0).max(1.0);
        let leverage = |dist_sq: f64| dist_sq / (n + dist_sq);
        let n_large = distances.iter().filter(|dist_sq| leverage(**dist_sq) > LARGE_LEVERAGE).count();
        let means = match n_large {
            0 => "no row decides its own prediction".to_owned(),
            1 => "one row mostly decides its own prediction".to_owned(),
            n => format!("{} rows mostly decide their own predictions", dshap_words::grouped(n as u64)),
        };
        add("largest leverage", Cell::share(leverage(furthest)), &means);
    }
    if let Some(Agreement { ranks, magnitude, .. }) = &report.findings.calibrated {
        let means = match *ranks > 0.98 {
            true => "rows rank the same without the assumption of Gaussian inputs",
            false => "ranks depend on the assumption of Gaussian inputs: prefer calibrated",
        };
        add("rank correlation with calibrated", Cell::number(*ranks), means);
        let means = "mean size of values without the assumption, as a multiple of that here";
        add("magnitude by calibrated", Cell::number(*magnitude), means);
    }
    if rows.is_empty() {
        return None;
    }
    let chart = against_gaussian(&distances, facts.p).unwrap_or_default();
    let checks = table("Assumptions, checked", &["check", "found", "what it means"], &rows);
    Some(section("assumptions", "Are the assumptions met?", &assumed(report), &format!("{checks}{chart}")))
}

/// What the method assumes, as its entry in the catalogue has it.
fn assumed(report: &Report) -> String {
    let facts = &report.summary.facts;
    let of_labels = match facts.classification {
        Some(_) => " For labels, this is about the weighted rows of the least-squares problem.",
        None => "",
    };
    // Without Gaussian inputs the closed form mostly errs by a factor that rows share.
    let ranks = match facts.described().corrected_by {
        Some(_) => " Ranks of rows suffer less than sizes of values.",
        None => "",
    };
    format!("The method {} assumes: {}{of_labels}{ranks}", facts.method, facts.described().entry.assumes)
}

/// The 99 % quantile of squared distances relative to their median, as a multiple of what
/// Gaussian inputs have.
fn tails(sorted: &[f64], p: usize) -> Option<f64> {
    if sorted.len() < FEWEST_ROWS || p == 0 {
        return None;
    }
    let found = quantile(sorted, 0.99) / quantile(sorted, 0.5);
    let expected = chi_square(p, 2.326_347_874) / chi_square(p, 0.0);
    Some(found / expected).filter(|ratio| ratio.is_finite())
}

/// The quantile of a chi-square with `p` degrees of freedom where a standard normal has
/// `score`, after Wilson and Hilferty: good to a few per cent.
fn chi_square(p: usize, score: f64) -> f64 {
    let part = 2.0 / (9.0 * p as f64);
    p as f64 * (1.0 - part + score * part.sqrt()).max(0.0).powi(3)
}

/// Distances beside those of Gaussian inputs.
fn against_gaussian(sorted: &[f64], p: usize) -> Option<String> {
    if sorted.len() < FEWEST_ROWS || p == 0 {
        return None;
    }
    // Shares of rows and the normal scores there.
    let places = [
        (0.01, -2.326_35),
        (0.05, -1.644_85),
        (0.1, -1.281_55),
        (0.25, -0.674_49),
        (0.5, 0.0),
        (0.75, 0.674_49),
        (0.9, 1.281_55),
        (0.95, 1.644_85),
        (0.99, 2.326_35),
    ];
    let found: Vec<(f64, f64, f64)> =
        places.iter().map(|&(share, score)| (share, chi_square(p, score), quantile(sorted, share))).collect();
    let line = |name: &str, colour, of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        Line::new(name, colour, found.iter().map(|at| Point::new(at.1, of(at))).collect())
    };
    let lines = vec![
        line("Gaussian inputs", Colour::Grey, &|at| at.1).with_dash(Dash::Dashed),
        line("these rows", Colour::Blue, &|at| at.2).with_marks(),
    ];
    let x = Axis::linear("squared distance, Gaussian inputs");
    let panel = Panel::new("", x, Axis::linear("squared distance, these rows"), lines);
    let rows: Vec<Vec<Cell>> =
        found.iter().map(|at| vec![Cell::share(at.0), Cell::number(at.1), Cell::number(at.2)]).collect();
    let header = ["share of rows below", "Gaussian inputs", "these rows"];
    let numbers = table("Quantiles of squared distances", &header, &rows);
    let words = format!(
        "Points on the dashed line mean Gaussian inputs. Half of the rows have a squared distance below {}.",
        significant(quantile(sorted, 0.5))
    );
    Some(chart(&Figure::new("", 1, vec![panel]), &words, &numbers))
}

/// Whether other settings say the same.
pub(crate) fn sensitivity(report: &Report) -> Option<String> {
    let agreements = &report.findings.settings;
    let least = agreements.iter().map(|agreement| agreement.ranks).reduce(f64::min)?;
    let words = match least {
        least if least > 0.98 => "Rows rank nearly the same with each of these settings.",
        least if least > 0.9 => {
            "Most rows rank the same with these settings; trust the ends of the ranking more."
        }
        _ => "Ranks depend on these settings: choose them with care before you act on single rows.",
    };
    let name = |varied: &Varied| match varied {
        Varied::Method(method) => format!("method {method}"),
        Varied::Q(q) => format!("q = {q}"),
        Varied::Ridge(ridge) if *ridge == 0.0 => "no ridge penalty".into(),
        Varied::Ridge(ridge) => format!("ridge {}", significant(*ridge)),
        Varied::Missing(policy) => format!("missing cells: {policy}"),
    };
    let rows: Vec<Vec<Cell>> = agreements
        .iter()
        .map(|Agreement { varied, ranks, magnitude, lowest }| {
            vec![
                Cell::text(name(varied)),
                Cell::number(*ranks),
                Cell::number(*magnitude),
                Cell::share(*lowest),
            ]
        })
        .collect();
    let header = ["setting", "rank correlation", "magnitude (here: 1)", "lowest rows in common"];
    let facts = &report.summary.facts;
    Some(section(
        "sensitivity",
        "Do other settings say the same?",
        &format!("{words} Here q is {}.", facts.q),
        &table("Values with other settings", &header, &rows),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_chi_square_are_close() {
        // From scipy.stats.chi2.ppf.
        for (p, score, exact) in [(1, 2.326_35, 6.634_9), (5, 0.0, 4.351_5), (10, -1.644_85, 3.940_3)] {
            assert!((chi_square(p, score) / exact - 1.0).abs() < 0.03, "{p} {score}");
        }
    }

    #[test]
    fn heavy_tails_are_seen() {
        // Squares of Gaussian quantiles have tails of one; their cubes have more.
        let gaussian: Vec<f64> =
            (1..2000).map(|i| chi_square(4, 3.0 * (f64::from(i) / 1000.0 - 1.0))).collect();
        let cubes: Vec<f64> = gaussian.iter().map(|square| square.powi(3)).collect();
        let (plain, heavy) = (tails(&gaussian, 4), tails(&cubes, 4));
        assert!(heavy > plain && heavy > Some(1.5), "{plain:?} {heavy:?}");
        assert_eq!(tails(&gaussian[..10], 4), None);
    }
}
