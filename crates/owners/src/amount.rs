//! Amounts of money: decimal numbers, exactly.

/// A decimal number: `digits / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    digits: i128,
    scale: u32,
}

impl Amount {
    /// The number that a person typed, by its shortest decimal digits: 0.01 is one
    /// hundredth, whatever the double closest to it is.
    pub(crate) fn of(number: f64) -> Option<Self> {
        let text = format!("{number}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, scale: u32::try_from(fraction.len()).ok()? })
    }

    /// How many times `unit` it is, if that is a whole number.
    pub(crate) fn in_units(self, unit: Self) -> Option<u64> {
        let scale = self.scale.max(unit.scale);
        let [whole, part] =
            [self, unit].map(|amount| amount.digits.checked_mul(10_i128.checked_pow(scale - amount.scale)?));
        let (whole, part) = (whole?, part.filter(|part| *part > 0)?);
        (whole % part == 0).then(|| u64::try_from(whole / part).ok()).flatten()
    }

    /// So many times this amount, in plain digits.
    pub(crate) fn times(self, n: i64) -> String {
        let product = self.digits.saturating_mul(i128::from(n));
        let sign = if product < 0 { "-" } else { "" };
        let digits = format!("{:0>width$}", product.unsigned_abs(), width = self.scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale as usize);
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(amount: f64, unit: f64) -> Option<u64> {
        Amount::of(amount)?.in_units(Amount::of(unit)?)
    }

    #[test]
    fn amounts_are_decimal() {
        assert_eq!(units(100_000.0, 0.01), Some(10_000_000));
        assert_eq!(units(0.3, 0.1), Some(3));
        assert_eq!(units(1.005, 0.01), None);
        assert_eq!(units(7.5, 2.5), Some(3));
        assert_eq!(units(1e300, 1e-300), None);
    }

    #[test]
    fn units_are_written_out() {
        let times = |unit: f64, n: i64| Amount::of(unit).map(|unit| unit.times(n));
        assert_eq!(times(0.01, 3_333_333).as_deref(), Some("33333.33"));
        assert_eq!(times(0.01, -5).as_deref(), Some("-0.05"));
        assert_eq!(times(5.0, 7).as_deref(), Some("35"));
        assert_eq!(times(0.01, 0).as_deref(), Some("0.00"));
    }
}
