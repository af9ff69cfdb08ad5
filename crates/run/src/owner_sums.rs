//! Moments by owner, kept in valuers that are fitted with a column of owners.

use crate::memory::Budget;
use crate::named::NamedTable;
use dshap::{Combination, Moments, MomentsBuilder, MomentsForm, Rows};
use dshap_catalogue::Given;
use dshap_catalogue::options::BY;
use dshap_io::Source;
use dshap_models::linear::LinearModel;
use dshap_models::{Error, FittedValuer, Observer, OwnerMoments, OwnersWarning, Warning};
use dshap_table::Design;
use faer::Mat;
use std::collections::{BTreeMap, HashMap};

/// The moments of each owner, one more pass over the rows. None if no column of owners was
/// named, or if rows have weights or no moments.
pub(crate) fn of_fit(
    source: &Source,
    valuer: &FittedValuer,
    given: &Given,
    memory: Option<u64>,
    observer: &dyn Observer,
) -> Result<Option<OwnerMoments>, Error> {
    let is_sum =
        valuer.model.of::<LinearModel>().is_some() && valuer.how.method.entry.updates_for(valuer.task());
    let Some(by) = given.word(&BY).filter(|_| is_sum && valuer.design.weight().is_none()) else {
        return Ok(None);
    };
    let owners = by_owner(source, &valuer.design, by, memory, observer)?;
    Ok(Some(OwnerMoments { by: by.into(), owners }))
}

/// A warning if a column names owners and the valuer does not keep them.
pub(crate) fn not_kept(valuer: &FittedValuer, given: &Given) -> Option<Warning> {
    let column = given.word(&BY).filter(|_| valuer.owners.is_none())?;
    Some(OwnersWarning::OwnersNotKept { column: column.into() }.into())
}

/// Moments by the names in a column. Rows without a name are nobody's.
pub(crate) fn by_owner(
    source: &Source,
    design: &Design,
    by: &str,
    memory: Option<u64>,
    observer: &dyn Observer,
) -> Result<BTreeMap<String, Moments>, Error> {
    let core = |error| Error::core(error, design);
    let mut sums: HashMap<String, MomentsBuilder> = HashMap::new();
    NamedTable { source, design, columns: &[by], memory, observer }.each(|rows| {
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for i in 0..rows.y.len() {
            if let Some(name) = rows.name(0, i) {
                members.entry(name).or_default().push(i);
            }
        }
        for (name, members) in members {
            let x = Mat::from_fn(members.len(), rows.x.ncols(), |i, j| rows.x[(members[i], j)]);
            let y: Vec<f64> = members.iter().map(|&i| rows.y[i]).collect();
            let begun = || MomentsBuilder::new(x.ncols()).with_form(MomentsForm::Products);
            let builder = sums.entry(name.into()).or_insert_with(begun);
            builder.push(Rows::new(x.as_ref(), &y).map_err(core)?).map_err(core)?;
        }
        let k = design.n_columns() as u64 + 1;
        let of_one = |sums: &MomentsBuilder| 8 * k * (k + sums.n_rows().min(dshap::BLOCK_ROWS) as u64);
        Budget::new(memory).check_held(sums.values().map(of_one).sum(), 1.0)?;
        Ok(rows.x)
    })?;
    sums.into_iter().map(|(name, sums)| Ok((name, sums.finish().map_err(core)?))).collect()
}

/// Moments of other columns.
pub(crate) fn recombine(owners: &mut OwnerMoments, columns: &[Combination]) {
    owners.owners.values_mut().for_each(|moments| *moments = moments.recombined(columns));
}

/// Adds rows of owners, old and new ones.
pub(crate) fn add(owners: &mut OwnerMoments, more: BTreeMap<String, Moments>) -> Result<(), dshap::Error> {
    for (name, moments) in more {
        match owners.owners.get_mut(&name) {
            Some(have) => have.merge(&moments)?,
            None => {
                owners.owners.insert(name, moments);
            }
        }
    }
    Ok(())
}

/// Takes rows away; an owner without rows is gone.
pub(crate) fn forget(owners: &mut OwnerMoments, gone: BTreeMap<String, Moments>) -> Result<(), dshap::Error> {
    for (name, moments) in gone {
        let have = owners.owners.get_mut(&name).ok_or(dshap::Error::NotAmong { column: None })?;
        if have.n_rows() == moments.n_rows() {
            owners.owners.remove(&name);
        } else {
            have.remove(&moments)?;
        }
    }
    Ok(())
}
