//! Test rows in two halves: methods value by one, and curves are judged on the other.
//!
//! A baseline rewards rows that draw models towards the noise of its test rows.
//! Judged on the same rows, that would look like merit.

use crate::measures::shuffled;
use dshap_catalogue::Task;
use dshap_models::sets::Parts;
use dshap_models::{Error, HeldRows, Method};

/// The places of two random halves among rows with these targets. Each label is
/// halved too, as nearly as possible. If the rows are odd, the first half has one
/// more.
fn halves(y: &[f64], task: Task, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order = shuffled(y.len(), seed);
    if task == Task::Classification {
        // Rows of one label stand together, still in random order, and every other one is taken.
        order.sort_by(|&i, &j| y[i].total_cmp(&y[j]));
    }
    let mut parts = (Vec::new(), Vec::new());
    for (place, row) in order.into_iter().enumerate() {
        if place % 2 == 0 { parts.0.push(row) } else { parts.1.push(row) }
    }
    parts.0.sort_unstable();
    parts.1.sort_unstable();
    parts
}

/// Leaves half of the test rows for methods to value by, and returns the others. An
/// error names `method`, one that values by them.
///
/// # Errors
///
/// [`Error::FewTestRows`] for fewer than two test rows.
pub(crate) fn set_apart(
    parts: &mut Parts,
    method: &Method,
    task: Task,
    seed: u64,
) -> Result<HeldRows, Error> {
    let n_test = parts.test.n_rows();
    if n_test < 2 {
        let are_kept_back = parts.are_kept_back();
        return Err(Error::FewTestRows { n_test, method: method.name(), are_kept_back });
    }
    let (valuing, judging) = halves(parts.test.y(), task, seed);
    let judging = parts.test.select_rows(&judging);
    parts.test = parts.test.select_rows(&valuing);
    Ok(judging)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_half_and_every_label_in_both() {
        let y: Vec<f64> = (0..41).map(|row| f64::from(u8::from(row % 10 == 0))).collect();
        let (valuing, judging) = halves(&y, Task::Classification, 3);
        let mut all: Vec<usize> = valuing.iter().chain(&judging).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..41).collect::<Vec<_>>());
        assert_eq!((valuing.len(), judging.len()), (21, 20));
        let n_rare = |rows: &[usize]| rows.iter().filter(|&&row| y[row] == 1.0).count();
        assert_eq!(n_rare(&valuing).abs_diff(n_rare(&judging)), 1, "there are five");
        assert_ne!(halves(&y, Task::Classification, 4).0, valuing, "another seed, other halves");
        assert_eq!(halves(&y[..1], Task::Regression, 4), (vec![0], vec![]));
    }
}
