//! How categories are spelled, whatever their type was.
//!
//! A column may be text in one file and numbers in the next: pandas turns whole
//! numbers into doubles as soon as a cell is missing, and writes `1.0` instead of
//! `1`. So every level has one spelling. Other text stays as it is: `01` may be a
//! code and `1.10` a version, so only a fraction of zeros is removed.

use std::borrow::Cow;
use std::fmt::{Display, LowerExp};

/// The spelling of a category that is text: `1.0` becomes `1`, `True` becomes `true`,
/// other text stays as it is.
///
/// ```
/// # use dshap_table::spelled;
/// assert_eq!(spelled("2.0"), "2");
/// assert_eq!(spelled("TRUE"), "true");
/// assert_eq!(spelled("1.10"), "1.10");
/// ```
pub fn spelled(text: &str) -> Cow<'_, str> {
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => whole(text).into(),
        Some(b't' | b'T') if text.eq_ignore_ascii_case("true") => "true".into(),
        Some(b'f' | b'F') if text.eq_ignore_ascii_case("false") => "false".into(),
        _ => text.into(),
    }
}

/// The spelling of a category that is a number.
///
/// Plain digits within the range of 64-bit integers, so that whole numbers are
/// spelled alike in every type, and at most five zeros after the point; scientific
/// notation otherwise.
pub fn spelled_number<T: Display + LowerExp + Copy + Into<f64>>(number: T) -> String {
    const WIDEST: f64 = (1_u128 << 64) as f64;
    let size = number.into().abs();
    match size {
        0.0 => "0".into(),
        1e-5..WIDEST => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// A whole number without its fraction of zeros; anything else as it is.
fn whole(text: &str) -> &str {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (before, after) = match digits.split_once('.') {
        Some((before, after)) => (before, after),
        None => (digits, ""),
    };
    let has_digits = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = before.len() > 1 && before.starts_with('0');
    if !has_digits || is_code || !after.bytes().all(|byte| byte == b'0') {
        return text;
    }
    match before {
        "0" => "0",
        _ => &text[..text.len() - (digits.len() - before.len())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_spelled_alike_in_every_type() {
        for text in ["1", "1.0", "1.", "1.000"] {
            assert_eq!(spelled(text), "1", "{text}");
        }
        assert_eq!(spelled_number(1.0), "1");
        assert_eq!(spelled_number(1.0_f32), "1");
        for (text, expected) in [("-3.0", "-3"), ("-0.0", "0"), ("-0", "0"), ("0.0", "0"), ("10.0", "10")] {
            assert_eq!(spelled(text), expected);
            assert_eq!(spelled_number(text.parse::<f64>().unwrap()), expected);
        }
        let large = 9_007_199_254_740_992_i64;
        assert_eq!(spelled_number(large as f64), large.to_string());
        assert_eq!(spelled_number(u64::MAX as f64), "1.8446744073709552e19");
    }

    #[test]
    fn fractions_are_spelled_as_short_as_their_type_allows() {
        assert_eq!(spelled_number(0.1_f32), "0.1");
        assert_eq!(spelled_number(0.1), "0.1");
        assert_eq!(spelled_number(1e-300), "1e-300");
        assert_eq!(spelled_number(-2.5), "-2.5");
    }

    #[test]
    fn booleans_are_spelled_in_small_letters() {
        assert_eq!(["True", "FALSE", "true"].map(spelled), ["true", "false", "true"]);
    }

    #[test]
    fn text_that_is_not_a_plain_number_stays_as_it_is() {
        for text in
            ["", "-", ".0", "01", "007.0", "1.10", "1.5", "1e3", "1.0.0", "1.0 m", "+1", "-x", "Rome", "t"]
        {
            assert_eq!(spelled(text), text);
        }
    }
}
