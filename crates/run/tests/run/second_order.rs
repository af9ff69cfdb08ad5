//! Second-order values from files: the core's bits, saved and read again.

use crate::common::{Asked, Folder, column};
use arrow_array::RecordBatch;
use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{
    BootstrapOptions, SecondOrderOneVsRest, SecondOrderOptions, SecondOrderValuer, SoftmaxOptions,
    SoftmaxValuer, Spread, Utility,
};
use dshap::{Rows, Sizes, Valuer, Values};
use dshap_catalogue::options::{M, Q, RIDGE, SEED, SHIFT, SMALL_RIDGE, SPREAD, UTILITY};
use dshap_catalogue::{Misuse, Task};
use dshap_models::Warning;
use dshap_models::second_order::{OneVsRestReason, SecondOrder, Shift};
use dshap_run::{Error, ExtraPass};
use dshap_testkit::{Draws, assert_same_bits};
use faer::Mat;
use std::fmt::Write;

struct Sample {
    x: Mat<f64>,
    y: Vec<f64>,
}

impl Sample {
    fn new(seed: u64, n: usize) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 2, |_, _| draws.normal());
        let label = |i| f64::from(u8::from(x[(i, 0)] + 0.5 * x[(i, 1)] + 1.5 * draws.normal() > -0.3));
        let y = (0..n).map(label).collect();
        Self { x, y }
    }

    fn csv(&self) -> String {
        let mut csv = String::from("a,b,y\n");
        for (i, y) in self.y.iter().enumerate() {
            let _ = writeln!(csv, "{},{},{}", self.x[(i, 0)], self.x[(i, 1)], ["no", "yes"][*y as usize]);
        }
        csv
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).unwrap()
    }
}

/// Every kind of sum over set sizes there is.
fn choices() -> [(SecondOrder, f64); 6] {
    let by = |utility| SecondOrder { utility, ..SecondOrder::default() };
    [
        (SecondOrder::default(), 0.0),
        (SecondOrder { spread: Spread::ModelBased, small_ridge: 0.5, ..by(Utility::LogLoss) }, 0.0),
        (SecondOrder { shift: Shift::Given(6.5), ..by(Utility::LogLoss) }, 0.0),
        (by(Utility::Accuracy), 0.0),
        (by(Utility::Brier), 0.0),
        (by(Utility::LogLoss), 2.0),
    ]
}

/// The default `q` of three columns, 13, is 9 above the default shift; a given one is
/// kept as far below.
fn default_min(choice: SecondOrder) -> usize {
    match choice.shift {
        Shift::Given(shift) => (shift.ceil() as usize).max(4) + 9,
        _ => 13,
    }
}

/// The options that make a choice: those that are not by default.
fn asked(choice: SecondOrder, ridge: f64) -> Asked {
    let mut asked = Asked::new("y").by("second-order");
    match choice.utility {
        Utility::Accuracy => asked = asked.set(&UTILITY, "accuracy"),
        Utility::Brier => asked = asked.set(&UTILITY, "brier"),
        _ => {}
    }
    match choice.shift {
        Shift::Given(shift) => asked = asked.set(&SHIFT, shift),
        Shift::Measured => asked = asked.set(&SHIFT, "measured"),
        Shift::Default => {}
    }
    if choice.spread == Spread::ModelBased {
        asked = asked.set(&SPREAD, "model");
    }
    if choice.small_ridge > 0.0 {
        asked = asked.set(&SMALL_RIDGE, choice.small_ridge);
    }
    if choice.seed > 0 {
        asked = asked.set(&SEED, choice.seed);
    }
    asked.set(&RIDGE, ridge)
}

fn core(sample: &Sample, choice: SecondOrder, ridge: f64, sizes: Sizes) -> SecondOrderValuer {
    let fit = LogisticFit::of(sample.rows(), LogisticOptions { ridge, ..Default::default() }).unwrap();
    let shift = match choice.shift {
        Shift::Given(shift) => Some(shift),
        _ => None,
    };
    let SecondOrder { utility, spread, small_ridge, .. } = choice;
    let options = SecondOrderOptions { utility, spread, small_ridge, shift };
    SecondOrderValuer::of(fit, sample.rows(), sizes, options).unwrap()
}

#[track_caller]
fn assert_is(rows: &RecordBatch, values: &Values) {
    assert_same_bits(&column(rows, "value"), &values.value, "value");
    for part in SecondOrderValuer::PARTS {
        assert_same_bits(&column(rows, &part.name()), values.part(part).unwrap(), &part.name());
    }
}

/// References longer than a block of sums, so that batches are told from blocks.
#[test]
fn second_order_values_are_those_of_the_core() {
    let folder = Folder::new();
    let (reference, points) = (Sample::new(1, 5000), Sample::new(2, 300));
    folder.write("reference.csv", &reference.csv());
    folder.write("points.csv", &points.csv());
    for (choice, ridge) in choices() {
        let core = core(&reference, choice, ridge, Sizes::new(default_min(choice), 5000));
        // Without a ridge, some sets this small have no fit, and the default would be larger.
        let against =
            asked(choice, ridge).set(&Q, default_min(choice)).against(&[folder.name("reference.csv")]);
        let (rows, summary) = folder.value("points.csv", against);
        assert_is(&rows, &core.values(points.rows()).unwrap());
        assert!(column(&rows, "stderr").iter().all(|error| *error > 0.0), "{choice:?}");
        assert_eq!(summary.extra_passes, [ExtraPass::Labels, ExtraPass::Steps, ExtraPass::Expansion]);
        let fit_passes = summary.facts.classification.as_ref().unwrap().fit_passes;
        assert!(summary.reference_passes >= 2 + fit_passes, "{choice:?}: {}", summary.reference_passes);
        let facts = summary.facts.second_order.unwrap();
        assert_eq!(facts.shift, core.shift());
    }
    let (choice, ridge) = choices()[0];
    let core = core(&reference, choice, ridge, Sizes::new(13, 5000));
    let (rows, _) = folder.value("reference.csv", asked(choice, ridge).set(&Q, 13));
    assert_is(&rows, &core.leave_one_out(reference.rows()).unwrap());
}

/// All rows are in the sample that errors are drawn from, label by label.
#[test]
fn standard_errors_of_a_small_reference_are_its_own_bootstrap() {
    let folder = Folder::new();
    let (reference, points) = (Sample::new(3, 400), Sample::new(4, 50));
    folder.write("reference.csv", &reference.csv());
    folder.write("points.csv", &points.csv());
    let choice = SecondOrder { seed: 7, ..SecondOrder::default() };
    let against = asked(choice, 0.0).set(&Q, 13).against(&[folder.name("reference.csv")]);
    let (rows, _) = folder.value("points.csv", against);
    let mut order: Vec<usize> = (0..400).collect();
    order.sort_by_key(|&i| reference.y[i] as usize);
    let x = Mat::from_fn(400, 2, |i, j| reference.x[(order[i], j)]);
    let y: Vec<f64> = order.iter().map(|&i| reference.y[i]).collect();
    let valuer = core(&reference, choice, 0.0, Sizes::new(13, 400));
    let bootstrap = BootstrapOptions { seed: 7, ..BootstrapOptions::default() };
    let valuer = valuer.with_std_error(Rows::new(x.as_ref(), &y).unwrap(), bootstrap).unwrap();
    let expected = valuer.values(points.rows()).unwrap().std_error.unwrap();
    assert_same_bits(&column(&rows, "stderr"), &expected, "stderr");
}

#[test]
fn saved_second_order_valuers_give_the_bits_of_their_reference() {
    let folder = Folder::new();
    folder.write("reference.csv", &Sample::new(5, 600).csv());
    folder.write("points.csv", &Sample::new(6, 100).csv());
    for (choice, ridge) in choices() {
        folder.fit(&["reference.csv"], asked(choice, ridge), "v.dshap");
        let against = asked(choice, ridge).against(&[folder.name("reference.csv")]);
        let (direct, _) = folder.value("points.csv", against);
        let (saved, summary) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
        assert_eq!(saved, direct, "{choice:?}");
        assert_eq!(summary.facts.method, "second-order");
        assert_eq!(SecondOrder::of(&folder.load("v.dshap").how), Some(choice));
        // The fit itself values by other methods, too.
        let (other, _) = folder.value_by("points.csv", "v.dshap", Asked::nothing().by("gaussian"));
        assert!(column(&other, "value") != column(&saved, "value"));
    }
}

/// Where the expansion changes with the size it is interpolated between sizes, and
/// only between them.
#[test]
fn a_valuer_sums_over_sizes_that_it_was_fitted_for() {
    let folder = Folder::new();
    let reference = Sample::new(7, 500);
    folder.write("reference.csv", &reference.csv());
    let sizes = |min: usize, max: usize| Asked::nothing().set(&Q, min).set(&M, max);
    for (choice, ridge) in choices() {
        folder.fit(&["reference.csv"], asked(choice, ridge), "v.dshap");
        let (narrower, _) = folder.value_by("reference.csv", "v.dshap", sizes(40, 200));
        let own = core(&reference, choice, ridge, Sizes::new(40, 200)).values(reference.rows()).unwrap();
        let scale = own.value.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let found = column(&narrower, "value");
        let off = found.iter().zip(&own.value).map(|(a, b)| (a - b).abs() / scale).fold(0.0_f64, f64::max);
        // Nodes for other sizes: interpolated to a few digits where it is not exact.
        let changes = ridge > 0.0 || choice.utility == Utility::Accuracy;
        assert!(off < if changes { 2e-3 } else { 1e-12 }, "{choice:?}: {off:e}");
        match folder.try_value_by("reference.csv", "v.dshap", sizes(13, 900)) {
            Ok(_) => assert!(!changes),
            Err(Error::Core { error: dshap::Error::OtherSizes { max, .. }, .. }) => {
                assert!(changes, "{choice:?}");
                assert_eq!(max, 500);
            }
            Err(error) => panic!("{choice:?}: {error}"),
        }
    }
}

#[test]
fn what_second_order_values_are_not_for_is_refused() {
    let folder = Folder::new();
    let sample = Sample::new(8, 100);
    folder.write("labels.csv", &sample.csv());
    let mut numbers = String::from("a,b,y\n");
    for i in 0..100 {
        let _ = writeln!(numbers, "{},{},{}", sample.x[(i, 0)], sample.x[(i, 1)], i % 17);
    }
    folder.write("numbers.csv", &numbers);
    let refused = |table: &str, asked: Asked| folder.try_value(table, asked).unwrap_err();
    let plain = SecondOrder::default();
    let regression = refused("numbers.csv", asked(plain, 0.0));
    let Error::Misuse(Misuse::NotForTask { method, task, tasks }) = regression else {
        panic!("{regression}");
    };
    assert_eq!((method, task, tasks), ("second-order", Task::Regression, &[Task::Classification][..]));
    let by_shift = asked(SecondOrder { shift: Shift::Given(40.0), ..plain }, 0.0);
    let shifted = refused("labels.csv", by_shift.set(&Q, 20));
    let Error::Core { error, .. } = shifted else { panic!("{shifted}") };
    assert_eq!(error, dshap::Error::ShiftedSizes { min: 20, max: 100, least: 41, shift: 40.0 });
    let both = refused("labels.csv", asked(SecondOrder { small_ridge: 1.0, ..plain }, 1.0));
    let Error::Misuse(Misuse::Conflict { settings, .. }) = both else { panic!("{both}") };
    assert!(settings.iter().map(|setting| setting.option).eq([SMALL_RIDGE.name, RIDGE.name]), "{settings:?}");

    folder.fit(&["labels.csv"], Asked::new("y"), "v.dshap");
    let by_other = folder.try_value_by("labels.csv", "v.dshap", Asked::nothing().by("second-order"));
    let Err(Error::Incomplete { method, needs }) = by_other else { panic!("is valued or refused otherwise") };
    assert_eq!((method, needs), ("second-order", Some(ExtraPass::Expansion)));
}

/// κ of 2000 rows is a few rows, and the same from the file of a valuer.
#[test]
fn a_measured_shift_is_kept() {
    let folder = Folder::new();
    folder.write("t.csv", &Sample::new(9, 2000).csv());
    let choice = SecondOrder { shift: Shift::Measured, seed: 3, ..SecondOrder::default() };
    let sized = |choice| asked(choice, 0.0).set(&Q, 60);
    folder.fit(&["t.csv"], sized(choice), "v.dshap");
    let (direct, said) = folder.value("t.csv", sized(choice));
    let facts = said.facts.second_order.unwrap();
    let shift = facts.shift.unwrap();
    assert!((0.0..40.0).contains(&shift) && facts.shift_from == Some("measured"), "{shift}");
    let (_, saved) = folder.value_by("t.csv", "v.dshap", Asked::nothing());
    assert_eq!(saved.facts.second_order.unwrap().shift, Some(shift));
    let given = SecondOrder { shift: Shift::Given(shift), seed: 3, ..choice };
    let (again, _) = folder.value("t.csv", sized(given));
    assert_eq!(column(&direct, "value"), column(&again, "value"));
}

/// Three labels, as words.
fn three_labels(seed: u64, n: usize) -> (Mat<f64>, Vec<f64>, String) {
    let mut draws = Draws::new(seed);
    let x = Mat::from_fn(n, 2, |_, _| draws.normal());
    let class = |i| {
        let score = x[(i, 0)] + 0.5 * x[(i, 1)] + 1.5 * draws.normal();
        ((score + 1.0).max(0.0) as usize).min(2) as f64
    };
    let y: Vec<f64> = (0..n).map(class).collect();
    let mut csv = String::from("a,b,y\n");
    for (i, y) in y.iter().enumerate() {
        let _ = writeln!(csv, "{},{},{}", x[(i, 0)], x[(i, 1)], ["ant", "bee", "cat"][*y as usize]);
    }
    (x, y, csv)
}

#[test]
fn three_labels_are_one_softmax_model_or_one_against_the_others() {
    let folder = Folder::new();
    let (x, y, csv) = three_labels(10, 600);
    let (points, labels, csv_of_points) = three_labels(11, 60);
    folder.write("reference.csv", &csv);
    folder.write("points.csv", &csv_of_points);
    let reference = Rows::new(x.as_ref(), &y).unwrap();
    let points = Rows::new(points.as_ref(), &labels).unwrap();
    // A softmax model has six coefficients, each of the others three.
    let (sizes, sizes_of_all) = (Sizes::new(13, 600), Sizes::new(16, 600));
    let softmax = SoftmaxValuer::of(reference, 3, sizes_of_all, SoftmaxOptions::default()).unwrap();
    // Two engines; errors of the others would take long.
    let [plain, _, _, _, brier, _] = choices();
    for (choice, ridge) in [plain, brier] {
        let q = if choice.utility == Utility::LogLoss { 16 } else { 13 };
        let asked = |choice, ridge| asked(choice, ridge).set(&Q, q);
        let against = || asked(choice, ridge).against(&[folder.name("reference.csv")]);
        let (rows, summary) = folder.value_per_class("points.csv", against());
        let facts = summary.facts.second_order.unwrap();
        let is_softmax = choice.utility == Utility::LogLoss && ridge == 0.0 && choice.small_ridge == 0.0;
        assert_eq!(facts.model, if is_softmax { "softmax" } else { "one-vs-rest" });
        let why = (!is_softmax).then_some(OneVsRestReason::NotPlainLogLoss);
        assert_eq!(facts.why_one_vs_rest, why);
        if choice == SecondOrder::default() && is_softmax {
            let expected = softmax.clone().with_parts_by_class().values(points).unwrap();
            assert_same_bits(&column(&rows, "value"), &expected.value, "value");
            let bee = expected.part(dshap::Part::ProbOf(1)).unwrap();
            assert_same_bits(&column(&rows, "prob_bee"), bee, "prob_bee");
        }
        if !is_softmax {
            let SecondOrder { utility, spread, small_ridge, .. } = choice;
            let options = SecondOrderOptions { utility, spread, small_ridge, shift: None };
            let logistic = LogisticOptions { ridge, ..Default::default() };
            let core = SecondOrderOneVsRest::of_rows(reference, 3, logistic, sizes, options).unwrap();
            let expected = core.values(points).unwrap();
            assert_same_bits(&column(&rows, "value"), &expected.value, "value");
        }
        assert!(column(&rows, "stderr").iter().all(|error| *error > 0.0), "{choice:?}");
        folder.fit(&["reference.csv"], asked(choice, ridge), "v.dshap");
        let (direct, _) = folder.value("points.csv", against());
        let (saved, _) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
        assert_eq!(saved, direct, "{choice:?}");
    }
    let (rows, _) = folder.value("reference.csv", asked(SecondOrder::default(), 0.0).set(&Q, 16));
    let expected = softmax.leave_one_out(reference).unwrap();
    assert_same_bits(&column(&rows, "value"), &expected.value, "left out");
    let measured = asked(SecondOrder { shift: Shift::Measured, ..SecondOrder::default() }, 0.0);
    let refused = folder.try_value("points.csv", measured).unwrap_err();
    assert!(matches!(refused, Error::NoMeasuredShift { weighted: false }), "{refused}");
}

/// (K − 1)p = 2·251 coefficients of one model are beyond 500.
#[test]
fn many_columns_and_labels_are_told_apart_one_by_one() {
    let folder = Folder::new();
    let mut draws = Draws::new(12);
    let mut csv = (0..250).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for i in 0..1500 {
        (0..250).for_each(|_| {
            let _ = write!(csv, "{:.4},", draws.normal());
        });
        let _ = writeln!(csv, "{}", ["ant", "bee", "cat"][i % 3]);
    }
    folder.write("t.csv", &csv);
    folder.fit(&["t.csv"], asked(SecondOrder::default(), 0.0), "v.dshap");
    let found = dshap_run::inspect(&folder.path("v.dshap")).unwrap();
    let facts = found.facts.second_order.unwrap();
    assert_eq!(facts.model, "one-vs-rest");
    let why = OneVsRestReason::TooManyCoefficients { coefficients: 502, most: 500 };
    assert_eq!(facts.why_one_vs_rest, Some(why));
}

/// The fourth format: expansions with a ridge at eight set sizes, and a softmax model.
#[test]
fn the_fourth_format_is_read_for_ever() {
    let folder = Folder::new();
    // What the dshap that wrote them said.
    for (name, points, model, expected) in [
        (
            "second-order",
            "a,b,y\n0.5,-0.25,no\n-2,1.5,yes\n",
            "logistic",
            [-0.000_475_545_311_626_959_3, -0.003_514_125_472_222_48],
        ),
        (
            "softmax",
            "a,b,y\n0.5,-0.25,ant\n-2,1.5,bee\n",
            "softmax",
            [0.001_567_917_626_680_721, 0.000_926_323_803_709_248_2],
        ),
    ] {
        let folder_of_valuers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers");
        std::fs::copy(format!("{folder_of_valuers}/version-4-{name}.dshap"), folder.path("v.dshap")).unwrap();
        folder.write("points.csv", points);
        let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
        assert_eq!((said.facts.q, said.facts.m), (30, 80));
        assert_eq!(said.facts.second_order.unwrap().model, model);
        for (found, expected) in column(&found, "value").iter().zip(expected) {
            // Another processor may choose other kernels; values are small differences.
            assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {found}");
        }
    }
}

/// Labels that small sets often separate: the default q is one whose sets have fits, and the
/// summary says that it is larger than usual.
#[test]
fn the_default_q_leaves_out_sets_without_a_fit() {
    let folder = Folder::new();
    let mut draws = Draws::new(41);
    let mut csv = String::from("a,b,c,y\n");
    for _ in 0..600 {
        let [a, b, c, noise] = [draws.normal(), draws.normal(), draws.normal(), draws.normal()];
        let label = if 2.5 * a + b + noise > 0.0 { "yes" } else { "no" };
        let _ = writeln!(csv, "{a:.4},{b:.4},{c:.4},{label}");
    }
    folder.write("t.csv", &csv);
    let asked = || Asked::new("y").by("second-order").set(&RIDGE, 0.0);
    let is_without = |warning: &Warning| matches!(warning, Warning::SetsWithoutFit { .. });
    let (_, usual) = folder.value("t.csv", asked().set(&Q, 14));
    assert!(usual.warnings.iter().any(is_without), "{:?}", usual.warnings);
    let (rows, chosen) = folder.value("t.csv", asked());
    assert!(chosen.facts.q > 14 && chosen.facts.second_order.as_ref().is_some_and(|found| found.larger_q));
    assert!(!chosen.warnings.iter().any(is_without), "{:?}", chosen.warnings);
    // A saved valuer chooses the same.
    folder.fit(&["t.csv"], asked(), "v.dshap");
    assert_eq!(folder.load("v.dshap").facts().expect("sizes").q, chosen.facts.q);
    let (given, _) = folder.value("t.csv", asked().set(&Q, chosen.facts.q));
    assert_eq!(column(&rows, "value"), column(&given, "value"));
    // With a ridge every set that has both labels has a fit.
    let (_, ridge) = folder.value("t.csv", Asked::new("y").by("second-order"));
    assert!(ridge.facts.second_order.is_some_and(|found| !found.larger_q));
}
