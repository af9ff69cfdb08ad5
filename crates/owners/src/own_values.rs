//! What the rows of owners are worth apart from the game: row sums and joint values.

use crate::joint;
use crate::market::Market;
use crate::report::AtSize;
use crate::row_values::{ByOwner, RowSums, Sharing, SumsByOwner};
use crate::run::Played;
use dshap::owners::MOST_JOINT;
use dshap_catalogue::options::{M, Q, SAMPLES, STOP, TEST};
use dshap_catalogue::{Given, Group, OptionEntry};
use dshap_models::{Error, Facts, FittedValuer, OwnersWarning, SizeChoice, Warning};
use dshap_run::{NamedRows, OpenValuer, Resources, SizesUsed, Summary, Tables, value_open};

/// What the rows of owners are worth apart from the game.
#[derive(Debug, Default)]
pub(crate) struct OwnValues {
    pub(crate) by_owner: Option<SumsByOwner>,
    /// Covariances of row sums, whose rows share one fit; none with many owners, or where the
    /// method does not know them.
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    /// By owner and size.
    joint: Option<Vec<Vec<Option<f64>>>>,
    /// The first is that of values without a size in their name.
    sizes: Vec<SizesUsed>,
    pub(crate) warnings: Vec<Warning>,
}

impl OwnValues {
    /// The values of rows, summed by owner, and joint values.
    pub(crate) fn of_rows(
        market: &Market<'_>,
        played: &Played,
        resources: &Resources,
    ) -> Result<Self, Error> {
        let (by_owner, covariance, summary) = match row_values(market, played, resources) {
            Err(Error::Core { error: dshap::Error::TooFewRows { n_rows, dim, .. }, .. }) => {
                // The game has a ridge, and is worth something without them.
                let warnings = vec![OwnersWarning::NoRowValues { n_rows, dim }.into()];
                return Ok(Self { warnings, ..Self::default() });
            }
            valued => valued?,
        };
        let sizes = match summary.sizes.is_empty() {
            true => vec![SizesUsed { m: summary.facts.m, q: summary.facts.q }],
            false => summary.sizes,
        };
        let joint = joint::values(played, &summary.facts, &sizes);
        Ok(Self { by_owner: Some(by_owner), covariance, joint, sizes, warnings: summary.warnings })
    }

    /// Joint values only: a valuer has no rows.
    pub(crate) fn of_valuer(valuer: &FittedValuer, played: &Played, given: &Given) -> Result<Self, Error> {
        let sizes = sizes_of(valuer, given)?;
        let joint = joint::values(played, &Facts::of(valuer, &valuer.how)?, &sizes);
        Ok(Self { joint, sizes, ..Self::default() })
    }

    /// The sums of an owner's row values.
    pub(crate) fn sums(&self, name: &str) -> Option<RowSums> {
        self.by_owner.as_ref().map(|sums| sums.get(name).cloned().unwrap_or_default())
    }

    pub(crate) fn joint(&self, owner: usize, size: usize) -> Option<f64> {
        self.joint.as_ref().and_then(|joint| *joint[owner].get(size)?)
    }

    /// The values of an owner for each of several sizes.
    pub(crate) fn at_sizes(&self, owner: usize, sums: Option<&RowSums>) -> Vec<AtSize> {
        if self.sizes.len() < 2 {
            return Vec::new();
        }
        let at = |(place, used): (usize, &SizesUsed)| AtSize {
            m: used.m,
            q: used.q,
            row_sum: sums.and_then(|sums| sums.at_sizes.get(place).copied()).filter(|sum| sum.is_finite()),
            joint: self.joint(owner, place),
        };
        self.sizes.iter().enumerate().map(at).collect()
    }
}

/// The set sizes of joint values: those of a valuer, or those given.
fn sizes_of(valuer: &FittedValuer, given: &Given) -> Result<Vec<SizesUsed>, Error> {
    let several = given.counts(&M);
    let each: Vec<Option<usize>> = match several {
        [] => vec![given.size(&M)],
        _ => several.iter().map(|&m| Some(usize::try_from(m).unwrap_or(usize::MAX))).collect(),
    };
    let used = |max: Option<usize>| {
        let choice = SizeChoice { min: given.size(&Q), max }.or(valuer.how.sizes());
        let sizes = valuer.sizes(&valuer.how.with_sizes(choice))?;
        Ok(SizesUsed { m: sizes.max(), q: sizes.min() })
    };
    each.into_iter().map(used).collect()
}

/// What the values of all rows give: sums by owner, and their covariances.
type RowValues = (SumsByOwner, Option<Vec<Vec<f64>>>, Summary);

/// The values of all rows, by owner.
fn row_values(market: &Market<'_>, played: &Played, resources: &Resources) -> Result<RowValues, Error> {
    let Market { tables, method, task, .. } = market;
    // Test rows, the penalty and the stopping rule are those of the game, unless the method has them too.
    let is =
        |option: &OptionEntry, others: &[&OptionEntry]| others.iter().any(|other| other.name == option.name);
    let given = market.given.only(|option| match option.group {
        Group::Owners | Group::Payout | Group::Run | Group::Output => false,
        _ if is(option, &[&STOP, &SAMPLES, &TEST]) => false,
        _ => !option.is_of_methods() || method.entry.takes(option, Some(*task)).is_some(),
    });
    let test = tables.test.clone().filter(|_| method.is_of_neighbours());
    let once = played.copies.once();
    let points = once.map_or_else(|| tables.rows.clone(), |once| tables.rows.without(once.later()));
    let tables = Tables { points, reference: None, test };
    let names = &played.sorted.names;
    let mut by_owner = ByOwner::new(given.counts(&M), once.map(|once| Sharing::new(once, names)));
    let (summary, valuer) = value_open(&tables, method, &given, resources, market.observer, &mut by_owner)?;
    Ok((by_owner.found(), covariance(market, played, &valuer)?, summary))
}

/// The covariances of row sums.
fn covariance(
    market: &Market<'_>,
    played: &Played,
    valuer: &OpenValuer,
) -> Result<Option<Vec<Vec<f64>>>, Error> {
    let (names, once) = (&played.sorted.names, played.copies.once());
    if names.len() > MOST_JOINT {
        return Ok(None);
    }
    let place = |name: &str| names.binary_search_by(|other| other.as_str().cmp(name)).ok();
    let members = |rows: &NamedRows, i: usize| {
        let Some(owner) = rows.name(0, i).and_then(place) else { return Vec::new() };
        let Some(once) = once else { return vec![(owner, 1.0)] };
        let row = rows.number(i);
        match once.holders_of(row).map(|kind| &once.holders()[kind]) {
            Some(holders) => holders.iter().map(|&holder| (holder, 1.0 / holders.len() as f64)).collect(),
            None if once.is_later(row) => Vec::new(),
            None => vec![(owner, 1.0)],
        }
    };
    valuer.sum_covariance((&market.tables.rows, market.by), names.len(), market.observer, members)
}
