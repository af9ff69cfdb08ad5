//! Small symmetric matrices, row by row in one vector.
//!
//! Models of sets have few columns, and a set takes microseconds: these are loops over
//! columns that vectorise, without the overhead of a library.

/// A share of a column's own variation above this needs no closer look.
const CLEAR_SHARE: f64 = 1e-6;

/// Rounding errors of a Gram entry and of an elimination step, in units of `p · ε`. This
/// and the rule it belongs to are those of the closed forms (`factor/products.rs` in the
/// core), so that both leave out the same columns.
const NOISE_FACTOR: f64 = 64.0;

/// `out = A·v`.
pub(crate) fn multiply(a: &[f64], v: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (row, &scale) in a.chunks_exact(v.len()).zip(v) {
        add_scaled(out, scale, row);
    }
}

/// `A += scale·v·vᵀ`.
pub(crate) fn add_outer(a: &mut [f64], scale: f64, v: &[f64]) {
    for (row, &cell) in a.chunks_exact_mut(v.len()).zip(v) {
        add_scaled(row, scale * cell, v);
    }
}

/// `out += scale·v`.
#[inline]
pub(crate) fn add_scaled(out: &mut [f64], scale: f64, v: &[f64]) {
    for (out, v) in out.iter_mut().zip(v) {
        *out += scale * v;
    }
}

/// `a·b`.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a·b` in eight sums side by side, several times as fast as [`dot`] from eight
/// numbers on.
#[inline]
pub(crate) fn wide_dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_left) = a.as_chunks::<8>();
    let (b, b_left) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)) + dot(a_left, b_left)
}

/// Factors `A = LLᵀ` in place (lower half), unless a column depends on those
/// before it: what elimination leaves of its diagonal is no larger than the
/// rounding errors that went into it. These are about `p ε (1 + |b|₁)²`, with `b`
/// the coefficients of the column on those before it.
pub(crate) fn factor(a: &mut [f64], p: usize) -> bool {
    factored(a, p).is_some()
}

/// The same; returns whether every column clearly has variation of its own.
pub(crate) fn factored(a: &mut [f64], p: usize) -> Option<bool> {
    let mut is_clear = true;
    for j in 0..p {
        let (above, rest) = a.split_at_mut(j * p);
        let diagonal = rest[j];
        for k in 0..j {
            let l = dot(&rest[..k], &above[k * p..k * p + k]);
            rest[k] = (rest[k] - l) / above[k * p + k];
        }
        let pivot = diagonal - dot(&rest[..j], &rest[..j]);
        let share = pivot / diagonal;
        // Also false for NaN.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        if share < CLEAR_SHARE {
            is_clear = false;
            if share <= rounding_noise(above, &rest[..j], p) {
                return None;
            }
        }
        rest[j] = pivot.sqrt();
    }
    Some(is_clear)
}

/// The share of a diagonal that rounding alone can leave, for the row of `L` that
/// belongs to it and the rows above.
fn rounding_noise(above: &[f64], row: &[f64], p: usize) -> f64 {
    let mut coef = row.to_vec();
    for k in (0..coef.len()).rev() {
        let below: f64 = (k + 1..coef.len()).map(|i| above[i * p + k] * coef[i]).sum();
        coef[k] = (coef[k] - below) / above[k * p + k];
    }
    let size: f64 = 1.0 + coef.iter().map(|b| b.abs()).sum::<f64>();
    NOISE_FACTOR * (row.len() + 1) as f64 * f64::EPSILON * size * size
}

/// Solves `LLᵀ·x = b` in place.
pub(crate) fn solve(l: &[f64], b: &mut [f64]) {
    let p = b.len();
    for i in 0..p {
        b[i] = (b[i] - dot(&l[i * p..i * p + i], &b[..i])) / l[i * p + i];
    }
    for i in (0..p).rev() {
        b[i] /= l[i * p + i];
        let scale = -b[i];
        add_scaled(&mut b[..i], scale, &l[i * p..i * p + i]);
    }
}

/// The inverse of `LLᵀ`, both halves.
pub(crate) fn invert(l: &[f64], p: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; p * p];
    for (i, row) in inverse.chunks_exact_mut(p).enumerate() {
        row[i] = 1.0;
        solve(l, row);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_and_inverts() {
        let a = [4.0, 2.0, -0.6, 2.0, 3.0, 0.4, -0.6, 0.4, 2.0];
        let mut l = a;
        assert!(factor(&mut l, 3));
        let mut x = [1.0, -2.0, 0.5];
        let mut b = [0.0; 3];
        multiply(&a, &x, &mut b);
        solve(&l, &mut b);
        let inverse = invert(&l, 3);
        let mut unit = [0.0; 3];
        for i in 0..3 {
            assert!((b[i] - x[i]).abs() < 1e-14);
            multiply(&a, &inverse[3 * i..3 * i + 3], &mut unit);
            unit[i] -= 1.0;
            assert!(unit.iter().all(|cell| cell.abs() < 1e-14), "{unit:?}");
        }
        add_outer(&mut l, 0.0, &x);
        x[0] = 0.0;
        assert_eq!(dot(&x, &[7.0, 1.0, 2.0]), -1.0);
    }

    #[test]
    fn products_are_the_same_in_eight_sums() {
        let numbers: Vec<f64> = (0..37).map(|i| f64::from(i) - 7.0).collect();
        for n in 0..numbers.len() {
            // Whole numbers, so that no order of adding loses a bit.
            let (a, b) = (&numbers[..n], &numbers[37 - n..]);
            assert_eq!(wide_dot(a, b), dot(a, b), "{n}");
        }
    }

    #[test]
    fn a_column_that_depends_on_others_is_noticed() {
        // The third row is the sum of the others.
        let mut a = [2.0, 1.0, 3.0, 1.0, 2.0, 3.0, 3.0, 3.0, 6.0];
        assert!(!factor(&mut a, 3));
        assert!(!factor(&mut [f64::NAN], 1));
        assert!(!factor(&mut [0.0], 1));
    }

    #[test]
    fn a_column_that_is_nearly_another_is_kept() {
        // The second is the first and a share of 2e-12 of its own.
        let r = 1.0 - 1e-12;
        let mut a = [1.0, r, r, 1.0];
        assert!(factor(&mut a, 2));
        assert!((a[3] * a[3] / 2e-12 - 1.0).abs() < 1e-3, "{}", a[3]);
        // What rounding leaves of a copy does not count.
        let copy = 1.0 - 2.0 * f64::EPSILON;
        assert!(!factor(&mut [1.0, copy, copy, 1.0], 2));
    }
}
