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

/// Fails unless both differ by at most `tolerance`, as a share of the largest number expected.
#[track_caller]
pub fn assert_near_scale(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    let scale = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / scale;
        assert!(error <= tolerance, "{what}, row {i}: {found:e} and {expected:e}, {error:.1e}");
    }
}

/// Fails unless both hold the same numbers bit for bit; any NaN equals any other.
#[track_caller]
pub fn assert_same_bits(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
            "{what}: number {i} is {found:e}, expected {expected:e}"
        );
    }
}
