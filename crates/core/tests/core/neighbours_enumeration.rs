//! Values against the definition with every set and every order of ties written out.

use crate::common::neighbours as setting;

use dshap::neighbours::{NeighbourTask, NeighbourValuer, TestRows};
use dshap::{Sizes, Valuer};
use dshap_testkit::Draws;
use setting::{THREE_CLASSES, TWO_CLASSES, Table, as_given, utility};

/// Sums of some thousand terms of order 1 on either side.
const TOLERANCE: f64 = 1e-13;

/// A player: how far it is from the test row, and its target.
type Player = (f64, f64);

/// The sum over set sizes of the mean gain of `point`, over all sets and all orders in
/// which ties could be broken. `of_empty` is the value of the empty set.
fn gain(
    others: &[Player],
    point: Player,
    sizes: std::ops::RangeInclusive<usize>,
    value: &dyn Fn(&[f64]) -> f64,
) -> f64 {
    let mut sums = vec![(0.0, 0.0); others.len() + 1];
    let all: Vec<Player> = others.iter().copied().chain([point]).collect();
    each_order(all.len(), &mut |order| {
        // A stable sort of a shuffled list breaks ties in random order.
        let mut sorted: Vec<usize> = order.to_vec();
        sorted.sort_by(|&a, &b| all[a].0.total_cmp(&all[b].0));
        for set in 0_u32..1 << others.len() {
            let size = set.count_ones() as usize;
            if !sizes.contains(&size) {
                continue;
            }
            let of = |with_point: bool| -> Vec<f64> {
                let is_in =
                    |player: usize| if player == others.len() { with_point } else { set >> player & 1 == 1 };
                sorted.iter().filter(|&&player| is_in(player)).map(|&player| all[player].1).collect()
            };
            sums[size].0 += value(&of(true)) - value(&of(false));
            sums[size].1 += 1.0;
        }
    });
    sums.into_iter().filter(|(_, n)| *n > 0.0).map(|(sum, n)| sum / n).sum()
}

/// All orders of `0..n` (Heap's algorithm).
fn each_order(n: usize, see: &mut dyn FnMut(&[usize])) {
    fn go(order: &mut [usize], len: usize, see: &mut dyn FnMut(&[usize])) {
        if len <= 1 {
            return see(order);
        }
        for i in 0..len {
            go(order, len - 1, see);
            order.swap(if len.is_multiple_of(2) { i } else { 0 }, len - 1);
        }
    }
    go(&mut (0..n).collect::<Vec<_>>(), n, see);
}

/// One case.
struct Case {
    task: NeighbourTask,
    k: usize,
    q: usize,
    m: usize,
    reference: Table,
    test: Table,
}

impl Case {
    /// Players of test row `t` of `test`, without those in `missing`.
    fn players(&self, test: &Table, t: usize, missing: &[usize]) -> Vec<Player> {
        let reference = &self.reference;
        let rows = (0..reference.len()).filter(|row| !missing.contains(row));
        rows.map(|row| (reference.dist_sq(row, test, t), reference.y[row])).collect()
    }

    fn value(&self, others: &[Player], point: Player, y_t: f64) -> f64 {
        let value = |set: &[f64]| utility(self.task, self.k, set, y_t);
        gain(others, point, self.k.max(self.q - 1)..=(self.m - 1).min(others.len()), &value) / self.m as f64
    }

    /// The Shapley value, by all sets; the empty one is worth 0.
    fn shapley(&self, others: &[Player], point: Player, y_t: f64) -> f64 {
        let value = |set: &[f64]| if set.is_empty() { 0.0 } else { utility(self.task, self.k, set, y_t) };
        gain(others, point, 0..=others.len(), &value) / (others.len() + 1) as f64
    }

    fn valuer<'a>(&'a self, test: TestRows<'a>) -> NeighbourValuer<'a> {
        let options = as_given(self.k, self.task);
        NeighbourValuer::new(self.reference.rows(), test, Sizes::new(self.q, self.m), options).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let mut draws = Draws::new(4711);
    let mut cases = Vec::new();
    for task in [TWO_CLASSES, THREE_CLASSES, NeighbourTask::Regression] {
        for (k, q, m) in [(1, 2, 6), (2, 1, 4), (2, 4, 9), (3, 4, 6), (3, 5, 5)] {
            // Width 1 puts all rows in one place, widths 2 and 3 some of them; 0 means no
            // grid.
            for width in [0.0, 1.0, 2.0, 3.0] {
                let mut table = |n| match width {
                    0.0 => Table::drawn(&mut draws, n, 2, task),
                    width => Table::on_a_grid(&mut draws, n, 2, width, task),
                };
                cases.push(Case { task, k, q, m, reference: table(6), test: table(3) });
            }
        }
    }
    cases
}

#[track_caller]
fn assert_all_near(found: &[f64], exact: &[f64], what: &str) {
    assert_eq!(found.len(), exact.len());
    for (row, (found, exact)) in found.iter().zip(exact).enumerate() {
        let scale = exact.abs().max(1.0);
        assert!(
            (found - exact).abs() < TOLERANCE * scale,
            "{what}, row {row}: found {found}, expected {exact}"
        );
    }
}

#[test]
fn unseen_points_have_the_mean_gain_over_all_sets_and_orders() {
    let mut largest: f64 = 0.0;
    for case in cases() {
        // Five reference rows are enough to write out; the sixth is the point.
        let case = Case { reference: case.reference.without(5), ..case };
        let mut draws = Draws::new(12);
        let near = Table::on_a_grid(&mut draws, 3, 2, 2.0, case.task);
        let exact: Vec<f64> = (0..3)
            .map(|z| {
                let terms = (0..3).map(|t| {
                    let point = (near.dist_sq(z, &case.test, t), near.y[z]);
                    case.value(&case.players(&case.test, t, &[]), point, case.test.y[t])
                });
                terms.sum::<f64>() / 3.0
            })
            .collect();
        let found = case.valuer(TestRows::Given(case.test.rows())).values(near.rows()).unwrap();
        assert_all_near(
            &found.value,
            &exact,
            &format!("{:?} k {} q {} m {}", case.task, case.k, case.q, case.m),
        );
        largest = exact.iter().fold(largest, |largest, value| largest.max(value.abs()));
    }
    assert!(largest > 0.1, "values of order one, or nothing was tested");
}

#[test]
fn reference_rows_are_valued_against_the_others() {
    for case in cases() {
        let exact: Vec<f64> = (0..6)
            .map(|z| {
                let terms = (0..3).map(|t| {
                    let point = (case.reference.dist_sq(z, &case.test, t), case.reference.y[z]);
                    case.value(&case.players(&case.test, t, &[z]), point, case.test.y[t])
                });
                terms.sum::<f64>() / 3.0
            })
            .collect();
        let found = case.valuer(TestRows::Given(case.test.rows())).leave_one_out(&|_, _| true).unwrap();
        assert_all_near(
            &found.value,
            &exact,
            &format!("{:?} k {} q {} m {}", case.task, case.k, case.q, case.m),
        );
    }
}

#[test]
fn test_rows_from_the_reference_are_left_out_of_their_own_lists() {
    for case in cases().into_iter().filter(|case| case.k.max(case.q - 1) <= 4) {
        let tests = [4, 0, 3];
        let reference = &case.reference;
        let exact: Vec<f64> = (0..6)
            .map(|z| {
                let others: Vec<usize> = tests.into_iter().filter(|&t| t != z).collect();
                let terms = others.iter().map(|&t| {
                    let point = (reference.dist_sq(z, reference, t), reference.y[z]);
                    case.value(&case.players(reference, t, &[t, z]), point, reference.y[t])
                });
                terms.sum::<f64>() / others.len() as f64
            })
            .collect();
        let found = case.valuer(TestRows::Reference(&tests)).leave_one_out(&|_, _| true).unwrap();
        assert_all_near(
            &found.value,
            &exact,
            &format!("{:?} k {} q {} m {}", case.task, case.k, case.q, case.m),
        );
    }
}

/// Also for more neighbours than rows: every set is then too small for all, and sums are over k.
#[test]
fn finite_shapley_values_are_those_of_all_sets_and_orders() {
    let more = |case: Case| [5, 6, 7, 13].map(|k| Case { k, ..copy(&case) });
    let few = cases().into_iter().filter(|case| (case.q, case.k) == (2, 1)).flat_map(more);
    for case in cases().into_iter().filter(|case| case.q == 2 || case.q == 4).chain(few) {
        let exact: Vec<f64> = (0..6)
            .map(|z| {
                let terms = (0..3).map(|t| {
                    let point = (case.reference.dist_sq(z, &case.test, t), case.reference.y[z]);
                    case.shapley(&case.players(&case.test, t, &[z]), point, case.test.y[t])
                });
                terms.sum::<f64>() / 3.0
            })
            .collect();
        let options = as_given(case.k, case.task);
        let tests = TestRows::Given(case.test.rows());
        let valuer = NeighbourValuer::of_dataset(case.reference.rows(), tests, options).unwrap();
        let found = valuer.finite_shapley(&|_, _| true).unwrap();
        assert_all_near(&found.value, &exact, &format!("{:?} k {}", case.task, case.k));
        // Test rows that are players of other lists than their own.
        let tests = [4, 0, 3];
        let exact: Vec<f64> = (0..6)
            .map(|z| {
                let others: Vec<usize> = tests.into_iter().filter(|&t| t != z).collect();
                let terms = others.iter().map(|&t| {
                    let point = (case.reference.dist_sq(z, &case.reference, t), case.reference.y[z]);
                    case.shapley(&case.players(&case.reference, t, &[t, z]), point, case.reference.y[t])
                });
                terms.sum::<f64>() / others.len() as f64
            })
            .collect();
        let tests = TestRows::Reference(&tests);
        let valuer = NeighbourValuer::of_dataset(case.reference.rows(), tests, options).unwrap();
        let found = valuer.finite_shapley(&|_, _| true).unwrap();
        assert_all_near(&found.value, &exact, &format!("own tests, {:?} k {}", case.task, case.k));
    }
}

/// A single row has its value to the empty set, which is worth 0.
#[test]
fn a_single_row_has_the_whole_utility() {
    for task in [TWO_CLASSES, NeighbourTask::Regression] {
        let mut draws = Draws::new(31);
        let (reference, test) = (Table::drawn(&mut draws, 1, 2, task), Table::drawn(&mut draws, 1, 2, task));
        for k in [1, 3] {
            let tests = TestRows::Given(test.rows());
            let valuer = NeighbourValuer::of_dataset(reference.rows(), tests, as_given(k, task)).unwrap();
            let found = valuer.finite_shapley(&|_, _| true).unwrap();
            assert_all_near(&found.value, &[utility(task, k, &reference.y, test.y[0])], "alone");
        }
    }
}

/// As many neighbours as there are reference rows: one set is large enough, all of them.
#[test]
fn all_reference_rows_may_be_the_nearest() {
    for task in [THREE_CLASSES, NeighbourTask::Regression] {
        let mut draws = Draws::new(32);
        let mut table = |n| Table::on_a_grid(&mut draws, n, 2, 3.0, task);
        let case = Case { task, k: 5, q: 1, m: 6, reference: table(5), test: table(3) };
        let points = table(4);
        let exact: Vec<f64> = (0..4)
            .map(|z| {
                let terms = (0..3).map(|t| {
                    let point = (points.dist_sq(z, &case.test, t), points.y[z]);
                    case.value(&case.players(&case.test, t, &[]), point, case.test.y[t])
                });
                terms.sum::<f64>() / 3.0
            })
            .collect();
        let valuer = case.valuer(TestRows::Given(case.test.rows()));
        let found = valuer.values(points.rows()).unwrap();
        assert_all_near(&found.value, &exact, &format!("{task:?}"));
        assert!(found.value.iter().any(|value| value.abs() > 1e-3));
        let refused = valuer.leave_one_out(&|_, _| true).unwrap_err();
        assert_eq!(refused, dshap::Error::FewNeighbours { n_rows: 4, needed: 5 });
    }
}

fn copy(case: &Case) -> Case {
    Case { reference: case.reference.clone(), test: case.test.clone(), ..*case }
}
