//! What one cell means.

use std::borrow::Cow;

/// A cell read as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Value(f64),
    Missing,
    NotFinite,
    /// Not a number.
    Other,
}

/// A cell read as true or false.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Boolean {
    Value(bool),
    Missing,
    /// Neither true nor false.
    Other,
}

/// Texts that stand for a missing value, in capitals or not. An empty cell is
/// missing too.
const MISSING: [&str; 7] = ["NA", "N/A", "#N/A", "NaN", "NULL", "None", "?"];

/// Reads a number, correctly rounded, ignoring blanks around it.
#[inline]
pub(crate) fn number(cell: &[u8]) -> Number {
    let cell = cell.trim_ascii();
    // The same numbers as the standard library reads, in about half the time.
    let Ok(value) = fast_float2::parse::<f64, _>(cell) else {
        return if is_missing(cell) { Number::Missing } else { Number::Other };
    };
    if value.is_finite() {
        Number::Value(value)
    } else if value.is_nan() {
        // Signed NaN too, which C programs print.
        Number::Missing
    } else {
        Number::NotFinite
    }
}

/// As [`number`], of a text whose numbers have a decimal comma if `decimal_comma`. A cell
/// with a point is not a number then: in `1.234` it separates thousands.
#[inline]
pub(crate) fn number_with(cell: &[u8], decimal_comma: bool) -> Number {
    if !decimal_comma { number(cell) } else { number_with_comma(cell) }
}

/// A text that is a number with a decimal comma, with a point instead. A category has one
/// spelling, whatever file it comes from.
pub(crate) fn with_point(text: &[u8], decimal_comma: bool) -> Cow<'_, [u8]> {
    match memchr::memchr(b',', text) {
        Some(comma) if decimal_comma && matches!(number_with_comma(text), Number::Value(_)) => {
            let mut plain = text.to_vec();
            plain[comma] = b'.';
            Cow::Owned(plain)
        }
        _ => Cow::Borrowed(text),
    }
}

fn number_with_comma(cell: &[u8]) -> Number {
    /// No number that is worth reading is longer.
    const MAX_BYTES: usize = 1100;
    let cell = cell.trim_ascii();
    if memchr::memchr(b'.', cell).is_some() {
        return Number::Other;
    }
    match memchr::memchr(b',', cell) {
        None => number(cell),
        Some(_) if cell.len() > MAX_BYTES => Number::Other,
        Some(comma) => {
            let mut plain = cell.to_vec();
            plain[comma] = b'.';
            match number(&plain) {
                // `,` alone is no number; `NA` and the like have no comma.
                Number::Missing => Number::Other,
                number => number,
            }
        }
    }
}

/// Whether a whole number may have been rounded to `value`: doubles hold every whole
/// number up to 2^53.
#[inline]
pub(crate) fn may_be_rounded(value: f64) -> bool {
    value.abs() >= (1_u64 << 53) as f64
}

/// Whether a cell is a whole number that was rounded to `value`.
#[inline]
pub(crate) fn is_rounded(cell: &[u8], value: f64) -> bool {
    may_be_rounded(value) && {
        let text = std::str::from_utf8(cell.trim_ascii()).unwrap_or_default();
        text.parse::<i128>().is_ok_and(|exact| exact != value as i128)
    }
}

/// Reads true and false, in capitals or not, and 1 and 0.
pub(crate) fn boolean(cell: &[u8]) -> Boolean {
    let cell = cell.trim_ascii();
    if cell.eq_ignore_ascii_case(b"true") {
        return Boolean::Value(true);
    }
    if cell.eq_ignore_ascii_case(b"false") {
        return Boolean::Value(false);
    }
    match number(cell) {
        Number::Value(0.0) => Boolean::Value(false),
        Number::Value(1.0) => Boolean::Value(true),
        Number::Missing => Boolean::Missing,
        _ => Boolean::Other,
    }
}

/// Whether a cell without quotes and without blanks around it is missing.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || MISSING.iter().any(|marker| cell.eq_ignore_ascii_case(marker.as_bytes()))
}

/// Whether a cell looks like an ISO date, a time of day, or both.
pub(crate) fn is_date(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    match after_date(cell) {
        Some(rest) => match rest.split_first() {
            None => true,
            Some((b'T' | b't' | b' ', time)) => is_time(time),
            Some(_) => false,
        },
        None => is_time(cell),
    }
}

/// What follows `2024-01-31` or `2024/1/31`.
fn after_date(cell: &[u8]) -> Option<&[u8]> {
    let (_, rest) = digits(cell, 4, 4, 9999)?;
    let (&separator, rest) = rest.split_first()?;
    if separator != b'-' && separator != b'/' {
        return None;
    }
    let (month, rest) = digits(rest, 1, 2, 12)?;
    let rest = rest.strip_prefix(&[separator])?;
    let (day, rest) = digits(rest, 1, 2, 31)?;
    (month > 0 && day > 0).then_some(rest)
}

/// `10:00` or `10:00:00.5`, optionally followed by `Z` or an offset such as `+01:00`.
fn is_time(cell: &[u8]) -> bool {
    fn clock(cell: &[u8]) -> Option<&[u8]> {
        let (_, rest) = digits(cell, 1, 2, 24)?;
        let (_, rest) = digits(rest.strip_prefix(b":")?, 2, 2, 59)?;
        let Some(seconds) = rest.strip_prefix(b":") else {
            return Some(rest);
        };
        let (_, rest) = digits(seconds, 2, 2, 60)?;
        let Some(fraction) = rest.strip_prefix(b".") else {
            return Some(rest);
        };
        let n_digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        (n_digits > 0).then(|| &fraction[n_digits..])
    }
    let Some(rest) = clock(cell) else {
        return false;
    };
    match rest.trim_ascii_start().split_first() {
        None | Some((b'Z' | b'z', [])) => true,
        Some((b'+' | b'-', zone)) => match digits(zone, 2, 2, 24) {
            Some((_, [])) => true,
            Some((_, rest)) => {
                let minutes = rest.strip_prefix(b":").unwrap_or(rest);
                matches!(digits(minutes, 2, 2, 59), Some((_, [])))
            }
            None => false,
        },
        Some(_) => false,
    }
}

/// A number of `least` to `most` digits, at most `limit`, and what follows it.
fn digits(cell: &[u8], least: usize, most: usize, limit: u32) -> Option<(u32, &[u8])> {
    let n_digits = cell.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if n_digits < least {
        return None;
    }
    let (number, rest) = cell.split_at(n_digits);
    let value = number.iter().fold(0, |value, digit| 10 * value + u32::from(digit - b'0'));
    (value <= limit).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        for (text, expected) in [
            ("0.1", 0.1),
            (" 1 ", 1.0),
            ("+5", 5.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-0", -0.0),
            ("1e-3", 0.001),
            ("1E5", 1e5),
            // Halfway cases and the ends of the range, which a sloppy reader misses.
            ("9007199254740993", 9007199254740992.0),
            ("2.2250738585072011e-308", f64::from_bits(0x000f_ffff_ffff_ffff)),
            ("5e-324", f64::from_bits(1)),
            ("1.7976931348623157e308", f64::MAX),
            ("1e-999", 0.0),
        ] {
            match number(text.as_bytes()) {
                Number::Value(value) => {
                    assert_eq!(value.to_bits(), f64::to_bits(expected), "{text}");
                }
                other => panic!("{text} is read as {other:?}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(
            written in "[+-]?(0|[0-9]{0,22})?[.]?[0-9]{0,22}([eE][+-]?[0-9]{0,3})?|[+-]?(inf|nan|Infinity|0x1|1_0|e5)",
            bits in proptest::num::u64::ANY,
        ) {
            for text in [written, f64::from_bits(bits).to_string(), format!("{:e}", f64::from_bits(bits))] {
                let expected = text.parse::<f64>();
                match number(text.as_bytes()) {
                    Number::Value(value) => {
                        let expected = expected.expect("is a number to both");
                        proptest::prop_assert_eq!(value.to_bits(), expected.to_bits(), "{}", text);
                    }
                    Number::NotFinite => proptest::prop_assert!(expected.is_ok_and(f64::is_infinite), "{}", text),
                    Number::Missing => {
                        proptest::prop_assert!(text.is_empty() || expected.is_ok_and(f64::is_nan), "{}", text);
                    }
                    Number::Other => proptest::prop_assert!(expected.is_err(), "{}", text),
                }
            }
        }
    }

    #[test]
    fn cells_that_are_not_numbers_are_told_apart() {
        use Number::{Missing, NotFinite, Other};
        for (text, expected) in [
            ("", Missing),
            ("  ", Missing),
            ("NA", Missing),
            ("n/a", Missing),
            ("nan", Missing),
            ("-NaN", Missing),
            ("Null", Missing),
            ("none", Missing),
            ("?", Missing),
            ("inf", NotFinite),
            ("-Infinity", NotFinite),
            ("1e999", NotFinite),
            ("1,5", Other),
            ("1_000", Other),
            ("0x10", Other),
            ("--1", Other),
            ("1 2", Other),
            ("abc", Other),
            ("-", Other),
            ("\u{2212}5", Other),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(number(b"\xff"), Other);
    }

    #[test]
    fn with_a_decimal_comma_points_are_not_part_of_numbers() {
        use Number::{Missing, NotFinite, Other, Value};
        for (text, expected) in [
            ("1,5", Value(1.5)),
            (" -0,25 ", Value(-0.25)),
            (",5", Value(0.5)),
            ("5,", Value(5.0)),
            ("1,5e3", Value(1500.0)),
            ("7", Value(7.0)),
            ("", Missing),
            ("NA", Missing),
            ("inf", NotFinite),
            ("1.5", Other),
            ("1.234,5", Other),
            ("1,234,5", Other),
            (",", Other),
            ("x", Other),
        ] {
            assert_eq!(number_with(text.as_bytes(), true), expected, "{text:?}");
        }
        assert_eq!((number_with(b"1,5", false), number_with(b"1.5", false)), (Other, Value(1.5)));
        assert_eq!(number_with(format!("1,{}", "1".repeat(2000)).as_bytes(), true), Other);
    }

    #[test]
    fn booleans_are_words_or_zero_and_one() {
        for (text, expected) in [
            ("True", Boolean::Value(true)),
            ("FALSE", Boolean::Value(false)),
            ("1", Boolean::Value(true)),
            ("0.0", Boolean::Value(false)),
            ("NA", Boolean::Missing),
            ("yes", Boolean::Other),
            ("2", Boolean::Other),
            ("inf", Boolean::Other),
        ] {
            assert_eq!(boolean(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn dates_are_iso_dates_and_times() {
        for text in [
            "2024-01-31",
            "2024/1/31",
            "2024-01-31T10:00:00",
            "2024-01-31 10:00:00.125Z",
            "2024-01-31T10:00:00+01:00",
            "2024-01-31T10:00:00-0530",
            "10:30",
            "23:59:59.9",
        ] {
            assert!(is_date(text.as_bytes()), "{text}");
        }
        for text in [
            "2024",
            "2024-01",
            "2024-13-01",
            "2024-01-00",
            "2024-01/31",
            "31.01.2024",
            "1:2",
            "10:61",
            "2024-01-31x",
            "2024-01-31T",
            "10:30 pm",
            "",
            "3-4",
        ] {
            assert!(!is_date(text.as_bytes()), "{text}");
        }
    }
}
