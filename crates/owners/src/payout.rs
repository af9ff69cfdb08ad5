//! A budget divided between owners.

use crate::amount::Amount;
use crate::paid_for::{PaidFor, Worth};
use crate::solve::seed_in;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap::owners::{Errors, PayoutRules, Stability, Ties, payout as divide, resampled, shares};
use dshap_catalogue::options::{BUDGET, CAP, FLOOR, MIN_ROWS, NEGATIVE, UNIT};
use dshap_catalogue::{Given, OptionEntry};
use dshap_models::{Error, InputFile, OwnersFault, OwnersWarning, Warning};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// The smallest amount, by default.
const USUAL_UNIT: f64 = 0.01;

/// Draws of the owners' values about those found.
const N_DRAWS: usize = 1000;

/// A ranking that survives fewer draws is pointed out.
const FRAGILE: f64 = 0.5;

/// A table of owners or of row values, and how a budget is divided by it.
#[derive(Debug, Clone)]
pub struct PayoutRequest {
    /// Files with the table.
    pub table: Vec<String>,
    /// Every option as given.
    pub given: Given,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
}

/// Who is paid what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Payout {
    /// The version of dshap.
    pub version: &'static str,
    /// What owners are paid for: `shapley`, `given-own` or `rows`.
    pub basis: &'static str,
    /// The budget, in plain digits.
    pub budget: String,
    /// The smallest amount.
    pub unit: String,
    /// How many of them the budget is.
    pub units: u64,
    /// Whether owners of negative value pay.
    pub negative: &'static str,
    /// The least that each owner receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
    /// The most that each owner receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// Owners with fewer rows receive nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rows: Option<u64>,
    /// Breaks ties and selects draws.
    pub seed: u64,
    /// The owners, by name.
    pub owners: Vec<PayoutLine>,
    /// What all payouts add up to, in plain digits.
    pub total: String,
    /// Where standard errors come from: `joint` or `independent` errors of values; absent
    /// if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<&'static str>,
    /// Share of draws in which all owners keep their rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking_survives: Option<f64>,
    /// The files that were read, with digests.
    pub table: Vec<InputFile>,
    /// Whether the table has a digest of its own, which is right: nobody edited it.
    #[serde(skip)]
    pub is_sealed: bool,
    /// Draws of the owners' values about those found.
    #[serde(skip)]
    pub n_draws: usize,
    /// What is doubtful.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// What one owner is paid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PayoutLine {
    /// Its name.
    pub owner: String,
    /// Its rows, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// What it is paid for.
    pub value: f64,
    /// The standard error of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<f64>,
    /// What it is paid.
    pub payout: f64,
    /// The same in plain digits, exactly.
    pub amount: String,
    /// The same in units, exactly.
    pub units: i64,
    /// The standard error of the payout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payout_stderr: Option<f64>,
    /// Share of draws in which it keeps its rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_survives: Option<f64>,
}

/// Divides a budget.
///
/// # Errors
///
/// [`Error::Owners`], and whatever is wrong with the table.
pub fn payout(request: &PayoutRequest) -> Result<Payout, Error> {
    payout_with(request, Ties::default())
}

/// The same, with ties broken as an earlier version did.
pub(crate) fn payout_with(request: &PayoutRequest, ties: Ties) -> Result<Payout, Error> {
    let PayoutRequest { table, given, outputs } = request;
    divided(PaidFor::read(table, given, outputs)?, given, ties)
}

/// Divides a budget between owners in memory: name, rows if they were counted, value and
/// its standard error. `covariance` has the owners in the same order.
///
/// # Errors
///
/// [`Error::Owners`].
pub fn payout_of(
    owners: Vec<(String, Option<u64>, f64, Option<f64>)>,
    covariance: Option<Vec<Vec<f64>>>,
    given: &Given,
) -> Result<Payout, Error> {
    divided(PaidFor::of(owners, covariance, given)?, given, Ties::default())
}

fn divided(paid_for: PaidFor, given: &Given, ties: Ties) -> Result<Payout, Error> {
    let money = Money::of(given, ties)?;
    let min_rows = given.count(&MIN_ROWS);
    let is_paid = |worth: &Worth| match min_rows {
        None => worth.rows != Some(0),
        Some(least) => worth.rows.unwrap_or(0) >= least,
    };
    if min_rows.is_some() && paid_for.owners.values().any(|worth| worth.rows.is_none()) {
        let file = paid_for.files.first().map(|file| file.name.clone()).unwrap_or_default();
        return Err(OwnersFault::Lacks { file, column: "rows".into() }.into());
    }
    let all: Vec<(&String, &Worth)> = paid_for.owners.iter().collect();
    let paid: Vec<usize> = (0..all.len()).filter(|&i| is_paid(all[i].1)).collect();
    let values: Vec<(&str, f64)> = paid.iter().map(|&i| (all[i].0.as_str(), all[i].1.value)).collect();
    let units = divide(&values, &money.rules).map_err(OwnersFault::Payout)?;
    let drawn =
        paid_for.errors.as_ref().map(|errors| Drawn::of(&values, &part_of(errors, &paid), &money.rules));
    let mut lines: Vec<PayoutLine> = all
        .iter()
        .map(|(owner, worth)| PayoutLine {
            owner: (*owner).clone(),
            rows: worth.rows,
            value: worth.value,
            stderr: worth.stderr,
            payout: 0.0,
            amount: money.unit.times(0),
            units: 0,
            payout_stderr: None,
            rank_survives: None,
        })
        .collect();
    for (place, &i) in paid.iter().enumerate() {
        let line = &mut lines[i];
        line.units = units[place];
        line.amount = money.unit.times(units[place]);
        line.payout = line.amount.parse().unwrap_or(f64::NAN);
        line.payout_stderr = drawn.as_ref().map(|drawn| drawn.errors[place] * money.unit_size);
        line.rank_survives = drawn.as_ref().map(|drawn| drawn.stability.each[place]);
    }
    let survives = drawn.as_ref().map(|drawn| drawn.stability.whole);
    let fragile = survives.filter(|share| *share < FRAGILE && paid.len() > 1);
    let amount = |option| given.number(option).map(|number: f64| number.to_string());
    Ok(Payout {
        version: env!("CARGO_PKG_VERSION"),
        basis: paid_for.basis,
        budget: amount(&BUDGET).unwrap_or_default(),
        unit: money.unit.times(1),
        units: money.rules.budget,
        negative: if money.rules.keep_negative { "keep" } else { "clip" },
        floor: amount(&FLOOR),
        cap: amount(&CAP),
        min_rows,
        seed: money.rules.seed,
        owners: lines,
        total: money.unit.times(units.iter().sum()),
        errors: paid_for.errors.as_ref().map(|errors| match errors {
            Errors::Joint(_) => "joint",
            Errors::Independent(_) => "independent",
        }),
        ranking_survives: survives,
        table: paid_for.files,
        is_sealed: paid_for.is_sealed,
        n_draws: N_DRAWS,
        warnings: fragile
            .map(|share| OwnersWarning::FragileRanking { share, n_draws: N_DRAWS }.into())
            .into_iter()
            .collect(),
    })
}

/// Budget, unit and rules.
struct Money {
    unit: Amount,
    unit_size: f64,
    rules: PayoutRules,
}

impl Money {
    fn of(given: &Given, ties: Ties) -> Result<Self, Error> {
        let unit_size = given.number(&UNIT).unwrap_or(USUAL_UNIT);
        let not_whole = |option: &'static OptionEntry, amount: f64| OwnersFault::NotWhole {
            option: option.name,
            amount: amount.to_string(),
            unit: unit_size.to_string(),
        };
        let unit = Amount::of(unit_size).ok_or_else(|| not_whole(&UNIT, unit_size))?;
        let units = |option: &'static OptionEntry| match given.number(option) {
            None => Ok(None),
            Some(number) => {
                let whole = Amount::of(number).and_then(|amount| amount.in_units(unit));
                whole.map(Some).ok_or_else(|| not_whole(option, number))
            }
        };
        let rules = PayoutRules {
            budget: units(&BUDGET)?.unwrap_or(0),
            keep_negative: given.is(&NEGATIVE, "keep"),
            floor: units(&FLOOR)?,
            cap: units(&CAP)?,
            seed: seed_in(given),
            ties,
        };
        Ok(Self { unit, unit_size, rules })
    }
}

/// The errors of some owners.
fn part_of(errors: &Errors, owners: &[usize]) -> Errors {
    match errors {
        Errors::Independent(errors) => Errors::Independent(owners.iter().map(|&i| errors[i]).collect()),
        Errors::Joint(rows) => {
            Errors::Joint(owners.iter().map(|&i| owners.iter().map(|&j| rows[i][j]).collect()).collect())
        }
    }
}

/// Payouts as they might have come out with other test rows.
struct Drawn {
    /// Standard deviations of shares, in units.
    errors: Vec<f64>,
    stability: Stability,
}

impl Drawn {
    fn of(values: &[(&str, f64)], errors: &Errors, rules: &PayoutRules) -> Self {
        let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let draws = resampled(&plain, errors, N_DRAWS, rules.seed);
        let stability = Stability::of(&plain, &draws);
        // A draw in which nobody is worth anything divides nothing.
        let divided: Vec<Vec<f64>> = draws.iter().filter_map(|draw| shares(draw, rules).ok()).collect();
        let n = divided.len().max(2) as f64;
        let error = |owner: usize| {
            let mean = divided.iter().map(|draw| draw[owner]).sum::<f64>() / n;
            (divided.iter().map(|draw| (draw[owner] - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
        };
        Self { errors: (0..values.len()).map(error).collect(), stability }
    }
}

impl Payout {
    /// Everything as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a payout has nothing JSON cannot hold") + "\n"
    }

    /// One row per owner. Columns that nobody filled are absent.
    pub fn table(&self) -> RecordBatch {
        let numbers = |of: fn(&PayoutLine) -> Option<f64>| -> Option<ArrayRef> {
            let cells: Float64Array = self.owners.iter().map(of).collect();
            self.owners.iter().any(|line| of(line).is_some()).then(|| Arc::new(cells) as ArrayRef)
        };
        let names: StringArray = self.owners.iter().map(|line| Some(line.owner.as_str())).collect();
        let rows: UInt64Array = self.owners.iter().map(|line| line.rows).collect();
        let has_rows = self.owners.iter().any(|line| line.rows.is_some());
        let columns = [
            ("owner", Some(Arc::new(names) as ArrayRef)),
            ("rows", has_rows.then(|| Arc::new(rows) as ArrayRef)),
            ("value", numbers(|line| Some(line.value))),
            ("stderr", numbers(|line| line.stderr)),
            ("payout", numbers(|line| Some(line.payout))),
            ("payout_stderr", numbers(|line| line.payout_stderr)),
            ("rank_survives", numbers(|line| line.rank_survives)),
        ];
        let present = columns.into_iter().filter_map(|(name, cells)| Some((name, cells?, true)));
        RecordBatch::try_from_iter_with_nullable(present).expect("columns have one cell per owner")
    }
}
