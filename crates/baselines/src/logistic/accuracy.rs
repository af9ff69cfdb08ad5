//! Accuracies of many models that are near one.
//!
//! A row of norm `‖x‖` whose margin is `t` keeps its sign, and the label predicted for
//! it, under all coefficients that differ by less than `|t|/‖x‖`. Only rows that a model
//! may predict differently are checked again, and these are few, because one row moves
//! its model only a little.

use super::frame::{columns, columns_mut};
use super::score::{PANEL_ROWS, TestRows, is_right};
use crate::symmetric::wide_dot;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

/// Changes that share the rows to check again.
const GROUP: usize = 24;

/// Margins are known to this share of the norms of row and coefficients.
const ROUNDING: f64 = 1e-12;

/// See [`TestRows::scores`].
pub(super) fn accuracies(test: &TestRows, beta: &[f64], changes: &[Vec<f64>]) -> Vec<f64> {
    let (dim, n_models) = (test.dim, changes.len());
    // For each row those of all models side by side.
    let mut margins = vec![0.0; test.len() * n_models];
    let (models, rows) = (columns(beta, dim), columns(&test.cells, dim));
    matmul(columns_mut(&mut margins, n_models), Accum::Replace, models.transpose(), rows, 1.0, Par::Seq);
    let margins: Vec<&[f64]> = margins.chunks_exact(n_models).collect();
    let was_right: Vec<bool> =
        margins.iter().zip(&test.labels).map(|(margins, &label)| is_right(margins, label)).collect();
    // No model moves the margin of a row of norm 0.
    let steady =
        |(margins, &norm): (&&[f64], &f64)| if norm > 0.0 { lead(margins) / norm } else { f64::INFINITY };
    let steadiness: Vec<f64> = margins.iter().zip(&test.norms).map(steady).collect();

    // The longest first: rows that a change does not affect are not affected by any after
    // it.
    let doubt = ROUNDING * longest(beta.chunks_exact(dim));
    let length = |k: usize| longest(changes.iter().map(|changes| &changes[k * dim..][..dim]));
    let n_changes = changes[0].len() / dim;
    let mut order: Vec<(f64, usize)> = (0..n_changes).map(|k| (length(k), k)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));

    let count = |rows: &mut dyn Iterator<Item = bool>| rows.filter(|is_right| *is_right).count();
    let n_right = count(&mut was_right.iter().copied());
    let mut in_doubt: Vec<usize> = (0..test.len()).collect();
    let mut scores = vec![0.0; n_changes];
    for group in order.chunks(GROUP) {
        let reach = group[0].0 * (1.0 + ROUNDING) + doubt;
        in_doubt.retain(|&row| steadiness[row] <= reach);
        let n_left_alone = n_right - count(&mut in_doubt.iter().map(|&row| was_right[row]));
        let mut n_right = vec![n_left_alone; group.len()];
        let some: Vec<usize> = group.iter().map(|&(_, k)| k).collect();
        let changes: Vec<Vec<f64>> = changes.iter().map(|of_model| gathered(of_model, &some, dim)).collect();
        for rows in in_doubt.chunks(PANEL_ROWS) {
            add_right(test, rows, &margins, &changes, &mut n_right);
        }
        for (&(_, k), n_right) in group.iter().zip(n_right) {
            scores[k] = n_right as f64 / test.len() as f64;
        }
    }
    scores
}

/// Counts, for each change, which of some rows are right with it.
fn add_right(
    test: &TestRows,
    rows: &[usize],
    margins: &[&[f64]],
    changes: &[Vec<f64>],
    n_right: &mut [usize],
) {
    let cells = gathered(&test.cells, rows, test.dim);
    let moved = |(model, changes): (usize, &Vec<f64>)| {
        let of_rows: Vec<f64> = rows.iter().map(|&row| margins[row][model]).collect();
        let mut moved = of_rows.repeat(n_right.len());
        let product = columns_mut(&mut moved, rows.len());
        let cells = columns(&cells, test.dim).transpose();
        matmul(product, Accum::Add, cells, columns(changes, test.dim), 1.0, Par::Seq);
        moved
    };
    let moved: Vec<Vec<f64>> = changes.iter().enumerate().map(moved).collect();
    let labels: Vec<usize> = rows.iter().map(|&row| test.labels[row]).collect();
    if let [moved] = moved.as_slice() {
        // The same as below, in a loop that becomes vector arithmetic.
        for (n_right, moved) in n_right.iter_mut().zip(moved.chunks_exact(rows.len())) {
            let pairs = moved.iter().zip(&labels);
            *n_right +=
                pairs.map(|(&margin, &label)| usize::from((margin > 0.0) == (label == 1))).sum::<usize>();
        }
        return;
    }
    let mut of_row = vec![0.0; changes.len()];
    for (k, n_right) in n_right.iter_mut().enumerate() {
        for (i, &label) in labels.iter().enumerate() {
            of_row.iter_mut().zip(&moved).for_each(|(margin, moved)| *margin = moved[k * rows.len() + i]);
            *n_right += usize::from(is_right(&of_row, label));
        }
    }
}

/// How much each margin may change without changing the prediction.
fn lead(margins: &[f64]) -> f64 {
    if let &[margin] = margins {
        return margin.abs();
    }
    let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for &margin in margins {
        second = second.max(first.min(margin));
        first = first.max(margin);
    }
    0.5 * (first - second)
}

/// The norm of the longest vector.
fn longest<'a>(vectors: impl Iterator<Item = &'a [f64]>) -> f64 {
    vectors.map(|vector| wide_dot(vector, vector)).fold(0.0, f64::max).sqrt()
}

/// Some of the vectors that are stored one after the other in `cells`.
fn gathered(cells: &[f64], some: &[usize], dim: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(some.len() * dim);
    some.iter().for_each(|&k| out.extend_from_slice(&cells[k * dim..][..dim]));
    out
}
