//! The value of an option, and what values an option takes.

use serde::Serialize;

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A switch that is on.
    On,
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// Several whole numbers.
    Counts(Vec<u64>),
    /// A word, a name or a label.
    Word(String),
    /// Several names.
    List(Vec<String>),
}

/// A word that an option takes, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// What it means, in a few words.
    pub means: &'static str,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// On or off.
    Switch,
    /// A finite number in a range.
    Number {
        /// The smallest number.
        least: f64,
        /// Whether the smallest number itself is out of range.
        above: bool,
        /// All numbers are below this.
        below: f64,
    },
    /// A whole number in a range.
    Count {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A whole number in a range, or several different ones, separated by commas on a
    /// command line.
    Counts {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// One of some words.
    Choice {
        /// The words.
        words: &'static [Word],
    },
    /// One of some words, or a number in a range.
    WordOrNumber {
        /// The words.
        words: &'static [Word],
        /// The smallest number.
        least: f64,
        /// The largest number.
        most: f64,
    },
    /// `gain`, `theorem`, or `full:C` with a number C.
    Constant,
    /// `shapley`, `banzhaf`, `at-m`, or `beta:A,B` with numbers A and B.
    Semivalue,
    /// A name or a label.
    Text,
    /// Names, separated by commas on a command line.
    Names,
    /// A file.
    File,
    /// Files, each given by an option of its own on a command line.
    Files,
    /// A number of bytes such as `512MB`.
    Bytes,
}

/// Any finite number of at least 0.
pub(crate) const FROM_ZERO: Kind = Kind::Number { least: 0.0, above: false, below: f64::INFINITY };

/// A share: from 0 to below 1.
pub(crate) const SHARE: Kind = Kind::Number { least: 0.0, above: false, below: 1.0 };

/// The most of counts that nothing else bounds: all whole numbers up to it are doubles.
const NO_BOUND: u64 = 1_000_000_000_000_000;

/// A number of rows or columns. Beyond the largest, sums of set sizes no longer
/// fit the numbers they are counted with.
pub(crate) const SIZE: Kind = Kind::Count { least: 1, most: NO_BOUND };

/// The same, or several of them.
pub(crate) const SIZES: Kind = Kind::Counts { least: 1, most: NO_BOUND };

impl Kind {
    /// The value that a text stands for, if it stands for one.
    pub fn parse(self, text: &str) -> Option<Value> {
        let number = || text.parse::<f64>().ok().map(Value::Number);
        let value = match self {
            Kind::Switch => return None,
            Kind::Number { .. } => number()?,
            Kind::Count { .. } => Value::Count(text.parse().ok()?),
            Kind::Counts { .. } if text.contains(',') => {
                Value::Counts(text.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?)
            }
            Kind::Counts { .. } => Value::Count(text.parse().ok()?),
            Kind::WordOrNumber { words, .. } if !words.iter().any(|word| word.word == text) => number()?,
            Kind::Choice { .. }
            | Kind::WordOrNumber { .. }
            | Kind::Constant
            | Kind::Semivalue
            | Kind::Text
            | Kind::File => Value::Word(text.into()),
            Kind::Names | Kind::Files => Value::List(text.split(',').map(String::from).collect()),
            Kind::Bytes => Value::Count(bytes(text)?),
        };
        self.accepts(&value).then_some(value)
    }

    /// Whether a value is one that the option takes.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Switch, Value::On) => true,
            (Kind::Number { least, above, below }, Value::Number(number)) => {
                number.is_finite() && *number >= least && !(above && *number == least) && *number < below
            }
            (Kind::Count { least, most } | Kind::Counts { least, most }, Value::Count(count)) => {
                (least..=most).contains(count)
            }
            (Kind::Counts { least, most }, Value::Counts(counts)) => {
                let is_new = |(i, count): (usize, &u64)| !counts[..i].contains(count);
                let mut each = counts.iter().enumerate();
                counts.len() > 1
                    && each.all(|(i, count)| (least..=most).contains(count) && is_new((i, count)))
            }
            (Kind::Choice { words } | Kind::WordOrNumber { words, .. }, Value::Word(word)) => {
                words.iter().any(|have| have.word == word)
            }
            (Kind::WordOrNumber { least, most, .. }, Value::Number(number)) => {
                (least..=most).contains(number)
            }
            (Kind::Constant, Value::Word(word)) => is_constant(word),
            (Kind::Semivalue, Value::Word(word)) => is_semivalue(word),
            (Kind::Text | Kind::File, Value::Word(_)) => true,
            (Kind::Names | Kind::Files, Value::List(_)) => true,
            (Kind::Bytes, Value::Count(bytes)) => *bytes > 0,
            _ => false,
        }
    }

    /// What a value has to be, as in "expected …".
    pub fn expected(self) -> String {
        let listed = |words: &[Word]| words.iter().map(|word| word.word).collect::<Vec<_>>().join(", ");
        match self {
            Kind::Switch => "true or false".into(),
            Kind::Number { least, above: true, below } if below.is_finite() => {
                format!("a number above {least} and below {below}")
            }
            Kind::Number { least, above: true, .. } => format!("a number above {least}"),
            Kind::Number { least, below, .. } if below.is_finite() => {
                format!("a number from {least} to below {below}")
            }
            Kind::Number { least, .. } => format!("a number of at least {least}"),
            Kind::Count { least, most } if most >= NO_BOUND => format!("a whole number of at least {least}"),
            Kind::Count { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Counts { least, most } if most >= NO_BOUND => {
                format!("a whole number of at least {least}, or several different ones")
            }
            Kind::Counts { least, most } => {
                format!("a whole number from {least} to {most}, or several different ones")
            }
            Kind::Choice { words } => format!("one of {}", listed(words)),
            Kind::WordOrNumber { words, least, most } if most < f64::MAX => {
                format!("{} or a number from {least:e} to {most:e}", listed(words))
            }
            Kind::WordOrNumber { words, least: 0.0, .. } => {
                format!("{} or a number of at least 0", listed(words))
            }
            Kind::WordOrNumber { words, .. } => format!("{} or a number", listed(words)),
            Kind::Constant => "gain, theorem, or full:C with a number C, such as full:2.5".into(),
            Kind::Semivalue => {
                "shapley, banzhaf, at-m, or beta:A,B with numbers from 0.001 to 1000, such as beta:1,16"
                    .into()
            }
            Kind::Text => "a name".into(),
            Kind::Names => "names".into(),
            Kind::File => "the name of a file".into(),
            Kind::Files => "names of files".into(),
            Kind::Bytes => "a size such as 512MB, 4GB or 2GiB".into(),
        }
    }
}

/// `gain`, `theorem` or `full:C`.
fn is_constant(word: &str) -> bool {
    let number = word.strip_prefix("full:").map(str::parse::<f64>);
    matches!(word, "gain" | "theorem") || matches!(number, Some(Ok(c)) if c.is_finite())
}

/// `shapley`, `banzhaf`, `at-m` or `beta:A,B`.
fn is_semivalue(word: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().is_ok_and(|number| (1e-3..=1e3).contains(&number));
    let beta = word.strip_prefix("beta:").and_then(|rest| rest.split_once(','));
    matches!(word, "shapley" | "banzhaf" | "at-m" | "loo")
        || beta.is_some_and(|(alpha, beta)| number(alpha) && number(beta))
}

/// A number of bytes: `512MB`, `4GiB`, `1.5 GB`, `800k`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit: f64 = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number * unit;
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

/// An option, alone or with a value, by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The option.
    pub option: &'static str,
    /// Its value, where the value matters.
    pub value: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes("512MB"), Some(512_000_000));
        assert_eq!(bytes("1.5 GiB"), Some(1_610_612_736));
        assert_eq!(bytes("800k"), Some(800_000));
        assert_eq!(bytes("4096"), Some(4096));
        for wrong in ["", "MB", "-1GB", "1XB", "0", "1e3", "nan", "9999999999TB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert_eq!(FROM_ZERO.parse("0.5"), Some(Value::Number(0.5)));
        assert_eq!(SHARE.parse("0"), Some(Value::Number(0.0)));
        assert_eq!(SIZE.parse("7"), Some(Value::Count(7)));
        for wrong in ["-1", "nan", "inf", "x", ""] {
            assert_eq!(FROM_ZERO.parse(wrong), None, "{wrong}");
        }
        assert_eq!(SHARE.parse("1"), None);
        assert_eq!(SIZE.parse("0"), None);
        let above = Kind::Number { least: 0.0, above: true, below: f64::INFINITY };
        assert_eq!((above.parse("0"), above.parse("1e-9")), (None, Some(Value::Number(1e-9))));
    }

    #[test]
    fn sizes_are_one_number_or_several_different_ones() {
        assert_eq!(SIZES.parse("7"), Some(Value::Count(7)));
        assert_eq!(SIZES.parse("100,1000, 10"), Some(Value::Counts(vec![100, 1000, 10])));
        for wrong in ["", "0", "7,", ",7", "7,7", "7,0", "7;8", "7,x", "1,1000000000000001"] {
            assert_eq!(SIZES.parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn semivalues_are_words_or_beta_with_two_numbers() {
        for right in ["shapley", "banzhaf", "at-m", "loo", "beta:1,16", "beta:0.5,0.5"] {
            assert_eq!(Kind::Semivalue.parse(right), Some(Value::Word(right.into())), "{right}");
        }
        for wrong in ["", "beta", "beta:1", "beta:0,1", "beta:1,2,3", "beta:1,x", "beta:1,inf"] {
            assert_eq!(Kind::Semivalue.parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn constants_are_words_or_full_with_a_number() {
        for right in ["gain", "theorem", "full:2.5", "full:-1"] {
            assert_eq!(Kind::Constant.parse(right), Some(Value::Word(right.into())), "{right}");
        }
        for wrong in ["", "Gain", "full", "full:", "full:x", "full:inf"] {
            assert_eq!(Kind::Constant.parse(wrong), None, "{wrong}");
        }
    }
}
