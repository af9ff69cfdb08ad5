//! Lower triangles as plain slices.

use faer::Mat;

/// The lower triangle, column by column.
pub(crate) fn pack_lower(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|j| matrix.col_as_slice(j)[j..].iter().copied()).collect()
}

/// The matrix of a packed lower triangle, zero above; nothing if the length
/// does not fit.
pub(crate) fn unpack_lower(packed: &[f64], size: usize) -> Option<Mat<f64>> {
    let expected = size.checked_mul(size.checked_add(1)?)? / 2;
    if packed.len() != expected {
        return None;
    }
    let mut matrix = Mat::zeros(size, size);
    let mut rest = packed;
    for j in 0..size {
        let (column, later) = rest.split_at(size - j);
        matrix.col_as_slice_mut(j)[j..].copy_from_slice(column);
        rest = later;
    }
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_come_back() {
        let matrix = Mat::from_fn(4, 4, |i, j| if i >= j { (10 * i + j) as f64 } else { 0.0 });
        let packed = pack_lower(&matrix);
        assert_eq!(packed, [0.0, 10.0, 20.0, 30.0, 11.0, 21.0, 31.0, 22.0, 32.0, 33.0]);
        assert_eq!(unpack_lower(&packed, 4), Some(matrix));
        assert_eq!(unpack_lower(&packed, 3), None);
        assert_eq!(unpack_lower(&[], usize::MAX), None);
    }
}
