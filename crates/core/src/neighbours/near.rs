//! Rows that are nearly the same.

use super::index::Index;
use super::options::{Metric, Scale};
use super::space::Space;
use crate::{Error, Rows};
use faer::Mat;
use rayon::prelude::*;

/// Calls `see` for every row, with the other rows whose features and target differ from it
/// by at most `tolerance` standard deviations: the root of the mean squared difference over
/// all columns that vary. An index of the rows finds them, so no row meets all others.
///
/// # Errors
///
/// [`Error::FewRows`] for a single row; [`Error::NoFeatures`] if nothing varies;
/// [`Error::NotFinite`], [`Error::TooLarge`].
pub fn near_rows<T: Send>(
    rows: Rows<'_>,
    tolerance: f64,
    see: impl Fn(usize, &[u32]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let (n, p) = (rows.len(), rows.n_features());
    let cells = Mat::from_fn(n, p + 1, |i, j| if j < p { rows.x()[(i, j)] } else { rows.y()[i] });
    let nothing = vec![0.0; n];
    let all = Rows::new(cells.as_ref(), &nothing)?;
    let space = Space::new(all, Metric::Euclidean, Scale::Standard)?;
    let placed = space.place(all)?;
    let index = Index::new(&space, &placed);
    // Direct distances are sums of squares.
    let reach = tolerance * tolerance * space.columns.len() as f64;
    (0..n)
        .into_par_iter()
        .map(|row| {
            let test = space.test_row(&placed, row);
            if !index.can_visit(&test) {
                return Err(Error::TooLarge);
            }
            let mut near: Vec<u32> = Vec::new();
            index.visit(&test, |rows, distances| {
                let found = rows
                    .iter()
                    .zip(distances)
                    .filter(|(other, distance)| **distance <= reach && **other as usize != row);
                near.extend(found.map(|(other, _)| *other));
                reach
            });
            near.sort_unstable();
            Ok(see(row, &near))
        })
        .collect()
}
