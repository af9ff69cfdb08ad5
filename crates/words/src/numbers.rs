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
