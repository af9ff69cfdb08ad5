//! Lists that an index finds are those of all distances: values have the same bits.

use crate::common::neighbours as setting;

use crate::common::cases;
use dshap::neighbours::{
    Metric, NeighbourOptions, NeighbourTask, NeighbourValuer, Scale, Search, TestMeans, TestRows, sample_rows,
};
use dshap::{Error, Sizes, Values};
use dshap_testkit::{Draws, on_threads};
use faer::Mat;
use proptest::prelude::*;
use setting::{THREE_CLASSES, Table, as_given};

/// Data with hard distances or boxes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Spread,
    /// Whole numbers: ties everywhere.
    Grid,
    /// Copies, and rows apart by 1e-12, all far from zero.
    NearTwins,
    /// Some rows are a million times as far away as the others.
    Outliers,
    /// A column that is the same everywhere.
    Constant,
    /// All rows on one line, and many at its end.
    Line,
}

pub(crate) fn drawn(kind: Kind, draws: &mut Draws, n: usize, p: usize, task: NeighbourTask) -> Table {
    let table = match kind {
        Kind::Grid => Table::on_a_grid(draws, n, p, 3.0, task),
        _ => Table::drawn(draws, n, p, task),
    };
    let drawn = &table.x;
    let x = Mat::from_fn(n, p, |i, j| match kind {
        Kind::Spread | Kind::Grid => drawn[(i, j)],
        Kind::NearTwins if i % 3 == 0 => 1e4 + drawn[(i, j)],
        Kind::NearTwins => 1e4 + drawn[(i - i % 3, j)] + if i % 3 == 1 { 0.0 } else { 1e-12 * drawn[(i, j)] },
        Kind::Outliers => drawn[(i, j)] * if i % 37 == 5 { 1e6 } else { 1.0 },
        Kind::Constant => {
            if j == p / 2 && p > 1 {
                0.7
            } else {
                drawn[(i, j)]
            }
        }
        Kind::Line => drawn[(i, 0)].min(0.3) * (j + 1) as f64,
    });
    Table::new(x, table.y)
}

/// Values of reference rows and of points as bits, or the error.
type Found = Vec<Result<Vec<u64>, Error>>;

pub(crate) fn bits(values: Result<Values, Error>) -> Result<Vec<u64>, Error> {
    values.map(|values| {
        let errors = values.std_error.into_iter().flatten();
        values.value.into_iter().chain(errors).map(f64::to_bits).collect()
    })
}

fn all_values(
    search: Search,
    (reference, points): (&Table, &Table),
    tests: TestRows<'_>,
    sizes: Sizes,
    options: NeighbourOptions,
) -> Found {
    let valuer = match NeighbourValuer::new(reference.rows(), tests, sizes, options) {
        Ok(valuer) => valuer.with_search(search).with_std_error(true),
        Err(error) => return vec![Err(error)],
    };
    let watch = |_: usize, _: usize| true;
    vec![
        bits(valuer.leave_one_out(&watch)),
        bits(valuer.values_watched(points.rows(), &watch)),
        bits(valuer.finite_shapley(&watch)),
    ]
}

pub(crate) fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Spread),
        Just(Kind::Grid),
        Just(Kind::NearTwins),
        Just(Kind::Outliers),
        Just(Kind::Constant),
        Just(Kind::Line),
    ]
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn an_index_changes_no_bit(
        seed in 0..10_000_u64,
        kind in kinds(),
        n in prop_oneof![10..70_usize, 120..700_usize],
        p in 1..=8_usize,
        metric in prop_oneof![Just(Metric::Euclidean), Just(Metric::Manhattan), Just(Metric::Cosine)],
        scale in prop_oneof![Just(Scale::Standard), Just(Scale::AsGiven)],
        // Down to where squares are lost, up to where they are too large.
        unit in prop_oneof![Just(1.0), Just(1e-170), Just(1e-300), Just(1e140), Just(1e146)],
        task in prop_oneof![Just(THREE_CLASSES), Just(NeighbourTask::Regression)],
        k in 1..6_usize,
        smallest in prop_oneof![Just(0.0), 0.02..0.9_f64],
        tolerance in prop_oneof![Just(1e-16), Just(1e-4), Just(0.3)],
        own in any::<bool>(),
    ) {
        let mut draws = Draws::new(seed);
        let [mut reference, mut tests, mut points] =
            [n, 9, 40].map(|n| drawn(kind, &mut draws, n, p, task));
        for table in [&mut reference, &mut tests, &mut points] {
            table.x = Mat::from_fn(table.len(), p, |i, j| table.x[(i, j)] * unit);
        }
        // A point that is a reference row, and a test row far from all.
        (0..p).for_each(|j| points.x[(0, j)] = reference.x[(n / 2, j)]);
        (0..p).for_each(|j| tests.x[(8, j)] *= 1e3);
        let numbers = sample_rows(n, 9, seed);
        let tests = || if own { TestRows::Reference(&numbers) } else { TestRows::Given(tests.rows()) };
        let options = NeighbourOptions { k, metric, scale, tolerance, ..NeighbourOptions::new(task) };
        let sizes = Sizes::new((smallest * n as f64) as usize, n);
        let [blocks, index] = [Search::Blocks, Search::Index]
            .map(|search| all_values(search, (&reference, &points), tests(), sizes, options));
        prop_assert_eq!(index, blocks);
    }
}

/// Blocks of test rows, some with the index and some without, give the same as all at
/// once.
#[test]
fn test_rows_may_come_in_blocks_with_and_without_an_index() {
    for task in [THREE_CLASSES, NeighbourTask::Regression] {
        let mut draws = Draws::new(3);
        let (reference, tests) =
            (Table::drawn(&mut draws, 900, 3, task), Table::drawn(&mut draws, 50, 3, task));
        let sizes = Sizes::new(200, 900);
        let add = |search, start, len, means: &mut TestMeans| {
            let tests = TestRows::Given(tests.rows().slice(start, len));
            let valuer = NeighbourValuer::new(reference.rows(), tests, sizes, as_given(4, task)).unwrap();
            valuer.with_search(search).add_leave_one_out(means, &|_, _| true).unwrap();
        };
        let [mut whole, mut parts] = [TestMeans::new(900), TestMeans::new(900)];
        add(Search::Blocks, 0, 50, &mut whole);
        for (search, start, len) in
            [(Search::Index, 0, 7), (Search::Blocks, 7, 20), (Search::Index, 27, 22), (Search::Index, 49, 1)]
        {
            on_threads(1 + start % 3, || add(search, start, len, &mut parts));
        }
        assert_eq!(bits(parts.values(true)), bits(whole.values(true)));
    }
}

/// Squares near the end of the range of doubles use blocks; those beyond it are an error
/// either way.
#[test]
fn large_distances_are_as_good_or_as_bad_with_an_index() {
    let mut reference = Table::drawn(&mut Draws::new(4), 500, 2, THREE_CLASSES);
    let mut tests = reference.select(&[0, 1, 2, 7]);
    reference.x[(7, 1)] = 8e149;
    tests.x[(0, 0)] = -8e149;
    let found = |reference: &Table, search| {
        let (points, tests) = (reference.select(&[1]), TestRows::Given(tests.rows()));
        let options = NeighbourOptions::new(THREE_CLASSES);
        all_values(search, (reference, &points), tests, Sizes::new(100, 500), options)
    };
    let large = found(&reference, Search::Index);
    assert_eq!(large, found(&reference, Search::Blocks));
    assert!(large.iter().all(Result::is_ok), "{large:?}");
    // In units of a tiny deviation.
    let tiny = Table::new(Mat::from_fn(500, 2, |i, j| tests.x[(i % 2 + 1, j)] * 1e-140), reference.y);
    for search in [Search::Blocks, Search::Index] {
        assert_eq!(found(&tiny, search), vec![Err(Error::TooLarge); 3], "{search:?}");
    }
}

/// A run can also be watched and stopped with an index.
#[test]
fn a_run_with_an_index_can_be_stopped() {
    let table = Table::drawn(&mut Draws::new(5), 400, 2, THREE_CLASSES);
    let tests = TestRows::Given(table.rows());
    let valuer = NeighbourValuer::new(table.rows(), tests, Sizes::new(100, 400), as_given(3, THREE_CLASSES));
    let valuer = valuer.unwrap().with_search(Search::Index);
    let stopped = valuer.leave_one_out(&|done, total| {
        assert_eq!(total, 400);
        done < 100
    });
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
}
