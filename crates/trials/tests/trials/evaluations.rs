//! Point addition and removal, and wrong targets that are looked for.

use crate::common::{Folder, column, evaluated, given, numbers, request};
use dshap_catalogue::Given;
use dshap_models::{Lack, RowRole};
use dshap_run::{Collected, Error, Unwatched, Warning};
use dshap_testkit::{assert_close, assert_same_bits, goods};
use dshap_trials::{Curve, Evaluation, Experiment, Order, Trial, evaluate};

fn curve(found: &Evaluation, experiment: Experiment, method: &str, order: Order) -> Option<Curve> {
    let is_it = |curve: &&Curve| {
        (curve.experiment, curve.method.as_str(), curve.order) == (experiment, method, order)
    };
    found.curves.iter().find(is_it).cloned()
}

fn kinds(more: &str) -> Given {
    given(&format!("target=kind exclude=price {more}"))
}

#[test]
fn curves_begin_and_end_where_they_must() {
    let folder = Folder::new();
    let (table, test) = (folder.write("t.csv", &numbers(1, 80)), folder.write("test.csv", &numbers(2, 200)));
    let request = request(&table, "gaussian,loo", given(&format!("target=y test={test}")));
    let (rows, found) = evaluated(&request).unwrap();
    assert_eq!((found.n_rows, found.n_test, found.n_valuing), (80, 100, 100));
    assert_eq!((found.valuing.join(" ").as_str(), found.test_from), ("loo", "test"));
    assert_eq!((found.n_wrong, found.noise, found.least_rows), (Some(8), Some(0.1), 12));
    let names: Vec<&str> = found.methods.iter().map(|method| method.method.as_str()).collect();
    assert_eq!(names, ["gaussian", "loo", "random"], "chance is always there");
    for method in ["gaussian", "loo"] {
        for order in [Order::High, Order::Low] {
            let added = curve(&found, Experiment::Addition, method, order).unwrap();
            assert_eq!((added.n_rows[0], added.n_rows[40]), (0, 40));
            assert_close(added.height[40], found.utility_of_all, 1e-9);
            let removed = curve(&found, Experiment::Removal, method, order).unwrap();
            assert_close(removed.height[0], found.utility_of_all, 1e-9);
            assert_eq!(removed.n_rows.last(), Some(&(80 - 12)));
        }
        let looked = curve(&found, Experiment::Detection, method, Order::Value).unwrap();
        assert_eq!((looked.height[0], looked.height[80]), (0.0, 1.0));
    }
    assert!(curve(&found, Experiment::Detection, "gaussian", Order::Penalty).is_some());
    assert!(curve(&found, Experiment::Detection, "loo", Order::Penalty).is_none());
    let n_points: usize = found.curves.iter().map(|curve| curve.n_rows.len()).sum();
    assert_eq!(rows.num_rows(), n_points);
    let (utility, relative) = (column(&rows, "utility"), column(&rows, "relative"));
    for (utility, relative) in utility.iter().zip(&relative).filter(|(utility, _)| !utility.is_nan()) {
        assert_close(*relative, utility / found.utility_of_all, 1e-12);
    }
    let json = serde_json::to_value(&found).unwrap();
    assert!(json.get("warnings").is_none() && json.get("curves").is_none(), "{json}");
}

/// Neighbours are read with all levels of text, and no label counts as 1 for them. Their
/// classes must be numbered as those of the other methods are, or wrong labels would
/// look right. With 15 wrong labels of 150, chance has an area of 0.5 ± 0.08.
#[test]
fn neighbours_find_wrong_labels_whichever_label_is_positive() {
    let folder = Folder::new();
    let (table, test) = (folder.write("t.csv", &goods(3, 150)), folder.write("test.csv", &goods(4, 100)));
    for positive in ["cheap", "dear"] {
        let given = kinds(&format!("test={test} positive={positive} ridge=1"));
        let (_, found) = evaluated(&request(&table, "gaussian,knn", given)).unwrap();
        assert_eq!(found.valuing, ["knn"]);
        let auc = found.methods[1].auc.unwrap();
        assert!(auc > 0.6, "{positive}: {auc}");
    }
}

#[test]
fn the_seed_settles_everything() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &goods(5, 60));
    let of = |seed: u64| -> Vec<f64> {
        let given = kinds(&format!("samples=40 seed={seed}"));
        let (rows, _) = evaluated(&request(&table, "d-shapley,tmc-shapley", given)).unwrap();
        let known = |name| column(&rows, name).into_iter().filter(|cell| !cell.is_nan());
        known("utility").chain(known("found")).collect()
    };
    assert_same_bits(&of(3), &of(3), "the same seed");
    assert_ne!(of(3), of(4));
}

#[test]
fn densities_have_no_targets_to_make_wrong() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &numbers(6, 60));
    let request = request(&table, "closed,exact-shapley", given("task=density bandwidth=0.5"));
    let (_, found) = evaluated(&request).unwrap();
    assert_eq!((found.utility, found.noise, found.n_wrong), ("integrated-squared-error", None, None));
    assert!(found.curves.iter().all(|curve| curve.experiment != Experiment::Detection));
    assert!(!found.warnings.contains(&Warning::EqualTargets));
    let trial = Trial { noise: Some(0.2), repeats: 1 };
    let refused = evaluate(&request, trial, &Unwatched, &mut Collected::default());
    assert!(matches!(refused, Err(Error::NoTargets)), "{refused:?}");
}

#[test]
fn doubts_are_facts() {
    let folder = Folder::new();
    let same = numbers(7, 40)
        .lines()
        .skip(1)
        .fold(String::from("a,b,y\n"), |csv, line| csv + line.rsplit_once(',').unwrap().0 + ",4.5\n");
    let same = folder.write("same.csv", &same);
    let options = given("target=y task=regression no_intercept=on");
    let (_, found) = evaluated(&request(&same, "gaussian", options)).unwrap();
    assert!(found.warnings.contains(&Warning::EqualTargets), "{:?}", found.warnings);
    assert_eq!((found.n_wrong, found.methods[0].auc), (None, None));

    let gaps = goods(8, 60).replacen("rome", "", 1);
    let gaps = folder.write("gaps.csv", &gaps);
    let options = kinds("missing=drop utility=brier ridge=1");
    let (_, found) = evaluated(&request(&gaps, "second-order,loo", options)).unwrap();
    let left_out = Warning::RowsLeftOut { role: RowRole::Trial, n_rows: 1, lack: Lack::CellOrTarget };
    let brier = Warning::NoBrier { methods: vec!["loo"], curves: true };
    assert_eq!(found.warnings[..2], [brier, left_out]);

    let twice = numbers(9, 60).lines().enumerate().fold(String::new(), |csv, (row, line)| {
        let a = line.split_once(',').unwrap().0;
        csv + line + "," + if row == 0 { "c" } else { a } + "\n"
    });
    let twice = folder.write("twice.csv", &twice);
    let (_, found) = evaluated(&request(&twice, "gaussian", given("target=y"))).unwrap();
    let is_named = |warning: &Warning| matches!(warning, Warning::OfMethod(name, _) if name == "gaussian");
    assert!(found.warnings.iter().any(is_named), "{:?}", found.warnings);
}

#[test]
fn one_test_row_cannot_value_and_judge() {
    let folder = Folder::new();
    let (table, test) = (folder.write("t.csv", &numbers(10, 40)), folder.write("test.csv", &numbers(11, 1)));
    let of = |methods| evaluated(&request(&table, methods, given(&format!("target=y test={test}"))));
    let refused = of("gaussian,loo");
    let is_few =
        matches!(refused, Err(Error::FewTestRows { n_test: 1, method: "loo", are_kept_back: false }));
    assert!(is_few, "{refused:?}");
    assert_eq!(of("gaussian").unwrap().1.n_test, 1);
}

/// Two repeats may agree by chance: their error is at least that of Hanley and McNeil (1982)
/// for two independent trials.
#[test]
fn two_repeats_are_not_taken_for_certain() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &numbers(7, 120));
    let request = request(&table, "gaussian", given("target=y"));
    let mut n_found = 0;
    for seed in 0..6 {
        let request =
            dshap_trials::BenchRequest { given: given(&format!("target=y seed={seed}")), ..request.clone() };
        let trial = Trial { repeats: 2, noise: None };
        let found = evaluate(&request, trial, &Unwatched, &mut Collected::default()).unwrap();
        let Some(best) = &found.judgement.detector else { continue };
        n_found += 1;
        let n_wrong = found.n_wrong.unwrap() as f64;
        let n_right = found.n_rows as f64 - n_wrong;
        let (one, two) = (best.auc / (2.0 - best.auc), 2.0 * best.auc.powi(2) / (1.0 + best.auc));
        let square = best.auc * (1.0 - best.auc)
            + (n_wrong - 1.0) * (one - best.auc.powi(2))
            + (n_right - 1.0) * (two - best.auc.powi(2));
        let least = (square / (n_wrong * n_right) / 2.0).sqrt();
        assert!(best.auc_std_error >= 0.999 * least, "{} {least}", best.auc_std_error);
    }
    assert!(n_found > 2, "{n_found}");
}
