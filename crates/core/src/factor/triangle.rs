//! From the triangle of an orthogonal factorisation: which columns to keep.

use super::{CLEAR_SHARE, Factor};
use faer::Mat;

/// Rounding errors that an orthogonal factorisation leaves in a column, in units of `√p ·
/// ε` of its length. Generous, because exact copies must never count as independent
/// (`crates/core/tests/core/hard_designs.rs` looks for the worst case).
const NOISE_FACTOR: f64 = 16.0;

/// A target counts as free of noise only if this many times less is left of it than makes
/// a column dependent.
const TARGET_CAUTION: f64 = 4.0;

/// Rounding of the cells themselves, in units of `ε` times their size.
const CELL_NOISE: f64 = 4.0;

/// A factor of the features, and what follows for the target.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    pub(crate) factor: Factor,
    /// `L⁻¹Xᵀy`.
    pub(crate) target_row: Vec<f64>,
    /// What is left of the target's sum of squares.
    pub(crate) rss: f64,
    /// What rounding alone could leave.
    pub(crate) rss_noise: f64,
}

/// Takes the dependent columns out of a triangle.
///
/// `lower` is the root of features and target, the target last, with features scaled to a
/// length of about 1. Columns with a false `usable` are dropped without a look; `far` is
/// how far the mean of a column is from zero, in units of its length. Cells are larger by
/// this factor than after centring, and so are the rounding errors they bring along.
///
/// A column depends on earlier ones when what reflections leave of it is no longer than the
/// rounding errors that went into it. With `b` its coefficients on the earlier ones, all of
/// length 1, those are about `ε (1 + |b|₁)`, and show only if the column is nearly a
/// combination of them.
pub(crate) fn reduce(
    lower: &Mat<f64>,
    usable: impl Fn(usize) -> bool,
    far: impl Fn(usize) -> f64,
) -> Reduced {
    let k = lower.nrows();
    let target = k - 1;
    let mut upper = Mat::from_fn(k, k, |i, j| if i <= j { lower[(j, i)] } else { 0.0 });
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut weakest: Option<(usize, f64)> = None;
    for column in 0..target {
        if !usable(column) {
            dropped.push(column);
            continue;
        }
        let rank = kept.len();
        let cells = &upper.col_as_slice(column)[..=column];
        let length = norm(cells);
        let rest = norm(&cells[rank..]);
        let share = (rest / length).powi(2);
        if share < CLEAR_SHARE && rest <= rounding_noise(&upper, &kept, column, &far) {
            dropped.push(column);
            continue;
        }
        // Columns dropped before have left rows of their own; they are rotated into this
        // column's.
        reflect(&mut upper, rank, column);
        kept.push(column);
        if weakest.is_none_or(|(_, least)| share < least) {
            weakest = Some((column, share));
        }
    }
    let rank = kept.len();
    let rest = norm(&upper.col_as_slice(target)[rank..]);
    let lower = Mat::from_fn(rank, rank, |i, l| if l <= i { upper[(l, kept[i])] } else { 0.0 });
    let target_row = upper.col_as_slice(target)[..rank].to_vec();
    // A target is never dropped, so it needs less caution than columns.
    let noise = rounding_noise(&upper, &kept, target, &far) / TARGET_CAUTION;
    Reduced {
        factor: Factor { lower, kept, dropped, weakest },
        target_row,
        rss: rest * rest,
        rss_noise: noise * noise,
    }
}

/// Turns the cells of a column from row `first` on into a positive one in that
/// row, by a reflection which the later columns share.
fn reflect(upper: &mut Mat<f64>, first: usize, column: usize) {
    let cells = &upper.col_as_slice(column)[first..=column];
    if cells.len() == 1 && cells[0] > 0.0 {
        return;
    }
    let length = norm(cells);
    if cells[0] >= 0.0 && cells[1..].iter().all(|&cell| cell == 0.0) {
        return;
    }
    // v = x ± |x| e₁ with the sign that cancels nothing; afterwards the row is
    // turned so that the cell is positive.
    let mut v = cells.to_vec();
    let sign = if v[0] < 0.0 { -1.0 } else { 1.0 };
    v[0] += sign * length;
    let half_sq = length * v[0].abs();
    for j in column..upper.ncols() {
        let cells = &mut upper.col_as_slice_mut(j)[first..=column];
        let along = v.iter().zip(cells.iter()).map(|(v, cell)| v * cell).sum::<f64>() / half_sq;
        for (cell, v) in cells.iter_mut().zip(&v) {
            *cell -= along * v;
        }
        if sign > 0.0 {
            cells[0] = -cells[0];
        }
    }
    let cells = &mut upper.col_as_slice_mut(column)[first..=column];
    cells[0] = length;
    cells[1..].fill(0.0);
}

/// How long rounding alone can make what is left of a column.
fn rounding_noise(upper: &Mat<f64>, kept: &[usize], column: usize, far: impl Fn(usize) -> f64) -> f64 {
    let rank = kept.len();
    let mut coef = upper.col_as_slice(column)[..rank].to_vec();
    for l in (0..rank).rev() {
        let earlier = upper.col_as_slice(kept[l]);
        coef[l] /= earlier[l];
        let solved = coef[l];
        for (rest, cell) in coef[..l].iter_mut().zip(earlier) {
            *rest -= cell * solved;
        }
    }
    let terms = || kept.iter().zip(&coef).map(|(&column, b)| (column, b.abs()));
    let length = norm(upper.col_as_slice(column));
    let by_steps = (length + terms().map(|(_, b)| b).sum::<f64>()) * ((rank + 1) as f64).sqrt();
    let by_cells = length * far(column) + terms().map(|(column, b)| b * far(column)).sum::<f64>();
    f64::EPSILON * (NOISE_FACTOR * by_steps + CELL_NOISE * by_cells)
}

fn norm(cells: &[f64]) -> f64 {
    cells.iter().map(|cell| cell * cell).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::lower_root;

    /// u, v, u, u + v, w and a target.
    #[test]
    fn later_copies_and_combinations_are_taken_out() {
        let u = |i: usize| ((i * 5) % 7) as f64 - 3.0;
        let v = |i: usize| ((i * 3) % 5) as f64 - 2.0;
        let w = |i: usize| ((i * i) % 11) as f64 - 5.0;
        let y = |i: usize| u(i) - 2.0 * w(i) + ((i * 13) % 9) as f64;
        let columns: [&dyn Fn(usize) -> f64; 6] = [&u, &v, &u, &|i| u(i) + v(i), &w, &y];
        let a = Mat::from_fn(35, 6, |i, j| columns[j](i) / 16.0);
        let found = reduce(&lower_root(a.clone()), |_| true, |_| 0.0);
        assert_eq!(found.factor.kept, [0, 1, 4]);
        assert_eq!(found.factor.dropped, [2, 3]);
        let kept = Mat::from_fn(35, 4, |i, j| a[(i, [0, 1, 4, 5][j])]);
        let plain = lower_root(kept);
        for i in 0..3 {
            for l in 0..=i {
                let error = (found.factor.lower[(i, l)] - plain[(i, l)]).abs();
                assert!(error < 1e-14, "{i},{l}: {error:e}");
            }
            assert!((found.target_row[i] - plain[(3, i)]).abs() < 1e-14);
        }
        assert!((found.rss.sqrt() - plain[(3, 3)]).abs() < 1e-14);
    }

    #[test]
    fn near_copies_stay_and_are_pointed_out() {
        let noise = |i: usize| ((i * i * 7) % 13) as f64 - 6.0;
        let u = |i: usize| ((i * 5) % 7) as f64 - 3.0;
        let columns: [&dyn Fn(usize) -> f64; 3] = [&u, &|i| u(i) + 1e-11 * noise(i), &|i| (i % 3) as f64];
        let a = Mat::from_fn(91, 3, |i, j| columns[j](i) / 16.0);
        let found = reduce(&lower_root(a), |_| true, |_| 0.0);
        assert_eq!(found.factor.kept, [0, 1]);
        let (column, share) = found.factor.weakest.unwrap();
        assert_eq!(column, 1);
        assert!((1e-22..1e-21).contains(&share), "{share:e}");
    }
}
