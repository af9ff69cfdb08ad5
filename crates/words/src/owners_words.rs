//! Owners, payouts and receipts, in words.

use crate::Speech;
use crate::numbers::grouped;
use dshap::owners::PayoutError;
use dshap_models::{Difference, OwnersFault, OwnersWarning};

/// Digits of an amount that no unit can save.
const LONGEST_AMOUNT: usize = 40;

/// Why owners have no values or cannot be paid.
pub(crate) fn owners_error(fault: &OwnersFault, speech: &dyn Speech) -> String {
    let option = |name: &str| speech.option(name);
    match fault {
        OwnersFault::NoColumn => "no column names the owners".into(),
        OwnersFault::NoOwner { column } => format!("column `{column}` is empty: no row has an owner"),
        OwnersFault::NoGame { method } => {
            format!("{} values rows, but there is no game between owners for it", speech.method(method))
        }
        OwnersFault::NotForOwners { option: name, task } => {
            format!("{} has no effect on the owners of a {} table", option(name), task.name())
        }
        OwnersFault::SegmentAlone => {
            format!("{} needs {}: segments are rows of that table", option("segment"), option("explain_test"))
        }
        OwnersFault::NoMoments { valuer } => {
            format!("valuer `{valuer}` does not know the owners of its rows")
        }
        OwnersFault::NeedsRows { option: name } => {
            format!("{} needs the rows of the owners, and a valuer holds none", option(name))
        }
        OwnersFault::NoTests { valuer } => {
            format!("valuer `{valuer}` holds no rows, so there are none to test on")
        }
        OwnersFault::Payout(error) => payout_error(error, speech),
        OwnersFault::NotWhole { option: name, amount, unit } => {
            format!("{} is not a whole number of units of {unit}", speech.set(name, amount))
        }
        OwnersFault::Lacks { file, column } => format!("`{file}` has no column `{column}`"),
        OwnersFault::NotANumber { file, column, owner } => {
            format!("`{file}` has no number in column `{column}` for owner `{owner}`")
        }
        OwnersFault::Twice { file, owner } => format!("`{file}` lists owner `{owner}` twice"),
        OwnersFault::Edited { file } => format!("`{file}` was changed after dshap wrote it"),
        OwnersFault::BadManifest { file, what } => format!("`{file}` is not a receipt of dshap: {what}"),
        _ => format!("{fault:?}"),
    }
}

fn payout_error(error: &PayoutError, speech: &dyn Speech) -> String {
    let option = |name: &str| speech.option(name);
    match error {
        PayoutError::TooManyUnits => {
            format!("{} has too many units to be divided exactly", option("budget"))
        }
        PayoutError::Nobody => "there is nobody to be paid".into(),
        PayoutError::NothingToPayFor { n_positive: 0, .. } => {
            "there is nothing to pay for: no owner has a positive value".into()
        }
        PayoutError::NothingToPayFor { sum, .. } => {
            format!("there is nothing to pay for: the values of the owners add up to {sum}")
        }
        PayoutError::FloorTooHigh { n_owners } => format!(
            "{} is too high: {n_owners} owners would receive more than the {}",
            option("floor"),
            option("budget")
        ),
        PayoutError::CapTooLow { n_owners } => format!(
            "{} is too low: the {n_owners} owners cannot receive the whole {}",
            option("cap"),
            option("budget")
        ),
        _ => format!("{error}"),
    }
}

/// What to do about it.
pub(crate) fn owners_hint(fault: &OwnersFault, speech: &dyn Speech) -> Option<String> {
    let option = |name: &str| speech.option(name);
    Some(match fault {
        OwnersFault::NoColumn => format!("name the column with {}", option("by")),
        OwnersFault::NoGame { .. } => {
            format!("leave out {}, or choose {}", option("method"), speech.method("knn"))
        }
        OwnersFault::NotForOwners { .. } => "leave it out".into(),
        OwnersFault::NoMoments { .. } => format!(
            "fit a regression without weights with {}; for other tasks, give the rows instead of a valuer",
            option("by")
        ),
        OwnersFault::NeedsRows { .. } => "leave it out, or give the rows instead of the valuer".into(),
        OwnersFault::NoTests { .. } => format!("give test rows: {}", speech.test_rows()),
        OwnersFault::NotWhole { amount, .. } if amount.len() > LONGEST_AMOUNT => {
            "amounts may have up to 15 digits".into()
        }
        OwnersFault::NotWhole { .. } => format!("choose a smaller {}", option("unit")),
        OwnersFault::Payout(PayoutError::NothingToPayFor { n_positive: 0, .. }) => {
            format!("choose another {}, or value the owners on other test rows", option("basis"))
        }
        OwnersFault::Payout(PayoutError::NothingToPayFor { .. }) => {
            format!("{} pays owners of positive value only", speech.set("negative", "clip"))
        }
        OwnersFault::Payout(PayoutError::TooManyUnits) => format!("choose a larger {}", option("unit")),
        OwnersFault::Edited { .. } => {
            "make it again; a table that you made yourself needs no `digest`".into()
        }
        OwnersFault::Lacks { column, .. } if column == "given_own" => {
            format!("make the table again with {}", option("own"))
        }
        OwnersFault::Lacks { .. } => format!(
            "give a table of owners, or a table of row values and the column of owners with {}",
            option("by")
        ),
        _ => return None,
    })
}

/// What is doubtful about the values of owners.
pub(crate) fn owners_warning(warning: &OwnersWarning, speech: &dyn Speech) -> String {
    let option = |name: &str| speech.option(name);
    match warning {
        OwnersWarning::RowsWithoutOwner { n_rows, column } => {
            let rows = if *n_rows == 1 { "1 row has".into() } else { format!("{n_rows} rows have") };
            format!("{rows} no owner in column `{column}` and belong to nobody")
        }
        OwnersWarning::OwnersMeasure { .. } => format!(
            "the rows of the owners are also the test rows, so an owner of noisy rows is measured by them too; {} or \
             {} measures on other rows",
            speech.test_rows(),
            option("own")
        ),
        OwnersWarning::SharedRows { n_rows, owners: (one, other), n_shared, once } => {
            let rows = if *n_rows == 1 { "1 row belongs".into() } else { format!("{n_rows} rows belong") };
            let most = format!("{rows} to more than one owner; `{one}` and `{other}` share {n_shared}");
            match once {
                true => format!("{most}; in a coalition they count once"),
                false => format!("{most}; {} counts them once", speech.set("duplicates", "once")),
            }
        }
        OwnersWarning::RoughOrders { n_rounds, tolerance } => format!(
            "after {n_rounds} rounds of random orders, some standard errors are still above {} of the spread of the \
             owners' values; {} allows more",
            percent(*tolerance),
            option("samples")
        ),
        OwnersWarning::NoRowValues { n_rows, dim } => format!(
            "{n_rows} rows are too few for values of single rows by {dim} columns, so owners have no row sums; the \
             game has a ridge and needs no more rows"
        ),
        OwnersWarning::OneTestRow => "one test row gives no standard errors".into(),
        OwnersWarning::OwnersNotKept { column } => format!(
            "the valuer does not keep the owners in column `{column}`: only a regression without row weights does"
        ),
        OwnersWarning::FragileRanking { share, n_draws } => format!(
            "the ranking of the owners is fragile: it survives resampling {}, since neighbours in the ranking differ \
             by less than their errors",
            share_of_draws(*share, *n_draws)
        ),
        _ => format!("{warning:?}"),
    }
}

/// How a result differs from its receipt.
pub fn difference(difference: &Difference) -> String {
    match difference {
        Difference::Receipt => "the receipt was changed after it was written".into(),
        Difference::Version { then } => format!("the receipt was written by dshap {then}"),
        Difference::MissingFile { file } => {
            format!("`{file}` is not there, so nothing can be computed again")
        }
        Difference::Unsealed { file } => {
            format!(
                "`{file}` has no digest of its own, so nothing shows whether its values were edited by hand"
            )
        }
        Difference::ChangedFile { file } => format!("`{file}` has changed since"),
        Difference::Result { place, then, now } => {
            format!("`{place}` is {then} in the receipt, and comes out as {now}")
        }
        _ => format!("{difference:?}"),
    }
}

/// A share of draws to a whole percent: "in 19 % of 1 000 draws".
pub fn share_of_draws(share: f64, n_draws: usize) -> String {
    let draws = grouped(n_draws as u64);
    match (100.0 * share).round() {
        _ if share == 0.0 => format!("in none of {draws} draws"),
        0.0 => format!("in less than 1 % of {draws} draws"),
        100.0 if share < 1.0 => format!("in more than 99 % of {draws} draws"),
        percent => format!("in {percent} % of {draws} draws"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (1000.0 * share).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_speech::Angled;

    #[test]
    fn every_fault_has_a_sentence_that_spells_options() {
        let file = || "owners.csv".to_string();
        let faults = [
            OwnersFault::NoColumn,
            OwnersFault::NoOwner { column: "vendor".into() },
            OwnersFault::NoGame { method: "loo" },
            OwnersFault::NotForOwners { option: "k", task: dshap_catalogue::Task::Regression },
            OwnersFault::SegmentAlone,
            OwnersFault::NoMoments { valuer: file() },
            OwnersFault::NoTests { valuer: file() },
            OwnersFault::Payout(PayoutError::TooManyUnits),
            OwnersFault::Payout(PayoutError::Nobody),
            OwnersFault::Payout(PayoutError::NothingToPayFor { sum: -1.0, n_positive: 2 }),
            OwnersFault::Payout(PayoutError::NothingToPayFor { sum: 0.0, n_positive: 0 }),
            OwnersFault::Edited { file: file() },
            OwnersFault::Payout(PayoutError::FloorTooHigh { n_owners: 3 }),
            OwnersFault::Payout(PayoutError::CapTooLow { n_owners: 3 }),
            OwnersFault::NotWhole { option: "budget", amount: "1.005".into(), unit: "0.01".into() },
            OwnersFault::Lacks { file: file(), column: "shapley".into() },
            OwnersFault::NotANumber { file: file(), column: "shapley".into(), owner: "a".into() },
            OwnersFault::Twice { file: file(), owner: "a".into() },
            OwnersFault::BadManifest { file: file(), what: "it has no lines".into() },
        ];
        for fault in faults {
            let text = owners_error(&fault, &Angled);
            assert!(!text.contains("{ ") && !text.ends_with('.') && !text.contains("--"), "{text}");
            if let Some(hint) = owners_hint(&fault, &Angled) {
                assert!(!hint.contains("--") && !hint.ends_with('.'), "{hint}");
            }
        }
        let budget = OwnersFault::NotWhole { option: "budget", amount: "1.005".into(), unit: "0.01".into() };
        assert_eq!(
            owners_error(&budget, &Angled),
            "<budget is 1.005> is not a whole number of units of 0.01"
        );
    }

    #[test]
    fn shares_of_draws_are_whole_percents() {
        for (share, words) in [
            (0.0, "in none of 1\u{a0}000 draws"),
            (0.004, "in less than 1 % of 1\u{a0}000 draws"),
            (0.188, "in 19 % of 1\u{a0}000 draws"),
            (0.996, "in more than 99 % of 1\u{a0}000 draws"),
            (1.0, "in 100 % of 1\u{a0}000 draws"),
        ] {
            assert_eq!(share_of_draws(share, 1000).replace('\u{a0}', " "), words.replace('\u{a0}', " "));
        }
    }

    #[test]
    fn every_warning_has_a_sentence() {
        let owners = ("a".to_string(), "b".to_string());
        let warnings = [
            OwnersWarning::RowsWithoutOwner { n_rows: 1, column: "vendor".into() },
            OwnersWarning::OwnersMeasure { n_rows: 9 },
            OwnersWarning::SharedRows { n_rows: 3, owners: owners.clone(), n_shared: 2, once: true },
            OwnersWarning::SharedRows { n_rows: 1, owners, n_shared: 1, once: false },
            OwnersWarning::RoughOrders { n_rounds: 7, tolerance: 0.05 },
            OwnersWarning::OneTestRow,
            OwnersWarning::NoRowValues { n_rows: 40, dim: 60 },
            OwnersWarning::FragileRanking { share: 0.123, n_draws: 1000 },
            OwnersWarning::OwnersNotKept { column: "vendor".into() },
        ];
        for warning in warnings {
            let text = owners_warning(&warning, &Angled);
            assert!(!text.contains("{ ") && !text.ends_with('.') && !text.contains("--"), "{text}");
        }
    }
}
