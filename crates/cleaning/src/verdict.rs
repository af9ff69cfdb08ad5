//! What a trial recommends.
//!
//! **Rule.** An action is recommended if all of this holds.
//!
//! 1. *There are wrong targets.* Held-out targets are at least `K/α` times as likely after
//!    the action, if some of them may be wrong, as after doing nothing if none is wrong;
//!    `K` is the number of actions and `α = 0.05`. If doing nothing predicted the true
//!    distribution, the expectation of each ratio would be 1, so by Markov's inequality
//!    any of the `K` would be as large with probability 0.05 at most. Ratios of repeats
//!    are averaged as logarithms, which makes them smaller.
//! 2. *The action clearly helps where wrong targets are allowed for.* The same likelihood
//!    is higher than that of doing nothing if some targets may be wrong, by more than
//!    [`CLEAR`] standard errors. So shrinking predictions, or a better guess at the share
//!    of wrong targets, is no reason to act, and neither is noise.
//! 3. *The plain loss agrees.* It is not worse by more than one standard error.
//!    This limits how many far targets on one side only are dropped: that shifts
//!    predictions, and nobody can tell from the table whether the shift is right.
//!
//! Of several, the smallest is recommended whose evidence is close to the most: the
//! logarithms differ by no more than rule 1 asks for. Only flagged rows are acted on, in the
//! trial as well as in what is recommended.
//! `docs/cleaning.md` has how often this is right on real tables.

use crate::actions::{Act, Action};
use crate::trial::{HeldOut, Likelihoods};
use serde::Serialize;

/// The chance of any recommendation where no target is wrong.
const LEVEL: f64 = 0.05;

/// Standard errors by which the robust loss must be better. Errors are over rows as if these
/// were independent, but rows of a fold share a model, and training folds share rows. For
/// five folds the error of a mean is about √(1 + 5/4) = 1.5 times as large (Nadeau and
/// Bengio 2003). Twice as much would keep most tables with wrong targets as they are:
/// `docs/cleaning.md` has the figures.
const CLEAR: f64 = 1.5;

/// Standard errors by which the plain loss may be worse.
const PATIENCE: f64 = 1.0;

/// What an action did to held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tested {
    /// What was done.
    #[serde(flatten)]
    pub action: Action,
    /// Change of the mean plain loss (squared error or log-loss); below 0 is better.
    pub loss_change: f64,
    /// Its standard error, over rows.
    pub loss_change_se: f64,
    /// Change of the mean robust loss: minus the log-likelihood if some targets may be wrong.
    pub robust_change: f64,
    /// Its standard error, over rows.
    pub robust_change_se: f64,
    /// The share of wrong held-out targets that makes them likeliest.
    pub wrong_share: f64,
    /// How much likelier held-out targets are than after doing nothing if none is wrong:
    /// a natural logarithm.
    pub evidence: f64,
    /// Whether it can be recommended.
    pub helps: bool,
}

impl Tested {
    /// Whether the plain loss is not clearly worse.
    pub fn loss_agrees(&self) -> bool {
        self.loss_change <= PATIENCE * self.loss_change_se
    }
}

/// What is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Recommended {
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// Its place among those tested.
    #[serde(skip)]
    pub place: usize,
}

/// What every action did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The mean plain loss of doing nothing.
    pub loss: f64,
    /// Evidence that is needed.
    pub evidence_needed: f64,
    /// Action by action.
    pub tested: Vec<Tested>,
    /// None if no action is known to be better than doing nothing.
    pub recommended: Option<Recommended>,
}

impl Verdict {
    /// Whether targets are labels, which can be changed as well as dropped.
    pub fn has_labels(&self) -> bool {
        self.tested.iter().any(|tested| tested.action.act == Act::Relabel)
    }

    /// Whether an action has the evidence that it takes.
    pub fn finds_wrong(&self) -> bool {
        self.tested.iter().any(|tested| tested.evidence >= self.evidence_needed)
    }

    /// From what happened to held-out rows; doing nothing is first.
    pub(crate) fn of(
        actions: &[Action],
        held_out: &[HeldOut],
        n: usize,
        loss: impl Fn(f64) -> f64,
        likelihoods: impl Fn(&HeldOut) -> Likelihoods,
    ) -> Self {
        let losses = |runs: &HeldOut| -> Vec<Vec<f64>> {
            runs.iter().map(|run| run.iter().map(|&found| loss(found)).collect()).collect()
        };
        let (base, nothing) = (losses(&held_out[0]), likelihoods(&held_out[0]));
        let evidence_needed = (actions.len() as f64 / LEVEL).ln();
        let test = |(&action, runs): (&Action, &HeldOut)| {
            let acted = likelihoods(runs);
            let (loss_change, loss_change_se) = change(&losses(runs), &base);
            // A likelihood is minus a loss.
            let (robust_change, robust_change_se) = change(&nothing.robust, &acted.robust);
            let evidence = -change(&nothing.plain, &acted.robust).0 * n as f64;
            let mut tested = Tested {
                action,
                loss_change,
                loss_change_se,
                robust_change,
                robust_change_se,
                wrong_share: acted.rate,
                evidence,
                helps: false,
            };
            let is_clear = robust_change < -CLEAR * robust_change_se;
            tested.helps = evidence >= evidence_needed && is_clear && tested.loss_agrees();
            tested
        };
        let tested: Vec<Tested> = actions.iter().zip(&held_out[1..]).map(test).collect();
        let helping = || tested.iter().enumerate().filter(|(_, tested)| tested.helps);
        let most = helping().map(|(_, tested)| tested.evidence).max_by(f64::total_cmp);
        // The smallest change that is not clearly worse than the best: what the data cannot tell
        // apart should not cost rows.
        let enough = most.map(|most| most - evidence_needed);
        let close = helping().filter(|(_, tested)| enough.is_some_and(|enough| tested.evidence >= enough));
        let least = close.min_by(|(_, one), (_, other)| one.action.share.total_cmp(&other.action.share));
        let recommended = least.map(|(place, tested)| Recommended { action: tested.action, place });
        let total: f64 = base.iter().flatten().sum();
        Self { loss: total / (base.len() * n).max(1) as f64, evidence_needed, tested, recommended }
    }
}

/// The mean over rows of what `after` has more than `before`, and its standard error.
/// Repeats of a row are averaged first: they are not independent.
fn change(after: &[Vec<f64>], before: &[Vec<f64>]) -> (f64, f64) {
    let n = after.first().map_or(0, Vec::len);
    let of_row = |row: usize| {
        let each = after.iter().zip(before).map(|(after, before)| after[row] - before[row]);
        each.sum::<f64>() / after.len() as f64
    };
    let rows: Vec<f64> = (0..n).map(of_row).collect();
    let mean = rows.iter().sum::<f64>() / n.max(1) as f64;
    let squares: f64 = rows.iter().map(|row| (row - mean).powi(2)).sum();
    let degrees = n.saturating_sub(1).max(1) as f64;
    (mean, (squares / degrees / n.max(1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 rows with a loss of 1 that an action lowers by 0.02 on average, up and down by
    /// `spread` in turn. Losses are likelihoods less their sign; if no target is wrong, they
    /// are worse by 1, so that there is evidence enough.
    fn tested(spread: f64) -> Tested {
        let actions = [Action { act: Act::Drop, share: 0.01 }];
        let sign = |row: usize| if row.is_multiple_of(2) { 1.0 } else { -1.0 };
        let acted = (0..100).map(|row| 0.98 + spread * sign(row)).collect();
        let likelihoods = |runs: &HeldOut| {
            let less = |by: f64| runs.iter().map(|run| run.iter().map(|loss| -loss - by).collect()).collect();
            Likelihoods { plain: less(1.0), robust: less(0.0), rate: 0.0 }
        };
        let held_out = [vec![vec![1.0; 100]], vec![acted]];
        let verdict = Verdict::of(&actions, &held_out, 100, |loss| loss, likelihoods);
        assert!(verdict.finds_wrong() && (verdict.tested[0].robust_change + 0.02).abs() < 1e-12);
        assert_eq!(verdict.recommended.is_some(), verdict.tested[0].helps);
        verdict.tested[0]
    }

    #[test]
    fn a_gain_within_its_error_is_no_reason_to_act() {
        // Standard errors of 0.005, 0.01 and 0.02 times √(100/99).
        assert!(tested(0.05).helps && tested(0.1).helps);
        let unclear = tested(0.2);
        assert!(!unclear.helps && unclear.loss_agrees(), "{unclear:?}");
    }
}
