//! Small symmetric matrices, row by row in one vector.
//!
//! Models of sets have few columns, and a set is worth millionths of a second:
//! loops over columns that vectorise, without a library's set-up.

/// A pivot with a smaller share of its diagonal than this is rounding: what is
/// left of the column after all before it.
pub(crate) const LEAST_PIVOT: f64 = 1e-10;

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

/// Factors `A = LLᵀ` in place (lower half), unless a column depends on those
/// before it.
pub(crate) fn factor(a: &mut [f64], p: usize) -> bool {
    for j in 0..p {
        let (above, rest) = a.split_at_mut(j * p);
        let diagonal = rest[j];
        for k in 0..j {
            let l = dot(&rest[..k], &above[k * p..k * p + k]);
            rest[k] = (rest[k] - l) / above[k * p + k];
        }
        let pivot = diagonal - dot(&rest[..j], &rest[..j]);
        // Also false for NaN.
        if !(pivot > LEAST_PIVOT * diagonal && pivot.is_finite()) {
            return false;
        }
        rest[j] = pivot.sqrt();
    }
    true
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
    fn a_column_that_depends_on_others_is_noticed() {
        // The third row is the sum of the others.
        let mut a = [2.0, 1.0, 3.0, 1.0, 2.0, 3.0, 3.0, 3.0, 6.0];
        assert!(!factor(&mut a, 3));
        assert!(!factor(&mut [f64::NAN], 1));
        assert!(!factor(&mut [0.0], 1));
    }
}
