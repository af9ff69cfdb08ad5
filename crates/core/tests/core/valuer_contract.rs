//! The contract of every valuer, checked on a list of all of them.

use crate::common::classification as labels;
use crate::common::softmax;

use crate::common::Data;
use dshap::classification::{
    AuthorsMoments, AuthorsOneVsRest, AuthorsValuer, ClassificationMethod, ClassificationValuer,
    GeneralClassificationValuer, GeneralOneVsRest, LogisticFit, OneVsRest, with_class,
};
use dshap::density::{Algorithm5, DensityFit, DensityMethod, DensityOptions, DensityValuer};
use dshap::linear::{
    Algorithm3, Bound, Convention, DistanceTable, FitOptions, GeneralOptions, GeneralValuer, LinearFit,
    LinearMethod, LinearValuer, Side,
};
use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, TestRows};
use dshap::second_order::{
    BootstrapOptions, SecondOrderOneVsRest, SecondOrderOptions, SecondOrderValuer, SoftmaxOptions,
    SoftmaxValuer,
};
use dshap::{Error, Part, Place, Rows, Sizes, Valuer, Values, Wants, Warning};
use dshap_testkit::{Draws, Sample};
use faer::Mat;
use labels::{PLAIN, labelled, table};
use std::sync::atomic::{AtomicUsize, Ordering};

const SIZES: (usize, usize) = (30, 90);
const N_REFERENCE: usize = 400;
const N_POINTS: usize = 70;
const BOOTSTRAP: BootstrapOptions = BootstrapOptions { n_replicates: 4, seed: 1 };

fn go_on(_: usize, _: usize) -> bool {
    true
}

fn sizes() -> Sizes {
    Sizes::new(SIZES.0, SIZES.1)
}

/// A valuer, and the results of its own methods for points and for the reference.
struct Case<'a> {
    name: &'static str,
    valuer: Box<dyn Valuer + 'a>,
    reference: Rows<'a>,
    points: Rows<'a>,
    unseen: Values,
    left_out: Values,
    /// Whether sets are drawn for all rows together, so that a row's value depends on the
    /// others.
    draws: bool,
}

impl Case<'_> {
    fn value(&self, rows: Rows<'_>, place: Place) -> Values {
        self.valuer.values_at(rows, place, &go_on).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Functions of their own that draw sets are not given the targets of the reference, so
    /// they know residuals and no predictions.
    fn without_predictions(&self, mut found: Values, own: &Values) -> Values {
        if self.draws {
            found.parts.retain(|(part, _)| own.parts.iter().any(|(known, _)| known == part));
        }
        found
    }
}

/// Equal to the last bit, NaN for NaN.
#[track_caller]
fn assert_same(found: &Values, expected: &Values, name: &str) {
    let bits = |column: &[f64]| column.iter().map(|cell| cell.to_bits()).collect::<Vec<_>>();
    let parts = |values: &Values| values.parts.iter().map(|(part, c)| (*part, bits(c))).collect::<Vec<_>>();
    assert_eq!(bits(&found.value), bits(&expected.value), "{name}: values");
    assert_eq!(
        found.std_error.as_deref().map(bits),
        expected.std_error.as_deref().map(bits),
        "{name}: standard errors"
    );
    assert_eq!(parts(found), parts(expected), "{name}: parts");
    assert_eq!(found.notes, expected.notes, "{name}: notes");
    assert_eq!(found.truncation, expected.truncation, "{name}: truncation");
    assert_eq!(found.draws, expected.draws, "{name}: draws");
}

/// A case for each way of valuing numbers by least squares.
fn of_numbers<'a>(reference: Rows<'a>, points: Rows<'a>) -> Vec<Case<'a>> {
    let fit = || LinearFit::of(reference, FitOptions::default()).unwrap();
    let case = |name, valuer: LinearValuer| {
        let valuer = valuer.with_std_error(true);
        Case {
            name,
            unseen: valuer.values_from(points, 0).unwrap(),
            left_out: valuer.leave_one_out(reference, 0).unwrap(),
            valuer: Box::new(valuer),
            reference,
            points,
            draws: false,
        }
    };
    let by = |method| LinearValuer::new(fit(), sizes(), method).unwrap();
    let mut distances = DistanceTable::new();
    distances.add(&LinearValuer::distances(&fit(), reference).unwrap(), None);
    let algorithm = Algorithm3 { max_draws: 20, ..Algorithm3::default() };
    let mut cases = vec![
        case("gaussian", by(LinearMethod::default())),
        case("calibrated", LinearValuer::calibrated(fit(), sizes(), &distances).unwrap()),
        case("algorithm 3", by(LinearMethod::Algorithm3(algorithm))),
        case("bound", by(LinearMethod::Bound(Bound::new(Side::Lower, Convention::Printed)))),
    ];
    let general = GeneralValuer::new(fit(), reference, sizes(), rounds()).unwrap();
    cases.push(Case {
        name: "general",
        unseen: general.values(points, &go_on).unwrap().values,
        left_out: general.leave_one_out(&go_on).unwrap().values,
        valuer: Box::new(general),
        reference,
        points,
        draws: true,
    });
    cases
}

fn rounds() -> GeneralOptions {
    GeneralOptions { min_rounds: 8, max_rounds: 8, ..GeneralOptions::default() }
}

fn printed(fit: &LogisticFit, rows: Rows<'_>) -> AuthorsValuer {
    let mut moments = AuthorsMoments::new(fit);
    moments.push(rows).unwrap();
    let bound = Bound::new(Side::Lower, Convention::Authors);
    AuthorsValuer::new(fit.clone(), &moments.finish().unwrap(), sizes(), bound).unwrap()
}

/// A case for each way of valuing two labels.
fn of_labels<'a>(reference: Rows<'a>, points: Rows<'a>) -> Vec<Case<'a>> {
    let fit = LogisticFit::of(reference, PLAIN).unwrap();
    let exact = ClassificationValuer::new(fit.clone(), sizes(), ClassificationMethod::default());
    let exact = exact.unwrap().with_std_error(reference).unwrap();
    let bound = ClassificationMethod::Bound(Bound::new(Side::Upper, Convention::Definition));
    let bound = ClassificationValuer::new(fit.clone(), sizes(), bound).unwrap();
    let printed = printed(&fit, reference);
    let general = GeneralClassificationValuer::new(fit.clone(), reference, sizes(), rounds()).unwrap();
    let second = SecondOrderValuer::of(fit, reference, sizes(), SecondOrderOptions::default()).unwrap();
    let with_errors = second.clone().with_std_error(reference, BOOTSTRAP).unwrap();
    let case = |name, valuer: Box<dyn Valuer>, unseen, left_out, draws| Case {
        name,
        valuer,
        reference,
        points,
        unseen,
        left_out,
        draws,
    };
    let own = [
        (exact.values(points).unwrap(), exact.leave_one_out(reference).unwrap()),
        (bound.values(points).unwrap(), bound.leave_one_out(reference).unwrap()),
        (printed.values(points).unwrap(), printed.leave_one_out(reference).unwrap()),
        (second.values(points).unwrap(), second.leave_one_out(reference).unwrap()),
        (with_errors.values(points).unwrap(), with_errors.leave_one_out(reference).unwrap()),
    ];
    let drawn = (general.values(points, &go_on).unwrap(), general.leave_one_out(&go_on).unwrap());
    let names = ["labels", "labels, bound", "labels, printed", "second order", "second order with errors"];
    let valuers: [Box<dyn Valuer>; 5] =
        [Box::new(exact), Box::new(bound), Box::new(printed), Box::new(second), Box::new(with_errors)];
    let mut cases: Vec<_> = names
        .into_iter()
        .zip(valuers)
        .zip(own)
        .map(|((name, valuer), (unseen, left_out))| case(name, valuer, unseen, left_out, false))
        .collect();
    cases.push(case("labels, general", Box::new(general), drawn.0.values, drawn.1.values, true));
    cases
}

/// A case for each way of valuing three classes, with and without parts of each.
fn of_classes<'a>(reference: Rows<'a>, points: Rows<'a>, by_class: bool) -> Vec<Case<'a>> {
    let fits = OneVsRest::fits(reference, 3, PLAIN).unwrap();
    let exact = OneVsRest::new(fits.clone(), sizes(), ClassificationMethod::default()).unwrap();
    let exact = exact.with_std_error(reference).unwrap();
    let of_class = |(class, fit)| with_class(reference, class, |rows| printed(fit, rows));
    let printed = AuthorsOneVsRest::of(fits.iter().enumerate().map(of_class).collect()).unwrap();
    let options = SecondOrderOptions::default();
    let second = SecondOrderOneVsRest::of_rows(reference, 3, PLAIN, sizes(), options).unwrap();
    let second = second.with_std_error_of(reference, None, BOOTSTRAP).unwrap();
    let softmax = SoftmaxValuer::of(reference, 3, sizes(), SoftmaxOptions::default()).unwrap();
    let general = GeneralOneVsRest::new(fits, reference, sizes(), rounds()).unwrap();
    let (exact, printed, second, softmax, general) = if by_class {
        (
            exact.with_parts_by_class(),
            printed.with_parts_by_class(),
            second.with_parts_by_class(),
            softmax.with_parts_by_class(),
            general.with_parts_by_class(),
        )
    } else {
        (exact, printed, second, softmax, general)
    };
    let case = |name, valuer: Box<dyn Valuer>, unseen, left_out| Case {
        name,
        valuer,
        reference,
        points,
        unseen,
        left_out,
        draws: false,
    };
    let left_out = [
        exact.leave_one_out(reference).unwrap(),
        printed.leave_one_out(reference).unwrap(),
        second.leave_one_out(reference).unwrap(),
        softmax.leave_one_out(reference).unwrap(),
        general.leave_one_out(&go_on).unwrap().values,
    ];
    let unseen = [
        exact.values_by_class(points, false).unwrap().0,
        printed.values(points).unwrap(),
        second.values(points).unwrap(),
        softmax.values(points).unwrap(),
        general.values(points, &go_on).unwrap().values,
    ];
    let valuers: [(&str, Box<dyn Valuer>); 5] = [
        ("classes", Box::new(exact)),
        ("classes, printed", Box::new(printed)),
        ("classes, second order", Box::new(second)),
        ("softmax", Box::new(softmax)),
        ("classes, general", Box::new(general)),
    ];
    let cases = valuers.into_iter().zip(unseen).zip(left_out);
    cases
        .map(|(((name, valuer), unseen), left_out)| Case {
            draws: name == "classes, general",
            ..case(name, valuer, unseen, left_out)
        })
        .collect()
}

/// A case for each way of valuing rows without a target.
fn of_densities<'a>(reference: Rows<'a>, points: Rows<'a>) -> Vec<Case<'a>> {
    let fit = DensityFit::of(reference.x(), DensityOptions::default()).unwrap();
    let case = |name, method| {
        let valuer = DensityValuer::new(fit.clone(), SIZES.1, method).unwrap().with_std_error(true);
        Case {
            name,
            unseen: valuer.values_from(points.x(), 0).unwrap(),
            left_out: valuer.leave_one_out(0, reference.len()).unwrap(),
            valuer: Box::new(valuer),
            reference,
            points,
            draws: false,
        }
    };
    vec![
        case("density", DensityMethod::Closed),
        case("algorithm 5", DensityMethod::Algorithm5(Algorithm5 { seed: 4 })),
    ]
}

/// A case for each way of valuing rows by their neighbours.
fn of_neighbours<'a>(reference: Rows<'a>, points: Rows<'a>, tests: &'a [usize]) -> Vec<Case<'a>> {
    let case = |name, task, test| {
        let options = NeighbourOptions { k: 3, ..NeighbourOptions::new(task) };
        let valuer = NeighbourValuer::new(reference, test, sizes(), options).unwrap().with_std_error(true);
        Case {
            name,
            unseen: valuer.values_watched(points, &go_on).unwrap(),
            left_out: valuer.leave_one_out(&go_on).unwrap(),
            valuer: Box::new(valuer),
            reference,
            points,
            draws: false,
        }
    };
    vec![
        case(
            "neighbours",
            NeighbourTask::Classification { n_classes: 3 },
            TestRows::Given(points.slice(0, 9)),
        ),
        case("neighbours, numbers", NeighbourTask::Regression, TestRows::Reference(tests)),
    ]
}

/// Runs `check` on every valuer.
fn each_case(check: impl Fn(&Case<'_>)) {
    let parts = |sample: &Sample| {
        let cut = |from: usize, len: usize| Sample {
            columns: sample.columns.iter().map(|column| column[from..from + len].to_vec()).collect(),
            y: sample.y[from..from + len].to_vec(),
        };
        (cut(0, N_REFERENCE), cut(N_REFERENCE, N_POINTS))
    };
    let (reference, points) = parts(&Sample::gaussian(11, N_REFERENCE + N_POINTS, 3, 0.9));
    let (reference, points) = (Data::of(&reference), Data::of(&points));
    of_numbers(reference.rows(), points.rows()).iter().for_each(&check);

    let (reference, points) = parts(&labelled(12, N_REFERENCE + N_POINTS, &[0.2, 0.8, -0.5]));
    let ((x, y), (points_x, points_y)) = (table(&reference), table(&points));
    let reference = Rows::new(x.as_ref(), &y).unwrap();
    let points = Rows::new(points_x.as_ref(), &points_y).unwrap();
    of_labels(reference, points).iter().for_each(&check);

    let theta = [[0.3, 1.0, -0.5], [-0.4, 0.2, 0.9]];
    let classes = softmax::Classes::new(13, N_REFERENCE + N_POINTS, &theta);
    let (reference, points) =
        (classes.rows().slice(0, N_REFERENCE), classes.rows().slice(N_REFERENCE, N_POINTS));
    for by_class in [false, true] {
        of_classes(reference, points, by_class).iter().for_each(&check);
    }
    of_densities(reference, points).iter().for_each(&check);
    let tests: Vec<usize> = (0..N_REFERENCE).step_by(13).collect();
    of_neighbours(reference, points, &tests).iter().for_each(&check);
}

#[test]
fn values_are_those_of_the_methods_own_functions() {
    each_case(|case| {
        let unseen = [case.valuer.values(case.points).unwrap(), case.value(case.points, Place::default())];
        for found in unseen {
            assert_same(&case.without_predictions(found, &case.unseen), &case.unseen, case.name);
        }
        let left_out = case.value(case.reference, Place::of_reference(0));
        assert_same(&case.without_predictions(left_out, &case.left_out), &case.left_out, case.name);
    });
}

#[test]
fn parts_are_those_that_values_come_with() {
    each_case(|case| {
        let left_out = case.value(case.reference, Place::of_reference(0));
        for values in [case.value(case.points, Place::default()), left_out] {
            let parts: Vec<Part> = values.parts.iter().map(|(part, _)| *part).collect();
            assert_eq!(parts, case.valuer.parts(), "{}", case.name);
            for (part, column) in &values.parts {
                assert_eq!(column.len(), values.len(), "{}: {part:?}", case.name);
            }
        }
    });
}

#[test]
fn values_come_in_the_order_of_the_rows() {
    each_case(|case| {
        assert_eq!(case.unseen.len(), case.points.len(), "{}", case.name);
        assert_eq!(case.left_out.len(), case.reference.len(), "{}", case.name);
        if case.draws {
            return;
        }
        // In reverse order, rows keep their values. Random streams belong to places.
        let n = case.points.len();
        let x = Mat::from_fn(n, case.points.n_features(), |i, j| case.points.x()[(n - 1 - i, j)]);
        let y: Vec<f64> = case.points.y().iter().rev().copied().collect();
        let found = case.value(Rows::new(x.as_ref(), &y).unwrap(), Place::default());
        if !case.name.starts_with("algorithm") {
            let expected: Vec<u64> = case.unseen.value.iter().rev().map(|value| value.to_bits()).collect();
            let found: Vec<u64> = found.value.iter().map(|value| value.to_bits()).collect();
            assert_eq!(found, expected, "{}", case.name);
        }
    });
}

#[test]
fn a_slice_of_rows_has_a_slice_of_the_values() {
    each_case(|case| {
        let whole = |error| matches!(error, Error::PartOfReference { found: 21, n_rows: N_REFERENCE });
        let (start, len) = (13, 21);
        let of_reference = case.valuer.values_at(
            case.reference.slice(start, len),
            Place::of_reference(start as u64),
            &go_on,
        );
        if case.valuer.wants() == Wants::All {
            assert!(of_reference.is_err_and(whole), "{}: needs the whole reference", case.name);
        } else {
            assert_same(&of_reference.unwrap(), &case.left_out.slice(start, len), case.name);
        }
        if !case.draws {
            let place = Place { first_row: start as u64, in_reference: false };
            let found = case.value(case.points.slice(start, len), place);
            assert_same(&found, &case.unseen.slice(start, len), case.name);
        }
    });
}

#[test]
fn a_watcher_is_asked_and_obeyed() {
    each_case(|case| {
        let n_asked = AtomicUsize::new(0);
        let refuse = |done: usize, total: usize| {
            assert!(done <= total && total > 0, "{}: {done} of {total}", case.name);
            n_asked.fetch_add(1, Ordering::Relaxed);
            false
        };
        for (rows, place) in [(case.points, Place::default()), (case.reference, Place::of_reference(0))] {
            let stopped = case.valuer.values_at(rows, place, &refuse);
            assert_eq!(stopped, Err(Error::Interrupted), "{}", case.name);
        }
        assert!(n_asked.into_inner() >= 2, "{}", case.name);
    });
}

#[test]
fn rows_of_another_width_are_refused() {
    each_case(|case| {
        let wide = Mat::<f64>::zeros(2, 9);
        let refused = case.valuer.values(Rows::new(wide.as_ref(), &[0.0, 1.0]).unwrap()).unwrap_err();
        let expected = case.reference.n_features();
        assert_eq!(refused, Error::FeatureCount { found: 9, expected }, "{}", case.name);
    });
}

#[test]
fn sizes_and_draws_are_told() {
    each_case(|case| {
        let smallest = if case.name == "density" || case.name == "algorithm 5" { 1 } else { SIZES.0 };
        assert_eq!(case.valuer.sizes(), Sizes::new(smallest, SIZES.1), "{}", case.name);
        for values in [&case.unseen, &case.left_out] {
            assert_eq!(values.draws.is_some(), case.draws, "{}", case.name);
            assert!(values.draws.is_none_or(|draws| draws.n_rounds == 8), "{}", case.name);
        }
    });
}

/// Methods that assume Gaussian inputs warn about heavy tails, and no others do.
#[test]
fn methods_that_assume_gaussian_inputs_check_them() {
    let mut draws = Draws::new(14);
    let mut heavy = |_: usize, _: usize| draws.normal() / draws.normal().abs().max(0.05);
    let x = Mat::from_fn(2000, 2, &mut heavy);
    let y: Vec<f64> = (0..2000).map(|i| x[(i, 0)] + draws.normal()).collect();
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LinearFit::of(rows, FitOptions::default()).unwrap();
    let check = |method| {
        let valuer = LinearValuer::new(fit.clone(), Sizes::new(20, 200), method).unwrap();
        valuer.check_inputs(rows).unwrap()
    };
    assert!(matches!(check(LinearMethod::default()), Some(Warning::NotGaussian { .. })));
    let bound = Bound::new(Side::Lower, Convention::Printed);
    assert_eq!(check(LinearMethod::Bound(bound)), None);
    each_case(|case| {
        let found = case.valuer.check_inputs(case.reference).unwrap();
        assert!(matches!(found, None | Some(Warning::NotGaussian { .. })), "{}: {found:?}", case.name);
    });
}

/// A warning about one class names it; one about all classes does not.
#[test]
fn warnings_of_one_class_name_it() {
    let theta = [[0.3, 1.0, -0.5], [-0.4, 0.2, 0.9]];
    let classes = softmax::Classes::new(15, 300, &theta);
    let fits = OneVsRest::fits(classes.rows(), 3, PLAIN).unwrap();
    let sizes = Sizes::new(40, 44);
    let valuer = OneVsRest::new(fits.clone(), sizes, ClassificationMethod::default()).unwrap();
    let valuer: &dyn Valuer = &valuer;
    assert_eq!(valuer.warnings(), [Warning::FewSizes { n_sizes: 5 }], "the same for all classes");

    let many = Sizes::new(40, 60);
    let mixed = fits.into_iter().zip([many, sizes, many]);
    let mixed = mixed
        .map(|(fit, sizes)| ClassificationValuer::new(fit, sizes, ClassificationMethod::default()).unwrap());
    let valuer = OneVsRest::of(mixed.collect()).unwrap();
    let valuer: &dyn Valuer = &valuer;
    let few = Box::new(Warning::FewSizes { n_sizes: 5 });
    assert_eq!(valuer.warnings(), [Warning::InClass { class: 1, warning: few }]);
}
