//! More than two classes: what is summed, and over what.

use crate::common::classification as setting;

use dshap::classification::{
    AuthorsMoments, AuthorsOneVsRest, AuthorsValuer, ClassificationMethod, ClassificationValuer,
    GeneralOneVsRest, LogisticOptions, OneVsRest, OneVsRestIrls, sum_of_classes, with_class,
};
use dshap::linear::{Bound, Convention, GeneralOptions, Side};
use dshap::{Error, Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{Draws, Sample, assert_close, assert_same_bits};
use setting::{PLAIN, labelled, table, valuer};

const RIDGE: LogisticOptions = LogisticOptions { ridge: 2.0, ..PLAIN };

fn with_rows<T>(sample: &Sample, then: impl FnOnce(Rows<'_>) -> T) -> T {
    let (x, y) = table(sample);
    then(Rows::new(x.as_ref(), &y).unwrap())
}

fn values(valuer: &ClassificationValuer, sample: &Sample) -> Values {
    with_rows(sample, |rows| valuer.values(rows)).unwrap()
}

fn left_out(valuer: &ClassificationValuer, sample: &Sample) -> Values {
    with_rows(sample, |rows| valuer.leave_one_out(rows)).unwrap()
}

fn three_classes(seed: u64, n: usize) -> Sample {
    let mut draws = Draws::new(seed);
    let centres = [[0.0, 0.0], [1.5, 0.3], [-0.2, 1.4]];
    let (mut columns, mut y) = (vec![Vec::new(); 2], Vec::new());
    for i in 0..n {
        y.push((i % 3) as f64);
        (0..2).for_each(|j| columns[j].push(centres[i % 3][j] + draws.normal()));
    }
    Sample { columns, y }
}

#[test]
fn one_vs_rest_is_the_sum_over_classes() {
    let sample = three_classes(113, 240);
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fits = OneVsRest::fits(rows, 3, PLAIN).unwrap();
    // In chunks: the same fits.
    let mut irls = OneVsRestIrls::new(2, 3, PLAIN).unwrap();
    loop {
        let mut pass = irls.begin_pass();
        (0..240).step_by(50).for_each(|start| pass.push(rows.slice(start, 50.min(240 - start))).unwrap());
        if !irls.finish_pass(pass).unwrap() {
            break;
        }
    }
    for (a, b) in irls.finish().unwrap().iter().zip(&fits) {
        assert_eq!(a.to_parts(), b.to_parts());
    }
    let together = OneVsRest::new(fits, Sizes::new(12, 80), ClassificationMethod::default()).unwrap();
    for is_left_out in [false, true] {
        let (sum, by_class) = together.values_by_class(rows, is_left_out).unwrap();
        let mut total = vec![0.0; 240];
        for (class, found) in by_class.iter().enumerate() {
            let mut binary = sample.clone();
            binary.y.iter_mut().for_each(|y| *y = f64::from(u8::from(*y == class as f64)));
            let alone = valuer(&binary, PLAIN, (12, 80));
            let alone = if is_left_out { left_out(&alone, &binary) } else { values(&alone, &binary) };
            assert_same_bits(&found.value, &alone.value, "a class alone");
            total.iter_mut().zip(&alone.value).for_each(|(total, value)| *total += value);
        }
        assert_same_bits(&sum.value, &total, "the sum");
        assert_same_bits(&sum_of_classes(&by_class).value, &total, "the sum of values");
        let (potential, penalty) = (sum.part(Part::Potential).unwrap(), sum.part(Part::Penalty).unwrap());
        (0..240).for_each(|i| assert_close(sum.value[i], potential[i] - penalty[i], 1e-9));
    }
    assert_same_bits(
        &together.values(rows).unwrap().value,
        &together.values_by_class(rows, false).unwrap().0.value,
        "values",
    );
    let mut bad = y.clone();
    bad[5] = 3.0;
    let error = together.values(Rows::new(x.as_ref(), &bad).unwrap()).unwrap_err();
    assert_eq!(error, Error::NotAClass { row: 5, n_classes: 3 });
}

/// Drawn and printed values of more than two classes are sums over classes, too, with
/// parts by class.
#[test]
fn drawn_and_printed_values_are_sums_over_classes() {
    let sample = three_classes(118, 120);
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fits = OneVsRest::fits(rows, 3, PLAIN).unwrap();
    let sizes = Sizes::new(20, 60);
    let options = GeneralOptions { max_rounds: 64, min_rounds: 64, ..GeneralOptions::default() };
    let drawn = GeneralOneVsRest::new(fits.clone(), rows, sizes, options).unwrap().with_parts_by_class();
    let told = std::sync::Mutex::new(Vec::new());
    let watch = |done: usize, of: usize| {
        told.lock().unwrap().push((done, of));
        true
    };
    let found = drawn.leave_one_out(&watch).unwrap();
    let told = told.into_inner().unwrap();
    assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0) && told.iter().all(|told| told.1 == 192));

    let bound = Bound::new(Side::Lower, Convention::Authors);
    let mut printed = Vec::new();
    let (mut total, mut printed_total, mut variance) = (vec![0.0; 120], vec![0.0; 120], vec![0.0; 120]);
    for (class, fit) in fits.iter().enumerate() {
        let alone = drawn.classes()[class].leave_one_out(&|_, _| true).unwrap().values;
        assert_same_bits(found.values.part(Part::ValueOf(class)).unwrap(), &alone.value, "a class drawn");
        total.iter_mut().zip(&alone.value).for_each(|(total, value)| *total += value);
        let errors = alone.std_error.unwrap();
        variance.iter_mut().zip(errors).for_each(|(variance, error)| *variance += error * error);
        let valuer = with_class(rows, class, |rows| {
            let mut moments = AuthorsMoments::new(fit);
            moments.push(rows).unwrap();
            AuthorsValuer::new(fit.clone(), &moments.finish().unwrap(), sizes, bound).unwrap()
        });
        let alone = with_class(rows, class, |rows| valuer.leave_one_out(rows)).unwrap();
        printed_total.iter_mut().zip(&alone.value).for_each(|(total, value)| *total += value);
        printed.push(valuer);
    }
    assert_same_bits(&found.values.value, &total, "the sum of draws");
    let errors = found.values.std_error.unwrap();
    (0..120).for_each(|i| assert_close(errors[i], variance[i].sqrt(), 1e-12));
    let printed = AuthorsOneVsRest::of(printed).unwrap().with_parts_by_class();
    let found = printed.leave_one_out(rows).unwrap();
    assert_same_bits(&found.value, &printed_total, "the sum of printed bounds");
    assert!(found.part(Part::ProbOf(2)).unwrap().iter().all(|prob| (0.0..=1.0).contains(prob)));
    // Each class has its own draws, or their errors would not be independent.
    let by_class: Vec<_> = (0..3).map(|class| found.part(Part::ValueOf(class)).unwrap()).collect();
    assert!(by_class[0] != by_class[1]);
}

#[test]
fn two_classes_count_twice() {
    let sample = labelled(114, 150, &[0.4, 1.2, -0.6]);
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fits = OneVsRest::fits(rows, 2, PLAIN).unwrap();
    let both = OneVsRest::new(fits, Sizes::new(12, 80), ClassificationMethod::default()).unwrap();
    let both = both.with_std_error(rows).unwrap().values(rows).unwrap();
    let one = valuer(&sample, PLAIN, (12, 80)).with_std_error(rows).unwrap().values(rows).unwrap();
    for i in 0..150 {
        let scale = one.part(Part::Potential).unwrap()[i] + one.part(Part::Penalty).unwrap()[i];
        assert!((both.value[i] - 2.0 * one.value[i]).abs() < 1e-12 * scale);
        // Errors of the same estimates add up fully, not as independent ones do.
        assert_close(both.std_error.as_ref().unwrap()[i], 2.0 * one.std_error.as_ref().unwrap()[i], 1e-9);
    }
}

#[test]
fn a_class_that_cannot_be_fitted_is_named() {
    let mut sample = three_classes(115, 90);
    sample.y.iter_mut().filter(|y| **y == 1.0).for_each(|y| *y = 2.0);
    let error = with_rows(&sample, |rows| OneVsRest::fits(rows, 3, PLAIN)).unwrap_err();
    assert_eq!(error, Error::InClass { class: 1, error: Box::new(Error::OneClass { label: 0 }) });
    let mut apart = three_classes(116, 90);
    for i in (2..90).step_by(3) {
        apart.columns[0][i] += 100.0;
    }
    let error = with_rows(&apart, |rows| OneVsRest::fits(rows, 3, PLAIN)).unwrap_err();
    let Error::InClass { class: 2, error } = &error else { panic!("{error:?}") };
    assert!(matches!(**error, Error::Separated { complete: true, column: 0, .. }));
    assert!(with_rows(&apart, |rows| OneVsRest::fits(rows, 3, RIDGE)).is_ok());
}
