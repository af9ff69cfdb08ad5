//! Lists that are kept value unseen rows with the bits of lists that are sorted anew.

use crate::common::cases;
use crate::common::neighbours as setting;
use crate::neighbours_index::{bits, drawn, kinds};
use dshap::neighbours::{
    KeptLists, Metric, NeighbourOptions, NeighbourTask, NeighbourValuer, Scale, Search, TestMeans, TestRows,
    sample_rows,
};
use dshap::{Error, Rows, Semivalue, Sizes, Values};
use dshap_testkit::{Draws, on_threads};
use faer::Mat;
use proptest::prelude::*;
use setting::{THREE_CLASSES, Table, as_given};

fn by_lists(valuer: &NeighbourValuer<'_>, kept: &KeptLists, points: Rows<'_>) -> Result<Values, Error> {
    let mut means = TestMeans::new(points.len());
    valuer.add_values_by(kept, points, &mut means, &|_, _| true)?;
    means.values(true)
}

/// Lists as they come out of a file.
fn through_parts(kept: &KeptLists, n_reference: usize) -> KeptLists {
    let (keep, lengths, places) = kept.to_parts();
    let read = KeptLists::from_parts(n_reference, keep, &lengths, &places).unwrap();
    assert_eq!((read.n_bytes(), read.n_places()), (kept.n_bytes(), places.len()));
    read
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn kept_lists_change_no_bit(
        seed in 0..10_000_u64,
        kind in kinds(),
        n in prop_oneof![10..70_usize, 120..500_usize],
        p in prop_oneof![1..=6_usize, 8..=12_usize],
        metric in prop_oneof![Just(Metric::Euclidean), Just(Metric::Manhattan), Just(Metric::Cosine)],
        scale in prop_oneof![Just(Scale::Standard), Just(Scale::AsGiven)],
        unit in prop_oneof![4 => Just(1.0), 1 => Just(1e-170), 1 => Just(1e146)],
        task in prop_oneof![Just(THREE_CLASSES), Just(NeighbourTask::Regression)],
        k in 1..6_usize,
        smallest in prop_oneof![Just(0.0), 0.02..0.9_f64],
        tolerance in prop_oneof![Just(1e-16), Just(1e-4), Just(0.3)],
        semivalue in prop_oneof![Just(Semivalue::Shapley), Just(Semivalue::Banzhaf), Just(Semivalue::AtMax)],
        search in prop_oneof![Just(Search::Blocks), Just(Search::Index)],
        own in any::<bool>(),
    ) {
        let mut draws = Draws::new(seed);
        let [mut reference, mut tests, mut points] =
            [n, 9, 40].map(|n| drawn(kind, &mut draws, n, p, task));
        for table in [&mut reference, &mut tests, &mut points] {
            table.x = Mat::from_fn(table.len(), p, |i, j| table.x[(i, j)] * unit);
        }
        // A point that is a reference row, one far from all, and a test row far from all.
        (0..p).for_each(|j| points.x[(0, j)] = reference.x[(n / 2, j)]);
        (0..p).for_each(|j| points.x[(1, j)] *= 1e3);
        (0..p).for_each(|j| tests.x[(8, j)] *= 1e3);
        let numbers = sample_rows(n, 9, seed);
        let tests = || if own { TestRows::Reference(&numbers) } else { TestRows::Given(tests.rows()) };
        let options = NeighbourOptions { k, metric, scale, tolerance, ..NeighbourOptions::new(task) };
        let sizes = Sizes::new((smallest * n as f64) as usize, n).with_semivalue(semivalue);
        let valuer = |k, sizes| {
            let options = NeighbourOptions { k, ..options };
            NeighbourValuer::new(reference.rows(), tests(), sizes, options)
                .map(|valuer| valuer.with_std_error(true).with_search(search))
        };
        let Ok(made) = valuer(k, sizes) else { return Ok(()) };
        let expected = made.values_watched(points.rows(), &|_, _| true);
        let kept = on_threads(1 + (seed % 3) as usize, || made.keep_lists(&|_, _| true));
        let kept = kept.map(|kept| through_parts(&kept, n));
        let found = kept.as_ref().map_err(Clone::clone);
        let found = on_threads(2, || found.and_then(|kept| by_lists(&made, kept, points.rows())));
        prop_assert_eq!(bits(found), bits(expected.clone()));
        let (Ok(kept), Ok(expected)) = (kept, expected) else { return Ok(()) };
        // Rows that come one by one.
        for row in 0..10 {
            let value = by_lists(&made, &kept, points.rows().slice(row, 1)).unwrap().value[0];
            prop_assert_eq!(value.to_bits(), expected.value[row].to_bits(), "row {}", row);
        }
        // Other sizes and another k, unless they need longer lists.
        let Ok(other) = valuer(k + 1, Sizes::new(k + 2, n)) else { return Ok(()) };
        if other.can_use(&kept).unwrap() {
            let expected = other.values_watched(points.rows(), &|_, _| true);
            prop_assert_eq!(bits(by_lists(&other, &kept, points.rows())), bits(expected));
        } else {
            prop_assert!(smallest > 0.0 || tolerance > 1e-16 || semivalue != Semivalue::Shapley);
            prop_assert!(by_lists(&other, &kept, points.rows()).is_err());
        }
        prop_assert_eq!(
            bits(by_lists(&made, &kept, points.rows())),
            bits(made.values_watched(points.rows(), &|_, _| true))
        );
    }
}

/// What a list takes is known before it is made: nearly nothing if far rows have no weight.
#[test]
fn lists_are_as_long_as_rows_have_weight() {
    let mut draws = Draws::new(2);
    let table = Table::drawn(&mut draws, 2000, 3, THREE_CLASSES);
    let valuer = |q| {
        let tests = TestRows::Given(table.rows().slice(0, 20));
        NeighbourValuer::new(table.rows(), tests, Sizes::new(q, 2000), as_given(5, THREE_CLASSES)).unwrap()
    };
    let (all, near) = (valuer(6), valuer(1000));
    let [kept, short] = [&all, &near].map(|valuer| valuer.keep_lists(&|_, _| true).unwrap());
    assert_eq!((kept.n_tests(), kept.n_places()), (20, 20 * 2000));
    assert_eq!(kept.n_bytes(), all.lists_bytes().unwrap());
    assert!(kept.n_bytes() <= 13 * 20 * 2000, "{} bytes", kept.n_bytes());
    assert!(short.n_places() < 20 * 200, "{} places", short.n_places());
    // Long lists do for all sizes, short ones only for large sets.
    assert!(near.can_use(&kept).unwrap() && near.can_use(&short).unwrap());
    assert!(!all.can_use(&short).unwrap());
}

#[test]
fn parts_that_are_no_lists_are_refused() {
    let table = Table::drawn(&mut Draws::new(3), 30, 2, THREE_CLASSES);
    let tests = TestRows::Given(table.rows().slice(0, 4));
    let valuer = NeighbourValuer::new(table.rows(), tests, Sizes::new(4, 30), as_given(3, THREE_CLASSES));
    let (keep, lengths, places) = valuer.unwrap().keep_lists(&|_, _| true).unwrap().to_parts();
    let read = |lengths: &[f64], places: &[f64]| KeptLists::from_parts(30, keep, lengths, places);
    assert!(read(&lengths, &places).is_ok());
    let changed = |at: usize, place: f64| {
        let mut places = places.clone();
        places[at] = place;
        read(&lengths, &places)
    };
    // The same row twice, a row that does not exist, a first place tied with none, no distance.
    assert!(changed(1, places[0]).is_err());
    assert!(changed(1, f64::from_bits(places[1].to_bits() | 31)).is_err());
    assert!(changed(0, -places[0]).is_err());
    assert!(changed(7, f64::NAN).is_err());
    assert!(read(&lengths[1..], &places).is_err());
    assert!(read(&lengths, &places[1..]).is_err());
    assert!(read(&[-1.0, 31.0, 30.0, 30.0], &places).is_err());
    assert!(KeptLists::from_parts(29, keep, &lengths, &places).is_err());
}

#[test]
fn keeping_lists_can_be_stopped() {
    let table = Table::drawn(&mut Draws::new(5), 400, 2, THREE_CLASSES);
    let valuer = NeighbourValuer::new(
        table.rows(),
        TestRows::Given(table.rows()),
        Sizes::new(4, 400),
        as_given(3, THREE_CLASSES),
    );
    let stopped = valuer.unwrap().keep_lists(&|done, total| {
        assert_eq!(total, 400);
        done < 100
    });
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
}
