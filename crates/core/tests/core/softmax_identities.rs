//! Identities of softmax values, for any numbers, and the reference table.

use crate::common::softmax;

use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{
    SecondOrderOneVsRest, SecondOrderOptions, SecondOrderValuer, SoftmaxOptions, SoftmaxPasses, SoftmaxStep,
    SoftmaxValuer, Spread,
};
use dshap::{Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{assert_close, assert_near_scale, assert_same_bits, cases, on_threads};
use faer::Mat;
use softmax::Classes;

const THETA: [[f64; 3]; 2] = [[0.3, 1.0, -0.5], [-0.4, 0.2, 0.9]];
const MODEL: SoftmaxOptions = SoftmaxOptions {
    intercept: true,
    allow_dependent: true,
    max_passes: 100,
    spread: Spread::ModelBased,
    shift: None,
};

fn valuer(classes: &Classes, n_classes: usize, options: SoftmaxOptions) -> SoftmaxValuer {
    SoftmaxValuer::of(classes.rows(), n_classes, Sizes::new(25, 200), options).unwrap()
}

/// Differences as a share of the largest value.
/// Both in columns as given, the intercept first: how coefficients of the recombined
/// columns are converted.
fn to_given(valuer: &SoftmaxValuer) -> Mat<f64> {
    let parts = valuer.to_parts();
    let p = parts.kept.len() + 1;
    let mut lower = Mat::<f64>::zeros(p, p);
    let mut cells = parts.whitening.iter();
    for j in 0..p {
        (j..p).for_each(|i| lower[(i, j)] = *cells.next().unwrap());
    }
    // θ = L⁻ᵀθ̃ by substitution, then scales and the intercept.
    let mut out = Mat::<f64>::identity(p, p);
    for column in 0..p {
        for i in (0..p).rev() {
            let known: f64 = (i + 1..p).map(|k| lower[(k, i)] * out[(k, column)]).sum();
            out[(i, column)] = (out[(i, column)] - known) / lower[(i, i)];
        }
        for k in 1..p {
            out[(k, column)] *= parts.scale[k - 1];
            let centre = parts.shift[k - 1] + parts.offset[k - 1];
            let reach = out[(k, column)] * centre;
            out[(0, column)] -= reach;
        }
    }
    out
}

/// Fields of the table have 15 digits, those of 22 are c and the coefficients; the
/// condition of H is about 20.
#[test]
fn every_moment_matches_the_table() {
    let all = cases("reference/second_order.json");
    let case = all.iter().find(|case| case.text("kind") == "logloss_softmax").unwrap();
    let (x, onehot) = (case.matrix("X"), case.matrix("Y_onehot_classes12_class0_reference"));
    let class = |y: &Vec<f64>| y.iter().position(|&y| y == 1.0).map_or(0.0, |k| k as f64 + 1.0);
    let classes =
        Classes { x: Mat::from_fn(x.len(), 1, |i, _| x[i][1]), y: onehot.iter().map(class).collect() };
    let valuer =
        SoftmaxValuer::of(classes.rows(), 3, Sizes::new(40, 300), SoftmaxOptions::default()).unwrap();
    let beta = case.list("beta");
    for k in 1..3 {
        assert_close(valuer.fit().intercept_value(k).unwrap(), beta[2 * k - 2], 1e-11);
        assert_close(valuer.fit().coef(k).unwrap()[0], beta[2 * k - 1], 1e-11);
    }
    let given = to_given(&valuer);
    let intermediates = case.field("intermediates");
    let parts = valuer.to_parts();
    for (name, packed) in [("Hi", &parts.inverse), ("V", &parts.spread)] {
        let exact = intermediates.matrix(name);
        let mut lower = Mat::<f64>::zeros(4, 4);
        let mut cells = packed.iter();
        for j in 0..4 {
            (j..4).for_each(|i| lower[(i, j)] = *cells.next().unwrap());
        }
        let whole = Mat::from_fn(4, 4, |i, j| lower[(i.max(j), i.min(j))]);
        for a in 0..2 {
            for b in 0..2 {
                let block = whole.as_ref().submatrix(2 * a, 2 * b, 2, 2);
                let found = &given * block * given.transpose();
                for i in 0..2 {
                    for j in 0..2 {
                        assert_close(found[(i, j)], exact[2 * a + i][2 * b + j], 1e-10);
                    }
                }
            }
        }
    }
    let exact = intermediates.list("b");
    for a in 0..2 {
        let found = &given * Mat::from_fn(2, 1, |k, _| valuer.bias()[2 * a + k]);
        (0..2).for_each(|k| assert_close(found[(k, 0)], exact[2 * a + k], 1e-10));
    }
    for point in case.cases("points") {
        let position = point.list("x");
        let label = class(&point.list("y"));
        let x = Mat::from_fn(1, 1, |_, _| position[1]);
        let c = valuer.coefficients(Rows::new(x.as_ref(), &[label]).unwrap()).unwrap()[0];
        assert_close(c, point.number("c"), 1e-10);
    }
}

/// One Newton step and sums over the same rows in other coordinates: the fits agree
/// to about 1e-12.
#[test]
fn two_classes_are_the_binary_case() {
    let classes = Classes::new(51, 400, &THETA[..1]);
    for intercept in [true, false] {
        for spread in [Spread::Sandwich, Spread::ModelBased] {
            let options = SoftmaxOptions { intercept, spread, ..SoftmaxOptions::default() };
            let softmax = valuer(&classes, 2, options);
            let logistic = LogisticOptions { intercept, ..LogisticOptions::default() };
            let fit = LogisticFit::of(classes.rows(), logistic).unwrap();
            let options = SecondOrderOptions { spread, ..SecondOrderOptions::default() };
            let binary = SecondOrderValuer::of(fit, classes.rows(), Sizes::new(25, 200), options).unwrap();
            assert_close(softmax.fit().deviance(), binary.fit().deviance(), 1e-12);
            let pairs: [(Values, Values); 2] = [
                (softmax.values(classes.rows()).unwrap(), binary.values(classes.rows()).unwrap()),
                (
                    softmax.leave_one_out(classes.rows()).unwrap(),
                    binary.leave_one_out(classes.rows()).unwrap(),
                ),
            ];
            for (found, expected) in pairs {
                assert_near_scale(&found.value, &expected.value, 1e-9, "value");
                for part in SoftmaxValuer::PARTS {
                    let (found, expected) = (found.part(part).unwrap(), expected.part(part).unwrap());
                    assert_near_scale(found, expected, 1e-9, &part.name());
                }
            }
        }
    }
}

/// Every order of three classes, the base among them.
#[test]
fn what_classes_are_called_does_not_matter() {
    let classes = Classes::new(52, 400, &THETA);
    for options in [SoftmaxOptions::default(), MODEL] {
        let original = valuer(&classes, 3, options).with_parts_by_class();
        let expected = original.values(classes.rows()).unwrap();
        let left_out = original.leave_one_out(classes.rows()).unwrap();
        for names in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let renamed = classes.renamed(&names);
            let other = valuer(&renamed, 3, options).with_parts_by_class();
            let found = other.values(renamed.rows()).unwrap();
            assert_near_scale(&found.value, &expected.value, 1e-9, "classes renamed");
            assert_near_scale(
                &other.leave_one_out(renamed.rows()).unwrap().value,
                &left_out.value,
                1e-9,
                "left out",
            );
            for (class, &name) in names.iter().enumerate() {
                let of = |values: &Values, class| values.part(Part::ProbOf(class)).unwrap().to_vec();
                assert_near_scale(&of(&found, name), &of(&expected, class), 1e-10, "probabilities");
            }
        }
    }
}

#[test]
fn invertible_changes_of_features_change_nothing() {
    let classes = Classes::new(53, 400, &THETA);
    let x = &classes.x;
    let mixed = Classes {
        x: Mat::from_fn(400, 2, |i, j| match j {
            0 => 3.0 * x[(i, 0)] - 20.0 * x[(i, 1)] + 7.0,
            _ => 0.01 * x[(i, 0)] + 0.1 * x[(i, 1)] - 1.0,
        }),
        y: classes.y.clone(),
    };
    let expected = valuer(&classes, 3, SoftmaxOptions::default()).values(classes.rows()).unwrap();
    let found = valuer(&mixed, 3, SoftmaxOptions::default()).values(mixed.rows()).unwrap();
    assert_near_scale(&found.value, &expected.value, 1e-9, "features mixed");
}

#[test]
fn values_are_potential_less_penalty_plus_correction() {
    let classes = Classes::new(54, 300, &THETA);
    let found = valuer(&classes, 3, SoftmaxOptions::default()).values(classes.rows()).unwrap();
    let part = |part: Part| found.part(part).unwrap();
    for i in 0..300 {
        let sum = part(Part::Potential)[i] - part(Part::Penalty)[i] + part(Part::Correction)[i];
        assert!((found.value[i] - sum).abs() < 1e-15 * part(Part::Potential)[i].max(1e-300));
    }
}

#[test]
fn a_row_of_weight_two_is_a_row_twice() {
    let classes = Classes::new(55, 200, &THETA);
    let twice = classes.select(&(0..200).chain(0..60).collect::<Vec<_>>());
    let weights: Vec<f64> = (0..200).map(|i| if i < 60 { 2.0 } else { 1.0 }).collect();
    let rows = classes.rows().with_weights(&weights).unwrap();
    let weighted = SoftmaxValuer::of(rows, 3, Sizes::new(25, 200), SoftmaxOptions::default()).unwrap();
    let expected = valuer(&twice, 3, SoftmaxOptions::default()).values(classes.rows()).unwrap();
    assert_near_scale(&weighted.values(classes.rows()).unwrap().value, &expected.value, 1e-9, "weights");
}

/// One step of Newton's method against references that are fitted without the row.
/// Moments stay, which is an error of order 1/n: 5 % of the spread were found, as much as
/// the row's own probabilities change. (That the step is right is tested where it is
/// made, and by two classes above.)
#[test]
fn rows_left_out_are_valued_as_if_they_had_not_been_there() {
    let classes = Classes::new(56, 400, &THETA);
    let all = valuer(&classes, 3, SoftmaxOptions::default());
    let found = all.leave_one_out(classes.rows()).unwrap();
    let (mut off, mut spread) = (0.0, 0.0);
    let mean = found.value.iter().sum::<f64>() / 400.0;
    for row in (0..400).step_by(8) {
        let others: Vec<usize> = (0..400).filter(|&other| other != row).collect();
        let refitted = valuer(&classes.select(&others), 3, SoftmaxOptions::default());
        let exact = refitted.values(classes.select(&[row]).rows()).unwrap().value[0];
        off += (found.value[row] - exact).powi(2);
        spread += (exact - mean).powi(2);
    }
    let off = (off / spread).sqrt();
    println!("off by {off:.4} of the spread");
    assert!(off < 0.1, "{off:.4}");
}

/// 100 000 rows give `E[eeᵀ ⊗ xxᵀ]` to about half a percent.
#[test]
fn sandwich_and_model_agree_where_the_model_holds() {
    let large = Classes::new(57, 100_000, &THETA);
    let points = Classes::new(58, 200, &THETA);
    let sandwich = valuer(&large, 3, SoftmaxOptions::default()).values(points.rows()).unwrap();
    let model = valuer(&large, 3, MODEL).values(points.rows()).unwrap();
    let mean = sandwich.value.iter().sum::<f64>() / 200.0;
    let spread: f64 = sandwich.value.iter().map(|value| (value - mean).powi(2)).sum();
    let off: f64 = sandwich.value.iter().zip(&model.value).map(|(a, b)| (a - b).powi(2)).sum();
    let off = (off / spread).sqrt();
    println!("off by {off:.4} of the spread");
    assert!(off < 0.05, "{off:.4}");
}

#[test]
fn threads_and_chunks_change_no_bit() {
    let classes = Classes::new(59, 10_000, &THETA);
    let rows = classes.rows();
    let expected = on_threads(1, || valuer(&classes, 3, SoftmaxOptions::default()));
    let expected = on_threads(1, || expected.leave_one_out(rows).unwrap());
    let other = on_threads(4, || valuer(&classes, 3, SoftmaxOptions::default()));
    assert_same_bits(&on_threads(3, || other.leave_one_out(rows).unwrap()).value, &expected.value, "threads");
    let mut passes = SoftmaxPasses::new(2, 3, Sizes::new(25, 200), SoftmaxOptions::default()).unwrap();
    let chunked = loop {
        let mut pass = passes.begin_pass();
        for start in (0..rows.len()).step_by(777) {
            pass.push(rows.slice(start, 777.min(rows.len() - start))).unwrap();
        }
        if let SoftmaxStep::Done(valuer) = passes.finish_pass(pass).unwrap() {
            break valuer;
        }
    };
    let mut value = Vec::new();
    for start in (0..rows.len()).step_by(301) {
        value.extend(chunked.leave_one_out(rows.slice(start, 301.min(rows.len() - start))).unwrap().value);
    }
    assert_same_bits(&value, &expected.value, "chunks");
}

#[test]
fn a_valuer_is_all_in_its_numbers() {
    let classes = Classes::new(60, 300, &THETA);
    let valuer = valuer(&classes, 3, SoftmaxOptions::default());
    let again = SoftmaxValuer::from_parts(valuer.to_parts()).unwrap();
    assert_eq!(again.to_parts(), valuer.to_parts());
    let (expected, found) =
        (valuer.leave_one_out(classes.rows()).unwrap(), again.leave_one_out(classes.rows()).unwrap());
    assert_same_bits(&found.value, &expected.value, "value");
    let wider = again.with_sizes(Sizes::new(25, 400)).unwrap();
    assert!(wider.values(classes.rows()).unwrap().value[0] != expected.value[0]);
}

/// The sum of the values of the classes.
#[test]
fn one_against_the_others_is_a_sum() {
    let classes = Classes::new(61, 400, &THETA);
    let (sizes, logistic) = (Sizes::new(25, 200), LogisticOptions::default());
    let options = SecondOrderOptions::default();
    let all = SecondOrderOneVsRest::of_rows(classes.rows(), 3, logistic, sizes, options).unwrap();
    let found = all.clone().with_parts_by_class().leave_one_out(classes.rows()).unwrap();
    let mut sum = vec![0.0; 400];
    for (class, valuer) in all.classes().iter().enumerate() {
        let y: Vec<f64> = classes.y.iter().map(|&y| f64::from(u8::from(y as usize == class))).collect();
        let own = valuer.leave_one_out(Rows::new(classes.x.as_ref(), &y).unwrap()).unwrap();
        assert_same_bits(found.part(Part::ValueOf(class)).unwrap(), &own.value, "one class");
        sum.iter_mut().zip(&own.value).for_each(|(sum, value)| *sum += value);
    }
    assert_same_bits(&found.value, &sum, "sum");
    assert!(found.part(Part::Correction).is_some());
}
