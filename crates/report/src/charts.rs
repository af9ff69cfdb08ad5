//! From numbers to figures, and the tables beside them.

use crate::html::{Cell, chart, table};
use dshap::Sizes;
use dshap::linear::PointStats;
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};
use dshap_run::{RegressionCase, Spread, quantile};
use dshap_words::{counted, quartiles};

/// Bins of a histogram.
const BINS: usize = 40;

/// Groups of rows of about the same distance or residual.
const GROUPS: usize = 20;

/// Fewer rows are seen at a glance in a table.
const FEWEST_ROWS: usize = 20;

/// Values beyond this many quartile ranges from the quartiles are counted beside the
/// histogram, so that a few of them do not flatten all others.
const FAR: f64 = 3.0;

pub(crate) fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// How values are spread: a histogram, if there are enough. The quartiles are those of the summary, so that
/// the page says the same everywhere; without one, those of `values`.
pub(crate) fn histogram(values: &[f64], spread: Option<&Spread>) -> Option<String> {
    let sorted = sorted(values);
    if sorted.len() < FEWEST_ROWS {
        return None;
    }
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let range = third - first;
    let low = sorted[0].max(first - FAR * range);
    let high = sorted[sorted.len() - 1].min(third + FAR * range);
    let width = (high - low) / BINS as f64;
    if !(width > 0.0 && width.is_finite()) {
        return None;
    }
    let mut counts = [0_u64; BINS];
    for value in sorted.iter().filter(|value| (low..=high).contains(*value)) {
        counts[(((value - low) / width) as usize).min(BINS - 1)] += 1;
    }
    let below = sorted.partition_point(|value| *value < low) as u64;
    let above = (sorted.len() - sorted.partition_point(|value| *value <= high)) as u64;
    let edge = |bin: usize| low + bin as f64 * width;
    let steps = counts
        .iter()
        .enumerate()
        .flat_map(|(bin, &count)| [edge(bin), edge(bin + 1)].map(|x| Point::new(x, count as f64)));
    let line = Line::new("", Colour::Blue, steps.collect()).with_area();
    let panel = Panel::new("", Axis::linear("value"), Axis::linear("rows"), vec![line]);
    let far = match below + above {
        0 => String::new(),
        _ => format!(
            " {} further to the left and {} further to the right are not drawn.",
            counted(below, "row"),
            counted(above, "row")
        ),
    };
    let known = spread.and_then(|spread| Some((spread.quartiles?, spread.quartiles_of.is_none())));
    let (found, are_exact) = known.unwrap_or(([first, quantile(&sorted, 0.5), third], true));
    let [first, _, third] = quartiles(found, are_exact);
    let about = if are_exact { "" } else { "about " };
    let words = format!("Half of the rows have a value between {about}{first} and {third}.{far}");
    let mut rows = Vec::with_capacity(BINS + 2);
    if below > 0 {
        rows.push(vec![Cell::text(""), Cell::number(low), Cell::count(below)]);
    }
    for (bin, &count) in counts.iter().enumerate() {
        rows.push(vec![Cell::number(edge(bin)), Cell::number(edge(bin + 1)), Cell::count(count)]);
    }
    if above > 0 {
        rows.push(vec![Cell::number(high), Cell::text(""), Cell::count(above)]);
    }
    let numbers = table("Rows by value", &["from", "to", "rows"], &rows);
    Some(chart(&Figure::new("", 1, vec![panel]), &words, &numbers))
}

/// Values against another number: the median and the range of most rows, in groups of
/// as many rows.
pub(crate) fn against(values: &[f64], others: &[f64], name: &str, words: &str) -> Option<String> {
    let mut pairs: Vec<(f64, f64)> = others.iter().copied().zip(values.iter().copied()).collect();
    pairs.retain(|(other, value)| other.is_finite() && value.is_finite());
    if pairs.len() < FEWEST_ROWS {
        return None;
    }
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    if pairs[0].0 == pairs[pairs.len() - 1].0 {
        return None;
    }
    let size = pairs.len().div_ceil(GROUPS).max(5);
    let groups: Vec<[f64; 4]> = pairs
        .chunks(size)
        .map(|group| {
            let values = sorted(&group.iter().map(|pair| pair.1).collect::<Vec<f64>>());
            let place = quantile(&group.iter().map(|pair| pair.0).collect::<Vec<f64>>(), 0.5);
            [place, quantile(&values, 0.1), quantile(&values, 0.5), quantile(&values, 0.9)]
        })
        .collect();
    let line = |name, colour, column: usize| {
        let points = groups.iter().map(|group| Point::new(group[0], group[column])).collect();
        Line::new(name, colour, points)
    };
    let lines = vec![
        line("nine in ten rows are below", Colour::Sky, 3).with_dash(Dash::Dashed),
        line("median", Colour::Blue, 2).with_marks(),
        line("one in ten rows is below", Colour::Vermilion, 1).with_dash(Dash::Dashed),
    ];
    let panel = Panel::new("", Axis::linear(name), Axis::linear("value"), lines);
    let rows: Vec<Vec<Cell>> = groups.iter().map(|group| group.map(Cell::number).to_vec()).collect();
    let header = [name, "10 % are below", "median value", "90 % are below"];
    let title = format!("Value against {name}");
    let numbers = table(&title, &header, &rows);
    Some(chart(&Figure::new(title, 1, vec![panel]), words, &numbers))
}

/// A row whose value is followed over m.
pub(crate) struct Followed {
    pub(crate) name: &'static str,
    pub(crate) dist_sq: f64,
    pub(crate) resid_sq: f64,
}

/// What rows would be worth to buyers with more or fewer rows.
pub(crate) fn against_m(p: usize, q: usize, m: usize, noise_var: f64, rows: &[Followed]) -> Option<String> {
    // Factors of about 2 from q to ten times m.
    let mut sizes: Vec<usize> = Vec::new();
    let mut size = (2 * q).max(10) as f64;
    while size < 10.0 * m as f64 && sizes.len() < 40 {
        sizes.push(size.round() as usize);
        size *= std::f64::consts::SQRT_2;
    }
    sizes.extend([m, 10 * m]);
    sizes.sort_unstable();
    sizes.dedup();
    let worth = |row: &Followed, m: usize| {
        let stats = PointStats { dist_sq: row.dist_sq, resid_sq: row.resid_sq, noise_var };
        let case = RegressionCase::of(p, Sizes::new(q, m), stats);
        case.evaluate().gain
    };
    let colours = [Colour::Vermilion, Colour::Blue, Colour::Green];
    let lines: Vec<Line> = rows
        .iter()
        .zip(colours)
        .map(|(row, colour)| {
            let points = sizes.iter().filter_map(|&m| Some(Point::new(m as f64, worth(row, m)?))).collect();
            Line::new(row.name, colour, points)
        })
        .collect();
    if lines.iter().any(|line| line.points.len() < 3) {
        return None;
    }
    let table_rows: Vec<Vec<Cell>> = sizes
        .iter()
        .map(|&size| {
            let values = rows.iter().map(|row| worth(row, size).map_or(Cell::text(""), Cell::number));
            std::iter::once(Cell::count(size as u64)).chain(values).collect()
        })
        .collect();
    let header: Vec<&str> = std::iter::once("m").chain(rows.iter().map(|row| row.name)).collect();
    let panel =
        Panel::new("", Axis::logarithmic("m, rows the buyer ends up with"), Axis::linear("value"), lines);
    let words = format!("Here m is {}.", dshap_words::grouped(m as u64));
    let numbers = table("Value against m", &header, &table_rows);
    Some(chart(&Figure::new("", 1, vec![panel]), &words, &numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_every_row_once_and_far_rows_beside_it() {
        let values: Vec<f64> = (0..100).map(f64::from).chain([1e6, -1e6]).collect();
        let html = histogram(&values, None).expect("enough rows");
        let counts: u64 = html
            .split("<tr>")
            .filter_map(|row| row.rsplit("data-number=\"").next()?.split('"').next()?.parse::<u64>().ok())
            .sum();
        assert_eq!(counts, 102, "{html}");
        assert!(html.contains("1 row further to the left and 1 row further to the right"), "{html}");
    }

    #[test]
    fn equal_or_few_values_have_no_chart() {
        assert_eq!(histogram(&[1.0; 100], None), None);
        assert_eq!(histogram(&[1.0, 2.0, 3.0], None), None);
        assert_eq!(against(&[1.0; 50], &[2.0; 50], "x", ""), None);
    }
}
