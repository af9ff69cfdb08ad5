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

/// The `k` nearest of the rows `among` to every row, itself left out, nearest first and
/// rows at the same distance in ascending order. Distances are Euclidean, of standardised
/// columns.
///
/// # Errors
///
/// [`Error::FewRows`] for a single row; [`Error::NoFeatures`] if nothing varies;
/// [`Error::NotFinite`], [`Error::TooLarge`].
///
/// # Panics
///
/// If `among` has a number that is no row.
pub fn nearest_rows(rows: Rows<'_>, among: &[usize], k: usize) -> Result<Vec<Vec<u32>>, Error> {
    let space = Space::new(rows, Metric::Euclidean, Scale::Standard)?;
    let placed = space.place(rows)?;
    let cells = Mat::from_fn(among.len(), rows.n_features(), |i, j| rows.x()[(among[i], j)]);
    let nothing = vec![0.0; among.len()];
    let candidates = space.place(Rows::new(cells.as_ref(), &nothing)?)?;
    let index = Index::new(&space, &candidates);
    (0..rows.len())
        .into_par_iter()
        .map(|row| {
            let test = space.test_row(&placed, row);
            if !index.can_visit(&test) {
                return Err(Error::TooLarge);
            }
            let mut near: Vec<(f64, u32)> = Vec::with_capacity(2 * k);
            let nearer =
                |one: &(f64, u32), other: &(f64, u32)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1));
            let mut reach = f64::INFINITY;
            index.visit(&test, |found, distances| {
                for (&place, &distance) in found.iter().zip(distances) {
                    let other = among[place as usize];
                    if distance <= reach && other != row {
                        near.push((distance, other as u32));
                    }
                }
                if near.len() > k {
                    near.select_nth_unstable_by(k - 1, nearer);
                    near.truncate(k);
                    reach = near.iter().fold(0.0, |most: f64, one| most.max(one.0));
                }
                reach
            });
            near.sort_unstable_by(nearer);
            Ok(near.into_iter().map(|(_, other)| other).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_testkit::Draws;

    #[test]
    fn the_nearest_are_those_of_all_distances() {
        let (n, p, k) = (300, 3, 7);
        let mut draws = Draws::new(9);
        // Coarse cells, so that there are ties.
        let x = Mat::from_fn(n, p, |_, _| (3.0 * draws.normal()).round());
        let y = vec![0.0; n];
        let rows = Rows::new(x.as_ref(), &y).expect("one target per row");
        let among: Vec<usize> = (0..n).filter(|row| row % 3 != 0).collect();
        let found = nearest_rows(rows, &among, k).expect("cells are finite");
        let scale: Vec<f64> = (0..p)
            .map(|j| {
                let mean = (0..n).map(|i| x[(i, j)]).sum::<f64>() / n as f64;
                (0..n).map(|i| (x[(i, j)] - mean).powi(2)).sum::<f64>()
            })
            .collect();
        for row in 0..n {
            let distance = |other: usize| -> f64 {
                (0..p).map(|j| (x[(row, j)] - x[(other, j)]).powi(2) / scale[j]).sum()
            };
            let mut all: Vec<f64> =
                among.iter().filter(|&&other| other != row).map(|&o| distance(o)).collect();
            all.sort_by(f64::total_cmp);
            let near: Vec<f64> = found[row].iter().map(|&other| distance(other as usize)).collect();
            assert!(!found[row].contains(&(row as u32)) && near.len() == k);
            near.iter().zip(&all).for_each(|(one, other)| assert!((one - other).abs() < 1e-12));
        }
    }
}
