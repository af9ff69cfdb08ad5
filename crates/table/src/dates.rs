//! Dates as numbers.

use serde::{Deserialize, Serialize};

/// How dates become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatesAs {
    /// Days since 1970-01-01, with the time of day as a fraction.
    Days,
    /// Year, month, weekday (Monday is 0), and the hour if there are times of day.
    Parts,
}

impl DatesAs {
    /// What is behind the name of the feature in the names of its columns.
    pub(crate) fn suffixes(self, has_hour: bool) -> &'static [&'static str] {
        match (self, has_hour) {
            (DatesAs::Days, _) => &[""],
            (DatesAs::Parts, false) => &[".year", ".month", ".weekday"],
            (DatesAs::Parts, true) => &[".year", ".month", ".weekday", ".hour"],
        }
    }

    /// How many columns a date becomes.
    pub fn n_columns(self, has_hour: bool) -> usize {
        self.suffixes(has_hour).len()
    }

    /// The numbers for a date, of which the last is left out if there are no times of day.
    pub(crate) fn numbers(self, days: f64) -> [f64; 4] {
        match self {
            DatesAs::Days => [days, 0.0, 0.0, 0.0],
            DatesAs::Parts => {
                let (year, month, _) = civil(days.floor() as i64);
                // 1970-01-01 was a Thursday.
                let weekday = (days.floor() as i64 + 3).rem_euclid(7);
                [year as f64, f64::from(month), weekday as f64, 24.0 * (days - days.floor())]
            }
        }
    }
}

/// Days since 1970-01-01 of a date such as `2024-01-31`, `2024/1/31` or `2024-01-31T10:00:00Z`, or
/// the share of a day of a time such as `10:30`; none if the text is neither.
pub fn days_of(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let separator = if text.contains('/') { '/' } else { '-' };
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None if text.contains(':') => ("", Some(text)),
        None => (text, None),
    };
    let days = if date.is_empty() { 0 } else { date_days(date, separator)? };
    Some(days as f64 + time.map_or(Some(0.0), time_share)?)
}

fn date_days(date: &str, separator: char) -> Option<i64> {
    let mut fields = date.split(separator);
    let mut next = |fewest: usize, most: usize| {
        let field = fields.next()?;
        let is_whole = field.bytes().all(|byte| byte.is_ascii_digit());
        (is_whole && (fewest..=most).contains(&field.len())).then(|| field.parse::<i64>().ok()).flatten()
    };
    let (year, month, day) = (next(4, 4)?, next(1, 2)?, next(1, 2)?);
    let is_date = fields.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    let next_month = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    // The 31st of a shorter month would be a day of the next.
    let days = is_date.then(|| days_from_civil(year, month, day))?;
    (days < days_from_civil(next_month.0, next_month.1, 1)).then_some(days)
}

/// The share of a day of a time of day, less its offset.
fn time_share(time: &str) -> Option<f64> {
    let time = time.trim();
    let (clock, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0.0),
        None => match time.rfind(['+', '-']) {
            Some(at) => {
                let sign = if time.as_bytes()[at] == b'-' { -1.0 } else { 1.0 };
                (&time[..at], sign * offset_seconds(&time[at + 1..])?)
            }
            None => (time, 0.0),
        },
    };
    let mut fields = clock.trim_end().split(':');
    let hours: f64 = fields.next()?.parse().ok()?;
    let minutes: f64 = fields.next()?.parse().ok()?;
    let seconds: f64 = fields.next().map_or(Some(0.0), |seconds| seconds.parse().ok())?;
    let is_time = fields.next().is_none() && hours <= 24.0 && minutes < 60.0 && seconds <= 60.0;
    is_time.then_some((3600.0 * hours + 60.0 * minutes + seconds - offset) / 86_400.0)
}

/// An offset such as `01:00`, `0100` or `01`.
fn offset_seconds(offset: &str) -> Option<f64> {
    let digits: String = offset.chars().filter(|c| *c != ':').collect();
    let number: f64 = digits.parse().ok().filter(|_| digits.len() == 2 || digits.len() == 4)?;
    Some(match digits.len() {
        2 => 3600.0 * number,
        _ => 3600.0 * (number / 100.0).floor() + 60.0 * (number % 100.0),
    })
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap
/// day is the last of its year; 400 years have 146 097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u8, day as u8)
}

/// The date of a number of days since 1970-01-01, as text.
pub fn date_text(days: f64) -> String {
    let (year, month, day) = civil(days.floor() as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-03-01", 11_017.0),
            ("2024/2/29", 19_782.0),
            ("2024-02-29T12:00:00Z", 19_782.5),
            ("2024-02-29 13:00+01:00", 19_782.5),
            ("1900-01-01", -25_567.0),
            ("06:00", 0.25),
        ] {
            assert_eq!(days_of(text), Some(days), "{text}");
        }
        for text in [
            "red",
            "2024",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-04-31",
            "2024-01-00",
            "31.01.2024",
            "2024-01-31x",
            "10:61",
        ] {
            assert_eq!(days_of(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_found_again() {
        for days in -150_000..150_000 {
            let text = date_text(f64::from(days));
            assert_eq!(days_of(&text), Some(f64::from(days)), "{text}");
        }
    }

    #[test]
    fn parts_are_year_month_weekday_and_hour() {
        // A Thursday.
        let days = days_of("2024-02-29T18:00").expect("a date");
        assert_eq!(DatesAs::Parts.numbers(days), [2024.0, 2.0, 3.0, 18.0]);
        assert_eq!(DatesAs::Days.numbers(days)[0], days);
    }
}
