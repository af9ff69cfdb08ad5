//! The utility of sets that grow along an order.

use crate::utility::{Noted, Utility, check_finite};
use crate::{Error, worth_of_all};
use dshap::{Rows, Watch};

/// The utility of the rows `start`, and then with each row of `order` added in turn: one
/// more number than `order` has rows.
///
/// Read backwards, it is the utility as rows are removed, at the cost of adding them.
///
/// # Errors
///
/// As for [`utility_at`].
pub fn utility_along<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    start: &[usize],
    order: &[usize],
    watch: Watch<'_>,
) -> Result<Vec<f64>, Error> {
    let marks: Vec<usize> = (0..=order.len()).collect();
    utility_at(utility, rows, start, order, &marks, watch)
}

/// The utility of the rows `start` with the first rows of `order` added, for each of the
/// ascending numbers in `marks`. Models are fitted only at the marks.
///
/// # Errors
///
/// [`Error::NoSuchRow`] for a number that is not a row or comes twice,
/// [`dshap::Error::BadOption`] for marks that are not ascending or beyond the end, errors
/// about the rows, [`dshap::Error::TooLarge`], [`dshap::Error::Interrupted`].
pub fn utility_at<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    start: &[usize],
    order: &[usize],
    marks: &[usize],
    watch: Watch<'_>,
) -> Result<Vec<f64>, Error> {
    let rows = Noted::new(rows, utility)?;
    let mut is_in = vec![false; rows.len()];
    for &row in start.iter().chain(order) {
        if row >= rows.len() || std::mem::replace(&mut is_in[row], true) {
            return Err(Error::NoSuchRow { row, n_rows: rows.len() });
        }
    }
    if !marks.is_sorted() || marks.last().is_some_and(|&last| last > order.len()) {
        return Err(Error::option("marks must be ascending and at most the length of the order"));
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

/// The utility of all rows.
///
/// # Errors
///
/// Errors about the rows, [`dshap::Error::TooLarge`].
pub fn utility_of<U: Utility>(utility: &U, rows: Rows<'_>) -> Result<f64, Error> {
    let worth = worth_of_all(utility, &Noted::new(rows, utility)?);
    check_finite(&[worth])?;
    Ok(worth)
}
