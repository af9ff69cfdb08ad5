//! The triangle of a table, by reflections.
//!
//! Householder's method keeps what is left of a nearly dependent column to the last
//! digit. faer's factorisation is faster but is not used: it treats a column as dependent
//! if less than `16 n ε` of its length is left, which in a block of 4096 rows is a
//! difference in the eleventh digit.

use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut};

/// Rows folded in at a time; with 100 columns they fill a level-2 cache.
const PANEL_ROWS: usize = 256;

/// `L`, lower triangular with a diagonal that is not negative, with
/// `L Lᵀ = AᵀA`.
///
/// The products themselves are never formed: their condition number is the
/// square of that of `A`.
pub(crate) fn lower_root(a: Mat<f64>) -> Mat<f64> {
    let k = a.ncols();
    let mut lower = Mat::zeros(k, k);
    add_to_root(&mut lower, a);
    lower
}

/// Makes `lower` the root of `L Lᵀ + AᵀA`.
pub(crate) fn add_to_root(lower: &mut Mat<f64>, mut a: Mat<f64>) {
    // Powers of two round nothing; with columns of size 1 no square overflows
    // or underflows.
    let scales: Vec<f64> = (0..a.ncols())
        .map(|j| {
            let own = a.col_as_slice(j).iter().fold(0.0_f64, |largest, cell| largest.max(cell.abs()));
            let largest = (0..=j).fold(own, |largest, l| largest.max(lower[(j, l)].abs()));
            if largest > 0.0 && largest.is_finite() { largest.log2().floor().exp2() } else { 1.0 }
        })
        .collect();
    for (j, scale) in scales.iter().enumerate() {
        a.col_as_slice_mut(j).iter_mut().for_each(|cell| *cell /= scale);
        (0..=j).for_each(|l| lower[(j, l)] /= scale);
    }
    let mut rest = a.as_mut();
    while rest.nrows() > 0 {
        let len = rest.nrows().min(PANEL_ROWS);
        let (panel, later) = rest.split_at_row_mut(len);
        pulp::Arch::new().dispatch(|| fold_in(lower, panel));
        rest = later;
    }
    for (j, scale) in scales.iter().enumerate() {
        (0..=j).for_each(|l| lower[(j, l)] *= scale);
    }
}

/// Reflects the rows of `panel` into the triangle; the panel holds nothing useful
/// afterwards.
#[inline(always)]
fn fold_in(lower: &mut Mat<f64>, mut panel: MatMut<'_, f64>) {
    let k = lower.ncols();
    for j in 0..k {
        let (left, mut right) = panel.rb_mut().split_at_col_mut(j + 1);
        let v = cells(left.as_ref().col(j));
        // A column of `L` is a row of the triangle; the reflection is made of
        // its diagonal cell and the panel's column.
        let row = &mut lower.col_as_slice_mut(j)[j..];
        let tail_sq = dot(v, v);
        if tail_sq == 0.0 {
            continue;
        }
        let head = row[0];
        let length = (head * head + tail_sq).sqrt();
        // The reflection that cancels nothing. It changes the sign of the row, which is
        // changed back.
        let first = head + length;
        row[0] = length;
        for (l, cell) in row[1..].iter_mut().enumerate() {
            let column = right.rb_mut().col_mut(l).try_as_col_major_mut().map(|column| column.as_slice_mut());
            let column = column.expect("an owned matrix is column-major");
            let along = (first * *cell + dot(v, column)) / (length * first);
            *cell = along * first - *cell;
            for (cell, v) in column.iter_mut().zip(v) {
                *cell -= along * v;
            }
        }
    }
}

fn cells(column: faer::ColRef<'_, f64>) -> &[f64] {
    column.try_as_col_major().expect("an owned matrix is column-major").as_slice()
}

/// Sum of products in eight interleaved lanes.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(lower: &Mat<f64>) -> Mat<f64> {
        lower * lower.transpose()
    }

    fn assert_same(found: &Mat<f64>, expected: &Mat<f64>) {
        for j in 0..expected.ncols() {
            for i in 0..expected.nrows() {
                let size = expected[(i, i)].sqrt() * expected[(j, j)].sqrt();
                let error = (found[(i, j)] - expected[(i, j)]).abs();
                assert!(error <= 1e-14 * size, "{i},{j}: {} and {}", found[(i, j)], expected[(i, j)]);
            }
        }
    }

    #[test]
    fn a_root_rebuilds_the_products() {
        for n in [1, 2, 4, 30] {
            let scales = [1e-140, 1.0, 3.0, 1e140];
            let a = Mat::from_fn(n, 4, |i, j| ((i * 7 + j * j * 3 + 1) % 11) as f64 * scales[j] - scales[j]);
            let root = lower_root(a.clone());
            assert_same(&product(&root), &(a.transpose() * &a));
            for i in 0..4 {
                assert!(root[(i, i)] >= 0.0, "{n} rows");
                assert!((i + 1..4).all(|l| root[(i, l)] == 0.0), "{n} rows");
            }
        }
    }

    #[test]
    fn roots_add_up() {
        let a = Mat::from_fn(700, 3, |i, j| ((i * 7 + j * j * 5 + 1) % 13) as f64 - 6.0 + j as f64);
        let mut added = lower_root(a.subrows(0, 300).to_owned());
        add_to_root(&mut added, a.subrows(300, 400).to_owned());
        assert_same(&product(&added), &(a.transpose() * &a));
    }

    /// What is left of a copy that differs in the thirteenth digit.
    #[test]
    fn the_last_digits_of_a_near_copy_are_kept() {
        let u = |i: usize| ((i * 5) % 7) as f64 - 3.0;
        let w = |i: usize| ((i * i * 7) % 13) as f64 - 6.0;
        let spread = 2_f64.powi(-43);
        let n = 91 * 40;
        let near = Mat::from_fn(n, 2, |i, j| if j == 0 { u(i) } else { u(i) + spread * w(i) });
        let plain = lower_root(Mat::from_fn(n, 2, |i, j| if j == 0 { u(i) } else { w(i) }));
        let found = lower_root(near)[(1, 1)] / spread;
        assert!((found / plain[(1, 1)] - 1.0).abs() < 1e-2, "{found} and {}", plain[(1, 1)]);
    }
}
