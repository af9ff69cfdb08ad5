//! Moments: the same bits however the rows arrive, and digits that are not lost to a large
//! mean.

use crate::common;
use crate::common::{Data, moments};
use dshap::{BLOCK_ROWS, Error, Moments, MomentsBuilder, Rows};
use dshap_testkit::{Draws, Sample, assert_close, assert_same_bits, on_threads, relative_error};
use faer::{Mat, MatRef};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Three and a half blocks, and a few rows.
static DATA: LazyLock<Data> =
    LazyLock::new(|| Data::of(&Sample::gaussian(11, 3 * BLOCK_ROWS + 2100, 3, 0.9)));

/// Every number that moments hold.
fn numbers(moments: &Moments) -> Vec<f64> {
    let k = moments.n_features() + 1;
    let means = (0..k).map(|j| moments.mean(j));
    let products = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
    means.chain(products.map(|(i, j)| moments.centred(i, j))).collect()
}

#[track_caller]
fn assert_same(found: &Moments, expected: &Moments, what: &str) {
    assert_same_bits(&numbers(found), &numbers(expected), what);
    // The two halves of the means as well.
    assert_eq!(found, expected, "{what}");
}

fn pushed(rows: Rows<'_>, cuts: &[usize]) -> Moments {
    let mut builder = MomentsBuilder::new(rows.n_features());
    let mut start = 0;
    for &cut in cuts.iter().chain([&rows.len()]) {
        builder.push(rows.slice(start, cut - start)).unwrap();
        start = cut;
    }
    assert_eq!(builder.n_rows(), rows.len());
    builder.finish().unwrap()
}

proptest! {
    #![proptest_config(common::cases(60))]

    #[test]
    fn chunks_do_not_change_a_bit(
        n in prop_oneof![
            1..40_usize,
            BLOCK_ROWS - 2..BLOCK_ROWS + 3,
            2 * BLOCK_ROWS - 2..2 * BLOCK_ROWS + 3,
            3 * BLOCK_ROWS - 2..3 * BLOCK_ROWS + 2100,
        ],
        shares in prop::collection::vec(0.0..=1.0_f64, 0..9),
    ) {
        let rows = DATA.rows().slice(0, n);
        // Repeated cuts make empty chunks, which must not matter either.
        let mut cuts: Vec<usize> = shares.iter().map(|share| (share * n as f64) as usize).collect();
        cuts.sort_unstable();
        assert_same(&pushed(rows, &cuts), &Moments::of(rows).unwrap(), &format!("{n} rows cut at {cuts:?}"));
    }
}

#[test]
fn chunks_at_block_boundaries_do_not_change_a_bit() {
    let rows = DATA.rows();
    let whole = Moments::of(rows).unwrap();
    for length in [1000, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS] {
        let cuts: Vec<usize> = (length..rows.len()).step_by(length).collect();
        assert_same(&pushed(rows, &cuts), &whole, &format!("chunks of {length}"));
    }
}

/// Ten blocks make a tree of three levels and a rest; with three threads the
/// parts are stolen in every order.
#[test]
fn threads_do_not_change_a_bit() {
    let data = Data::of(&Sample::gaussian(12, 10 * BLOCK_ROWS + 77, 5, 0.9));
    let of = |n_threads| on_threads(n_threads, || Moments::of(data.rows()).unwrap());
    let one = of(1);
    for n_threads in [2, 3] {
        for _ in 0..5 {
            assert_same(&of(n_threads), &one, &format!("{n_threads} threads"));
        }
    }
}

#[test]
fn memory_layout_does_not_change_a_bit() {
    let (n, p) = (DATA.x.nrows(), DATA.x.ncols());
    let by_row: Vec<f64> = (0..n).flat_map(|i| (0..p).map(move |j| DATA.x[(i, j)])).collect();
    let rows = Rows::new(MatRef::from_row_major_slice(&by_row, n, p), &DATA.y).unwrap();
    let expected = Moments::of(DATA.rows()).unwrap();
    assert_same(&Moments::of(rows).unwrap(), &expected, "row-major");
    assert_same(&pushed(rows, &[7, 5000]), &expected, "row-major in chunks");

    // Backwards in memory, forwards again as a view.
    let backwards = Mat::from_fn(n, p, |i, j| DATA.x[(n - 1 - i, j)]);
    let rows = Rows::new(backwards.as_ref().reverse_rows(), &DATA.y).unwrap();
    assert_same(&Moments::of(rows).unwrap(), &expected, "negative stride");
}

/// The two orders of merging round differently: `ε` per step and entry, against
/// the size of the entries, which is at most `√(g_ii g_jj)`.
#[test]
fn merged_halves_are_the_whole_in_either_order() {
    let rows = DATA.rows();
    let whole = Moments::of(rows).unwrap();
    for cut in [1, 1234, BLOCK_ROWS, rows.len() - 3] {
        let first = Moments::of(rows.slice(0, cut)).unwrap();
        let second = Moments::of(rows.slice(cut, rows.len() - cut)).unwrap();
        for (mut merged, other) in [(first.clone(), &second), (second.clone(), &first)] {
            merged.merge(other).unwrap();
            assert_eq!(merged.n_rows(), rows.len());
            for i in 0..=3 {
                assert!((merged.mean(i) - whole.mean(i)).abs() < 1e-14, "mean {i}, cut at {cut}");
                for j in 0..=i {
                    let size = (whole.centred(i, i) * whole.centred(j, j)).sqrt();
                    let error = (merged.centred(i, j) - whole.centred(i, j)).abs() / size;
                    assert!(error < 2e-15, "entry {i},{j}, cut at {cut}: {error:.1e}");
                }
            }
        }
    }
}

/// Integers `k` behind cells `k/2²⁰`, so that every cell is exact and so is the
/// sum of any products in 128 bits.
struct Integers {
    columns: Vec<Vec<i64>>,
}

const UNIT: f64 = 1.0 / (1 << 20) as f64;

impl Integers {
    /// The cells, with `offset` added to all of them; the last column is the target.
    fn sample(&self, offset: f64) -> Sample {
        let exact = |k: &i64| {
            let cell = offset + *k as f64 * UNIT;
            assert_eq!(cell - offset, *k as f64 * UNIT, "the cell is exact");
            cell
        };
        let mut columns: Vec<Vec<f64>> = self.columns.iter().map(|c| c.iter().map(exact).collect()).collect();
        let y = columns.pop().unwrap();
        Sample { columns, y }
    }

    /// `Σ(a − ā)(b − b̄)`, rounded only at the end.
    fn centred(&self, a: usize, b: usize) -> f64 {
        let n = self.columns[0].len() as i128;
        let sum = |c: &[i64]| c.iter().map(|&k| i128::from(k)).sum::<i128>();
        let (a, b) = (&self.columns[a], &self.columns[b]);
        let products: i128 = a.iter().zip(b).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum();
        (n * products - sum(a) * sum(b)) as f64 / n as f64 * UNIT * UNIT
    }

    fn worst_error(&self, moments: &Moments) -> f64 {
        let k = self.columns.len();
        (0..k)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| relative_error(moments.centred(i, j), self.centred(i, j)))
            .fold(0.0, f64::max)
    }
}

/// Three correlated columns of about unit variance.
fn integers(seed: u64, n: usize, drift: impl Fn(usize) -> i64) -> Integers {
    let mut draws = Draws::new(seed);
    let mut columns = vec![Vec::new(); 3];
    for i in 0..n {
        let common = draws.normal();
        for (j, column) in columns.iter_mut().enumerate() {
            let sign = if j == 1 { -1.0 } else { 1.0 };
            column.push(((sign * common + 0.7 * draws.normal()) / UNIT) as i64 + drift(i));
        }
    }
    Integers { columns }
}

/// A textbook `Σx² − n·x̄²` would have no digit left: the variance is 1e-18 of
/// the mean's square. Here only rounding of sums of n positive terms remains,
/// about `√n·ε`.
#[test]
fn a_mean_of_1e9_costs_no_digits_of_a_spread_of_1() {
    for n in [50, 3000, 20_000] {
        let exact = integers(21, n, |_| 0);
        let far = exact.worst_error(&moments(&exact.sample(1e9)));
        let near = exact.worst_error(&moments(&exact.sample(0.0)));
        println!("n = {n}: relative error {far:.1e} at mean 1e9, {near:.1e} at mean 0");
        assert!(far < 1e-13, "n = {n}: {far:.1e}");
        assert!(near < 1e-13, "n = {n}: {near:.1e}");
    }
}

/// Merging then works with differences of means, which must keep their digits too.
#[test]
fn merging_keeps_the_digits_at_a_mean_of_1e9() {
    let exact = integers(22, 9000, |_| 0);
    let data = Data::of(&exact.sample(-1e9));
    let part = |start, len| Moments::of(data.rows().slice(start, len)).unwrap();
    let mut merged = part(0, 10);
    for start in (10..9000).step_by(62) {
        merged.merge(&part(start, 62)).unwrap();
    }
    let error = exact.worst_error(&merged);
    println!("relative error {error:.1e} after 145 merges");
    assert!(error < 1e-13, "{error:.1e}");
}

/// The mean climbs by 100 within a block and by 300 over all of them, so the variation
/// between blocks outweighs that within them.
#[test]
fn drifting_means_keep_their_digits() {
    let exact = integers(23, 3 * BLOCK_ROWS + 100, |i| (i as i64) << 15);
    let error = exact.worst_error(&moments(&exact.sample(1e8)));
    println!("relative error {error:.1e}");
    assert!(error < 1e-13, "{error:.1e}");
}

#[test]
fn means_and_raw_products_are_those_of_the_cells() {
    let sample = Sample::gaussian(24, 137, 2, 0.9);
    let found = moments(&sample);
    let columns = [&sample.columns[0], &sample.columns[1], &sample.y];
    assert_eq!((found.n_rows(), found.n_features()), (137, 2));
    for (i, a) in columns.iter().enumerate() {
        // Sums of 137 terms, each rounded: 137 ε ≈ 3e-14, and means near zero cancel.
        let mean = a.iter().sum::<f64>() / 137.0;
        assert!((found.mean(i) - mean).abs() < 1e-13);
        for (j, b) in columns.iter().enumerate() {
            let product: f64 = a.iter().zip(*b).map(|(a, b)| a * b).sum();
            let size = (found.raw(i, i) * found.raw(j, j)).sqrt();
            assert!((found.raw(i, j) - product).abs() < 1e-13 * size, "{i},{j}");
            assert_eq!(found.centred(i, j), found.centred(j, i));
        }
    }
}

#[test]
fn one_row_has_a_mean_and_no_spread() {
    let sample = Sample { columns: vec![vec![0.1], vec![1e9]], y: vec![-7.3] };
    let found = moments(&sample);
    assert_eq!([found.mean(0), found.mean(1), found.mean(2)], [0.1, 1e9, -7.3]);
    assert_eq!(found.centred(1, 1), 0.0);
    assert_close(found.raw(0, 2), 0.1 * -7.3, 1e-15);
}

#[test]
fn no_rows_are_refused() {
    let empty = Mat::<f64>::zeros(0, 2);
    assert_eq!(Moments::of(Rows::new(empty.as_ref(), &[]).unwrap()), Err(Error::NoRows));
    assert_eq!(MomentsBuilder::new(2).finish(), Err(Error::NoRows));
}

#[test]
fn rows_of_another_width_are_refused() {
    let expected = Err(Error::FeatureCount { found: 3, expected: 2 });
    assert_eq!(MomentsBuilder::new(2).push(DATA.rows()), expected);
    let mut narrow = moments(&Sample::gaussian(25, 9, 2, 0.9));
    let before = narrow.clone();
    assert_eq!(narrow.merge(&moments(&Sample::gaussian(25, 9, 3, 0.9))), expected);
    assert_eq!(narrow, before, "a refused merge changes nothing");
}

#[test]
fn targets_of_another_length_are_refused() {
    let x = Mat::<f64>::zeros(4, 2);
    let refused = Rows::new(x.as_ref(), &[0.0; 5]).map(|_| ());
    assert_eq!(refused, Err(Error::RowCount { features: 4, targets: 5 }));
}

/// Full blocks are checked after they were summed, partial ones before; both
/// must name the cell.
#[test]
fn a_cell_that_is_not_finite_is_named() {
    let n = DATA.y.len();
    for row in [0, 300, BLOCK_ROWS - 1, BLOCK_ROWS + 5, 3 * BLOCK_ROWS, n - 1] {
        for column in 0..4 {
            for cell in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let (mut x, mut y) = (DATA.x.clone(), DATA.y.clone());
                if column == 3 {
                    y[row] = cell;
                } else {
                    x[(row, column)] = cell;
                }
                let rows = Rows::new(x.as_ref(), &y).unwrap();
                assert_eq!(Moments::of(rows), Err(Error::NotFinite { row, column }), "{cell}");

                // Counted within the chunk, also where the chunk completes a block.
                let mut builder = MomentsBuilder::new(3);
                builder.push(DATA.rows().slice(0, 100)).unwrap();
                assert_eq!(builder.push(rows), Err(Error::NotFinite { row, column }), "{cell} in a chunk");
            }
        }
    }
}

#[test]
fn the_first_of_several_bad_cells_is_named() {
    let mut x = DATA.x.clone();
    for (row, column) in [(9000, 0), (5000, 2), (5000, 1), (9001, 1)] {
        x[(row, column)] = f64::NAN;
    }
    let rows = Rows::new(x.as_ref(), &DATA.y).unwrap();
    assert_eq!(Moments::of(rows), Err(Error::NotFinite { row: 5000, column: 1 }));
}

#[test]
fn cells_too_large_to_square_are_refused() {
    for row in [17, 2 * BLOCK_ROWS + 17, 3 * BLOCK_ROWS + 17] {
        let mut x = DATA.x.clone();
        x[(row, 1)] = 1e200;
        assert_eq!(Moments::of(Rows::new(x.as_ref(), &DATA.y).unwrap()), Err(Error::TooLarge), "row {row}");
    }
    // Each half alone is a constant; only their difference cannot be squared.
    let constant = |cell: f64| moments(&Sample { columns: vec![vec![cell; 8]], y: vec![0.3; 8] });
    let huge = 2_f64.powi(660);
    let mut merged = constant(huge);
    assert_eq!(merged.merge(&constant(-huge)), Err(Error::TooLarge));
}
