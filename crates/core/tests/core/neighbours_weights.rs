//! Weights of places in a list against tables from the definition, and against their limit.

use dshap::neighbours::WeightTable;
use dshap::{Error, Sizes};
use dshap_testkit::{assert_close, cases, relative_error};

/// Weights are sums in twice the digits of a double, rounded once.
const TOLERANCE: f64 = 1e-15;

#[test]
fn weights_match_exact_fractions_and_sums_of_a_million_terms() {
    let (mut worst, mut n_checked): (f64, usize) = (0.0, 0);
    for case in cases("neighbour_weights.json") {
        let sizes = Sizes::new(case.count("q"), case.count("m"));
        let table = WeightTable::new(case.count("n"), case.count("k"), sizes).unwrap();
        let places = case.list("i");
        let tails = case.optional_list("G").unwrap_or_default();
        for (at, (&i, &weight)) in places.iter().zip(&case.list("w")).enumerate() {
            let i = i as usize;
            let mut check = |what: &str, found: f64, exact: f64| {
                let error = relative_error(found, exact);
                assert!(error < TOLERANCE, "{what}_{i} of {case:?}: found {found:e}, error {error:.1e}");
                worst = worst.max(error);
                n_checked += 1;
            };
            check("w", table.weight(i), weight);
            if let Some(&tail) = tails.get(at) {
                check("G", table.tail(i), tail);
            }
        }
    }
    println!("largest relative error {worst:.1e} of {n_checked}");
    assert!(n_checked > 550, "the table has {n_checked} numbers");
}

/// The `k`-th nearest of a set is at some place, so weights add up to the share of the
/// `m` sizes that count.
#[test]
fn weights_add_up_to_the_share_of_sizes() {
    for (n, k, q, m) in [(50, 3, 4, 51), (50, 3, 20, 30), (1000, 40, 7, 900), (100_000, 5, 6, 100_000)] {
        let table = WeightTable::new(n, k, Sizes::new(q, m)).unwrap();
        let first = k.max(q - 1);
        assert_close(table.tail(0), (m - first) as f64 / m as f64, TOLERANCE);
        let mut sum = 0.0;
        for i in (1..=n).rev() {
            assert!(table.weight(i) >= 0.0 && table.tail(i) <= table.tail(i - 1));
            sum += table.weight(i);
        }
        // A plain sum of n positive terms.
        assert_close(sum, table.tail(0), n as f64 * f64::EPSILON);
    }
}

/// All sizes from `k` on: the weights of finite KNN-Shapley.
#[test]
fn all_sizes_give_the_weights_of_finite_shapley_values() {
    for (n, k) in [(5, 1), (40, 7), (10_000, 5)] {
        let table = WeightTable::new(n, k, Sizes::new(k + 1, n + 1)).unwrap();
        for i in k..=n {
            assert_close(table.weight(i), k as f64 / (i as f64 * (i + 1) as f64), TOLERANCE);
        }
    }
}

/// Sets drawn with replacement from a share `u` of everything: `G(u) = (F(m) − F(s₀))/m`
/// with `F(M) = M·P(Bin(M, u) ≤ k−1) + (k/u)·P(Bin(M+1, u) ≥ k+1)`. Without replacement
/// and `m` of `n` rows the difference is of the order `m/n`: ten times the rows, a tenth
/// of it.
#[test]
fn many_reference_rows_give_the_binomial_limit() {
    let (k, m, first) = (4, 30, 4);
    let binomial = |count: usize, u: f64, upto: usize| {
        let mut term = (1.0 - u).powi(count as i32);
        let mut sum = term;
        for h in 0..upto {
            term *= (count - h) as f64 / (h + 1) as f64 * u / (1.0 - u);
            sum += term;
        }
        sum
    };
    let f = |size: usize, u: f64| {
        size as f64 * binomial(size, u, k - 1) + k as f64 / u * (1.0 - binomial(size + 1, u, k))
    };
    let off = |n: usize| {
        let table = WeightTable::new(n, k, Sizes::new(first + 1, m)).unwrap();
        let at = |percent: usize| {
            let u = percent as f64 / 100.0;
            let limit = (f(m, u) - f(first, u)) / m as f64;
            (table.tail(n / 100 * percent) / limit - 1.0).abs()
        };
        [3, 10, 25, 40].map(at).into_iter().fold(0.0, f64::max)
    };
    let (few, more, many) = (off(10_000), off(100_000), off(1_000_000));
    assert!(few < 5e-3, "{few:e}");
    assert!((few / more - 10.0).abs() < 0.1 && (more / many - 10.0).abs() < 0.1, "{few:e} {more:e} {many:e}");
}

/// Sizes beyond the reference are left out and counted; the others stay the same, except
/// for the division by `m`.
#[test]
fn sizes_beyond_the_reference_are_left_out_and_counted() {
    let (whole, beyond) = (
        WeightTable::new(20, 3, Sizes::new(4, 21)).unwrap(),
        WeightTable::new(20, 3, Sizes::new(4, 60)).unwrap(),
    );
    assert_eq!((whole.n_left_out(), beyond.n_left_out()), (0, 39));
    for i in 3..=20 {
        assert_close(beyond.weight(i) * 60.0, whole.weight(i) * 21.0, 4.0 * TOLERANCE);
    }
}

#[test]
fn sizes_that_make_no_sets_are_refused() {
    let table = |n, k, q, m| WeightTable::new(n, k, Sizes::new(q, m)).map(|_| ());
    assert!(matches!(table(9, 0, 1, 5), Err(Error::BadOption { .. })));
    assert_eq!(table(9, 3, 4, 3), Err(Error::NeighbourSizes { k: 3, min: 4, max: 3 }));
    assert_eq!(table(9, 3, 6, 5), Err(Error::NeighbourSizes { k: 3, min: 6, max: 5 }));
    assert_eq!(table(9, 3, 5, 5), Ok(()));
    assert_eq!(table(9, 3, 1, 4), Ok(()));
    assert_eq!(table(2, 3, 4, 9), Err(Error::FewNeighbours { n_rows: 2, needed: 3 }));
    assert_eq!(table(9, 3, 4, usize::MAX), Err(Error::TooLargeSize { max: usize::MAX }));
}

/// The cut-off: after it is at most the given share, and one place earlier there is more.
#[test]
fn the_cut_off_is_the_first_place_with_so_little_behind_it() {
    let n = 50_000;
    let table = WeightTable::new(n, 5, Sizes::new(5001, n)).unwrap();
    for share in [1e-3, 1e-9, 1e-16] {
        let cut = table.cut_off(share);
        assert!(table.tail(cut) <= share * table.tail(0) && table.tail(cut - 1) > share * table.tail(0));
        // (k + log 1/share)·n/s₀ is the rule of thumb, up to a factor of two.
        let thumb = (5.0 - f64::ln(share)) * 10.0;
        assert!((cut as f64) < 2.0 * thumb && (cut as f64) > 0.5 * thumb, "{share:e}: {cut}, {thumb}");
    }
    assert_eq!(table.tail(table.cut_off(0.0)), 0.0, "nothing is cut off that is not zero as a double");
    let from_k_on = WeightTable::new(n, 5, Sizes::new(6, n)).unwrap();
    assert_eq!(from_k_on.cut_off(1e-16), n, "small sets reach everywhere");
}
