//! `dshap value` by baselines.

use crate::common::{Csv, Folder, goods, many_rows};
use dshap_testkit::{Draws, assert_close, assert_same_bits};
use std::fmt::Write as _;

/// Labels that lean on two features; every seventh is wrong.
fn labelled(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("a,b,kind\n");
    for row in 0..n {
        let (a, b) = (draws.normal(), draws.normal());
        let is_yes = (a + 0.5 * b + 0.5 * draws.normal() > 0.0) != (row % 7 == 3);
        let _ = writeln!(csv, "{a:.6},{b:.6},{}", if is_yes { "yes" } else { "no" });
    }
    csv
}

fn values(folder: &Folder, line: &str) -> Vec<f64> {
    Csv::parse(&folder.stdout(line)).numbers("value")
}

/// Spearman's correlation, of numbers without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |numbers: &[f64]| {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
        let mut ranks = vec![0.0; numbers.len()];
        order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64);
        ranks
    };
    let n = a.len() as f64;
    let sum: f64 = ranks(a).iter().zip(ranks(b)).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * sum / (n * (n * n - 1.0))
}

#[test]
fn d_shapley_ranks_rows_as_the_closed_form_does() {
    let folder = Folder::with("t.csv", many_rows(120)).and("test.csv", many_rows(400));
    let common = "dshap value t.csv --target y --m 60 --q 12";
    let exact = values(&folder, common);
    let line = format!("{common} --method d-shapley --test test.csv --stop 0 --samples 3000 --stderr");
    let csv = Csv::parse(&folder.stdout(&line));
    let drawn = csv.numbers("value");
    // The standard errors of 3000 draws are a few per cent of the spread.
    let agreement = rank_correlation(&exact, &drawn);
    assert!(agreement > 0.9, "{agreement}");
    assert!(csv.numbers("stderr").iter().all(|error| *error > 0.0));
    assert_same_bits(&values(&folder, &format!("{line} --threads 1")), &drawn, "one thread");
    let reference =
        values(&folder, &format!("{common} --method d-shapley --reference test.csv --samples 500"));
    assert_eq!(reference.len(), 120);
}

/// Shapley values share out what the test rows say all rows are worth.
#[test]
fn exact_values_add_up_to_what_all_rows_save() {
    let few: String = goods().lines().take(13).map(|line| format!("{line}\n")).collect();
    let folder = Folder::with("t.csv", few).and("test.csv", goods());
    let line = "dshap value t.csv --target price --method exact-shapley --test test.csv";
    let exact = values(&folder, line);
    assert_eq!(exact.len(), 12);

    let rows = |file: &str| -> Vec<[f64; 3]> {
        let csv = Csv::parse(&folder.read(file));
        let [size, age, price] = ["size", "age", "price"].map(|name| csv.numbers(name));
        (0..size.len()).map(|i| [size[i], age[i], price[i]]).collect()
    };
    let (points, test) = (rows("t.csv"), rows("test.csv"));
    let mean = |j: usize| points.iter().map(|row| row[j]).sum::<f64>() / points.len() as f64;
    let means = [mean(0), mean(1), mean(2)];
    let centred = |row: &[f64; 3]| [row[0] - means[0], row[1] - means[1], row[2] - means[2]];
    // Two features: least squares by Cramer's rule.
    let sum = |i: usize, j: usize| points.iter().map(centred).map(|row| row[i] * row[j]).sum::<f64>();
    let det = sum(0, 0) * sum(1, 1) - sum(0, 1).powi(2);
    let coef = [
        (sum(0, 2) * sum(1, 1) - sum(1, 2) * sum(0, 1)) / det,
        (sum(1, 2) * sum(0, 0) - sum(0, 2) * sum(0, 1)) / det,
    ];
    let error = |coef: [f64; 2]| {
        let each = test.iter().map(centred).map(|row| (row[2] - coef[0] * row[0] - coef[1] * row[1]).powi(2));
        each.sum::<f64>() / test.len() as f64
    };
    assert_close(exact.iter().sum::<f64>(), error([0.0, 0.0]) - error(coef), 1e-10);

    let chains =
        "dshap value t.csv --target price --method tmc-shapley --q 5 --test test.csv --stderr --stop 0";
    let csv = Csv::parse(&folder.stdout(&format!("{chains} --samples 4000")));
    let errors = csv.numbers("stderr");
    for (row, (drawn, exact)) in csv.numbers("value").iter().zip(&exact).enumerate() {
        // Truncation leaves out a hundredth of the whole at most.
        let room = 5.0 * errors[row] + 0.01 * exact.abs().max(1.0);
        assert!((drawn - exact).abs() < room, "row {row}: {drawn} and {exact}");
    }
}

#[test]
fn rows_that_measure_utility_have_no_value_and_say_so() {
    let folder = Folder::with("t.csv", many_rows(60));
    let output = folder.run("dshap value t.csv --target y --method loo");
    assert!(output.contains("12 of the rows measure what sets of the others are worth"), "{output}");
    assert!(output.contains("utility: squared error on 12 of the points; p = 1, q = 11, m = 48"), "{output}");
    assert!(output.contains("48 of 60 rows, valued as one dataset"), "{output}");
    let drawn = folder.run("dshap value t.csv --target y --method d-shapley --samples 20");
    assert!(drawn.contains("48 of 60 rows, each valued against the others"), "{drawn}");
    let csv = Csv::parse(&folder.stdout("dshap value t.csv --target y --method loo"));
    let notes = csv.column("note");
    assert_eq!(notes.iter().filter(|note| **note == "test row").count(), 12);
    let cells = csv.column("value");
    assert!(cells.iter().zip(&notes).all(|(cell, note)| cell.is_empty() == (*note == "test row")));
    // Another seed measures on other rows.
    let other = Csv::parse(&folder.stdout("dshap value t.csv --target y --method loo --seed 5"));
    assert_ne!(other.column("note"), notes);
}

#[test]
fn labels_are_valued_by_accuracy_or_log_loss() {
    let folder = Folder::with("t.csv", labelled(1, 60)).and("test.csv", labelled(2, 200));
    for method in ["d-shapley --m 30", "tmc-shapley", "loo"] {
        let samples = if method == "loo" { "" } else { "--samples 200" };
        let line = format!("dshap value t.csv --target kind --test test.csv --method {method} {samples}");
        let accuracy = values(&folder, &line);
        let loss = values(&folder, &format!("{line} --utility log-loss"));
        assert_eq!(accuracy.len(), 60);
        assert_ne!(accuracy, loss);
    }
    // Wrong labels cost log-loss: their mean is below that of the others.
    let line = "dshap value t.csv --target kind --test test.csv --method tmc-shapley --samples 300 --utility log-loss";
    let values = values(&folder, line);
    let mean = |is_wrong: bool| {
        let those: Vec<f64> =
            (0..60).filter(|row| (row % 7 == 3) == is_wrong).map(|row| values[row]).collect();
        those.iter().sum::<f64>() / those.len() as f64
    };
    assert!(mean(true) < mean(false), "{} and {}", mean(true), mean(false));
}

#[test]
fn densities_have_baselines_too() {
    let folder = Folder::with("t.csv", many_rows(80)).and("test.csv", many_rows(300));
    let line = "dshap value t.csv --task density --bandwidth 0.4 --test test.csv";
    let exact = values(&folder, &format!("{line} --method exact-shapley"));
    // With every size up to all rows, sets of the others are those of Shapley values.
    for method in ["tmc-shapley --samples 400", "d-shapley --samples 400"] {
        let csv = Csv::parse(&folder.stdout(&format!("{line} --method {method} --stop 0 --stderr")));
        let errors = csv.numbers("stderr");
        for (row, (drawn, exact)) in csv.numbers("value").iter().zip(&exact).enumerate() {
            assert!((drawn - exact).abs() < 5.0 * errors[row], "{method}, row {row}: {drawn} and {exact}");
        }
        assert!(errors.iter().sum::<f64>() / 80.0 < 0.005, "or nothing was tested");
    }
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let folder = Folder::with("t.csv", many_rows(60));
    for (line, words) in [
        (
            "value t.csv --target y --method loo --valuer v.dshap",
            "`--valuer` does not go with `--method loo`",
        ),
        ("fit t.csv --target y --method d-shapley -o v.dshap", "`--method d-shapley` has no valuer to save"),
        ("value t.csv --target y --method lower --test t.csv", "`--test` goes with"),
        ("value t.csv --target y --utility accuracy", "`--utility` goes with"),
        ("value t.csv --target y --method loo --utility accuracy", "`--utility` is for classification"),
        (
            "value t.csv --target y --method tmc-shapley --reference t.csv",
            "`--reference` does not go with `--method tmc-shapley`",
        ),
        ("value t.csv --target y --method loo --samples 10", "`--samples` does not go with `--method loo`"),
        (
            "value t.csv --target y --method loo --stderr",
            "`--stderr` does not go with `--method loo`: nothing is drawn",
        ),
        ("value t.csv --target y --method random --m 7", "`--m` does not go with `--method random`"),
        (
            "value t.csv --target y --method d-shapley --constant gain",
            "`--constant` goes with `gaussian` only",
        ),
        (
            "value t.csv --task density --method d-shapley --ridge 1",
            "`--ridge` does not go with `--method d-shapley`",
        ),
        ("value t.csv --target y --method d-shapley --kernel gaussian", "`--kernel` is for densities"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
    let block = folder.run("dshap value t.csv --target y --method exact-shapley");
    assert!(block.contains("exit 1") && block.contains("48 rows have too many sets"), "{block}");
    assert!(block.contains("hint: `--method tmc-shapley` estimates the same values"), "{block}");
    let block = folder.run("dshap value t.csv --target y --method d-shapley --m 100");
    assert!(block.contains("exit 1") && block.contains("so m is at most 48"), "{block}");
}

#[test]
fn no_warning_if_all_iterations_were_asked_for() {
    let folder = Folder::with("t.csv", many_rows(60)).and("test.csv", many_rows(30));
    let line = "dshap value t.csv --target y --method d-shapley --test test.csv --samples 200";
    let moved = "the means still moved";
    assert!(folder.run(&format!("{line} --stop 1e-9")).contains(moved));
    assert!(!folder.run(&format!("{line} --stop 0")).contains(moved));
}

#[test]
fn the_summary_records_a_baseline() {
    let folder = Folder::with("t.csv", many_rows(60)).and("test.csv", many_rows(30));
    folder.stdout(
        "dshap value t.csv --target y --method tmc-shapley --samples 200 --test test.csv --summary s.json",
    );
    let text = folder.read("s.json");
    for words in [
        "\"method\": \"tmc-shapley\"",
        "\"utility\": \"squared-error\"",
        "\"n_test\": 30",
        "\"iterations\": 200",
        "\"test_from\": \"test\"",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let chance = values(&folder, "dshap value t.csv --target y --method random --seed 3");
    assert_eq!(chance.len(), 60);
    assert!(chance.iter().all(|value| (0.0..1.0).contains(value)), "every row has its number");
}

/// A table of `n` rows and ten features, the last nearly the first.
fn ten_columns(seed: u64, n: usize, near: f64) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("a,b,c,d,e,f,g,h,i,j,y\n");
    for _ in 0..n {
        let mut x: Vec<f64> = (0..10).map(|_| draws.normal()).collect();
        x[9] = x[0] + near * x[9];
        let y = x[0] - x[1] + draws.normal();
        x.iter().for_each(|cell| write!(csv, "{cell},").expect("a string takes all"));
        let _ = writeln!(csv, "{y}");
    }
    csv
}

/// With 20 rows and 10 columns exact and drawn values were of different games, and
/// drawn ones all alike.
#[test]
fn all_methods_of_a_finite_dataset_value_the_same_game() {
    let folder = Folder::with("t.csv", ten_columns(1, 16, 1.0)).and("test.csv", ten_columns(2, 200, 1.0));
    let common = "dshap value t.csv --target y --test test.csv --method";
    let exact = Csv::parse(&folder.stdout(&format!("{common} exact-shapley"))).numbers("value");
    let line = format!("{common} tmc-shapley --stop 0 --samples 4000 --stderr");
    let drawn = Csv::parse(&folder.stdout(&line));
    // A false alarm in one of 16 rows at five standard errors has a chance of 1e-5.
    for ((exact, drawn), error) in exact.iter().zip(drawn.numbers("value")).zip(drawn.numbers("stderr")) {
        assert!((exact - drawn).abs() < 5.0 * error + 1e-9, "{exact}, {drawn} ± {error}");
    }
    let losses = values(&folder, &format!("{common} loo"));
    assert!(losses.iter().any(|loss| (loss - losses[0]).abs() > 1e-9), "{losses:?}");
}

#[test]
fn few_set_sizes_and_equal_values_get_a_warning() {
    let folder = Folder::with("t.csv", ten_columns(1, 16, 1.0)).and("test.csv", ten_columns(2, 40, 1.0));
    let said = |method: &str| {
        folder.run(&format!("dshap value t.csv --target y --test test.csv -o v.csv --method {method}"))
    };
    let block = said("exact-shapley");
    assert!(block.contains("values average over only 4 set sizes"), "{block}");
    let block = said("tmc-shapley --samples 200 --q 16");
    assert!(block.contains("only all 16 rows together have a model"), "{block}");
    let block = said("loo --q 16");
    assert!(block.contains("`loo` gives every row the same value"), "{block}");
    let block = said("d-shapley --samples 200 --m 15");
    assert!(block.contains("values average over only 1 set size;"), "{block}");
    let block = said("d-shapley --samples 200 --m 5");
    assert!(block.contains("set sizes q = 13, m = 5 are impossible: 1 ≤ q ≤ m is needed"), "{block}");
    assert!(block.contains("hint: set `--m` to at least 13, or use a smaller `--q`"), "{block}");
}

#[test]
fn only_too_few_iterations_get_a_warning() {
    let folder = Folder::with("t.csv", many_rows(40)).and("test.csv", many_rows(60));
    let said = |rest: &str| {
        folder
            .run(&format!("dshap value t.csv --target y --test test.csv -o v.csv --method d-shapley {rest}"))
    };
    let block = said("--stop 0 --samples 300 --strict");
    assert!(block.contains("exit 0"), "{block}");
    let block = said("--samples 5");
    assert!(block.contains("5 iterations are too few to judge convergence, which takes "), "{block}");
}

/// The last column is the first and a hundred-thousandth of its own.
#[test]
fn columns_that_are_nearly_alike_do_not_make_values_nothing() {
    let folder = Folder::with("t.csv", ten_columns(1, 100, 1e-5)).and("test.csv", ten_columns(2, 200, 1e-5));
    for method in ["loo", "d-shapley --samples 200", "tmc-shapley --samples 200"] {
        let line = format!("dshap value t.csv --target y --test test.csv --method {method}");
        let found = values(&folder, &line);
        assert!(found.iter().all(|value| *value != 0.0), "{method}");
        assert!(!folder.run(&format!("{line} -o v.csv")).contains("did not determine"), "{method}");
    }
    // If rounding leaves nothing of it, there is a warning or an error.
    let folder = Folder::with("t.csv", ten_columns(1, 100, 1e-8)).and("test.csv", ten_columns(2, 200, 1e-8));
    let block = folder.run("dshap value t.csv --target y --test test.csv --method loo -o v.csv");
    assert!(block.contains("do not determine the coefficients") || block.contains("depends on"), "{block}");
}
