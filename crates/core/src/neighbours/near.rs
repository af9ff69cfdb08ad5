//! Rows that are nearly the same.

use super::index::Index;
use super::options::{Metric, Scale};
use super::space::Space;
use crate::{Error, Rows};
use faer::Mat;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

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

/// As [`near_rows`], and puts rows that are near each other, or linked by rows that are, into
/// one cluster: the number of each row's cluster is that of the first row in it.
///
/// # Errors
///
/// As [`near_rows`].
pub fn near_clusters<T: Send>(
    rows: Rows<'_>,
    tolerance: f64,
    see: impl Fn(usize, &[u32]) -> T + Sync,
) -> Result<(Vec<T>, Vec<u32>), Error> {
    let links = Mutex::new((0..rows.len() as u32).collect::<Vec<u32>>());
    let seen = near_rows(rows, tolerance, |row, near| {
        // The lists themselves may be far longer than the table, so none is kept.
        let mut links = links.lock().unwrap_or_else(PoisonError::into_inner);
        near.iter().for_each(|&other| link(&mut links, row as u32, other));
        drop(links);
        see(row, near)
    })?;
    let mut links = links.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Links lead to earlier rows, so those are settled first.
    (0..links.len()).for_each(|row| links[row] = links[links[row] as usize]);
    Ok((seen, links))
}

/// Joins the clusters of two rows.
fn link(links: &mut [u32], one: u32, other: u32) {
    let (one, other) = (first_of(links, one), first_of(links, other));
    links[one.max(other) as usize] = one.min(other);
}

/// The first row of a cluster; the way there becomes shorter.
fn first_of(links: &mut [u32], mut row: u32) -> u32 {
    while links[row as usize] != row {
        links[row as usize] = links[links[row as usize] as usize];
        row = links[row as usize];
    }
    row
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
    fn clusters_are_the_components_of_near_rows() {
        let n = 400;
        let mut draws = Draws::new(12);
        let x = Mat::from_fn(n, 1, |_, _| draws.normal());
        let y: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
        let rows = Rows::new(x.as_ref(), &y).expect("one target per row");
        for tolerance in [0.01, 0.04, 0.1] {
            let (near, found) =
                near_clusters(rows, tolerance, |_, near| near.to_vec()).expect("cells are finite");
            // By spreading the smallest number until nothing changes.
            let mut expected: Vec<u32> = (0..n as u32).collect();
            let mut changes = true;
            while changes {
                changes = false;
                for row in 0..n {
                    let least = near[row].iter().map(|&other| expected[other as usize]).min();
                    if let Some(least) = least.filter(|least| *least < expected[row]) {
                        (expected[row], changes) = (least, true);
                    }
                }
            }
            assert_eq!(found, expected);
            let n_clusters = (0..n).filter(|&row| found[row] as usize == row).count();
            assert!(n_clusters > 1 && n_clusters < n, "{n_clusters} clusters within {tolerance}");
        }
    }

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
