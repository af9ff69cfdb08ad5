//! A budget in whole units, by largest remainders.

/// How a budget is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PayoutRules {
    /// The budget, in units such as cents.
    pub budget: u64,
    /// Whether an owner with a negative value pays instead of receiving nothing.
    pub keep_negative: bool,
    /// The least that an owner receives, in units.
    pub floor: Option<u64>,
    /// The most that an owner receives, in units.
    pub cap: Option<u64>,
    /// Breaks ties.
    pub seed: u64,
    /// What breaks ties besides the seed and names.
    pub ties: Ties,
}

/// What decides between equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Names, the seed, and the values of all owners. An owner who chooses a name does not
    /// know the values of the others, so no name can be chosen to win.
    #[default]
    Values,
    /// Names and the seed alone, as dshap did at first. Old receipts are verified by it.
    Names,
}

/// The largest budget, in units: all whole numbers up to it are doubles.
pub const MOST_UNITS: u64 = 1 << 53;

/// Why a budget cannot be divided.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PayoutError {
    /// More units than can be counted exactly.
    #[error("the budget has more than 2^53 units")]
    TooManyUnits,
    /// Nobody to be paid.
    #[error("there is nobody to be paid")]
    Nobody,
    /// No owner has a positive value, or negative ones outweigh them.
    #[error("the values to be paid for add up to {sum}")]
    NothingToPayFor {
        /// What the values add up to.
        sum: f64,
        /// Owners of positive value.
        n_positive: usize,
    },
    /// The least that all receive is more than the budget.
    #[error("{n_owners} owners at the floor receive more than the budget")]
    FloorTooHigh {
        /// Owners to be paid.
        n_owners: usize,
    },
    /// The most that all may receive is less than the budget.
    #[error("{n_owners} owners at the cap receive less than the budget")]
    CapTooLow {
        /// Owners to be paid.
        n_owners: usize,
    },
}

/// Divides a budget in proportion to values. Each payout is a whole number of units, and
/// they add up to the budget.
///
/// ```text
/// share_g = clamp(λ·v_g, floor, cap)   with λ such that shares add up to the budget
/// ```
///
/// Shares are rounded down, and the units left over go to the largest remainders; between
/// equal remainders the larger value comes first, and between equal values a hash of seed,
/// name and the values of all owners decides. So the order of owners changes nothing, a larger value never receives
/// less, and equal values differ by at most one unit.
///
/// ```
/// use dshap::owners::{PayoutRules, Ties, payout};
///
/// let ties = Ties::default();
/// let rules = PayoutRules { budget: 100, keep_negative: false, floor: None, cap: None, seed: 0, ties };
/// let paid = payout(&[("a", 2.0), ("b", 1.0), ("c", -0.5)], &rules)?;
/// assert_eq!(paid, [67, 33, 0]);
/// # Ok::<(), dshap::owners::PayoutError>(())
/// ```
///
/// # Errors
///
/// [`PayoutError`].
pub fn payout(values: &[(&str, f64)], rules: &PayoutRules) -> Result<Vec<i64>, PayoutError> {
    if rules.budget > MOST_UNITS {
        return Err(PayoutError::TooManyUnits);
    }
    let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let shares = shares(&plain, rules)?;
    let mut paid: Vec<i64> = shares.iter().map(|share| share.floor() as i64).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    let remainder = |i: usize| shares[i] - shares[i].floor();
    let seed = match rules.ties {
        Ties::Values => stirred(rules.seed, &plain),
        Ties::Names => rules.seed,
    };
    order.sort_by(|&i, &j| {
        let hash = |i: usize| (tie_breaker(seed, values[i].0), values[i].0);
        (remainder(j).total_cmp(&remainder(i)))
            .then(plain[j].total_cmp(&plain[i]))
            .then_with(|| hash(i).cmp(&hash(j)))
    });
    let least = rules.floor.map_or(if rules.keep_negative { i64::MIN } else { 0 }, |floor| floor as i64);
    let most = rules.cap.map_or(i64::MAX, |cap| cap as i64);
    let mut left = rules.budget as i64 - paid.iter().sum::<i64>();
    while left != 0 {
        let before = left;
        for k in 0..order.len() {
            // Too much can have been given only by rounding; then the smallest remainder pays.
            let i = if left > 0 { order[k] } else { order[order.len() - 1 - k] };
            match left.signum() {
                1 if paid[i] < most => (paid[i], left) = (paid[i] + 1, left - 1),
                -1 if paid[i] > least => (paid[i], left) = (paid[i] - 1, left + 1),
                _ => {}
            }
        }
        if left == before {
            return Err(PayoutError::CapTooLow { n_owners: values.len() });
        }
    }
    Ok(paid)
}

/// The shares of a budget before they are rounded to units, in the order of the values.
///
/// # Errors
///
/// As [`payout`].
pub fn shares(values: &[f64], rules: &PayoutRules) -> Result<Vec<f64>, PayoutError> {
    let n_owners = values.len();
    if n_owners == 0 {
        return Err(PayoutError::Nobody);
    }
    let budget = rules.budget as f64;
    let paid_for = |value: f64| if rules.keep_negative { value } else { value.max(0.0) };
    // Sums over sorted values do not depend on the order of owners.
    let mut sorted: Vec<f64> = values.iter().map(|&value| paid_for(value)).collect();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        let n_positive = values.iter().filter(|value| **value > 0.0).count();
        return Err(PayoutError::NothingToPayFor { sum, n_positive });
    }
    let least = rules.floor.map_or(f64::NEG_INFINITY, |floor| floor as f64);
    let most = rules.cap.map_or(f64::INFINITY, |cap| cap as f64);
    if least * n_owners as f64 > budget {
        return Err(PayoutError::FloorTooHigh { n_owners });
    }
    if most * (n_owners as f64) < budget || least > most {
        return Err(PayoutError::CapTooLow { n_owners });
    }
    let share = |value: f64, factor: f64| (factor * value).max(least).min(most);
    let total = |factor: f64| sorted.iter().map(|&value| share(value, factor)).sum::<f64>();
    let mut factor = budget / sum;
    if rules.floor.is_some() || rules.cap.is_some() {
        // The total grows with the factor until all positive values are at the cap.
        let (mut low, mut high) = (0.0, factor);
        while total(high) < budget {
            if high > f64::MAX / 4.0 || high * sum > f64::MAX / 4.0 {
                return Err(PayoutError::CapTooLow { n_owners });
            }
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if total(middle) < budget { low = middle } else { high = middle }
        }
        factor = high;
    }
    Ok(values.iter().map(|&value| share(paid_for(value), factor)).collect())
}

/// A seed that depends on all values, in whatever order owners come.
fn stirred(seed: u64, values: &[f64]) -> u64 {
    // Zero has one sign.
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().fold(mix(seed), |hash, value| mix(hash ^ value.to_bits()))
}

/// A number that depends on seed and name like a draw.
fn tie_breaker(seed: u64, name: &str) -> u64 {
    let mut hash = mix(seed ^ 0x5bd1_e995_9d2c_5680);
    for byte in name.bytes() {
        hash = mix(hash ^ u64::from(byte));
    }
    hash
}

/// The finaliser of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
