//! The options of nearest neighbours.

use crate::how::How;
use crate::method::{Makes, Method};
use dshap::neighbours::{DEFAULT_K, DEFAULT_TOLERANCE, Metric, Scale};
use dshap_catalogue::options::{K, LISTS, METRIC, SAMPLES, SCALE, SEED, TOLERANCE};
use dshap_catalogue::{Given, OptionEntry};

/// Most reference rows that are test rows unless more are asked for: time grows
/// with the product of test rows and reference rows.
pub const DEFAULT_TESTS: usize = 10_000;

/// The options that a fit settles.
const OF_FIT: [&OptionEntry; 6] = [&METRIC, &SCALE, &SAMPLES, &SEED, &TOLERANCE, &LISTS];

/// All metrics.
pub(super) const METRICS: [Metric; 3] = [Metric::Euclidean, Metric::Manhattan, Metric::Cosine];

/// The options that a fit settles, without the others.
pub(super) fn of_fit(given: &Given) -> Given {
    given.only(|option| OF_FIT.iter().any(|own| own.name == option.name))
}

/// How far apart rows are with these options.
pub(super) fn metric(given: &Given) -> Metric {
    METRICS.into_iter().find(|metric| given.is(&METRIC, metric_word(*metric))).unwrap_or_default()
}

/// The units of columns with these options.
pub(super) fn scale(given: &Given) -> Scale {
    if given.is(&SCALE, scale_word(Scale::AsGiven)) { Scale::AsGiven } else { Scale::Standard }
}

/// The most reference rows that are test rows; if there are more, a sample is drawn.
pub(super) fn most_tests(given: &Given) -> usize {
    given.size(&SAMPLES).unwrap_or(DEFAULT_TESTS)
}

/// The seed of that sample.
pub(super) fn seed(given: &Given) -> u64 {
    given.count(&SEED).unwrap_or(0)
}

/// The share of all weight that the furthest rows may have together without counting.
pub(super) fn tolerance(given: &Given) -> f64 {
    given.number(&TOLERANCE).unwrap_or(DEFAULT_TOLERANCE)
}

/// Whether lists are saved with the valuer.
pub(super) fn saves_lists(given: &Given) -> bool {
    given.has(&LISTS)
}

/// Neighbours that are averaged over.
pub(super) fn k(how: &How) -> usize {
    how.given.size(&K).unwrap_or(DEFAULT_K)
}

/// Whether the reference is valued as a finite dataset.
pub(super) fn is_finite(method: &Method) -> bool {
    matches!(method.makes, Makes::Neighbours { finite: true })
}

/// A metric as a word.
pub(super) fn metric_word(metric: Metric) -> &'static str {
    match metric {
        Metric::Euclidean => "euclidean",
        Metric::Manhattan => "manhattan",
        Metric::Cosine => "cosine",
    }
}

/// How columns are made comparable, as a word.
pub(super) fn scale_word(scale: Scale) -> &'static str {
    match scale {
        Scale::Standard => "std",
        Scale::AsGiven => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_catalogue_are_metrics_and_scales() {
        for known in METRICS {
            let value = METRIC.parse(metric_word(known)).expect("a metric of the catalogue");
            assert_eq!(metric(&Given::new().with(&METRIC, value)), known);
        }
        for known in [Scale::Standard, Scale::AsGiven] {
            let value = SCALE.parse(scale_word(known)).expect("a scale of the catalogue");
            assert_eq!(scale(&Given::new().with(&SCALE, value)), known);
        }
        assert!(METRIC.parse("Euclidean").is_err());
    }

    #[test]
    fn nothing_given_is_what_core_does_by_default() {
        assert_eq!((metric(&Given::new()), scale(&Given::new())), (Metric::default(), Scale::default()));
    }
}
