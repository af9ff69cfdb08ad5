//! Charts of the rows of a run: counts in bins, for all rows and for those that match.

use crate::held::HeldRows;
use crate::wire::{ChartsView, HistogramView, ScatterView};
use arrow_array::{Array, Float64Array};

/// Bins of a histogram.
const BINS: usize = 48;

/// Cells of a grid, across and up.
const GRID: [usize; 2] = [48, 32];

/// With fewer rows, a table says it all.
const FEWEST_ROWS: usize = 8;

/// Rows that ranges are found from. More would not move a chart by a pixel.
const SAMPLED_ROWS: usize = 50_000;

/// Share of the rows at each end that may lie outside a grid.
const FAR: f64 = 0.005;

/// What values are drawn against, where the rows have it.
const AGAINST: [&str; 5] = ["dist_sq", "resid_sq", "prob", "log_density", "potential"];

/// Scatter charts that are shown.
const MOST_SCATTERS: usize = 2;

/// The charts for all rows, with `matching` among them.
pub(crate) fn charts(rows: &HeldRows, matching: &[u32]) -> ChartsView {
    let Some(values) = rows.numbers("value") else {
        return ChartsView { matching: matching.len() as u64, histogram: None, scatters: Vec::new() };
    };
    let against = AGAINST.iter().filter_map(|name| Some((*name, rows.numbers(name)?)));
    let scatters = against
        .filter_map(|(name, others)| scatter(("value", values), (name, others), matching))
        .take(MOST_SCATTERS)
        .collect();
    ChartsView { matching: matching.len() as u64, histogram: histogram("value", values, matching), scatters }
}

fn histogram(column: &str, cells: &Float64Array, matching: &[u32]) -> Option<HistogramView> {
    // Three quartile ranges beyond the quartiles, so that a few far rows do not flatten all others.
    let sorted = sampled(cells);
    let [first, third] = [0.25, 0.75].map(|share| place(&sorted, share));
    let spread = third - first;
    let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
    let (least, most) = (lowest.max(first - 3.0 * spread), highest.min(third + 3.0 * spread));
    let scale = Scale::of(least, most, BINS)?;
    if sorted.len() < FEWEST_ROWS {
        return None;
    }
    let count = |rows: &mut dyn Iterator<Item = f64>| {
        let (mut bins, mut outside) = (vec![0_u64; BINS], [0_u64; 2]);
        for cell in rows {
            match scale.place(cell) {
                Some(bin) => bins[bin] += 1,
                None => outside[usize::from(cell > most)] += 1,
            }
        }
        (bins, outside)
    };
    let (rows, outside) = count(&mut cells.iter().flatten());
    let valid = matching.iter().map(|&row| row as usize).filter(|&row| cells.is_valid(row));
    let (matching, _) = count(&mut valid.map(|row| cells.value(row)));
    Some(HistogramView { column: column.into(), least, most, rows, matching, outside })
}

/// One number against another, in a grid that nearly all rows lie in.
fn scatter(y: (&str, &Float64Array), x: (&str, &Float64Array), matching: &[u32]) -> Option<ScatterView> {
    let range = |cells: &Float64Array| {
        let sorted = sampled(cells);
        (sorted.len() >= FEWEST_ROWS).then(|| [place(&sorted, FAR), place(&sorted, 1.0 - FAR)])
    };
    let (x_range, y_range) = (range(x.1)?, range(y.1)?);
    let pairs = matching
        .iter()
        .map(|&row| row as usize)
        .filter(|&row| x.1.is_valid(row) && y.1.is_valid(row))
        .map(|row| (x.1.value(row), y.1.value(row)));
    grid((x.0, x_range), (y.0, y_range), pairs)
}

/// Counts pairs in the cells of a grid.
pub(crate) fn grid(
    (x, x_range): (&str, [f64; 2]),
    (y, y_range): (&str, [f64; 2]),
    pairs: impl Iterator<Item = (f64, f64)>,
) -> Option<ScatterView> {
    let across = Scale::of(x_range[0], x_range[1], GRID[0])?;
    let up = Scale::of(y_range[0], y_range[1], GRID[1])?;
    let (mut counts, mut outside) = (vec![0_u32; GRID[0] * GRID[1]], 0);
    for (a, b) in pairs {
        match (across.place(a), up.place(b)) {
            (Some(i), Some(j)) => counts[j * GRID[0] + i] += 1,
            _ => outside += 1,
        }
    }
    let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let cells = filled.map(|(k, &count)| [(k % GRID[0]) as u32, (k / GRID[0]) as u32, count]).collect();
    Some(ScatterView { x: x.into(), y: y.into(), x_range, y_range, size: GRID, cells, outside })
}

/// Bins of equal width.
struct Scale {
    least: f64,
    most: f64,
    bins: usize,
}

impl Scale {
    /// `None` if the range is empty or not finite.
    fn of(least: f64, most: f64, bins: usize) -> Option<Self> {
        let width = most - least;
        (width > 0.0 && width.is_finite()).then_some(Self { least, most, bins })
    }

    fn place(&self, number: f64) -> Option<usize> {
        let share = (number - self.least) / (self.most - self.least);
        (0.0..=1.0).contains(&share).then(|| ((share * self.bins as f64) as usize).min(self.bins - 1))
    }
}

/// Finite numbers of rows at equal steps, sorted.
fn sampled(cells: &Float64Array) -> Vec<f64> {
    let step = cells.len().div_ceil(SAMPLED_ROWS).max(1);
    let rows = (0..cells.len()).step_by(step).filter(|&row| cells.is_valid(row));
    let mut sorted: Vec<f64> = rows.map(|row| cells.value(row)).filter(|cell| cell.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The number that a share of the sorted numbers lies below; NaN if there is none.
fn place(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    sorted.get(place.round() as usize).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_every_row_once() {
        let cells = Float64Array::from_iter((0..1000).map(|i| (i % 10 != 0).then_some(f64::from(i % 97))));
        let matching: Vec<u32> = (0..500).collect();
        let found = histogram("x", &cells, &matching).expect("enough rows");
        assert_eq!(found.rows.iter().sum::<u64>() + found.outside.iter().sum::<u64>(), 900);
        assert_eq!(found.matching.iter().sum::<u64>(), 450);
        assert!(found.matching.iter().zip(&found.rows).all(|(part, all)| part <= all));
    }

    #[test]
    fn few_or_equal_numbers_have_no_chart() {
        assert!(histogram("x", &Float64Array::from(vec![1.0; 100]), &[]).is_none());
        assert!(histogram("x", &Float64Array::from(vec![1.0, 2.0]), &[]).is_none());
        assert!(histogram("x", &Float64Array::from(Vec::<f64>::new()), &[]).is_none());
    }

    #[test]
    fn a_grid_holds_every_pair_or_counts_it_outside() {
        let pairs = (0..100).map(|i| (f64::from(i), f64::from(i * i)));
        let found = grid(("x", [0.0, 50.0]), ("y", [0.0, 1e4]), pairs).expect("a range");
        let inside: u32 = found.cells.iter().map(|cell| cell[2]).sum();
        assert_eq!((inside, found.outside), (51, 49));
    }
}
