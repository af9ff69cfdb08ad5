//! What sets of rows are worth as they grow along an order.

use crate::utility::{Noted, Utility, check_finite};
use crate::{Error, worth_of_all};
use dshap::Rows;

/// What the rows `start` are worth, and then what they are worth with each row of
/// `order` added in turn: one number more than `order` is long.
///
/// Backwards it is what is left when rows are taken away, at the cost of adding
/// them.
///
/// # Errors
///
/// As for [`utility_at`].
pub fn utility_along<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    start: &[usize],
    order: &[usize],
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<Vec<f64>, Error> {
    let marks: Vec<usize> = (0..=order.len()).collect();
    utility_at(utility, rows, start, order, &marks, watch)
}

/// What the rows `start` are worth with the first so many rows of `order` added,
/// for each of the ascending numbers in `marks`. Models are fitted at the marks
/// only.
///
/// # Errors
///
/// [`Error::NoSuchRow`] for a number that is no row or there twice,
/// [`dshap::Error::BadOption`] for marks that are not ascending or beyond the end,
/// what is wrong with the rows, [`dshap::Error::TooLarge`],
/// [`dshap::Error::Interrupted`].
pub fn utility_at<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    start: &[usize],
    order: &[usize],
    marks: &[usize],
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<Vec<f64>, Error> {
    let rows = Noted::new(rows, utility)?;
    let mut is_in = vec![false; rows.len()];
    for &row in start.iter().chain(order) {
        if row >= rows.len() || std::mem::replace(&mut is_in[row], true) {
            return Err(Error::NoSuchRow { row, n_rows: rows.len() });
        }
    }
    if !marks.is_sorted() || marks.last().is_some_and(|&last| last > order.len()) {
        return Err(Error::option("marks must be ascending, and no more than the order is long"));
    }
    let mut x = rows.scratch();
    let mut set = utility.empty();
    for &row in start {
        utility.push(&mut set, rows.row(row, &mut x));
    }
    let mut worth = Vec::with_capacity(marks.len());
    let mut added = 0;
    for (done, &mark) in marks.iter().enumerate() {
        if !watch(done, marks.len()) {
            return Err(Error::interrupted());
        }
        for &row in &order[added..mark] {
            utility.push(&mut set, rows.row(row, &mut x));
        }
        added = mark;
        worth.push(utility.value(&mut set));
    }
    check_finite(&worth)?;
    Ok(worth)
}

/// What all rows are worth.
///
/// # Errors
///
/// What is wrong with the rows, [`dshap::Error::TooLarge`].
pub fn utility_of<U: Utility>(utility: &U, rows: Rows<'_>) -> Result<f64, Error> {
    let worth = worth_of_all(utility, &Noted::new(rows, utility)?);
    check_finite(&[worth])?;
    Ok(worth)
}
