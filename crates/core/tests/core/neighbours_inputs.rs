//! What is refused, what is reported, and what large offsets do.

use crate::common::neighbours as setting;

use dshap::neighbours::{Metric, NeighbourOptions, NeighbourTask, NeighbourValuer, Scale, TestRows};
use dshap::{Error, Rows, Sizes, Valuer, Warning};
use dshap_testkit::{Draws, assert_same_bits, on_threads};
use faer::Mat;
use setting::{TWO_CLASSES, Table};

fn table(n: usize, p: usize) -> Table {
    Table::drawn(&mut Draws::new(21), n, p, TWO_CLASSES)
}

fn refused(reference: Rows<'_>, test: TestRows<'_>, sizes: Sizes, options: NeighbourOptions) -> Error {
    NeighbourValuer::new(reference, test, sizes, options).map(|_| ()).unwrap_err()
}

const OPTIONS: NeighbourOptions = NeighbourOptions {
    k: 3,
    task: TWO_CLASSES,
    metric: Metric::Euclidean,
    scale: Scale::Standard,
    tolerance: 1e-16,
};

#[test]
fn options_that_make_no_sense_are_refused() {
    let table = table(9, 2);
    let sizes = Sizes::new(4, 9);
    let with = |options| refused(table.rows(), TestRows::Given(table.rows()), sizes, options);
    let what = |error| matches!(error, Error::BadOption { .. });
    assert!(what(with(NeighbourOptions { k: 0, ..OPTIONS })));
    assert!(what(with(NeighbourOptions { tolerance: f64::NAN, ..OPTIONS })));
    assert!(what(with(NeighbourOptions { tolerance: 1.0, ..OPTIONS })));
    assert!(what(with(NeighbourOptions { task: NeighbourTask::Classification { n_classes: 1 }, ..OPTIONS })));
    assert_eq!(
        with(NeighbourOptions { k: 9, ..OPTIONS }),
        Error::NeighbourSizes { k: 9, min: 4, max: 9 },
        "m = 9 leaves no room for nine neighbours and a row"
    );
}

#[test]
fn sizes_and_rows_must_make_sets() {
    let table = table(9, 2);
    let test = || TestRows::Given(table.rows());
    let with = |k, q, m| refused(table.rows(), test(), Sizes::new(q, m), NeighbourOptions { k, ..OPTIONS });
    assert_eq!(with(10, 11, 20), Error::FewNeighbours { n_rows: 9, needed: 10 });
    assert_eq!(with(3, 11, 20), Error::FewNeighbours { n_rows: 9, needed: 10 });
    assert_eq!(with(3, 7, 6), Error::NeighbourSizes { k: 3, min: 7, max: 6 });
    assert_eq!(with(3, 4, 3), Error::NeighbourSizes { k: 3, min: 4, max: 3 });

    // Sets of nine rows can be drawn for an unseen point, not for one of nine.
    let valuer = NeighbourValuer::new(table.rows(), test(), Sizes::new(10, 10), OPTIONS).unwrap();
    assert!(valuer.values(table.rows()).is_ok());
    let few = Error::FewNeighbours { n_rows: 8, needed: 9 };
    assert_eq!(valuer.leave_one_out(&|_, _| true).unwrap_err(), few);
}

#[test]
fn test_rows_must_be_there_and_fit() {
    let (reference, other) = (table(9, 2), table(9, 3));
    let with = |test| refused(reference.rows(), test, Sizes::new(4, 9), OPTIONS);
    let in_test = |error| Error::InTest { error: Box::new(error) };
    assert_eq!(with(TestRows::Given(reference.rows().slice(0, 0))), Error::NoTestRows);
    assert_eq!(with(TestRows::Reference(&[])), Error::NoTestRows);
    assert!(matches!(with(TestRows::Reference(&[2])), Error::BadOption { .. }));
    assert_eq!(with(TestRows::Reference(&[2, 9])), Error::NotAReferenceRow { row: 9, n_rows: 9 });
    assert_eq!(with(TestRows::Reference(&[2, 5, 2])), Error::NotAReferenceRow { row: 2, n_rows: 9 });
    assert_eq!(with(TestRows::Given(other.rows())), in_test(Error::FeatureCount { found: 3, expected: 2 }));
    let mut bad = reference.clone();
    bad.x[(4, 1)] = f64::INFINITY;
    assert_eq!(with(TestRows::Given(bad.rows())), in_test(Error::NotFinite { row: 4, column: 1 }));
    let mut bad = reference.clone();
    bad.y[7] = 2.0;
    assert_eq!(with(TestRows::Given(bad.rows())), in_test(Error::NotAClass { row: 7, n_classes: 2 }));
}

type Change<'a> = &'a dyn Fn(&mut Table);

#[test]
fn reference_rows_and_points_must_be_numbers_that_can_be_squared() {
    let good = table(9, 2);
    let test = || TestRows::Given(good.rows());
    let with = |reference: &Table| refused(reference.rows(), test(), Sizes::new(4, 9), OPTIONS);
    let valuer = NeighbourValuer::new(good.rows(), test(), Sizes::new(4, 9), OPTIONS).unwrap();
    let changed = |change: &dyn Fn(&mut Table)| {
        let mut table = good.clone();
        change(&mut table);
        table
    };
    let cases: [(Change<'_>, Error); 5] = [
        (&|table| table.x[(3, 0)] = f64::NAN, Error::NotFinite { row: 3, column: 0 }),
        (&|table| table.y[5] = f64::NAN, Error::NotFinite { row: 5, column: 2 }),
        (&|table| table.x[(3, 0)] = 1e200, Error::TooLarge),
        (&|table| table.y[5] = 0.5, Error::NotAClass { row: 5, n_classes: 2 }),
        (&|table| table.y[5] = -1.0, Error::NotAClass { row: 5, n_classes: 2 }),
    ];
    for (change, error) in cases {
        let bad = changed(change);
        assert_eq!(with(&bad), error);
        assert_eq!(valuer.values(bad.rows()).unwrap_err(), error, "of a point");
    }
    assert_eq!(refused(good.rows().slice(0, 0), test(), Sizes::new(4, 9), OPTIONS), Error::NoRows);
    let weights = [1.0; 9];
    let weighted = good.rows().with_weights(&weights).unwrap();
    assert_eq!(refused(weighted, test(), Sizes::new(4, 9), OPTIONS), Error::Weighted);
    let narrow = table(4, 1);
    let expected = Error::FeatureCount { found: 1, expected: 2 };
    assert_eq!(valuer.values(narrow.rows()).unwrap_err(), expected);
    assert!(valuer.values(good.rows().slice(0, 0)).unwrap().is_empty());

    // Finite cells, but a distance in units of a tiny deviation is not.
    let tiny = changed(&|table| (0..9).for_each(|row| table.x[(row, 0)] *= 1e-140));
    let far = changed(&|table| table.x[(0, 0)] = 1e140);
    let valuer = NeighbourValuer::new(tiny.rows(), TestRows::Given(tiny.rows()), Sizes::new(4, 9), OPTIONS);
    assert_eq!(valuer.unwrap().values(far.rows()).unwrap_err(), Error::TooLarge);
}

#[test]
fn constant_columns_are_left_out_and_reported() {
    let plain = table(20, 2);
    let x = Mat::from_fn(20, 4, |i, j| if j < 2 { plain.x[(i, j)] } else { 0.1 * j as f64 });
    let wide = Table::new(x, plain.y.clone());
    let sizes = Sizes::new(4, 20);
    let valuer = NeighbourValuer::new(wide.rows(), TestRows::Given(wide.rows()), sizes, OPTIONS).unwrap();
    assert_eq!(valuer.warnings(false), [Warning::ConstantColumns { columns: vec![2, 3] }]);

    let narrow = NeighbourValuer::new(plain.rows(), TestRows::Given(plain.rows()), sizes, OPTIONS).unwrap();
    let values = |valuer: &NeighbourValuer<'_>| valuer.leave_one_out(&|_, _| true).unwrap().value;
    assert_same_bits(&values(&valuer), &values(&narrow), "constant columns");

    let flat = Table::new(Mat::from_fn(20, 2, |_, _| 0.3), plain.y.clone());
    let error = refused(flat.rows(), TestRows::Given(flat.rows()), sizes, OPTIONS);
    assert_eq!(error, Error::NoFeatures { n_features: 2 });
}

#[test]
fn sizes_that_cannot_be_drawn_are_reported() {
    let table = table(20, 2);
    let all: Vec<usize> = (0..20).collect();
    let valuer =
        |m| NeighbourValuer::new(table.rows(), TestRows::Reference(&all), Sizes::new(4, m), OPTIONS).unwrap();
    // Without the test row and the row that is valued there are 18 to draw.
    assert_eq!(valuer(19).warnings(true), []);
    assert_eq!(valuer(20).warnings(true), [Warning::SizesLeftOut { n_sizes: 1, n_rows: 18 }]);
    assert_eq!(valuer(20).warnings(false), []);
    let few = &valuer(8).warnings(true)[0];
    assert!(matches!(few, Warning::FewNeighbourSizes { n_sizes: 5, .. }));
}

/// The changes that the warning suggests give an average more terms, and no others would.
#[test]
fn few_set_sizes_are_told_with_what_makes_more_of_them() {
    let all = table(12, 2);
    let count = |k: usize, q: usize, m: usize, n: usize| (m.min(n + 1)).saturating_sub(k.max(q - 1));
    for n in 3..12 {
        let reference = all.select(&(0..n).collect::<Vec<_>>());
        for (k, q, m) in (1..=n).flat_map(|k| (1..=n).flat_map(move |q| (1..16).map(move |m| (k, q, m)))) {
            let options = NeighbourOptions { k, ..OPTIONS };
            let test = TestRows::Given(all.rows());
            let Ok(valuer) = NeighbourValuer::new(reference.rows(), test, Sizes::new(q, m), options) else {
                continue;
            };
            let warning = valuer.warnings(false).into_iter().find_map(|warning| match warning {
                Warning::FewNeighbourSizes { n_sizes, smaller_k, smaller_min, larger_max, more_rows } => {
                    Some((n_sizes, smaller_k, smaller_min, larger_max, more_rows))
                }
                _ => None,
            });
            let now = count(k, q, m, n);
            assert_eq!(warning.is_some(), now < 10, "{n} {k} {q} {m}");
            let Some((n_sizes, smaller_k, smaller_min, larger_max, more_rows)) = warning else { continue };
            assert_eq!(n_sizes, now);
            assert_eq!(smaller_k, k > 1 && count(k - 1, q.min(k), m, n) > now && q <= k + 1);
            assert_eq!(smaller_min, q > 1 && count(k, q - 1, m, n) > now, "{n} {k} {q} {m}");
            assert_eq!(larger_max, count(k, q, m + 1, n) > now, "{n} {k} {q} {m}");
            assert_eq!(more_rows, count(k, q, m, n + 1) > now, "{n} {k} {q} {m}");
        }
    }
}

/// Each place is a test row once with every label: what a row gains for one label it loses for the
/// other.
#[test]
fn what_cancels_is_zero_and_not_rounding() {
    let reference = table(80, 3);
    let places = Table::drawn(&mut Draws::new(5), 57, 3, TWO_CLASSES);
    let mut test = places.select(&(0..114).map(|row| row % 57).collect::<Vec<_>>());
    (0..114).for_each(|row| test.y[row] = (row / 57) as f64);
    let sizes = Sizes::new(4, 80);
    let valuer =
        NeighbourValuer::new(reference.rows(), TestRows::Given(test.rows()), sizes, OPTIONS).unwrap();
    assert_same_bits(&valuer.leave_one_out(&|_, _| true).unwrap().value, &[0.0; 80], "rows");
    assert_same_bits(&valuer.values(places.rows()).unwrap().value, &[0.0; 57], "points");
    // With one label fewer at one place, nothing cancels.
    test.y[0] = 1.0;
    let valuer =
        NeighbourValuer::new(reference.rows(), TestRows::Given(test.rows()), sizes, OPTIONS).unwrap();
    let values = valuer.leave_one_out(&|_, _| true).unwrap().value;
    assert!(values.iter().filter(|value| **value != 0.0).count() > 70);
}

/// A row with the target of all rows behind it changes nothing, for labels and numbers, tied or
/// not.
#[test]
fn a_row_like_all_behind_it_is_worth_nothing() {
    let n = 300;
    for (task, target) in [(TWO_CLASSES, 1.0), (NeighbourTask::Regression, 0.3)] {
        for step in [1.0, 0.1] {
            // Ten rows side by side if cells are tenths.
            let x = Mat::from_fn(n, 1, |i, _| (step * i as f64).floor());
            let y = (0..n).map(|i| if i < 20 { (i % 2) as f64 } else { target }).collect();
            let (reference, test) = (Table::new(x, y), Table::new(Mat::zeros(1, 1), vec![1.0]));
            let options = NeighbourOptions { task, ..OPTIONS };
            let test = TestRows::Given(test.rows());
            let valuer = NeighbourValuer::new(reference.rows(), test, Sizes::new(4, n), options).unwrap();
            let own = valuer.leave_one_out(&|_, _| true).unwrap().value;
            assert_same_bits(&own[20..], &vec![0.0; n - 20], "rows");
            let unseen = valuer.values(reference.rows()).unwrap().value;
            assert_same_bits(&unseen[20..], &vec![0.0; n - 20], "points");
            assert!(own[..19].iter().chain(&unseen[..19]).any(|value| *value != 0.0));
        }
    }
}

#[test]
fn a_run_can_be_stopped_and_says_how_far_it_is() {
    let table = table(60, 2);
    let valuer =
        NeighbourValuer::new(table.rows(), TestRows::Given(table.rows()), Sizes::new(4, 60), OPTIONS)
            .unwrap();
    assert_eq!(valuer.leave_one_out(&|done, of| done == 0 && of != 60).unwrap_err(), Error::Interrupted);
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |done, of| {
        seen.lock().unwrap().push((done, of));
        true
    };
    // On many threads all test rows would be done at once.
    on_threads(2, || valuer.leave_one_out(&watch).unwrap());
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() > 1 && seen[0] == (0, 60) && seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// Cells are multiples of 2⁻²⁰, so that 1e8 more is exact and so are all
/// differences: a product formula that is not guarded would lose them.
#[test]
fn an_offset_of_1e8_changes_no_bit() {
    for p in [3, 30] {
        let mut draws = Draws::new(23);
        let x = Mat::from_fn(200, p, |_, _| (draws.normal() * 1_048_576.0).round() / 1_048_576.0);
        let y: Vec<f64> = (0..200).map(|i| f64::from(u8::from(x[(i, 0)] > 0.0))).collect();
        let moved = Mat::from_fn(200, p, |i, j| x[(i, j)] + 1e8);
        let values = |x: &Mat<f64>, metric, scale| {
            let rows = Rows::new(x.as_ref(), &y).unwrap();
            let (reference, test) = (rows.slice(0, 150), TestRows::Given(rows.slice(150, 50)));
            let options = NeighbourOptions { metric, scale, ..OPTIONS };
            let valuer = NeighbourValuer::new(reference, test, Sizes::new(4, 150), options).unwrap();
            valuer.leave_one_out(&|_, _| true).unwrap().value
        };
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            for scale in [Scale::AsGiven, Scale::Standard] {
                let what = format!("{metric:?}, {scale:?}, {p} columns");
                assert_same_bits(&values(&moved, metric, scale), &values(&x, metric, scale), &what);
            }
        }
    }
}
