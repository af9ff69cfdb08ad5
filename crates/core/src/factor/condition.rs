//! How much a factor magnifies errors.

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par};

/// Steps of the search; it nearly always ends after two.
const MAX_STEPS: usize = 6;

/// A lower estimate of `‖L‖₁ ‖L⁻¹‖₁`, rarely off by more than a factor of three (Hager
/// 1984, Higham 1988): `O(p²)` where the inverse would be `O(p³)`.
pub(crate) fn condition(lower: &Mat<f64>) -> f64 {
    let p = lower.nrows();
    if p == 0 {
        return 1.0;
    }
    let size = (0..p).map(|j| sum_abs(&lower.col_as_slice(j)[j..])).fold(0.0, f64::max);
    // Climbs to a column of the inverse whose length cannot be made larger by
    // going to a neighbour.
    let mut x = Mat::from_fn(p, 1, |_, _| 1.0 / p as f64);
    let mut largest = 0.0;
    let mut last = None;
    for _ in 0..MAX_STEPS {
        solve_lower_triangular_in_place(lower.as_ref(), x.as_mut(), Par::Seq);
        let found = sum_abs(x.col_as_slice(0));
        // NaN and infinity end the search, too.
        if !found.is_finite() {
            return f64::INFINITY;
        }
        if found <= largest {
            break;
        }
        largest = found;
        x.col_as_slice_mut(0).iter_mut().for_each(|cell| *cell = if *cell < 0.0 { -1.0 } else { 1.0 });
        solve_upper_triangular_in_place(lower.transpose(), x.as_mut(), Par::Seq);
        let cells = x.col_as_slice(0);
        let best = (0..p).max_by(|&a, &b| cells[a].abs().total_cmp(&cells[b].abs()));
        if best == last {
            break;
        }
        last = best;
        x.fill(0.0);
        if let Some(best) = best {
            x[(best, 0)] = 1.0;
        }
    }
    // A vector of alternating signs, which finds columns that the search misses.
    let mut x = Mat::from_fn(p, 1, |i, _| {
        let step = 1.0 + i as f64 / (p.max(2) - 1) as f64;
        if i % 2 == 0 { step } else { -step }
    });
    solve_lower_triangular_in_place(lower.as_ref(), x.as_mut(), Par::Seq);
    let hidden = 2.0 * sum_abs(x.col_as_slice(0)) / (3.0 * p as f64);
    size * if hidden.is_finite() { hidden.max(largest) } else { f64::INFINITY }
}

fn sum_abs(cells: &[f64]) -> f64 {
    cells.iter().map(|cell| cell.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact number, by inverting column after column.
    fn exact(lower: &Mat<f64>) -> f64 {
        let p = lower.nrows();
        let mut inverse = Mat::<f64>::identity(p, p);
        solve_lower_triangular_in_place(lower.as_ref(), inverse.as_mut(), Par::Seq);
        let size = |matrix: &Mat<f64>| (0..p).map(|j| sum_abs(matrix.col_as_slice(j))).fold(0.0, f64::max);
        size(lower) * size(&inverse)
    }

    #[test]
    fn estimates_are_close_to_the_condition_and_never_above_it() {
        let mut state = 1_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for p in [1, 2, 3, 5, 10, 40] {
            for steepness in [0.0, 1.0, 3.0, 10.0] {
                let lower = Mat::from_fn(p, p, |i, j| match i.cmp(&j) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 10_f64.powf(-steepness * i as f64 / p as f64),
                    std::cmp::Ordering::Greater => number(),
                });
                let (found, expected) = (condition(&lower), exact(&lower));
                let share = found / expected;
                assert!((0.3..1.0 + 1e-12).contains(&share), "{p} columns, {steepness}: {share}");
            }
        }
    }
}
