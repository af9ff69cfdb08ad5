//! Rows summed by their owners, owners given each other, and a budget divided between them.

use crate::held::HeldRows;
use crate::problem::Problem;
use crate::speech::Form;
use crate::wire::{GameView, OwnerView, OwnersView, PairView};
use arrow_array::Array;
use dshap_catalogue::options::{BASIS, BUDGET};
use dshap_catalogue::{Given, Value};
use dshap_owners::{OwnerLine, PayoutLine, Report};
use std::collections::HashMap;

/// Owners that are listed.
const LISTED: usize = 1000;

/// Pairs of owners that are listed.
const LISTED_PAIRS: usize = 10;

/// The owners of a run, the highest sum first, and what each is paid out of a budget. With a game, they are valued
/// and paid given each other.
pub(crate) fn owners(
    rows: &HeldRows,
    column: &str,
    budget: Option<f64>,
    game: Option<&Report>,
) -> Result<OwnersView, Problem> {
    let mut owners = sums(rows, column)?;
    let mut game = game.map(|found| {
        join(&mut owners, found);
        view(found)
    });
    if let Some(budget) = budget {
        let basis = game.as_ref().map_or("rows", |_| "shapley");
        let covariance = game.as_ref().and_then(|(_, covariance)| covariance.clone());
        let survives = pay(&mut owners, budget, basis, covariance)?;
        if let Some((game, _)) = &mut game {
            game.ranking_survives = survives;
        }
    }
    let count = owners.len();
    owners.truncate(LISTED);
    Ok(OwnersView { column: column.into(), owners, count, game: game.map(|(game, _)| game) })
}

/// The owner of a row, if it has one.
pub(crate) fn owner_of(rows: &HeldRows, column: &str, row: usize) -> Option<OwnerView> {
    let name = name_of(rows, column, row)?;
    sums(rows, column).ok()?.into_iter().find(|owner| owner.owner == name)
}

/// The name of the owner of a row, spelled as `dshap owners` spells it.
fn name_of(rows: &HeldRows, column: &str, row: usize) -> Option<String> {
    let text = rows.text(column, row)?;
    Some(dshap_table::spelled(text.trim()).into_owned()).filter(|name| !name.is_empty())
}

fn sums(rows: &HeldRows, column: &str) -> Result<Vec<OwnerView>, Problem> {
    let values = rows.numbers("value").ok_or_else(|| Problem::missing("column", "value"))?;
    let mut owners: HashMap<String, OwnerView> = HashMap::new();
    for row in (0..rows.n_rows()).filter(|&row| values.is_valid(row)) {
        let Some(name) = name_of(rows, column, row) else { continue };
        let owner = owners.entry(name).or_insert_with_key(|name| OwnerView {
            owner: name.clone(),
            rows: 0,
            sum: 0.0,
            below_zero: 0,
            shapley: None,
            stderr: None,
            duplicates: None,
            payout: None,
            payout_stderr: None,
        });
        owner.rows += 1;
        owner.sum += values.value(row);
        owner.below_zero += u64::from(values.value(row) < 0.0);
    }
    let mut owners: Vec<OwnerView> = owners.into_values().collect();
    owners.sort_by(|one, other| other.sum.total_cmp(&one.sum).then_with(|| one.owner.cmp(&other.owner)));
    Ok(owners)
}

/// Adds what owners are worth given each other; the highest value comes first.
fn join(owners: &mut [OwnerView], found: &Report) {
    let lines: HashMap<&str, &OwnerLine> =
        found.owners.iter().map(|line| (line.owner.as_str(), line)).collect();
    for owner in owners.iter_mut() {
        if let Some(line) = lines.get(owner.owner.as_str()) {
            owner.shapley = Some(line.shapley);
            owner.stderr = line.stderr;
            owner.duplicates = line.duplicates;
        }
    }
    let value = |owner: &OwnerView| owner.shapley.unwrap_or(f64::NEG_INFINITY);
    owners
        .sort_by(|one, other| value(other).total_cmp(&value(one)).then_with(|| one.owner.cmp(&other.owner)));
}

/// Errors of owners that go together, by name.
type Covariance = HashMap<(String, String), f64>;

fn view(found: &Report) -> (GameView, Option<Covariance>) {
    let substitutes = found.interactions.iter().filter(|pair| pair.value < 0.0).take(LISTED_PAIRS);
    let game = GameView {
        total: found.total,
        test_rows: found.n_test,
        substitutes: substitutes
            .map(|pair| PairView { a: pair.a.clone(), b: pair.b.clone(), interaction: pair.value })
            .collect(),
        warnings: found.warnings.iter().map(|warning| dshap_words::warning(warning, &Form)).collect(),
        ranking_survives: None,
    };
    let names = || found.owners.iter().map(|line| &line.owner);
    let covariance = found.covariance.as_ref().map(|rows| {
        let cells = names().zip(rows).flat_map(|(one, row)| {
            names().zip(row).map(move |(other, cell)| ((one.clone(), other.clone()), *cell))
        });
        cells.collect()
    });
    (game, covariance)
}

/// Divides a budget as `dshap payout` does; returns how often the ranking survives, if that is known.
fn pay(
    owners: &mut [OwnerView],
    budget: f64,
    basis: &str,
    covariance: Option<Covariance>,
) -> Result<Option<f64>, Problem> {
    let mut given = Given::new().with(&BASIS, Value::Word(basis.into()));
    given
        .set(&BUDGET, Value::Number(budget))
        .map_err(|expected| Problem::bad(format!("`budget` cannot be {budget}: {expected}")))?;
    let paid_for = owners.iter().map(|owner| match basis {
        "rows" => (owner.owner.clone(), Some(owner.rows), owner.sum, None),
        // An owner that the game does not know has no usable row.
        _ => (owner.owner.clone(), Some(owner.rows), owner.shapley.unwrap_or(0.0), owner.stderr),
    });
    let names: Vec<String> = owners.iter().map(|owner| owner.owner.clone()).collect();
    let square = covariance.map(|cells| {
        let cell =
            |one: &String, other: &String| cells.get(&(one.clone(), other.clone())).copied().unwrap_or(0.0);
        names.iter().map(|one| names.iter().map(|other| cell(one, other)).collect()).collect()
    });
    let payout = dshap_owners::payout_of(paid_for.collect(), square, &given)?;
    let lines: HashMap<String, PayoutLine> =
        payout.owners.into_iter().map(|line| (line.owner.clone(), line)).collect();
    for owner in owners {
        let line = lines.get(&owner.owner);
        owner.payout = line.map(|line| line.amount.clone());
        owner.payout_stderr = line.and_then(|line| line.payout_stderr);
    }
    Ok(payout.ranking_survives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_by_owner_and_payouts_add_up() {
        let held = crate::held::tests::held();
        let found = owners(&held, "who", Some(100.0), None).expect("there is such a column");
        // The second row has no value and the third no owner.
        assert_eq!(found.count, 1);
        assert_eq!(found.owners[0].payout.as_deref(), Some("100.00"));
        assert_eq!(owner_of(&held, "who", 0).map(|owner| owner.rows), Some(1));
        assert_eq!(owner_of(&held, "who", 2), None);
        assert_eq!(owners(&held, "who", Some(-1.0), None).map_err(|problem| problem.status).err(), Some(400));
    }
}
