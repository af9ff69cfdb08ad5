//! Classification from files: the core's bits, whatever the labels look like.

use crate::common::{Asked, Folder, column};
use arrow_array::RecordBatch;
use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions};
use dshap::{Part, Rows, Sizes, Valuer, Values};
use dshap_catalogue::Task;
use dshap_catalogue::options::{CONVENTION, POSITIVE, Q, RIDGE, SAMPLES, TASK};
use dshap_models::logistic::LogisticModel;
use dshap_models::{AUTOMATIC_RIDGE, Fixed};
use dshap_run::{Error, ExtraPass, Warning};
use dshap_testkit::{Draws, assert_same_bits};
use faer::Mat;
use std::fmt::Write;

/// Two features, a weight and the number of a class, of which there are `n_classes`.
struct Sample {
    x: Mat<f64>,
    class: Vec<f64>,
}

impl Sample {
    fn new(seed: u64, n: usize, n_classes: usize) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 2, |_, _| draws.normal());
        let class = (0..n).map(|i| {
            let score = x[(i, 0)] + 0.5 * x[(i, 1)] + 1.5 * draws.normal();
            ((score + 1.0).max(0.0) as usize).min(n_classes - 1) as f64
        });
        let class = class.collect();
        Self { x, class }
    }

    fn csv(&self, label: impl Fn(usize) -> String) -> String {
        let mut csv = String::from("a,b,y\n");
        for (i, class) in self.class.iter().enumerate() {
            let _ = writeln!(csv, "{},{},{}", self.x[(i, 0)], self.x[(i, 1)], label(*class as usize));
        }
        csv
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.class).unwrap()
    }
}

/// How a class is written in a file.
type Written = fn(usize) -> String;

fn words(class: usize) -> String {
    ["no", "yes"][class].into()
}

fn by(method: &str) -> Asked {
    Asked::new("y").by(method)
}

fn printed(method: &str) -> Asked {
    by(method).set(&CONVENTION, "printed")
}

fn authors(method: &str) -> Asked {
    by(method).set(&CONVENTION, "authors")
}

fn drawn() -> Asked {
    by("general").set(&SAMPLES, 32)
}

/// Nothing but the method of a valuer, which tells whether there are errors.
fn only_method_of(asked: &Asked) -> Asked {
    Asked { method: asked.method, ..Asked::nothing() }
}

#[track_caller]
fn assert_is(rows: &RecordBatch, values: &Values) {
    assert_same_bits(&column(rows, "value"), &values.value, "value");
    for part in [Part::Potential, Part::Penalty, Part::DistSq, Part::Prob, Part::Weight] {
        assert_same_bits(&column(rows, &part.name()), values.part(part).unwrap(), &part.name());
    }
}

#[test]
fn classification_values_are_those_of_the_core() {
    let folder = Folder::new();
    let (reference, points) = (Sample::new(1, 5000, 2), Sample::new(2, 300, 2));
    folder.write("reference.csv", &reference.csv(words));
    folder.write("points.csv", &points.csv(words));
    let automatic =
        LogisticOptions { ridge: AUTOMATIC_RIDGE, standardised: true, ..LogisticOptions::default() };
    let fit = LogisticFit::of(reference.rows(), automatic).unwrap();
    let core = ClassificationValuer::new(fit, Sizes::new(13, 5000), ClassificationMethod::default()).unwrap();

    let against = Asked::new("y").against(&[folder.name("reference.csv")]);
    let (rows, summary) = folder.value("points.csv", against);
    assert_is(&rows, &core.values(points.rows()).unwrap());
    assert!(column(&rows, "stderr").iter().all(|error| *error > 0.0));
    assert_eq!((summary.facts.task, summary.facts.task_guessed), ("classification", true));
    assert_eq!((summary.facts.p, summary.facts.q), (3, 13));
    assert_eq!(summary.extra_passes, [ExtraPass::Labels, ExtraPass::Steps]);
    let facts = summary.facts.classification.unwrap();
    assert_eq!(summary.reference_passes, 1 + facts.fit_passes);
    assert_eq!((facts.labels, facts.positive.as_deref()), (vec!["no".into(), "yes".into()], Some("yes")));

    let (rows, _) = folder.value("reference.csv", Asked::new("y"));
    assert_is(&rows, &core.leave_one_out(reference.rows()).unwrap());
}

#[test]
fn classification_does_not_depend_on_how_labels_are_written() {
    let folder = Folder::new();
    let sample = Sample::new(3, 400, 2);
    let value = |name: &str, label: fn(usize) -> String, positive: Option<&str>| {
        folder.write(name, &sample.csv(label));
        let asked = positive.into_iter().fold(Asked::new("y"), |asked, label| asked.set(&POSITIVE, label));
        let (rows, summary) = folder.value(name, asked);
        assert!(summary.facts.task_guessed && summary.facts.task == "classification", "{name}");
        rows
    };
    let expected = value("words.csv", words, None);
    let kinds: [(&str, Written); 4] = [
        ("bits.csv", |class| class.to_string()),
        ("signs.csv", |class| ["-1", "1"][class].into()),
        ("truth.csv", |class| (class == 1).to_string()),
        ("numbers.csv", |class| ["3", "7.5"][class].into()),
    ];
    for (name, label) in kinds {
        let rows = value(name, label, None);
        for part in ["value", "stderr", "potential", "penalty", "dist_sq", "prob", "weight"] {
            assert_same_bits(&column(&rows, part), &column(&expected, part), name);
        }
    }
    let flipped = value("flipped.csv", words, Some("no"));
    for (name, sum) in [("value", None), ("stderr", None), ("dist_sq", None), ("prob", Some(1.0))] {
        for (found, expected) in column(&flipped, name).iter().zip(column(&expected, name)) {
            let expected = sum.map_or(expected, |sum| sum - expected);
            assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-3), "{name}: {found} {expected}");
        }
    }
}

#[test]
fn saved_classification_valuers_give_the_bits_of_their_reference() {
    let folder = Folder::new();
    folder.write("reference.csv", &Sample::new(4, 600, 2).csv(words));
    folder.write("points.csv", &Sample::new(5, 100, 2).csv(words));
    let (printed, authors) = (printed("lower"), authors("lower"));
    let asked = [Asked::new("y"), by("calibrated"), by("lower"), by("upper"), printed, authors, drawn()];
    for asked in asked {
        for ridge in [None, Some(2.0)] {
            let asked = ridge.into_iter().fold(asked.clone(), |asked, ridge| asked.set(&RIDGE, ridge));
            let against = asked.clone().against(&[folder.name("reference.csv")]);
            let (direct, _) = folder.value("points.csv", against);
            let fitted = folder.fit(&["reference.csv"], asked.clone(), "v.dshap");
            assert_eq!(fitted.valuer.task(), Task::Classification);
            let is_printed = asked.given.has(&CONVENTION);
            let expected = ridge.unwrap_or(if is_printed { 0.0 } else { AUTOMATIC_RIDGE });
            assert_eq!(fitted.summary.facts.ridge, Some(expected));
            assert_eq!(fitted.summary.facts.ridge_standardised, ridge.is_none() && !is_printed);
            let (saved, summary) = folder.value_by("points.csv", "v.dshap", only_method_of(&asked));
            assert_eq!(saved, direct, "{asked:?}");
            assert_eq!(summary.reference_passes, 0);
            let loaded = folder.load("v.dshap");
            let model = loaded.model.of::<LogisticModel>().unwrap();
            assert_eq!(model.fits[0].ridge(), expected);
        }
    }
}

#[test]
fn bounds_of_a_classification_lie_on_both_sides() {
    let folder = Folder::new();
    folder.write("t.csv", &Sample::new(6, 500, 2).csv(words));
    let value = |asked: Asked| column(&folder.value("t.csv", asked.set(&Q, 120)).0, "value");
    let lower = value(by("lower"));
    let exact = value(Asked::new("y"));
    let upper = value(by("upper"));
    assert!((0..500).all(|row| lower[row] <= exact[row] && exact[row] <= upper[row]));
}

#[test]
fn more_than_two_labels_are_each_told_from_the_others() {
    let folder = Folder::new();
    let sample = Sample::new(7, 500, 3);
    let label = |class: usize| ["red", "green", "blue"][class].to_string();
    folder.write("t.csv", &sample.csv(label));
    let (rows, summary) = folder.value("t.csv", Asked::new("y"));
    let facts = summary.facts.classification.unwrap();
    assert_eq!(facts.labels, ["blue", "green", "red"]);
    assert_eq!((facts.label_rows.iter().sum::<usize>(), facts.positive), (500, None));
    let (value, stderr) = (column(&rows, "value"), column(&rows, "stderr"));
    let (potential, penalty) = (column(&rows, "potential"), column(&rows, "penalty"));
    assert!(
        (0..500).all(|row| (value[row] - potential[row] + penalty[row]).abs() < 1e-12 && stderr[row] > 0.0)
    );

    let mut sum = vec![0.0; 500];
    for class in 0..3 {
        let name = format!("{class}.csv");
        folder.write(&name, &sample.csv(|own| u8::from(own == class).to_string()));
        let (rows, _) = folder.value(&name, Asked::new("y"));
        sum.iter_mut().zip(column(&rows, "value")).for_each(|(sum, value)| *sum += value);
    }
    assert!((0..500).all(|row| (value[row] - sum[row]).abs() <= 1e-12 * sum[row].abs().max(1e-6)));

    folder.fit(&["t.csv"], by("calibrated"), "v.dshap");
    let (direct, _) = folder.value("t.csv", by("calibrated").against(&[folder.name("t.csv")]));
    assert_eq!(folder.value_by("t.csv", "v.dshap", Asked::nothing()).0, direct);
}

#[test]
fn every_method_takes_more_than_two_labels_and_tells_what_each_contributes() {
    let folder = Folder::new();
    let label = |class: usize| ["red", "green", "blue"][class].to_string();
    folder.write("t.csv", &Sample::new(9, 300, 3).csv(label));
    folder.write("new.csv", &Sample::new(10, 40, 3).csv(label));
    for asked in [Asked::new("y"), by("calibrated"), by("upper"), printed("lower"), authors("lower"), drawn()]
    {
        let against = asked.clone().against(&[folder.name("t.csv")]);
        let (plain, _) = folder.value("new.csv", against.clone());
        assert!(plain.column_by_name("value_red").is_none(), "unasked");
        folder.fit(&["t.csv"], asked.clone(), "v.dshap");
        let (saved, _) = folder.value_by("new.csv", "v.dshap", only_method_of(&asked));
        assert_eq!(saved, plain, "{asked:?}");
        let (rows, _) = folder.value_per_class("new.csv", against);
        assert_same_bits(&column(&rows, "value"), &column(&plain, "value"), &format!("{asked:?}"));
        let own = folder.value_per_class("t.csv", asked).0;
        for rows in [rows, own] {
            for row in 0..rows.num_rows() {
                let of =
                    |what: &str| ["blue", "green", "red"].map(|l| column(&rows, &format!("{what}_{l}"))[row]);
                let sum: f64 = of("value").iter().sum();
                assert!((sum - column(&rows, "value")[row]).abs() < 1e-12 * sum.abs().max(1e-3));
                assert!(of("prob").iter().all(|prob| (0.0..=1.0).contains(prob)));
            }
        }
    }
}

#[test]
fn the_reference_of_a_classification_does_not_change() {
    let folder = Folder::new();
    folder.write("t.csv", &Sample::new(8, 100, 2).csv(words));
    folder.fit(&["t.csv"], Asked::new("y"), "v.dshap");
    for changed in [folder.update("v.dshap", &["t.csv"], &[]), folder.merge(&["v.dshap", "v.dshap"])] {
        assert!(matches!(changed, Err(Error::FixedReference { why: Fixed::Logistic })));
    }
}

/// A label that one row in five hundred has: errors from the sample of rows that
/// a valuer carries are rough, and said to be, but not off by orders of magnitude.
#[test]
fn errors_hold_for_rare_labels() {
    let folder = Folder::new();
    let mut draws = Draws::new(17);
    let n = 20_000;
    let x = Mat::from_fn(n, 2, |_, _| draws.normal());
    let class: Vec<f64> = (0..n)
        .map(|i| f64::from(u8::from(draws.uniform() < 1.0 / (1.0 + (6.5 - x[(i, 0)]).exp()))))
        .collect();
    let reference = Sample { x, class };
    let n_rare = reference.class.iter().sum::<f64>();
    assert!((20.0..200.0).contains(&n_rare), "{n_rare}");
    let points = Sample::new(18, 60, 2);
    folder.write("reference.csv", &reference.csv(words));
    folder.write("points.csv", &points.csv(words));
    let fit = LogisticFit::of(reference.rows(), LogisticOptions::default()).unwrap();
    let core = ClassificationValuer::new(fit, Sizes::new(13, n), ClassificationMethod::default()).unwrap();
    let exact = core.with_std_error(reference.rows()).unwrap().values(points.rows()).unwrap();
    let plain = Asked::new("y").set(&RIDGE, 0.0).set(&Q, 13_usize);
    let (rows, summary) = folder.value("points.csv", plain.against(&[folder.name("reference.csv")]));
    let errors = exact.std_error.unwrap();
    let mut ratios: Vec<f64> =
        column(&rows, "stderr").iter().zip(&errors).map(|(found, exact)| found / exact).collect();
    ratios.sort_by(f64::total_cmp);
    // An even sample has no more than a few of the rare rows: off by 10 and more.
    let near = ratios.iter().filter(|ratio| (0.5..2.0).contains(*ratio)).count();
    assert!(near >= 45 && ratios[0] > 0.2 && ratios[59] < 10.0, "{near}: {} to {}", ratios[0], ratios[59]);
    assert!(summary.warnings.contains(&Warning::RoughErrors { share: n_rare / n as f64 }));
}

#[test]
fn a_guess_looks_at_all_rows_while_there_are_two_values() {
    let folder = Folder::new();
    let table = |target: &dyn Fn(usize) -> usize| {
        let rows = (0..10_400).map(|i| format!("{},{},{}\n", i % 13, (i * i) % 17, target(i)));
        rows.fold("a,b,y\n".to_string(), |all, row| all + &row)
    };
    folder.write("sorted.csv", &table(&|i| usize::from(i >= 10_200)));
    folder.write("late.csv", &table(&|i| if i < 10_200 { i % 2 } else { i % 30 }));
    folder.write("few.csv", &table(&|i| i % 7));
    for (name, task, is_doubted) in [
        ("sorted.csv", "classification", false),
        ("late.csv", "regression", false),
        ("few.csv", "regression", true),
    ] {
        let (_, summary) = folder.value(name, Asked::new("y"));
        assert_eq!((summary.facts.task, summary.facts.task_guessed), (task, true), "{name}");
        let doubt = Warning::FewNumbers { target: "y".into(), n_numbers: 7 };
        assert_eq!(summary.warnings.contains(&doubt), is_doubted, "{name}: {:?}", summary.warnings);
        let (_, given) = folder.value(name, Asked::new("y").set(&TASK, "regression"));
        assert!(!given.warnings.contains(&doubt), "{name}: {:?}", given.warnings);
    }
}

#[test]
fn labels_of_few_rows_and_fits_that_are_sure_are_doubted() {
    let folder = Folder::new();
    let sample = Sample::new(19, 300, 2);
    let csv = sample.csv(words);
    folder.write("slip.csv", &csv.replacen(",yes\n", ",Yes\n", 1));
    let doubts = |name: &str| folder.value(name, Asked::new("y").set(&RIDGE, 0.0)).1.warnings;
    let slip = doubts("slip.csv");
    assert!(slip.contains(&Warning::RareLabel { label: "Yes".into(), n_rows: 1 }), "{slip:?}");

    let sure =
        Sample { class: (0..300).map(|i| f64::from(u8::from(sample.x[(i, 0)] > 0.0))).collect(), ..sample };
    let mut csv = sure.csv(words);
    // One row on the wrong side, so that there is a fit.
    let far = (0..300).max_by(|&i, &j| sure.x[(i, 0)].total_cmp(&sure.x[(j, 0)])).unwrap();
    let _ = writeln!(csv, "{},0,no", sure.x[(far, 0)] / 20.0);
    folder.write("sure.csv", &csv);
    let is_sure = |doubts: &[Warning]| doubts.iter().any(|doubt| matches!(doubt, Warning::SureFit { .. }));
    let usual = folder.value("sure.csv", Asked::new("y").set(&RIDGE, 0.0).set(&Q, 13_usize)).1.warnings;
    assert!(is_sure(&usual), "{usual:?}");
    // By default sets are large enough.
    let (_, summary) = folder.value("sure.csv", Asked::new("y").set(&RIDGE, 0.0));
    assert!(
        summary.facts.q > 13 && !is_sure(&summary.warnings),
        "{}: {:?}",
        summary.facts.q,
        summary.warnings
    );
}
