//! Numbers as people read them.

/// A number to five significant digits.
pub fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let magnitude = number.abs().log10().floor() as i32;
    if (-4..7).contains(&magnitude) {
        format!("{number:.*}", (4 - magnitude).max(0) as usize)
    } else {
        format!("{number:.4e}")
    }
}

/// Quartiles: to five significant digits, or, if they come from some of the values, to two digits of the
/// range between them, which are right.
pub fn quartiles([first, second, third]: [f64; 3], are_exact: bool) -> [String; 3] {
    let has_range = third > first && (third - first).is_finite();
    if are_exact || !has_range {
        return [first, second, third].map(significant);
    }
    // Powers of ten.
    let magnitude = |number: f64| number.abs().log10().floor() as i32;
    let unit = magnitude(third - first) - 1;
    let to_unit = |number: f64| match magnitude(number).saturating_sub(unit) {
        // Also 0 itself.
        ..0 => "0".into(),
        4.. => significant(number),
        _ if unit < 0 && magnitude(number) >= -4 => format!("{number:.*}", unit.unsigned_abs() as usize),
        digits => format!("{number:.*e}", digits.unsigned_abs() as usize),
    };
    [first, second, third].map(to_unit)
}

/// A number of things, in the singular for one.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// A count with its digits in groups of three.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_some_values_have_as_many_digits_as_are_right() {
        let found = [0.001_044_29, 0.001_531_3, 0.002_135_7];
        assert_eq!(quartiles(found, true), ["0.0010443", "0.0015313", "0.0021357"]);
        assert_eq!(quartiles(found, false), ["0.0010", "0.0015", "0.0021"]);
        assert_eq!(quartiles([-3.1e-9, 0.0, 2.123e-8], false), ["-3e-9", "0", "2.1e-8"]);
        assert_eq!(quartiles([100.123_4, 100.5, 100.823_4], false), ["100.12", "100.50", "100.82"]);
        assert_eq!(quartiles([2e9, 2e9, 2e9], false), ["2.0000e9"; 3]);
        assert_eq!(quartiles([1.0, 20_123.0, 60_456.0], false), ["0", "2.0e4", "6.0e4"]);
    }
}
