//! Parts of the page that come from further runs: why rows stand out, owners, what cleaning
//! would do, and curves on test rows.

use crate::Report;
use crate::html::{Cell, chart, escaped, section, sentence, table};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};
use dshap_owners::{Interaction, Measured, OwnerLine, SharedRows};
use dshap_trials::{Experiment, GivenCurves, Order};
use dshap_words::{clean_action, clean_flagged, clean_verdict, counted, explanation, significant};

/// Owners in the chart.
const CHARTED_OWNERS: usize = 20;

/// Owners that are listed; the page stays small.
const LISTED_OWNERS: usize = 200;

/// Pairs of owners that are listed.
const SHOWN_PAIRS: usize = 10;

/// Steps of a curve that are listed.
const LISTED_STEPS: usize = 20;

/// Why rows stand out, for the part about them.
pub(crate) fn reasons(report: &Report) -> Option<String> {
    let explained = &report.findings.explained;
    if explained.is_empty() {
        return None;
    }
    let mut body = String::from("<h3>Why</h3>\n");
    for row in explained {
        let mut paragraphs = explanation(row).into_iter();
        let first = paragraphs.next().unwrap_or_default();
        let rest: String = paragraphs.map(|text| format!("<p>{}</p>\n", sentence(&text))).collect();
        body +=
            &format!("<details class=\"why\"><summary>{}</summary>\n{rest}</details>\n", sentence(&first));
    }
    Some(body)
}

/// What owners are worth, given each other.
pub(crate) fn owners(report: &Report) -> Option<String> {
    let found = report.findings.owners.as_ref()?;
    Some(owners_section(&Players {
        owners: &found.owners,
        interactions: &found.interactions,
        shared: found.shared.as_deref().unwrap_or_default(),
        measured_on: Some(found.measured_on),
    }))
}

/// Owners whose game was played.
pub(crate) struct Players<'a> {
    pub(crate) owners: &'a [OwnerLine],
    pub(crate) interactions: &'a [Interaction],
    pub(crate) shared: &'a [SharedRows],
    pub(crate) measured_on: Option<Measured>,
}

/// The part about owners.
pub(crate) fn owners_section(players: &Players<'_>) -> String {
    let mut lines: Vec<&OwnerLine> = players.owners.iter().collect();
    lines.sort_by(|one, other| other.shapley.total_cmp(&one.shapley).then(one.owner.cmp(&other.owner)));
    let measured = match players.measured_on {
        Some(Measured::Test) => ", measured on the test rows",
        Some(Measured::Own) => ", measured on the buyer's rows",
        Some(Measured::Rows) => ", measured on the owners' own rows, by cross-fitting",
        None => "",
    };
    let mut body = format!("{}{}", owner_chart(&lines), owner_table(&lines));
    body += &duplicates(players.shared);
    let substitutes: Vec<Vec<Cell>> = players
        .interactions
        .iter()
        .filter(|pair| pair.value < 0.0)
        .take(SHOWN_PAIRS)
        .map(|pair| vec![Cell::text(pair.a.as_str()), Cell::text(pair.b.as_str()), Cell::number(pair.value)])
        .collect();
    if !substitutes.is_empty() {
        body += "<h3>Substitutes</h3>\n<p>These pairs bring less together than apart.</p>\n";
        body += &table("Pairs of owners", &["owner", "and", "interaction"], &substitutes);
    }
    section(
        "owners",
        "Owners",
        &format!(
            "What each owner adds to the others{measured}. Bars reach two standard errors to either side; owners \
             share test rows, so their differences can be surer than the bars suggest."
        ),
        &body,
    )
}

/// Pairs of owners that have rows in common; those that share most come first.
fn duplicates(shared: &[SharedRows]) -> String {
    let copies = "Copies add little to what an owner is worth given the others.";
    let found = match shared {
        [] => return String::new(),
        [one] => format!(
            "<p>{} and {} have {} in common. {copies}</p>\n",
            escaped(&one.a),
            escaped(&one.b),
            counted(one.rows, "row")
        ),
        several => {
            let pairs = several.iter().take(SHOWN_PAIRS).map(|pair| {
                vec![Cell::text(pair.a.as_str()), Cell::text(pair.b.as_str()), Cell::count(pair.rows)]
            });
            let hidden = match several.len().saturating_sub(SHOWN_PAIRS) {
                0 => String::new(),
                more => format!(" {} with fewer such rows are not shown.", counted(more as u64, "pair")),
            };
            format!(
                "<p>{} of owners have rows in common. {copies}{hidden}</p>\n{}",
                counted(several.len() as u64, "pair"),
                table(
                    "Owners with rows in common",
                    &["owner", "and", "rows in common"],
                    &pairs.collect::<Vec<_>>()
                )
            )
        }
    };
    format!("<h3>Duplicates</h3>\n{found}")
}

/// All owners, or those of the highest values. Columns that nobody filled are absent.
fn owner_table(lines: &[&OwnerLine]) -> String {
    let number = |number: Option<f64>| number.map(Cell::number);
    let cells = |line: &OwnerLine| {
        [
            ("rows", Some(Cell::count(line.rows))),
            ("value given the others", number(Some(line.shapley))),
            ("standard error", number(line.stderr)),
            ("given your own rows", number(line.given_own)),
            ("its standard error", number(line.given_own_stderr)),
            ("sum of row values", number(line.row_sum)),
            ("mean row value", number(line.row_mean)),
            ("rows below 0", line.below_zero.map(Cell::share)),
            ("rows another owner has too", line.duplicates.map(Cell::count)),
            ("rows near another owner's", line.near.map(Cell::count)),
        ]
    };
    let each: Vec<_> = lines.iter().take(LISTED_OWNERS).map(|line| (&line.owner, cells(line))).collect();
    let n_columns = each.first().map_or(0, |(_, cells)| cells.len());
    let filled: Vec<usize> =
        (0..n_columns).filter(|&column| each.iter().any(|(_, cells)| cells[column].1.is_some())).collect();
    let names = filled.iter().map(|&column| each[0].1[column].0);
    let header: Vec<&str> = std::iter::once("owner").chain(names).collect();
    let rows: Vec<Vec<Cell>> = each
        .iter()
        .map(|(owner, cells)| {
            let own = |&column: &usize| cells[column].1.clone().unwrap_or_else(|| Cell::text(""));
            std::iter::once(Cell::text(owner.as_str())).chain(filled.iter().map(own)).collect()
        })
        .collect();
    let hidden = match lines.len().saturating_sub(LISTED_OWNERS) {
        0 => String::new(),
        more => format!("<p>{} with lower values are not shown.</p>\n", counted(more as u64, "owner")),
    };
    format!("{}{hidden}", table("Values of owners", &header, &rows))
}

/// Values of owners with bars of two standard errors on either side.
fn owner_chart(lines: &[&OwnerLine]) -> String {
    let shown = &lines[..lines.len().min(CHARTED_OWNERS)];
    let place = |i: usize| (i + 1) as f64;
    let mut drawn: Vec<Line> = Vec::new();
    for (i, line) in shown.iter().enumerate() {
        let half = 2.0 * line.stderr.unwrap_or(0.0);
        let ends = [line.shapley - half, line.shapley + half].map(|height| Point::new(place(i), height));
        drawn.push(Line::new("two standard errors", Colour::Sky, ends.to_vec()));
    }
    let points = shown.iter().enumerate().map(|(i, line)| Point::new(place(i), line.shapley)).collect();
    drawn.push(Line::new("value given the others", Colour::Blue, points).with_marks_only());
    let short = |name: &str| match name.chars().count() > 14 {
        true => name.chars().take(13).chain(['…']).collect(),
        false => name.to_owned(),
    };
    let names = shown.iter().map(|line| short(&line.owner)).collect();
    let panel = Panel::new("", Axis::named("owner", names), Axis::linear("value"), drawn);
    let rows: Vec<Vec<Cell>> = shown
        .iter()
        .map(|line| {
            let half = 2.0 * line.stderr.unwrap_or(0.0);
            let ends = [line.shapley - half, line.shapley, line.shapley + half];
            std::iter::once(Cell::text(line.owner.as_str())).chain(ends.map(Cell::number)).collect()
        })
        .collect();
    let numbers = table("Values of owners and their errors", &["owner", "from", "value", "to"], &rows);
    let words = match lines.len() > shown.len() {
        true => format!("The {CHARTED_OWNERS} owners with the highest values."),
        false => "All owners, from the highest value to the lowest.".to_owned(),
    };
    chart(&Figure::new("", 1, vec![panel]), &words, &numbers)
}

/// What cleaning would do.
pub(crate) fn cleaning(report: &Report) -> Option<String> {
    let cleaned = report.findings.cleaned.as_ref()?;
    let mut verdict = clean_verdict(&cleaned.verdict, cleaned.n_acted_on, cleaned.n_rows);
    if let Some(first) = verdict.get(..1).map(str::to_uppercase) {
        verdict.replace_range(..1, &first);
    }
    let suspicious: Vec<Vec<Cell>> = cleaned
        .most_suspicious
        .iter()
        .map(|listed| {
            vec![
                Cell::row(listed.row as u64),
                Cell::number(listed.score),
                Cell::text(listed.given.as_str()),
                Cell::text(listed.expected.as_str()),
            ]
        })
        .collect();
    let flagged = clean_flagged(cleaned.n_flagged, cleaned.precision, &cleaned.verdict);
    let flagged = flagged.map(|sentence| format!("<p>{sentence}.</p>\n"));
    let unit = cleaned.verdict.loss.abs().max(f64::MIN_POSITIVE);
    let tried: Vec<Vec<Cell>> = cleaned
        .verdict
        .tested
        .iter()
        .map(|tested| {
            vec![
                Cell::text(clean_action(tested)),
                Cell::count(cleaned.n_acted(tested.action) as u64),
                Cell::share(tested.loss_change / unit),
                Cell::share(tested.loss_change_se / unit),
                Cell::number(tested.evidence),
            ]
        })
        .collect();
    let header = ["tried", "rows", "change of loss", "standard error", "evidence"];
    let lists = format!(
        "{}{}<h3>What was tried</h3>\n{}",
        flagged.unwrap_or_default(),
        table("The most suspicious rows", &["row", "score", "target", "expected"], &suspicious),
        table("Actions, tested on held-out rows", &header, &tried)
    );
    Some(section("cleaning", "What cleaning would do", &format!("{verdict}."), &lists))
}

/// What models are worth while rows are added or removed.
pub(crate) fn curves(report: &Report) -> Option<String> {
    let charts: String =
        report.findings.curves.iter().filter_map(|(what, found)| curve(*what, found)).collect();
    (!charts.is_empty()).then(|| {
        section(
            "curves",
            "Do these values choose good rows?",
            "If they do, adding rows of high value first, or removing rows of low value first, stays above chance on \
             the test rows.",
            &format!("<div class=\"charts\">\n{charts}</div>\n"),
        )
    })
}

/// Whether orders by value do better and worse than chance, in a sentence.
fn curve_verdict(what: Experiment, found: &GivenCurves) -> Option<String> {
    let curve = |is: &dyn Fn(Order) -> bool| found.curves.iter().find(|curve| is(curve.order));
    let chance = curve(&|order| !matches!(order, Order::High | Order::Low))?;
    // Rows of high value are good to add, and rows of low value are good to remove.
    let (better, worse, done) = match what {
        Experiment::Removal => (("lowest", Order::Low), ("highest", Order::High), "Removing"),
        _ => (("highest", Order::High), ("lowest", Order::Low), "Adding"),
    };
    let side = |order: Order, is_above: bool| {
        let own = curve(&|other| other == order)?;
        // All curves begin and end with the same sets, which tell nothing.
        let pairs = own.height.iter().zip(&chance.height).filter(|(own, chance)| own != chance);
        let (mut n, mut n_right) = (0, 0);
        for (own, chance) in pairs {
            n += 1;
            n_right += usize::from((own > chance) == is_above);
        }
        let side = if is_above { "above" } else { "below" };
        let share = (n > 0).then(|| n_right as f64 / n as f64)?;
        Some(match n_right {
            all if all == n => format!("stays {side}"),
            _ if share < 0.5 => format!("is {side} at only {:.0} % of the steps", 100.0 * share),
            _ => format!("is {side} at {:.0} % of the steps", 100.0 * share),
        })
    };
    let (first, second) = (side(better.1, true)?, side(worse.1, false)?);
    let [better, worse] = [better.0, worse.0];
    Some(format!(
        "Compared with a random order, {} the {better} values first {first}, and the {worse} first {second}.",
        done.to_lowercase()
    ))
}

fn curve(what: Experiment, found: &GivenCurves) -> Option<String> {
    let named = |order: Order| match order {
        Order::High => ("highest first", Colour::Blue, Dash::Solid),
        Order::Low => ("lowest first", Colour::Vermilion, Dash::Dashed),
        _ => ("random order", Colour::Grey, Dash::Dotted),
    };
    let lines: Vec<Line> = found
        .curves
        .iter()
        .map(|curve| {
            let (name, colour, dash) = named(curve.order);
            let points =
                curve.n_rows.iter().zip(&curve.height).map(|(&n, &height)| Point::new(n as f64, height));
            Line::new(name, colour, points.collect()).with_dash(dash)
        })
        .collect();
    let first = found.curves.first().filter(|curve| curve.n_rows.len() > 2)?;
    let step = first.n_rows.len().div_ceil(LISTED_STEPS);
    let rows: Vec<Vec<Cell>> = (0..first.n_rows.len())
        .step_by(step)
        .map(|at| {
            let heights = found
                .curves
                .iter()
                .map(|curve| curve.height.get(at).map_or(Cell::text(""), |&h| Cell::number(h)));
            std::iter::once(Cell::count(first.n_rows[at] as u64)).chain(heights).collect()
        })
        .collect();
    let (title, x) = match what {
        Experiment::Removal => ("Rows removed", "rows removed from all"),
        _ => ("Rows added", "rows added to a random half"),
    };
    let header: Vec<&str> =
        std::iter::once("rows").chain(found.curves.iter().map(|curve| named(curve.order).0)).collect();
    let panel = Panel::new("", Axis::linear(x), Axis::linear("utility"), lines);
    let all = format!("All rows together have a utility of {}.", significant(found.utility_of_all));
    let words = match curve_verdict(what, found) {
        Some(verdict) => format!("{verdict} {all}"),
        None => all,
    };
    Some(chart(&Figure::new(title, 1, vec![panel]), &words, &table(title, &header, &rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_trials::Curve;

    fn curves(high: [f64; 4], low: [f64; 4]) -> GivenCurves {
        let curve = |order, height: [f64; 4]| Curve {
            experiment: Experiment::Addition,
            method: "gaussian".into(),
            order,
            n_rows: vec![0, 1, 2, 3],
            height: height.to_vec(),
        };
        GivenCurves {
            task: "regression",
            utility: "squared-error",
            utility_of_all: 3.0,
            curves: vec![
                curve(Order::High, high),
                curve(Order::Low, low),
                curve(Order::Random, [0.0, 1.0, 2.0, 3.0]),
            ],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn curves_come_with_a_verdict_from_their_numbers() {
        let good = curves([0.0, 2.0, 2.5, 3.0], [0.0, 0.5, 1.0, 3.0]);
        assert_eq!(
            curve_verdict(Experiment::Addition, &good).expect("three curves"),
            "Compared with a random order, adding the highest values first stays above, and the lowest first stays \
             below."
        );
        // To remove rows of high value is what harms.
        assert_eq!(
            curve_verdict(Experiment::Removal, &good).expect("three curves"),
            "Compared with a random order, removing the lowest values first is above at only 0 % of the steps, and \
             the highest first is below at only 0 % of the steps."
        );
        let mixed = curves([0.0, 2.0, 1.5, 3.0], [0.0, 0.5, 1.0, 3.0]);
        assert!(
            curve_verdict(Experiment::Addition, &mixed).expect("three curves").contains("is above at 50 %")
        );
        let same = curves([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(curve_verdict(Experiment::Addition, &same), None);
    }
}
