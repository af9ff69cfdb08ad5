//! Summaries: tables in Markdown, and numbers as text.

/// A table being written.
#[derive(Debug)]
pub(crate) struct MarkdownTable {
    text: String,
}

impl MarkdownTable {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let rule = vec!["---"; headings.len()].join("|");
        Self { text: format!("| {} |\n|{rule}|\n", headings.join(" | ")) }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.text += &format!("| {} |\n", cells.join(" | "));
    }

    /// The table, with a blank line after it.
    pub(crate) fn finish(self) -> String {
        self.text + "\n"
    }
}

/// A number with three significant digits.
pub(crate) fn short(number: f64) -> String {
    if !number.is_finite() {
        return "–".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-4..6).contains(&exponent) {
        return format!("{number:.2e}").replace('-', "−");
    }
    format!("{:.*}", (2 - exponent).max(0) as usize, number).replace('-', "−")
}

/// A mean and its standard error, with decimals that follow the error.
pub(crate) fn with_error(mean: f64, std_error: f64) -> String {
    if !std_error.is_finite() || std_error <= 0.0 {
        return short(mean);
    }
    let decimals = (1 - std_error.log10().floor() as i32).max(0) as usize;
    format!("{mean:.decimals$} ± {std_error:.decimals$}").replace('-', "−")
}

/// A number of repetitions, in words.
pub(crate) fn repetitions(n: usize) -> String {
    if n == 1 { "1 repetition".into() } else { format!("{n} repetitions") }
}

/// A ratio with one decimal.
pub(crate) fn tenths(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.1}").replace('-', "−") } else { "–".into() }
}

/// A time with its unit.
pub(crate) fn seconds(time: f64) -> String {
    if !time.is_finite() {
        "–".into()
    } else if time < 1e-3 {
        format!("{} µs", short(time * 1e6))
    } else if time < 1.0 {
        format!("{} ms", short(time * 1e3))
    } else {
        format!("{} s", short(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_errors_set_decimals() {
        assert_eq!(short(0.000_312_345), "0.000312");
        assert_eq!(short(-1234.5), "−1234");
        assert_eq!(short(3.0e-7), "3.00e−7");
        assert_eq!(with_error(1.234_56, 0.012), "1.235 ± 0.012");
        assert_eq!(with_error(-12.3, 4.0), "−12.3 ± 4.0");
        assert_eq!((tenths(-2.345), tenths(f64::NAN)), ("−2.3".into(), "–".into()));
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(f64::NAN), "–");
    }

    #[test]
    fn a_table_has_a_rule() {
        let mut table = MarkdownTable::new(&["a", "b"]);
        table.row(&["1".into(), "2".into()]);
        assert_eq!(table.finish(), "| a | b |\n|---|---|\n| 1 | 2 |\n\n");
    }
}
