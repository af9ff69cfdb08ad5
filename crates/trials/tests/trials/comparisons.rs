//! Values by several methods side by side.

use crate::common::{Folder, column, compared, given, request};
use dshap_catalogue::{Given, Misuse};
use dshap_run::{Collected, Error, Unwatched, Warning};
use dshap_testkit::{assert_same_bits, goods};
use dshap_trials::compare;

/// The number is the target, and the label is not looked at.
fn prices(more: &str) -> Given {
    given(&format!("target=price exclude=kind {more}"))
}

/// The label is the target, and the number is not looked at.
fn kinds(more: &str) -> Given {
    given(&format!("target=kind exclude=price {more}"))
}

/// What a method gets does not depend on the methods beside it.
#[test]
fn each_method_gets_the_options_it_takes() {
    let folder = Folder::new();
    let (table, test) = (folder.write("t.csv", &goods(8, 90)), folder.write("test.csv", &goods(9, 50)));
    let with_test = |more: &str| format!("{more} test={test}");
    for (all, methods) in [
        (
            prices("k=3 metric=manhattan m=40 q=20 constant=theorem bound_c=0.7"),
            vec![
                ("gaussian", prices("constant=theorem m=40 q=20")),
                ("lower", prices("bound_c=0.7 m=40 q=20")),
                ("knn", prices("k=3 metric=manhattan m=40 q=20")),
                ("knn-shapley", prices("k=3 metric=manhattan")),
            ],
        ),
        (
            prices(&with_test("ridge=2 samples=60 stop=0 seed=4 k=2")),
            vec![
                ("general", prices("ridge=2 samples=60 stop=0 seed=4")),
                ("knn", prices(&with_test("k=2"))),
                ("d-shapley", prices(&with_test("ridge=2 samples=60 stop=0 seed=4"))),
                ("loo", prices(&with_test("ridge=2"))),
                ("random", prices("seed=4")),
            ],
        ),
        (
            kinds(&with_test("ridge=1 utility=log-loss k=1")),
            vec![
                ("gaussian", kinds("ridge=1")),
                ("second-order", kinds("ridge=1 utility=log-loss")),
                ("knn", kinds(&with_test("k=1"))),
                ("loo", kinds(&with_test("ridge=1 utility=log-loss"))),
            ],
        ),
    ] {
        let names: Vec<&str> = methods.iter().map(|(name, _)| *name).collect();
        let (together, _) = compared(&request(&table, &names.join(","), all)).unwrap();
        for (name, own) in methods {
            let (alone, _) = compared(&request(&table, name, own)).unwrap();
            assert_same_bits(&column(&together, name), &column(&alone, name), name);
        }
    }
}

/// Beta Shapley and Banzhaf stand beside the same method with the options of the trial.
#[test]
fn a_method_can_have_a_semivalue_of_its_own() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &goods(12, 90));
    let names = ["gaussian", "gaussian:banzhaf", "gaussian:beta:16,1", "knn:at-m"];
    let (rows, found) = compared(&request(&table, &names.join(","), prices(""))).unwrap();
    assert_eq!(found.methods.iter().map(|method| method.method.as_str()).collect::<Vec<_>>(), names);
    for name in names {
        let (method, semivalue) = name.split_once(':').unwrap_or((name, "shapley"));
        let alone = prices(&format!("semivalue={semivalue}"));
        let (alone, _) = compared(&request(&table, method, alone)).unwrap();
        assert_same_bits(&column(&rows, name), &column(&alone, method), name);
    }
    assert_ne!(column(&rows, names[0]), column(&rows, names[1]));
    let refused = compared(&request(&table, "loo:banzhaf", prices("")));
    let refused = refused.map(|_| ()).expect_err("takes none");
    assert!(matches!(refused, Error::Misuse(Misuse::NotTaken { option: "semivalue", method: "loo", .. })));
}

/// Only methods that measure need test rows; one row in five is kept back for them.
#[test]
fn rows_are_kept_back_only_for_methods_that_measure() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &goods(11, 50));
    let (rows, found) = compared(&request(&table, "gaussian,knn", prices(""))).unwrap();
    assert!(column(&rows, "gaussian").iter().all(|value| !value.is_nan()));
    assert_eq!((found.n_valued, found.n_test, found.test_from, found.top), (50, 0, "none", 5));
    let (rows, found) = compared(&request(&table, "gaussian,loo", prices(""))).unwrap();
    assert_eq!(column(&rows, "gaussian").iter().filter(|value| value.is_nan()).count(), 10);
    assert_eq!((found.n_valued, found.n_test, found.test_from), (40, 10, "points"));
    assert!(found.warnings.contains(&Warning::RowsMeasure { n_rows: 10 }), "{:?}", found.warnings);
}

#[test]
fn a_comparison_has_columns_pairs_and_json() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &goods(12, 60));
    let (rows, found) = compared(&request(&table, "gaussian,calibrated,random", prices("id=city"))).unwrap();
    let names: Vec<&str> = rows.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["row", "city", "gaussian", "calibrated", "random", "note"]);
    assert_eq!(found.pairs.len(), 3);
    assert!(found.pairs[0].spearman.unwrap() > 0.5, "{:?}", found.pairs[0]);
    let json = serde_json::to_value(&found).unwrap();
    assert!(json.get("warnings").is_none() && json["pairs"][0]["one"] == "gaussian", "{json}");
}

/// A label of one row, which may be a test row: the others are told apart all the
/// same.
#[test]
fn a_label_may_be_among_test_rows_only() {
    let folder = Folder::new();
    let mut csv: Vec<String> = goods(13, 60).lines().map(String::from).collect();
    let mut n_narrowed = 0;
    for row in 1..=60 {
        let before = csv[row].clone();
        csv[row] = before.rsplit_once(',').unwrap().0.to_string() + ",odd";
        let table = folder.write("t.csv", &(csv.join("\n") + "\n"));
        let (rows, _) = compared(&request(&table, "gaussian,loo", kinds("ridge=1"))).unwrap();
        n_narrowed += usize::from(column(&rows, "gaussian")[row - 1].is_nan());
        csv[row] = before;
    }
    assert_eq!(n_narrowed, 12, "each test row was the odd one once");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    let table = folder.write("t.csv", &goods(14, 60));
    let misuse = |methods, options| match compared(&request(&table, methods, options)) {
        Err(Error::Misuse(misuse)) => misuse,
        other => panic!("{other:?}"),
    };
    let none = misuse("loo", prices("constant=gain"));
    assert!(matches!(none, Misuse::NotTakenByAny { option: "constant", .. }), "{none:?}");
    let other_task = misuse("closed", prices("task=regression"));
    assert!(matches!(other_task, Misuse::NotForTask { method: "closed", .. }), "{other_task:?}");
    let tests = misuse("gaussian", prices(&format!("test={table}")));
    assert!(matches!(tests, Misuse::NotTakenByAny { option: "test", .. }), "{tests:?}");
    let refused = compared(&request(&table, "gaussian", prices("weight=size")));
    assert!(matches!(refused, Err(Error::WeightsInTrial)), "{refused:?}");
    let request = request(&table, "gaussian,loo", prices(""));
    let refused = compare(&request, Some(49), &Unwatched, &mut Collected::default());
    assert!(matches!(refused, Err(Error::TopTooLarge { top: 49, n_rows: 48 })), "{refused:?}");
}
