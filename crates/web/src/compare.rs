//! Two runs side by side.

use crate::charts::grid;
use crate::held::HeldRows;
use crate::problem::Problem;
use crate::wire::{ComparisonView, DifferingRow};
use arrow_array::Array;

/// Rows that are listed.
const LISTED: usize = 50;

/// Share of the rows that counts as lowest and highest.
const ENDS: f64 = 0.05;

/// Compares the values of two runs, row by row.
pub(crate) fn compare(one: &HeldRows, other: &HeldRows) -> Result<ComparisonView, Problem> {
    if one.n_rows() != other.n_rows() {
        let error = format!("the runs have {} and {} rows", one.n_rows(), other.n_rows());
        return Err(Problem::bad(error).hint("compare runs on the same table"));
    }
    let none = || Problem::bad("the runs have no values to compare");
    let (first, second) = (one.numbers("value").ok_or_else(none)?, other.numbers("value").ok_or_else(none)?);
    let rows: Vec<usize> =
        (0..first.len()).filter(|&row| first.is_valid(row) && second.is_valid(row)).collect();
    let values = [first, second].map(|cells| rows.iter().map(|&row| cells.value(row)).collect::<Vec<f64>>());
    let ranks = [ranks(&values[0]), ranks(&values[1])];
    let most = rows.len().saturating_sub(1).max(1) as f64;
    let shares = ranks.each_ref().map(|ranks| ranks.iter().map(|rank| rank / most).collect::<Vec<f64>>());
    let pairs = shares[0].iter().copied().zip(shares[1].iter().copied());
    let chart = grid(("first", [0.0, 1.0]), ("second", [0.0, 1.0]), pairs).ok_or_else(none)?;
    let mut by_difference: Vec<usize> = (0..rows.len()).collect();
    let apart = |k: &usize| (shares[0][*k] - shares[1][*k]).abs();
    by_difference.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then(a.cmp(b)));
    let differing = by_difference.iter().take(LISTED).filter(|k| apart(k) > 0.0).map(|&k| DifferingRow {
        row: rows[k] as u64,
        values: [values[0][k], values[1][k]],
        shares_below: [shares[0][k], shares[1][k]],
    });
    Ok(ComparisonView {
        rows: rows.len() as u64,
        correlation: correlation(&values[0], &values[1]),
        rank_correlation: correlation(&ranks[0], &ranks[1]),
        shared_lowest: shared(&shares, |share| share <= ENDS),
        shared_highest: shared(&shares, |share| share >= 1.0 - ENDS),
        ranks: chart,
        differing: differing.collect(),
    })
}

/// Of the rows at an end of the first run, the share that the second has there too.
fn shared(shares: &[Vec<f64>; 2], is_end: impl Fn(f64) -> bool) -> f64 {
    let at_end = |k: &usize| is_end(shares[0][*k]);
    let ends: Vec<usize> = (0..shares[0].len()).filter(at_end).collect();
    let both = ends.iter().filter(|&&k| is_end(shares[1][k])).count();
    both as f64 / ends.len().max(1) as f64
}

/// Ranks from 0 on; equal numbers share the mean of their ranks.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    for equal in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        let mean = start as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&k| ranks[k] = mean);
        start += equal.len();
    }
    ranks
}

/// Pearson's correlation, if both vary.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let n = one.len() as f64;
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / n;
    let (a, b) = (mean(one), mean(other));
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (x, y) in one.iter().zip(other) {
        both += (x - a) * (y - b);
        first += (x - a) * (x - a);
        second += (y - b) * (y - b);
    }
    Some(both / (first.sqrt() * second.sqrt())).filter(|correlation| correlation.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(ranks(&[]), Vec::<f64>::new());
    }

    #[test]
    fn correlations_are_those_of_the_definition() {
        let close = |found: Option<f64>, wanted: f64| (found.unwrap_or(f64::NAN) - wanted).abs() < 1e-12;
        assert!(close(correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 1.0));
        // By hand: (−1·−1 + 0·1 + 1·0) / (√2·√2).
        assert!(close(correlation(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]), 0.5));
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn a_run_agrees_with_itself() {
        let held = crate::held::tests::held();
        let found = compare(&held, &held).expect("the same rows");
        assert_eq!((found.rows, found.differing.len()), (2, 0));
        assert_eq!((found.shared_lowest, found.shared_highest), (1.0, 1.0));
    }
}
