//! Point addition: a model starts from some of the valued points and gets the
//! others in the order of their values, largest or smallest first, or shuffled.

mod margins;
mod utility;

pub(crate) use margins::{Curves, HOW_CLAIMS_ARE_TESTED, Verdict};
pub(crate) use utility::Utility;

use crate::Error;
use crate::d_shapley;
use crate::data::{Panel, Rows, Split};
use crate::ledger::{Column, Row};
use crate::seeds::{Purpose, method_seed, permutation, stream};
use crate::settings::Settings;
use crate::valuing::{Method, Terms, values};

/// Valued points; curves start from the first of them.
const N_POINTS: usize = 200;
/// Points that may be added: the second half of those valued.
const N_NEW: usize = 100;
/// Points that are added, up to half of those.
const N_ADDED: usize = 50;
/// Utility is measured whenever this many points have been added.
const STEP: usize = 2;
/// Random orders that are averaged.
const SHUFFLES: usize = 10;

/// What is in a row, after its unit.
pub(crate) const COLUMNS: [Column; 7] = [
    Column::words("dataset"),
    Column::numbers("repetition"),
    Column::words("method"),
    Column::words("order"),
    Column::numbers("added"),
    Column::numbers("utility"),
    Column::numbers("relative"),
];

/// Numbers of points added at which utility is measured.
pub(crate) fn steps() -> Vec<usize> {
    (0..=N_ADDED).step_by(STEP).collect()
}

/// An order in which points are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Largest,
    Smallest,
    Random,
}

impl Order {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::Largest => "largest",
            Order::Smallest => "smallest",
            Order::Random => "random",
        }
    }
}

/// Who values points: a method of dshap, or D-SHAPLEY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranker {
    Ours(Method),
    DShapley,
}

impl Ranker {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ranker::Ours(method) => method.name(),
            Ranker::DShapley => "d-shapley",
        }
    }

    /// The values of the points of `split`.
    pub(crate) fn values(self, terms: Terms, split: &Split) -> Result<Vec<f64>, Error> {
        match self {
            Ranker::Ours(method) => values(method, terms, split),
            Ranker::DShapley => d_shapley::values(terms, split),
        }
    }
}

/// The methods of Figure 2 and Table 1, with D-SHAPLEY or without.
pub(crate) fn rankers(with_d_shapley: bool) -> Vec<Ranker> {
    let mut rankers = vec![Ranker::Ours(Method::Closed), Ranker::Ours(Method::Paper)];
    rankers.extend(with_d_shapley.then_some(Ranker::DShapley));
    rankers
}

/// Number of rows of one repetition: two orders per ranker, and random.
pub(crate) fn n_rows(n_rankers: usize) -> usize {
    (2 * n_rankers + 1) * steps().len()
}

/// One repetition of one panel: the rows of the table, without its unit.
pub(crate) fn repetition(
    panel: &Panel,
    rows: &Rows,
    rankers: &[Ranker],
    settings: &Settings,
    repetition: usize,
) -> Result<Vec<Row>, Error> {
    let split = rows.split(panel, settings.handling, settings.seed, repetition)?;
    let utility = Utility::new(panel.task, &split)?;
    let terms = Terms {
        task: panel.task,
        q: panel.q,
        m: N_POINTS,
        seed: method_seed(settings.seed, panel.number(), repetition),
    };
    let start: Vec<usize> = (0..panel.n_start).collect();
    let new: Vec<usize> = (N_POINTS - N_NEW..N_POINTS).collect();
    let sizes: Vec<usize> = steps().iter().map(|added| panel.n_start + added).collect();
    let curve = |added: &[usize]| utility.curve(&[start.as_slice(), added].concat(), &sizes);

    let mut table = Vec::new();
    for ranker in rankers {
        let values = ranker.values(terms, &split)?;
        let mut order = new.clone();
        // Sorting is stable: points of equal value stay in their order.
        order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
        table.extend(curve_rows(ranker.name(), Order::Largest, &curve(&order)?));
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        table.extend(curve_rows(ranker.name(), Order::Smallest, &curve(&order)?));
    }
    let mut rng = stream(settings.seed, panel.number(), repetition, Purpose::Shuffles);
    let mut mean = vec![0.0; sizes.len()];
    for _ in 0..SHUFFLES {
        let order: Vec<usize> = permutation(new.len(), &mut rng).into_iter().map(|i| new[i]).collect();
        for (mean, utility) in mean.iter_mut().zip(curve(&order)?) {
            *mean += utility / SHUFFLES as f64;
        }
    }
    table.extend(curve_rows("random", Order::Random, &mean));
    Ok(table)
}

fn curve_rows(method: &str, order: Order, utilities: &[f64]) -> Vec<Row> {
    let row = |(added, utility): (usize, &f64)| {
        let relative = relative(*utility, utilities[0]);
        vec![
            method.to_string(),
            order.name().to_string(),
            added.to_string(),
            utility.to_string(),
            relative.to_string(),
        ]
    };
    steps().into_iter().zip(utilities).map(row).collect()
}

/// Utility in per cent of that at the start of the curve. A density in many
/// dimensions may start below 0; then in per cent of the absolute value, so that
/// better is still more.
fn relative(utility: f64, start: f64) -> f64 {
    if start > 0.0 { 100.0 * utility / start } else { 100.0 * (1.0 + (utility - start) / start.abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_more_whatever_the_start() {
        assert_eq!((relative(3.0, 2.0), relative(2.0, 2.0)), (150.0, 100.0));
        assert_eq!((relative(-1.0, -2.0), relative(-2.0, -2.0), relative(-3.0, -2.0)), (150.0, 100.0, 50.0));
    }
}
