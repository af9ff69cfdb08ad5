//! Test rows in two halves: those that methods value by, and those that curves are judged on.
//!
//! A row is worth something to a baseline for drawing models towards the noise of
//! its test rows. Judged on the same rows, that would pass for merit.

use super::bench::AnyMethod;
use crate::Error;
use crate::baseline::Parts;
use crate::general::Held;
use crate::request::Task;
use dshap_evaluate::shuffled;
use dshap_table::Design;

/// The places of two halves among rows with such targets, by chance; of each label
/// half, as nearly as there is one. The first has one more where they are odd.
pub(super) fn halves(y: &[f64], task: Task, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order = shuffled(y.len(), seed);
    if task == Task::Classification {
        // Rows of one label stand together, in random order still, and every other one is taken.
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

/// Leaves half of the test rows for methods to value by, and returns the others.
///
/// # Errors
///
/// [`Error::FewTestRows`] for fewer than two test rows.
pub(super) fn set_apart(
    parts: &mut Parts,
    method: AnyMethod,
    (task, design): (Task, &Design),
    seed: u64,
) -> Result<Held, Error> {
    let n_test = parts.test.n_rows();
    if n_test < 2 {
        let are_kept_back = parts.test_from == "points";
        return Err(Error::FewTestRows { n_test, method: method.word(), are_kept_back });
    }
    let columns: Vec<usize> = (0..design.n_columns()).collect();
    let (valuing, judging) = halves(parts.test.y(), task, seed);
    let judging = parts.test.select(&judging, &columns);
    parts.test = parts.test.select(&valuing, &columns);
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
