//! Leave-one-out: what all rows lose without each.

use crate::Error;
use crate::utility::{Noted, Utility, check_finite};
use dshap::{Rows, Values, Watch};
use rayon::prelude::*;

/// What all rows together lose without each: `U(D) − U(D ∖ i)`.
///
/// # Errors
///
/// [`dshap::Error::NoRows`], errors about the rows, [`dshap::Error::TooLarge`],
/// [`dshap::Error::Interrupted`].
pub fn leave_one_out<U: Utility>(utility: &U, rows: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error>
where
    U::Set: Sync,
{
    if rows.is_empty() {
        return Err(dshap::Error::NoRows.into());
    }
    let rows = Noted::new(rows, utility)?;
    let mut set = utility.empty();
    let mut x = rows.scratch();
    for row in 0..rows.len() {
        utility.push(&mut set, rows.row(row, &mut x));
    }
    check_finite(&[utility.value(&mut set)])?;
    let done = std::sync::atomic::AtomicUsize::new(0);
    let value: Option<Vec<f64>> = (0..rows.len())
        .into_par_iter()
        .map_init(
            || rows.scratch(),
            |x, row| {
                let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                watch(done, rows.len()).then(|| utility.loss(&set, row, rows.row(row, x)))
            },
        )
        .collect();
    let value = value.ok_or_else(Error::interrupted)?;
    check_finite(&value)?;
    Ok(Values { value, ..Values::default() })
}

/// Whether all rows together do not determine a model, so there is nothing to lose.
///
/// # Errors
///
/// Errors about the rows.
pub fn is_undetermined<U: Utility>(utility: &U, rows: Rows<'_>) -> Result<bool, Error> {
    let rows = Noted::new(rows, utility)?;
    let mut set = utility.empty();
    let mut x = rows.scratch();
    for row in 0..rows.len() {
        utility.push(&mut set, rows.row(row, &mut x));
    }
    utility.value(&mut set);
    Ok(utility.is_undetermined(&set))
}
