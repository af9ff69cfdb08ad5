//! The options of a density estimate.

use crate::how::How;
use dshap::density::{Bandwidth, DensityOptions, Kernel, Scaling, Search};
use dshap_catalogue::options::{BANDWIDTH, EVERY_ROW, KERNEL, SAMPLES, SCALE, SEED};
use dshap_catalogue::{Given, OptionEntry, Value};

/// Most reference rows of a density estimate unless more are asked for: time grows
/// with the product of points and reference rows.
pub const DEFAULT_SAMPLES: usize = 20_000;

/// The same for the paper's Algorithm 5: its B.
pub const PAPER_SAMPLES: usize = 2_000;

/// The options that a fit settles.
const OF_FIT: [&OptionEntry; 6] = [&KERNEL, &BANDWIDTH, &SCALE, &EVERY_ROW, &SAMPLES, &SEED];

/// How a reference is smoothed with these options.
pub fn options(given: &Given) -> DensityOptions {
    let kernel = Kernel::ALL.into_iter().find(|kernel| given.is(&KERNEL, kernel.name()));
    DensityOptions {
        kernel: kernel.unwrap_or_default(),
        bandwidth: bandwidth(given),
        scaling: if given.is(&SCALE, "none") { Scaling::None } else { Scaling::Standard },
        search: if given.has(&EVERY_ROW) { Search::All } else { Search::Auto },
    }
}

/// How the bandwidth is found with these options.
fn bandwidth(given: &Given) -> Bandwidth {
    match given.value(&BANDWIDTH) {
        Some(Value::Number(bandwidth)) => Bandwidth::Given(*bandwidth),
        Some(Value::Word(word)) if word == "grid" => Bandwidth::Grid,
        Some(Value::Word(word)) if word == "scott" => Bandwidth::Scott,
        Some(Value::Word(word)) if word == "silverman" => Bandwidth::Silverman,
        _ => Bandwidth::CrossValidated,
    }
}

/// The options that the fit of a density settles, without the others.
pub(super) fn of_fit(given: &Given) -> Given {
    given.only(|option| OF_FIT.iter().any(|own| own.name == option.name))
}

/// The most reference rows; if there are more, a sample is drawn.
pub(super) fn most_rows(how: &How) -> usize {
    match how.value(&SAMPLES) {
        Some(Value::Count(count)) => usize::try_from(count).unwrap_or(usize::MAX),
        _ => DEFAULT_SAMPLES,
    }
}

/// How a bandwidth is found, as a word.
pub(super) fn bandwidth_word(bandwidth: Bandwidth) -> &'static str {
    match bandwidth {
        Bandwidth::CrossValidated => "cross-validated",
        Bandwidth::Grid => "grid",
        Bandwidth::Scott => "scott",
        Bandwidth::Silverman => "silverman",
        Bandwidth::Given(_) => "given",
    }
}

/// How columns are scaled, as a word.
pub(super) fn scale_word(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::Standard => "std",
        Scaling::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap::density::BANDWIDTH_RANGE;

    fn found(text: &str) -> Option<Bandwidth> {
        let value = BANDWIDTH.parse(text).ok()?;
        Some(bandwidth(&Given::new().with(&BANDWIDTH, value)))
    }

    #[test]
    fn bandwidths_are_words_or_numbers_in_range() {
        assert_eq!(found("auto"), Some(Bandwidth::CrossValidated));
        assert_eq!(found("grid"), Some(Bandwidth::Grid));
        assert_eq!(found("scott"), Some(Bandwidth::Scott));
        assert_eq!(found("silverman"), Some(Bandwidth::Silverman));
        assert_eq!(found("0.25"), Some(Bandwidth::Given(0.25)));
        for end in [BANDWIDTH_RANGE.start(), BANDWIDTH_RANGE.end()] {
            assert_eq!(found(&end.to_string()), Some(Bandwidth::Given(*end)));
        }
        for wrong in ["", "Auto", "0", "-1", "nan", "inf", "1e31"] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nothing_given_is_what_core_does_by_default() {
        assert_eq!(options(&Given::new()), DensityOptions::default());
    }

    #[test]
    fn every_word_of_an_option_means_something() {
        for kernel in Kernel::ALL {
            let value = KERNEL.parse(kernel.name()).expect("a kernel of the catalogue");
            assert_eq!(options(&Given::new().with(&KERNEL, value)).kernel, kernel);
        }
        for scaling in [Scaling::Standard, Scaling::None] {
            let value = SCALE.parse(scale_word(scaling)).expect("a scale of the catalogue");
            assert_eq!(options(&Given::new().with(&SCALE, value)).scaling, scaling);
        }
    }
}
