//! Whether plain numbers, read from a file, can be those of a fit.

/// Whether the kept and dropped columns are all `n_features`, each once and in order, and
/// the weakest is kept.
pub(crate) fn are_columns(
    n_features: usize,
    kept: &[usize],
    dropped: &[usize],
    weakest: Option<(usize, f64)>,
) -> bool {
    let ascending = |columns: &[usize]| {
        columns.windows(2).all(|pair| pair[0] < pair[1])
            && columns.last().is_none_or(|&last| last < n_features)
    };
    !kept.is_empty()
        && kept.len() + dropped.len() == n_features
        && ascending(kept)
        && ascending(dropped)
        && kept.iter().all(|column| dropped.binary_search(column).is_err())
        && weakest.is_none_or(|(column, _)| kept.binary_search(&column).is_ok())
}

/// Whether the diagonal of a packed lower triangle of `size` columns is positive.
pub(crate) fn has_positive_diagonal(packed: &[f64], size: usize) -> bool {
    // Where the columns of the triangle begin is where its diagonal is.
    let mut starts = (0..size).scan(0, |at, j| Some(std::mem::replace(at, *at + size - j)));
    starts.all(|at| packed[at] > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_all_features_once() {
        assert!(are_columns(3, &[0, 2], &[1], Some((2, 0.5))));
        assert!(!are_columns(3, &[0, 2], &[], None), "one is missing");
        assert!(!are_columns(3, &[0, 2], &[2], None), "one is both");
        assert!(!are_columns(3, &[2, 0], &[1], None), "out of order");
        assert!(!are_columns(2, &[0, 2], &[], None), "beyond the last feature");
        assert!(!are_columns(1, &[], &[0], None), "none is left");
        assert!(!are_columns(3, &[0, 2], &[1], Some((1, 0.5))), "the weakest was dropped");
    }

    #[test]
    fn the_diagonal_of_a_triangle_is_where_its_columns_begin() {
        assert!(has_positive_diagonal(&[1.0, -2.0, -3.0, 4.0, -5.0, 6.0], 3));
        assert!(!has_positive_diagonal(&[1.0, 2.0, 3.0, 0.0, 5.0, 6.0], 3));
        assert!(!has_positive_diagonal(&[f64::NAN], 1));
    }
}
