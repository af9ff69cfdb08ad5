//! How far curves lie from the random one.

use super::{Order, steps};
use crate::ledger::Row;
use crate::statistics::MeanEstimate;
use std::collections::BTreeMap;

/// The curves of all repetitions.
#[derive(Debug, Default)]
pub(crate) struct Curves {
    /// Relative utilities by panel, method and order; one curve per repetition.
    curves: BTreeMap<(String, String, String), BTreeMap<usize, Vec<f64>>>,
}

impl Curves {
    /// Reads them from the rows of the table.
    pub(crate) fn of(rows: &[Row]) -> Self {
        let mut all = Self::default();
        for row in rows {
            let key = (row[0].clone(), row[2].clone(), row[3].clone());
            let repetition = row[1].parse().unwrap_or(0);
            let relative = row[6].parse().unwrap_or(f64::NAN);
            all.curves.entry(key).or_default().entry(repetition).or_default().push(relative);
        }
        all
    }

    fn get(&self, panel: &str, method: &str, order: Order) -> Option<&BTreeMap<usize, Vec<f64>>> {
        self.curves.get(&(panel.into(), method.into(), order.name().into()))
    }

    /// Repetitions of a panel that a method took part in.
    pub(crate) fn n_repetitions(&self, panel: &str, method: &str, order: Order) -> usize {
        self.get(panel, method, order).map_or(0, BTreeMap::len)
    }

    /// The mean curve with its standard errors: points added, mean, error.
    pub(crate) fn mean(&self, panel: &str, method: &str, order: Order) -> Vec<(f64, MeanEstimate)> {
        let Some(curves) = self.get(panel, method, order) else { return Vec::new() };
        let at = |step: usize| {
            let numbers: Vec<f64> = curves.values().filter_map(|curve| curve.get(step).copied()).collect();
            MeanEstimate::of(&numbers)
        };
        steps().into_iter().enumerate().map(|(step, added)| (added as f64, at(step))).collect()
    }

    /// How far a curve lies on its side of the random one: above for largest
    /// first, below for smallest first. The mean over all steps but the first, in
    /// the units of relative utility, repetition by repetition.
    pub(crate) fn margin(&self, panel: &str, method: &str, order: Order) -> Option<Margin> {
        let random = self.get(panel, "random", Order::Random)?;
        let mut margins = Vec::new();
        let mut last = Vec::new();
        for (repetition, curve) in self.get(panel, method, order)? {
            let gaps = gaps(curve, random.get(repetition)?, order);
            margins.push(mean_gap(&gaps));
            last.push(gaps[gaps.len() - 1]);
        }
        let n_right = margins.iter().filter(|margin| **margin > 0.0).count();
        Some(Margin { overall: MeanEstimate::of(&margins), last: MeanEstimate::of(&last), n_right })
    }

    /// How far the curve of one method is ahead of that of another, over the repetitions that
    /// both took part in: higher for largest first, lower for smallest first.
    pub(crate) fn lead(&self, panel: &str, method: &str, other: &str, order: Order) -> Option<MeanEstimate> {
        let other = self.get(panel, other, order)?;
        let own = self.get(panel, method, order)?;
        let both = own.iter().filter_map(|(repetition, curve)| Some((curve, other.get(repetition)?)));
        let leads: Vec<f64> = both.map(|(own, other)| mean_gap(&gaps(own, other, order))).collect();
        Some(MeanEstimate::of(&leads))
    }
}

/// How far a curve is ahead of another at each step.
fn gaps(own: &[f64], other: &[f64], order: Order) -> Vec<f64> {
    let sign = if order == Order::Smallest { -1.0 } else { 1.0 };
    own.iter().zip(other).map(|(own, other)| sign * (own - other)).collect()
}

/// The mean over all steps but the first, at which all curves are the same.
fn mean_gap(gaps: &[f64]) -> f64 {
    gaps[1..].iter().sum::<f64>() / (gaps.len() - 1) as f64
}

/// How far a curve lies on its side of the random one, over repetitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margin {
    /// The mean over all steps.
    pub(crate) overall: MeanEstimate,
    /// With all points added.
    pub(crate) last: MeanEstimate,
    /// Repetitions in which it lies on its side.
    pub(crate) n_right: usize,
}

/// How often a margin of zero may be called positive: once in 741 times, the tail
/// beyond three standard deviations of a normal distribution.
const FALSE_ALARM: f64 = 0.001_349_898;

/// With fewer repetitions neither test says much: the spread of margins is unknown,
/// and their signs could be coin tosses.
const FEWEST_REPETITIONS: usize = 5;

/// How a claim is tested, for the summaries.
pub(crate) const HOW_CLAIMS_ARE_TESTED: &str = "A claim holds if both margins are positive beyond chance, each at a \
    false-alarm rate of 1 in 741 (one-sided; three standard deviations of a normal distribution). A margin is tested by \
    Student's t over repetitions, or by the number of positive repetitions, which must be three standard deviations \
    above that of coin tosses. Fewer than five repetitions are too few to tell.";

/// Whether a margin is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Beyond chance.
    Sure,
    /// Perhaps, perhaps not.
    Open,
    /// There are too few repetitions to tell.
    TooFew,
}

impl Margin {
    /// Whether it is positive beyond chance, by the mean or by the count. The error
    /// of the mean is estimated from the same few repetitions, hence Student's t. The
    /// count is for margins with such long tails that a few repetitions dominate the
    /// mean.
    pub(crate) fn verdict(&self) -> Verdict {
        let n = self.overall.n as f64;
        let by_mean = self.overall.p_value() < FALSE_ALARM;
        let by_count = (2.0 * self.n_right as f64 - n) / n.sqrt() > 3.0;
        match self.overall.n {
            n if n < FEWEST_REPETITIONS => Verdict::TooFew,
            _ if by_mean || by_count => Verdict::Sure,
            _ => Verdict::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_sure_by_its_mean_or_by_its_sign() {
        let estimate = |mean, std_error, n| MeanEstimate { mean, std_error, n };
        let margin = |overall, n_right| Margin { overall, last: overall, n_right };
        let verdict = |mean, n, n_right| margin(estimate(mean, 1.0, n), n_right).verdict();
        // The quantiles of Student's t are 4.09 of 9 degrees of freedom, 6.62 of 4.
        assert_eq!(verdict(4.1, 10, 6), Verdict::Sure);
        assert_eq!(verdict(4.0, 10, 9), Verdict::Open);
        assert_eq!(verdict(6.7, 5, 5), Verdict::Sure);
        assert_eq!(verdict(6.5, 5, 5), Verdict::Open);
        assert_eq!(verdict(100.0, 4, 4), Verdict::TooFew);
        assert_eq!(verdict(f64::NAN, 1, 1), Verdict::TooFew);
        // 10 of 10 are √10 deviations; 36 of 50 are 3.1.
        assert_eq!(verdict(1.0, 10, 10), Verdict::Sure);
        assert_eq!(verdict(1.0, 50, 36), Verdict::Sure);
        assert_eq!(verdict(1.0, 50, 35), Verdict::Open);
    }

    #[test]
    fn margins_are_counted_from_the_random_curve_of_the_same_repetition() {
        let mut rows = Vec::new();
        for (repetition, gap) in [(0, 1.0), (1, 3.0)] {
            for (method, order, sign) in
                [("closed", "largest", 1.0), ("closed", "smallest", -2.0), ("random", "random", 0.0)]
            {
                for added in steps() {
                    let start = if added == 0 { 0.0 } else { 1.0 };
                    // Repetitions differ in level, which must cancel.
                    let relative = 100.0 + 10.0 * f64::from(repetition) + sign * gap * start;
                    let cells = ["a", &repetition.to_string(), method, order, &added.to_string(), "0"];
                    let mut row: Row = cells.map(String::from).to_vec();
                    row.push(relative.to_string());
                    rows.push(row);
                }
            }
        }
        let curves = Curves::of(&rows);
        let largest = curves.margin("a", "closed", Order::Largest).unwrap();
        assert!((largest.overall.mean - 2.0).abs() < 1e-12);
        // Two repetitions with gaps 1 and 3: standard error 1.
        assert!((largest.overall.std_error - 1.0).abs() < 1e-12);
        assert_eq!((largest.n_right, largest.verdict()), (2, Verdict::TooFew));
        let smallest = curves.margin("a", "closed", Order::Smallest).unwrap();
        assert!((smallest.last.mean - 4.0).abs() < 1e-12);
        assert!(curves.margin("a", "d-shapley", Order::Largest).is_none());
    }
}
