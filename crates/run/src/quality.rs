//! How well a model predicts rows left out, and which values stand out: what is tallied while
//! values are handed over.

use dshap::{Part, Values};
use serde::Serialize;

/// Probabilities below this one count as this one, so that one row cannot cost all.
const LEAST_PROBABILITY: f64 = 1e-15;

/// Values this many quartile ranges below the first quartile stand out.
const FENCE: f64 = 1.5;

/// Standard errors that a value must stand out beyond.
const ERRORS: f64 = 2.0;

/// Parts of a histogram.
pub(crate) const BINS: usize = 32;

/// The number that a share of the sorted numbers lies below, as NumPy has it; NaN if there are none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    if part == 0.0 {
        return sorted[low];
    }
    // Not as a difference, which could overflow.
    (1.0 - part) * sorted[low] + part * sorted[(low + 1).min(last)]
}

/// How well labels of rows left out are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelQuality {
    /// Share of rows whose most probable label is the one they have.
    pub accuracy: f64,
    /// The same for always predicting the most frequent label.
    pub constant_accuracy: f64,
    /// Mean of −log of the probability of their label.
    pub log_loss: f64,
    /// The same for predicting the shares of the labels.
    pub constant_log_loss: f64,
    /// Two labels: how often a row of the positive one has the higher probability of two rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
}

/// How many values stand out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StandingOut {
    /// Rows whose value is far below the others: more than 1.5 quartile ranges below the first
    /// quartile.
    pub n_rows: u64,
    /// Whether rows that are there by no more than two standard errors were left out of the
    /// count.
    pub beyond_errors: bool,
}

/// What is remembered about labels.
#[derive(Debug, Default)]
pub(crate) struct LabelTally {
    n_right: u64,
    log_loss: f64,
    n_labels: Vec<u64>,
    /// For two labels: the probability of the positive one, and whether a row has it.
    scores: Thinned<(f64, bool)>,
}

impl LabelTally {
    pub(crate) fn add(&mut self, values: &Values) {
        let columns = Part::OF_LABEL.map(|part| values.part(part));
        let [Some(given), Some(prob), Some(predicted)] = columns else { return };
        for ((&given, &prob), &predicted) in given.iter().zip(prob).zip(predicted) {
            if prob.is_nan() {
                continue;
            }
            let class = given as usize;
            if self.n_labels.len() <= class {
                self.n_labels.resize(class + 1, 0);
            }
            self.n_labels[class] += 1;
            self.n_right += u64::from(given == predicted);
            self.log_loss -= prob.max(LEAST_PROBABILITY).ln();
            self.scores.add(if class == 1 { (prob, true) } else { (1.0 - prob, false) });
        }
    }

    pub(crate) fn quality(&self) -> Option<LabelQuality> {
        let n: u64 = self.n_labels.iter().sum();
        let most = *self.n_labels.iter().max()?;
        let n_rows = n as f64;
        let surprise = |count: &u64| match *count {
            0 => 0.0,
            count => -(count as f64) * (count as f64 / n_rows).ln(),
        };
        Some(LabelQuality {
            accuracy: self.n_right as f64 / n_rows,
            constant_accuracy: most as f64 / n_rows,
            log_loss: self.log_loss / n_rows,
            constant_log_loss: self.n_labels.iter().map(surprise).sum::<f64>() / n_rows,
            auc: (self.n_labels.len() == 2).then(|| area(&self.scores.kept)).flatten(),
        })
    }
}

/// The area under the curve of true against false positives: the share of pairs in order,
/// ties counted half.
fn area(scores: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_positive = sorted.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
    let n_negative = sorted.len() as f64 - n_positive;
    if n_positive == 0.0 || n_negative == 0.0 {
        return None;
    }
    let (mut below, mut in_order) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
        let negative = tied.len() as f64 - positive;
        in_order += positive * (below + 0.5 * negative);
        below += negative;
    }
    Some(in_order / (n_positive * n_negative))
}

/// Values, and how far up their errors reach.
#[derive(Debug, Default)]
pub(crate) struct ValueTally {
    values: Thinned<f64>,
    /// Values plus two standard errors, if all have one.
    reach: Option<Thinned<f64>>,
}

impl ValueTally {
    /// With standard errors.
    pub(crate) fn with_errors(self) -> Self {
        Self { reach: Some(Thinned::default()), ..self }
    }

    pub(crate) fn add(&mut self, values: &[f64], errors: Option<&[f64]>) {
        values.iter().filter(|value| !value.is_nan()).for_each(|value| self.values.add(*value));
        self.reach = match (self.reach.take(), errors) {
            (Some(mut reach), Some(errors)) => {
                let upper = values.iter().zip(errors).map(|(value, error)| value + ERRORS * error);
                upper.filter(|upper| !upper.is_nan()).for_each(|upper| reach.add(upper));
                Some(reach)
            }
            _ => None,
        };
    }

    /// The values that a quarter, half and three quarters of the rows lie below.
    pub(crate) fn quartiles(&mut self) -> Option<[f64; 3]> {
        let kept = &mut self.values.kept;
        if kept.is_empty() {
            return None;
        }
        kept.sort_unstable_by(f64::total_cmp);
        Some([0.25, 0.5, 0.75].map(|share| quantile(kept, share)))
    }

    /// How many values the quartiles are made from, if that is not all.
    pub(crate) fn n_thinned(&self) -> Option<u64> {
        (self.values.step > 1).then_some(self.values.kept.len() as u64)
    }

    /// How many values lie in each of [`BINS`] equal parts of their range.
    pub(crate) fn histogram(&self) -> Option<[u64; BINS]> {
        let kept = &self.values.kept;
        let finite = || kept.iter().copied().filter(|value| value.is_finite());
        let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        let mut bins = [0; BINS];
        for value in finite().filter(|_| high > low) {
            let bin = (BINS as f64 * ((value - low) / (high - low))) as usize;
            bins[bin.min(BINS - 1)] += self.values.step;
        }
        (high > low).then_some(bins)
    }

    pub(crate) fn standing_out(&mut self) -> Option<StandingOut> {
        let [first, _, third] = self.quartiles()?;
        let fence = first - FENCE * (third - first);
        let (counted, beyond_errors) = match &self.reach {
            Some(reach) => (reach, true),
            None => (&self.values, false),
        };
        let n_below = counted.kept.iter().filter(|value| **value < fence).count() as u64;
        Some(StandingOut { n_rows: n_below * counted.step, beyond_errors })
    }
}

/// Everything of a few, or one in 2, 4, 8 … of many, so that quartiles of any number of
/// rows take little memory. Which ones does not depend on how rows were batched.
#[derive(Debug)]
struct Thinned<T> {
    kept: Vec<T>,
    step: u64,
    n_seen: u64,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), step: 1, n_seen: 0 }
    }
}

impl<T> Thinned<T> {
    const MOST: usize = 1 << 16;

    fn add(&mut self, item: T) {
        if self.n_seen.is_multiple_of(self.step) {
            self.kept.push(item);
        }
        self.n_seen += 1;
        if self.kept.len() == Self::MOST {
            let mut is_even = false;
            self.kept.retain(|_| {
                is_even = !is_even;
                is_even
            });
            self.step *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_few_are_exact_and_of_many_close() {
        let quartiles = |n: u32| {
            let mut tally = ValueTally::default();
            // In an order that is not sorted.
            let values: Vec<f64> = (0..u64::from(n)).map(|i| (i * 65_537 % u64::from(n)) as f64).collect();
            tally.add(&values, None);
            assert!(tally.values.kept.len() < Thinned::<f64>::MOST);
            tally.quartiles()
        };
        assert_eq!(quartiles(0), None);
        assert_eq!(quartiles(1), Some([0.0; 3]));
        assert_eq!(quartiles(101), Some([25.0, 50.0, 75.0]));
        assert_eq!(quartiles(4), Some([0.75, 1.5, 2.25]));
        let many = quartiles(1_000_003).expect("values");
        for (found, share) in many.iter().zip([0.25, 0.5, 0.75]) {
            assert!((found / 1_000_003.0 - share).abs() < 0.005, "{many:?}");
        }
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let numbers = [1.0, 2.0, 4.0, 8.0];
        for (share, wanted) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (1.0, 8.0)] {
            assert_eq!(quantile(&numbers, share), wanted);
        }
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn values_stand_out_beyond_their_errors() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        values.extend([-200.0, -300.0]);
        let mut tally = ValueTally::default();
        tally.add(&values, None);
        assert_eq!(tally.standing_out(), Some(StandingOut { n_rows: 2, beyond_errors: false }));
        // One of them may be there by chance.
        let mut errors = vec![1.0; 102];
        errors[100] = 80.0;
        let mut tally = ValueTally::default().with_errors();
        tally.add(&values, Some(&errors));
        assert_eq!(tally.standing_out(), Some(StandingOut { n_rows: 1, beyond_errors: true }));
    }

    #[test]
    fn labels_are_judged_by_the_probability_they_have() {
        let parts = vec![
            (Part::GivenLabel, vec![1.0, 1.0, 0.0, 0.0]),
            (Part::LabelProb, vec![0.8, 0.4, 0.5, 0.9]),
            (Part::PredictedLabel, vec![1.0, 0.0, 0.0, 0.0]),
        ];
        let mut tally = LabelTally::default();
        tally.add(&Values { value: vec![0.0; 4], parts, ..Values::default() });
        let quality = tally.quality().expect("labels");
        assert_eq!((quality.accuracy, quality.constant_accuracy), (0.75, 0.5));
        // Positive rows have 0.8 and 0.4, the others 0.5 and 0.1: three pairs of four.
        assert!((quality.auc.expect("two labels") - 0.75).abs() < 1e-12);
        let log_loss = -(0.8_f64.ln() + 0.4_f64.ln() + 0.5_f64.ln() + 0.9_f64.ln()) / 4.0;
        assert!((quality.log_loss - log_loss).abs() < 1e-12);
        assert!((quality.constant_log_loss - 2.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn tied_scores_count_half() {
        assert_eq!(area(&[(0.3, true), (0.3, false)]), Some(0.5));
        assert_eq!(area(&[(0.3, true)]), None);
    }
}
