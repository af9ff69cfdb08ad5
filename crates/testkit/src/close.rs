//! Comparisons with a stated tolerance.

/// `|found/exact − 1|`, or `|found|` where the exact number is zero.
pub fn relative_error(found: f64, exact: f64) -> f64 {
    if exact == 0.0 { found.abs() } else { (found / exact - 1.0).abs() }
}

/// Fails unless the relative error is at most `tolerance`.
#[track_caller]
pub fn assert_close(found: f64, exact: f64, tolerance: f64) {
    let error = relative_error(found, exact);
    assert!(
        error <= tolerance,
        "found {found:e}, expected {exact:e}: relative error {error:.1e} > {tolerance:.1e}"
    );
}
