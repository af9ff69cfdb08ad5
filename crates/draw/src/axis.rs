//! From numbers to positions: ranges, ticks and their labels.

/// Approximate number of ticks on a linear axis.
const WANTED_TICKS: f64 = 6.0;

/// Room beyond the data, as a share of their range: enough for a mark.
const MARGIN: f64 = 0.04;

/// A range of numbers and how they are spread over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    /// The scale that shows all of `numbers`; those that cannot be shown are ignored.
    pub(crate) fn of(numbers: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        let shown = numbers.filter(|number| number.is_finite() && (!logarithmic || *number > 0.0));
        let (low, high) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Self { low: if logarithmic { 0.1 } else { 0.0 }, high: 1.0, logarithmic };
        }
        if logarithmic {
            // A single number has a decade to itself.
            let widen = if high / low < 1.01 { 3.0 } else { (high / low).powf(MARGIN).max(1.15) };
            return Self { low: low / widen, high: high * widen, logarithmic };
        }
        // Smaller differences are rounding of the numbers themselves.
        let least = 1e-9 * low.abs().max(high.abs()).max(1e-300);
        let room = if high - low > least { MARGIN * (high - low) } else { low.abs().max(1.0) * 0.5 };
        Self { low: low - room, high: high + room, logarithmic }
    }

    /// The position of `number` between the ends, which are 0 and 1.
    pub(crate) fn place(&self, number: f64) -> Option<f64> {
        if !number.is_finite() || (self.logarithmic && number <= 0.0) {
            return None;
        }
        let place = if self.logarithmic {
            (number / self.low).ln() / (self.high / self.low).ln()
        } else {
            (number - self.low) / (self.high - self.low)
        };
        Some(place)
    }

    /// The lower end, where bands that reach below a logarithmic axis end.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// Round numbers within the range, and their labels.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        if self.logarithmic { self.log_ticks() } else { self.linear_ticks() }
    }

    fn linear_ticks(&self) -> Vec<(f64, String)> {
        let raw = (self.high - self.low) / WANTED_TICKS;
        let power = 10_f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= raw * 0.99);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|i| (i as f64 * step, linear_label(i, step, self.low, self.high))).collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
        if last - first < 1 {
            let within = |digits: &[f64]| -> Vec<(f64, String)> {
                let all = (first - 1..=last + 1).flat_map(|e| digits.iter().map(move |d| d * 10_f64.powi(e)));
                all.filter(|t| (self.low..=self.high).contains(t)).map(|t| (t, plain(t))).collect()
            };
            // One label shows where an axis is, two show its scale.
            let tries = [within(&[1.0, 2.0, 5.0]), within(&[1.0, 2.0, 3.0, 4.0, 6.0, 8.0])];
            return tries.into_iter().find(|ticks| ticks.len() > 1).unwrap_or_else(|| self.linear_ticks());
        }
        let stride = ((last - first) / 6 + 1).max(1);
        (first..=last).filter(|e| (e - first) % stride == 0).map(|e| (10_f64.powi(e), decade(e))).collect()
    }
}

fn linear_label(i: i64, step: f64, low: f64, high: f64) -> String {
    let largest = low.abs().max(high.abs());
    if i == 0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&largest) {
        let exponent = largest.log10().floor() as i32;
        let decimals = decimals_of(step / 10_f64.powi(exponent));
        return format!("{:.decimals$}·10{}", i as f64 * step / 10_f64.powi(exponent), superscript(exponent))
            .replace('-', "−");
    }
    format!("{:.*}", decimals_of(step), i as f64 * step).replace('-', "−")
}

/// Decimals that a step of 1, 2 or 5 times a power of ten needs.
fn decimals_of(step: f64) -> usize {
    (-(step * 1.000_001).log10().floor()).max(0.0) as usize
}

fn decade(exponent: i32) -> String {
    match exponent {
        -2..=4 => plain(10_f64.powi(exponent)),
        _ => format!("10{}", superscript(exponent)),
    }
}

fn plain(number: f64) -> String {
    format!("{:.*}", decimals_of(number), number)
}

fn superscript(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |digit| digits[digit as usize]);
    exponent.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(numbers: &[f64], logarithmic: bool) -> Vec<String> {
        Scale::of(numbers.iter().copied(), logarithmic).ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(labels(&[0.0, 50.0], false), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels(&[-0.3, 0.1], false), ["−0.3", "−0.2", "−0.1", "0", "0.1"]);
        assert_eq!(labels(&[0.0, 2.4e-5], false), ["0", "0.5·10⁻⁵", "1.0·10⁻⁵", "1.5·10⁻⁵", "2.0·10⁻⁵"]);
    }

    #[test]
    fn decades_are_labelled_and_short_ranges_divided() {
        assert_eq!(labels(&[1e-6, 1.0], true), ["10⁻⁶", "10⁻⁴", "0.01", "1"]);
        assert_eq!(labels(&[100.0, 400.0], true), ["100", "200"]);
    }

    #[test]
    fn a_logarithmic_axis_has_at_least_two_labels() {
        assert_eq!(labels(&[0.0007, 0.0016], true), ["0.0008", "0.001"]);
        assert_eq!(labels(&[0.0025, 0.004], true), ["0.003", "0.004"]);
        assert_eq!(labels(&[0.71, 0.72], true), ["0.65", "0.70", "0.75", "0.80"]);
        for step in 0..200 {
            let low = 10_f64.powf(-3.0 + 0.01 * f64::from(step));
            for ratio in [1.005, 1.5, 3.0, 9.0, 15.0, 1e5] {
                assert!(labels(&[low, ratio * low], true).len() >= 2, "{low} to {}", ratio * low);
            }
        }
    }

    #[test]
    fn there_is_room_for_marks_at_both_ends() {
        for (numbers, logarithmic) in [([1e-6, 1e3], true), ([1.0, 2.0], true), ([0.0, 50.0], false)] {
            let scale = Scale::of(numbers.into_iter(), logarithmic);
            // Marks have a radius of 3, charts a height of 168: less than 0.018.
            assert!(scale.place(numbers[0]).is_some_and(|place| place > 0.03));
            assert!(scale.place(numbers[1]).is_some_and(|place| place < 0.97));
        }
    }

    #[test]
    fn numbers_that_cannot_be_shown_are_ignored() {
        let scale = Scale::of([f64::NAN, -1.0, 10.0, 1000.0].into_iter(), true);
        assert_eq!(scale.place(-1.0), None);
        assert!(scale.place(10.0).is_some_and(|place| place > 0.0 && place < 0.1));
        assert_eq!(Scale::of(std::iter::empty(), false).place(0.5), Some(0.5));
    }
}
