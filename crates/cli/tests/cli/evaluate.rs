//! `dshap evaluate` and `dshap compare`.

use crate::common::{Csv, Folder, many_rows};
use dshap_testkit::{Draws, assert_close, assert_same_bits, goods};
use std::fmt::Write as _;

/// Three features and a clear target.
fn table(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("name,a,b,c,y\n");
    for row in 0..n {
        let [a, b, c] = [draws.normal(), draws.normal(), draws.normal()];
        let _ =
            writeln!(csv, "r{row},{a:.6},{b:.6},{c:.6},{:.6}", 2.0 * a - b + 0.5 * c + 0.5 * draws.normal());
    }
    csv
}

fn labels(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("a,b,kind\n");
    for _ in 0..n {
        let [a, b] = [draws.normal(), draws.normal()];
        let kind = if 2.0 * a + b + 0.7 * draws.normal() > 0.0 { "yes" } else { "no" };
        let _ = writeln!(csv, "{a:.6},{b:.6},{kind}");
    }
    csv
}

/// The points of one curve.
fn curve(csv: &Csv, experiment: &str, method: &str, order: &str, name: &str) -> Vec<f64> {
    let (experiments, methods, orders) =
        (csv.column("experiment"), csv.column("method"), csv.column("order"));
    let is_it =
        |row: &usize| experiments[*row] == experiment && methods[*row] == method && orders[*row] == order;
    let numbers = csv.numbers(name);
    (0..csv.len()).filter(is_it).map(|row| numbers[row]).collect()
}

#[test]
fn curves_begin_and_end_where_they_must() {
    let folder = Folder::with("t.csv", table(1, 80)).and("test.csv", table(2, 200));
    let line = "dshap evaluate t.csv --target y --exclude name --test test.csv --methods gaussian,loo";
    let csv = Csv::parse(&folder.stdout(line));
    assert_eq!(csv.header(), ["experiment", "method", "order", "n_rows", "utility", "relative", "found"]);
    let relative = |experiment, method, order| curve(&csv, experiment, method, order, "relative");
    for method in ["gaussian", "loo"] {
        let (high, low) = (relative("addition", method, "high"), relative("addition", method, "low"));
        assert_eq!(high.len(), 41);
        // From the same half to the same whole.
        assert_close(high[0], low[0], 1e-12);
        assert_close(high[40], 1.0, 1e-9);
        assert_close(low[40], 1.0, 1e-9);
        let (high, low) = (relative("removal", method, "high"), relative("removal", method, "low"));
        assert_close(high[0], 1.0, 1e-9);
        assert_close(low[0], 1.0, 1e-9);
        // Sets of fewer rows than q = p + 10 do not count in values, nor on curves.
        let removed = curve(&csv, "removal", method, "high", "n_rows");
        assert_eq!((removed[0], removed[removed.len() - 1]), (0.0, (80 - 13) as f64));
        let found = curve(&csv, "detection", method, "value", "found");
        assert_eq!((found[0], found[80]), (0.0, 1.0));
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
    }
    assert!(!relative("addition", "random", "random").is_empty(), "chance is always there");
    assert!(!curve(&csv, "detection", "gaussian", "penalty", "found").is_empty());
    assert!(curve(&csv, "detection", "loo", "penalty", "found").is_empty());
}

/// With two test rows, a baseline values by one and is judged on the other. The utility
/// of all rows shows which one judges; the first row to be removed is the one with the
/// highest value by the other.
#[test]
fn no_method_is_judged_on_rows_it_values_by() {
    let (rows, tests) = (table(21, 40), table(22, 2));
    let header = "name,a,b,c,y\n";
    let one_of = |place: usize| format!("{header}{}\n", tests.lines().nth(1 + place).expect("two rows"));
    let folder = Folder::with("t.csv", &rows)
        .and("test.csv", &tests)
        .and("test0.csv", one_of(0))
        .and("test1.csv", one_of(1));
    // Without an intercept, models do not depend on what rows are there beside their own.
    let common = "--target y --exclude name --no-intercept --quiet";
    let worth_of_all = |points: &str, place: usize| {
        let line = format!("dshap evaluate {points} {common} --test test{place}.csv --methods gaussian");
        curve(&Csv::parse(&folder.stdout(&line)), "removal", "gaussian", "high", "utility")[0]
    };
    let line = format!("dshap evaluate t.csv {common} --test test.csv --methods gaussian,loo");
    let csv = Csv::parse(&folder.stdout(&line));
    let of = |method| curve(&csv, "removal", method, "high", "utility");
    let is_judged = |place: &usize| (of("loo")[0] - worth_of_all("t.csv", *place)).abs() < 1e-9;
    let judged: Vec<usize> = (0..2).filter(is_judged).collect();
    assert_eq!(judged.len(), 1, "curves are judged on one of the two rows");
    assert_close(of("gaussian")[0], of("loo")[0], 1e-12);

    let valued_by = 1 - judged[0];
    let line = format!("dshap value t.csv {common} --method loo --test test{valued_by}.csv");
    let values = Csv::parse(&folder.stdout(&line)).numbers("value");
    let best = (0..40).max_by(|&i, &j| values[i].total_cmp(&values[j])).expect("rows");
    let others: Vec<&str> =
        rows.lines().enumerate().filter(|(place, _)| *place != best + 1).map(|(_, line)| line).collect();
    folder.write("others.csv", others.join("\n") + "\n");
    assert_close(of("loo")[1], worth_of_all("others.csv", judged[0]), 1e-9);
}

#[test]
fn the_rows_that_methods_value_by_are_named() {
    let folder = Folder::with("t.csv", goods(23, 60)).and("test.csv", goods(24, 51));
    let of = |options: &str| {
        let line = format!("dshap evaluate t.csv --target price --exclude kind {options} -o c.csv");
        folder.run(&line)
    };
    let said = of("--test test.csv --methods gaussian,loo,d-shapley --samples 20");
    assert!(said.contains("utility squared error on 25 of 51 test rows"), "{said}");
    assert!(
        said.contains(
            "`loo`, `d-shapley` value rows by 26 others, so no method is judged on rows it has used"
        ),
        "{said}"
    );
    assert!(said.contains("6 of 60 targets were made wrong"), "{said}");
    assert!(of("--noise 0.001").contains("1 of 48 targets was made wrong"), "one at least");
    let said = of("--test test.csv --methods gaussian,knn");
    assert!(said.contains("`knn` values rows by 26 others"), "{said}");
    // These use no test row, so none has to be kept apart.
    let said = of("--test test.csv --methods gaussian");
    assert!(said.contains("on 51 test rows;") && !said.contains("others"), "{said}");
    let said = of("--methods knn");
    assert!(said.contains("on 12 of the rows;") && !said.contains("others"), "{said}");
    folder.write("test.csv", goods(24, 1));
    let said = of("--test test.csv --methods loo");
    assert!(
        said.contains("exit 1") && said.contains("1 test row is not enough: `loo` must not be judged"),
        "{said}"
    );
    assert!(said.contains("hint: give at least 2 test rows"), "{said}");
}

/// Chance has ten orders, other methods have one per repeat; the spread is shown.
#[test]
fn repeats_and_random_orders_have_a_spread() {
    let folder = Folder::with("t.csv", table(25, 80)).and("test.csv", table(26, 60));
    let line = "dshap evaluate t.csv --target y --exclude name --test test.csv --methods gaussian";
    let spread = |repeats: usize, method: &str, name: &str| {
        let shown = folder.run(&format!("{line} --repeats {repeats} --summary s.json -o c.csv"));
        let text = folder.read("s.json");
        let method = text.find(&format!("\"method\": \"{method}\"")).expect(&shown);
        let rest = &text[method..];
        let at = rest.find(&format!("\"{name}_std_dev\": ")).expect("the spread is there");
        let value = &rest[at + name.len() + 12..];
        value[..value.find([',', '\n']).expect("an end")].parse::<f64>().ok()
    };
    for name in ["auc", "f1", "addition_high", "removal_low"] {
        assert!(spread(1, "random", name).is_some_and(|spread| spread > 0.0), "{name}");
        assert_eq!(spread(1, "gaussian", name), None, "{name}");
    }
    for name in ["auc", "penalty_auc", "addition_high"] {
        assert!(spread(3, "gaussian", name).is_some_and(|spread| spread > 0.0), "{name}");
    }
}

#[test]
fn a_target_of_one_number_has_nothing_wrong_to_be_found() {
    let rows = table(27, 40).lines().skip(1).fold(String::from("a,b,y\n"), |mut csv, line| {
        let cells: Vec<&str> = line.split(',').collect();
        let _ = writeln!(csv, "{},{},4.5", cells[1], cells[2]);
        csv
    });
    let folder = Folder::with("t.csv", rows);
    let line = "dshap evaluate t.csv --target y --task regression --no-intercept --methods gaussian";
    let shown = folder.run(line);
    assert!(shown.contains("all targets are the same, so none can be made wrong"), "{shown}");
    assert!(!shown.contains("detection,"), "{shown}");
}

/// With a tenth of the targets exchanged and little noise beside it, values that
/// did not find them would be no values. Chance is at one half: 12 wrong rows of
/// 120 give its area a standard deviation of 0.09, so that five repeats leave 0.04.
#[test]
fn wrong_targets_are_found_and_chance_finds_none() {
    for (table, target, q) in [(table(3, 150), "y --exclude name", ""), (labels(4, 150), "kind", "--ridge 1")]
    {
        let folder = Folder::with("t.csv", table);
        let line = format!("dshap evaluate t.csv --target {target} {q} --repeats 5 --summary s.json --quiet");
        folder.stdout(&line);
        let text = folder.read("s.json");
        let number = |method: &str, name: &str| -> f64 {
            let at = text.find(&format!("\"method\": \"{method}\"")).expect("the method is there");
            let rest = &text[at..];
            let value =
                &rest[rest.find(&format!("\"{name}\": ")).expect("the number is there") + name.len() + 4..];
            value[..value.find([',', '\n']).expect("an end")].parse().expect("a number")
        };
        assert!(number("gaussian", "penalty_auc") > 0.75, "{text}");
        assert!((number("random", "auc") - 0.5).abs() < 0.2, "{text}");
    }
}

#[test]
fn the_same_seed_gives_the_same_curves_on_any_number_of_threads() {
    let folder = Folder::with("t.csv", labels(5, 60));
    let line = "dshap evaluate t.csv --target kind --methods d-shapley,tmc-shapley --samples 40 --seed 3";
    let csv = Csv::parse(&folder.stdout(&format!("{line} --threads 1")));
    let again = Csv::parse(&folder.stdout(&format!("{line} --threads 3")));
    for name in ["utility", "relative", "found"] {
        assert_same_bits(&again.numbers(name), &csv.numbers(name), name);
    }
    let other = Csv::parse(&folder.stdout(&format!("{line} --seed 4").replacen("--seed 3 ", "", 1)));
    assert_ne!(other.column("utility"), csv.column("utility"));
}

#[test]
fn a_figure_is_drawn() {
    let folder = Folder::with("t.csv", many_rows(60));
    folder.stdout("dshap evaluate t.csv --target y --figure f.svg -o curves.parquet");
    folder.stdout("dshap evaluate t.csv --target y --figure f.PNG");
    let svg = folder.read("f.svg");
    assert!(
        svg.starts_with("<svg")
            && svg.contains("Point removal")
            && svg.contains(">gaussian, high first; by value<"),
        "{svg}"
    );
    // Two orders of two methods and chance in two panels, three curves and one by penalty in the third.
    let n_curves = 5 + 5 + 4;
    // What looks alike has one name in all panels: two for each method, and chance.
    let n_names = 2 + 2 + 1;
    assert_eq!(svg.matches("stroke-linejoin").count(), n_curves + n_names);
    assert_eq!(folder.files(), ["curves.parquet", "f.PNG", "f.svg", "t.csv"]);
    assert_eq!(&folder.bytes("f.PNG")[1..4], b"PNG");
}

#[test]
fn densities_are_evaluated_without_targets() {
    let folder = Folder::with("t.csv", many_rows(60));
    let line = "dshap evaluate t.csv --task density --bandwidth 0.5 --methods closed,exact-shapley";
    let csv = Csv::parse(&folder.stdout(line));
    assert!(!csv.column("experiment").contains(&"detection"));
    assert!(folder.run(&format!("{line} -o c.csv")).contains("a density has no targets"), "{line}");
    assert!(
        curve(&csv, "addition", "closed", "high", "relative").iter().all(|relative| relative.is_finite())
    );
}

#[test]
fn methods_are_compared_side_by_side() {
    let folder = Folder::with("t.csv", table(6, 100)).and("test.csv", table(7, 300));
    let line = "dshap compare t.csv --target y --id name --test test.csv --methods \
                gaussian,calibrated,d-shapley --samples 2000 --stop 0 --m 60 --summary s.json";
    let block = folder.output(line);
    let csv = Csv::parse(&String::from_utf8(block.stdout).expect("text"));
    assert_eq!(csv.header(), ["row", "name", "gaussian", "calibrated", "d-shapley", "note"]);
    assert_eq!(csv.column("name")[7], "r7");
    let alone = "dshap value t.csv --target y --id name --m 60 --method calibrated";
    let calibrated = Csv::parse(&folder.stdout(alone)).numbers("value");
    for (found, exact) in csv.numbers("calibrated").iter().zip(&calibrated) {
        assert_close(*found, *exact, 1e-9);
    }
    let said = String::from_utf8(block.stderr).expect("text");
    for words in
        ["regression (guessed): 100 rows valued by 3 methods", "Spearman", "best 10", "time: gaussian"]
    {
        assert!(said.contains(words), "{said}");
    }
    let summary = folder.read("s.json");
    let spearman: f64 = {
        let at = &summary[summary.find("\"spearman\": ").expect("a correlation") + 12..];
        at[..at.find(',').expect("an end")].parse().expect("a number")
    };
    assert!(spearman > 0.95, "gaussian and calibrated: {spearman}");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let folder = Folder::with("t.csv", many_rows(60));
    for (line, words) in [
        (
            "evaluate t.csv --target y --methods gaussian,shapely",
            "invalid value 'shapely' for '--methods <A,B>'",
        ),
        ("evaluate t.csv --target y --methods loo,loo", "names `loo` twice"),
        ("evaluate t.csv --target y --methods gaussian:banzhaf,gaussian:banzhaf", "`gaussian:banzhaf` twice"),
        (
            "compare t.csv --target y --methods gaussian:beta:1",
            "`beta:1` in `gaussian:beta:1` is not a semivalue",
        ),
        ("evaluate t.csv --target y --methods gausian:banzhaf", "a similar value exists: 'gaussian'"),
        ("evaluate t.csv --target y --method loo", "a similar argument exists: '--methods'"),
        ("evaluate t.csv --target y --noise 1", "expected a number above 0"),
        ("evaluate t.csv --task density --noise 0.2", "`--noise` does not go with densities"),
        ("evaluate t.csv --target y --figure f.jpg", "neither SVG nor PNG by its name"),
        ("evaluate t.csv --target y --positive 1", "`--positive` is for classification"),
        (
            "compare t.csv --target y --methods gaussian,loo --top 49",
            "`--top 49` is more than the number of rows to be valued, 48",
        ),
        ("compare t.csv --target y --methods loo --constant gain", "`--constant` goes with `gaussian` only"),
        ("compare t.csv --target y --methods closed", "`--methods closed` is for densities"),
        ("compare t.csv --target y --methods loo --utility accuracy", "`--utility` is for classification"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

/// `compare` gives a method the values that `value` gives, whatever options the other
/// methods take.
#[test]
fn each_method_gets_the_options_it_takes() {
    let folder = Folder::with("t.csv", goods(8, 90)).and("test.csv", goods(9, 50));
    let numbers = "t.csv --target price --exclude kind";
    let labels = "t.csv --target kind --exclude price";
    let density = "t.csv --task density --exclude kind";
    for (table, options, methods) in [
        (
            numbers,
            "--k 3 --metric manhattan --scale none --m 40 --q 20 --constant theorem --bound-c 0.7",
            vec![
                ("gaussian", "--constant theorem --m 40 --q 20"),
                ("calibrated", "--m 40 --q 20"),
                ("lower", "--bound-c 0.7 --m 40 --q 20"),
                ("knn", "--k 3 --metric manhattan --scale none --m 40 --q 20"),
                ("knn-shapley", "--k 3 --metric manhattan --scale none"),
            ],
        ),
        (
            numbers,
            "--test test.csv --ridge 2 --samples 60 --stop 0 --seed 4 --k 2",
            vec![
                ("gaussian", ""),
                ("general", "--ridge 2 --samples 60 --stop 0 --seed 4"),
                ("knn", "--k 2 --test test.csv"),
                ("d-shapley", "--ridge 2 --samples 60 --stop 0 --seed 4 --test test.csv"),
                ("loo", "--ridge 2 --test test.csv"),
            ],
        ),
        (
            numbers,
            "--convention printed --stop 0.01 --dependent drop",
            vec![
                ("gaussian", "--convention printed"),
                ("upper", "--convention printed --stop 0.01"),
                ("knn", ""),
            ],
        ),
        (
            labels,
            "--ridge 1 --utility log-loss --test test.csv --k 1 --no-intercept",
            vec![
                ("gaussian", "--ridge 1 --no-intercept"),
                ("second-order", "--ridge 1 --utility log-loss --no-intercept"),
                ("knn", "--k 1 --test test.csv"),
                ("loo", "--ridge 1 --utility log-loss --no-intercept --test test.csv"),
            ],
        ),
        (
            density,
            "--bandwidth 0.6 --kernel epanechnikov --test test.csv --m 30",
            vec![
                ("closed", "--bandwidth 0.6 --kernel epanechnikov --m 30"),
                ("loo", "--bandwidth 0.6 --kernel epanechnikov --test test.csv"),
            ],
        ),
    ] {
        let names: Vec<&str> = methods.iter().map(|(name, _)| *name).collect();
        let line = format!("dshap compare {table} --methods {} {options}", names.join(","));
        let csv = Csv::parse(&folder.stdout(&line));
        for (name, known) in methods {
            let alone = folder.stdout(&format!("dshap value {table} --method {name} {known}"));
            assert_same_bits(
                &csv.numbers(name),
                &Csv::parse(&alone).numbers("value"),
                &format!("{line}: {name}"),
            );
        }
    }
}

#[test]
fn neighbours_are_evaluated_with_their_own_options() {
    let folder = Folder::with("t.csv", goods(10, 60));
    let line = "dshap evaluate t.csv --target kind --exclude price --methods knn,knn-shapley --ridge 1";
    let [one, many] = ["1", "9"].map(|k| Csv::parse(&folder.stdout(&format!("{line} --k {k}"))));
    for method in ["knn", "knn-shapley"] {
        let of = |csv: &Csv| curve(csv, "detection", method, "value", "found");
        assert_ne!(of(&one), of(&many), "{method}");
    }
}

/// Only baselines need rows to measure on; without them every row has a value.
#[test]
fn no_row_is_kept_back_for_nobody() {
    let folder = Folder::with("t.csv", goods(11, 50));
    let line = "dshap compare t.csv --target price --exclude kind --methods gaussian,knn";
    let block = folder.output(line);
    let csv = Csv::parse(&String::from_utf8(block.stdout).expect("text"));
    assert!(csv.numbers("gaussian").iter().all(|value| !value.is_nan()));
    let said = String::from_utf8(block.stderr).expect("text");
    assert!(said.contains("50 rows valued by 2 methods\n"), "{said}");
    let one = folder.run(&line.replace("gaussian,knn", "knn"));
    assert!(one.contains("50 rows valued by 1 method\n"), "{one}");
}

/// Rows and labels have the names of the table, as far as methods see it.
#[test]
fn warnings_name_columns_and_labels() {
    let mut csv = labels(28, 60).replace("a,b,kind\n", "a,b,k,kind\n");
    csv = csv.lines().enumerate().fold(String::new(), |mut csv, (row, line)| {
        let cells: Vec<&str> = line.split(',').collect();
        let _ = match row {
            0 => writeln!(csv, "{line}"),
            // `k` is twice `a`, and one row has a label of its own.
            5 => {
                writeln!(csv, "{},{},{},maybe", cells[0], cells[1], 2.0 * cells[0].parse::<f64>().expect("a"))
            }
            _ => writeln!(
                csv,
                "{},{},{},{}",
                cells[0],
                cells[1],
                2.0 * cells[0].parse::<f64>().expect("a"),
                cells[2]
            ),
        };
        csv
    });
    let folder = Folder::with("t.csv", csv);
    let line = "t.csv --target kind --ridge 1";
    let shown = folder.run(&format!("dshap compare {line} --methods gaussian -o c.csv"));
    assert!(shown.contains("the label `maybe`"), "{shown}");
    assert!(shown.contains("`k`") && !shown.contains("column_") && !shown.contains("label `0`"), "{shown}");
}

/// Rows that baselines measure on have no value; there is a warning, as in `value`.
#[test]
fn rows_kept_back_get_a_warning() {
    let folder = Folder::with("t.csv", goods(29, 60));
    let shown =
        folder.run("dshap compare t.csv --target price --exclude kind --methods gaussian,loo -o c.csv");
    assert!(
        shown.contains("12 of the rows measure what sets of the others are worth and have no value"),
        "{shown}"
    );
    assert!(shown.contains("time: gaussian ") && !shown.contains("e-"), "{shown}");
}

#[test]
fn what_no_method_takes_is_refused() {
    let folder = Folder::with("t.csv", goods(12, 60)).and("test.csv", goods(13, 30));
    let numbers = "t.csv --target price --exclude kind";
    for (line, words) in [
        ("compare NUMBERS --methods gaussian,loo --k 3", "`--k` goes with `knn` and `knn-shapley` only"),
        (
            "evaluate NUMBERS --methods gaussian,random --metric cosine",
            "`--metric` goes with `knn` and `knn-shapley` only",
        ),
        (
            "evaluate NUMBERS --methods knn --stop-draws 0.1",
            "`--stop-draws` is for regression (`--task regression`) and goes with `algorithm-3` only",
        ),
        ("compare NUMBERS --methods gaussian,random --ridge 1", "`--ridge` goes with "),
        ("compare NUMBERS --methods lower,random --test test.csv", "`--test` goes with"),
        ("compare NUMBERS --methods knn-shapley,loo --m 9", "`--m` goes with "),
        (
            "compare NUMBERS --methods knn --samples 9 --test test.csv",
            "`--samples 9` and `--test` do not go together",
        ),
        ("evaluate NUMBERS --methods random --q 9", "`--q` goes with "),
        ("evaluate NUMBERS --kernel gaussian", "`--kernel` is for densities (`--task density`)"),
        (
            "compare NUMBERS --methods gaussian,loo --scale none",
            "`--scale` goes with `knn` and `knn-shapley` only",
        ),
        (
            "compare NUMBERS --methods gaussian,knn --convention printed --constant gain",
            "`--constant gain` and `--convention printed` do not go together",
        ),
        ("evaluate NUMBERS --weight size", "`--weight` does not go with several methods"),
        ("value NUMBERS --method random --ridge 1", "`--ridge` does not go with `--method random`"),
    ] {
        let block = folder.run(&format!("dshap {}", line.replace("NUMBERS", numbers)));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
    // Only one of them takes the Brier score; a warning says what the others use.
    let line =
        "compare t.csv --target kind --exclude price --methods second-order,loo --utility brier --ridge 1";
    let block = folder.run(&format!("dshap {line}"));
    assert!(block.contains("warning: `loo` has no Brier score and uses accuracy instead"), "{block}");
    let line = line.replace("compare", "evaluate").replace(",loo", "");
    let block = folder.run(&format!("dshap {line} -o c.csv"));
    assert!(block.contains("warning: the curves have no Brier score and use accuracy instead"), "{block}");
}

/// What a hint says is enough is enough.
#[test]
fn hints_about_few_rows_work_when_followed() {
    let mut draws = Draws::new(30);
    let mut rows = |n: usize| -> String {
        let names: Vec<String> = (0..15).map(|j| format!("x{j}")).collect();
        let row = |_| {
            let cells: Vec<String> = (0..16).map(|_| format!("{:.6}", draws.normal())).collect();
            format!("{}\n", cells.join(","))
        };
        format!("{},y\n{}", names.join(","), (0..n).map(row).collect::<String>())
    };
    let folder = Folder::with("t18.csv", rows(18)).and("t22.csv", rows(22)).and("test.csv", rows(9));
    for command in [
        "value t.csv --method d-shapley",
        "value t.csv --method loo",
        "compare t.csv --methods gaussian,loo",
        "evaluate t.csv --methods gaussian,loo",
    ] {
        let of = |file: &str, more: &str| {
            let command = command.replace("t.csv", file);
            folder.run(&format!("dshap {command} --target y --task regression {more} -o o.csv"))
        };
        let said = of("t18.csv", "");
        assert!(
            said.contains("exit 1") && said.contains("at least 22 rows are needed in all, or 18"),
            "{said}"
        );
        for said in [of("t22.csv", ""), of("t18.csv", "--test test.csv")] {
            assert!(said.contains("exit 0"), "{said}");
        }
    }
    let folder = Folder::with("six.csv", many_rows(6)).and("ten.csv", many_rows(10));
    let of = |file: &str| {
        folder.run(&format!("dshap evaluate {file} --target y --methods gaussian,loo,random -o o.csv"))
    };
    let said = of("six.csv");
    assert!(said.contains("exit 1") && said.contains("give at least 10 rows, better hundreds, or"), "{said}");
    assert!(said.contains("`--test FILE`") && of("ten.csv").contains("exit 0"), "{said}");
}

/// Rows without a value keep their place, and a note says why they have none.
#[test]
fn rows_without_a_value_keep_their_place_and_have_a_note() {
    let mut csv = many_rows(40);
    csv += "1.5,\n";
    csv += &many_rows(10).lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    let folder = Folder::with("t.csv", csv).and("test.csv", many_rows(30));
    let line = "dshap compare t.csv --target y --missing drop --methods gaussian,loo,random";
    let csv = Csv::parse(&folder.stdout(&format!("{line} --test test.csv")));
    assert_eq!(csv.len(), 51);
    assert_eq!((csv.column("gaussian")[40], csv.column("random")[40]), ("", ""));
    assert!(csv.numbers("random")[41] >= 0.0);
    let notes = csv.column("note");
    assert_eq!((notes[40], notes.iter().filter(|note| !note.is_empty()).count()), ("missing cell", 1));
    let csv = Csv::parse(&folder.stdout(line));
    let notes = csv.column("note");
    assert_eq!(notes[40], "missing cell");
    for (note, value) in notes.iter().zip(csv.column("gaussian")) {
        assert_eq!(note.is_empty(), !value.is_empty(), "a row has a value or a note: {note} {value}");
    }
    assert_eq!(notes.iter().filter(|note| **note == "test row").count(), 10);

    let of = |command: &str| folder.run(&format!("dshap {command} t.csv --target y --missing drop -o o.csv"));
    let said = of("compare");
    assert!(said.contains("warning: 1 point row has a missing cell or no target and has no value"), "{said}");
    let said = of("evaluate");
    assert!(
        said.contains("warning: 1 point row has a missing cell or no target and is left out of the trial"),
        "{said}"
    );
    let said = of("value --method loo");
    assert!(said.contains("warning: 1 point row has a missing cell or no target and has no value"), "{said}");
}

/// People see the table, wherever the curves go.
#[test]
fn the_table_is_shown_wherever_the_curves_go() {
    let folder = Folder::with("t.csv", table(3, 60));
    let line = "dshap evaluate t.csv --target y --exclude name --methods gaussian";
    for line in [format!("{line} -o c.csv"), line.to_string()] {
        let output = folder.output(&line);
        let shown = String::from_utf8(output.stderr).expect("text");
        let table: Vec<&str> = shown.lines().take(3).collect();
        assert_eq!(table.len(), 3);
        for (line, begin) in table.iter().zip(["method  ", "gaussian  ", "random  "]) {
            assert!(line.starts_with(begin), "{shown}");
        }
        assert!(shown.contains("mean utility along the curve"), "its legend too: {shown}");
        assert!(!String::from_utf8(output.stdout).expect("text").contains("add high"), "data only");
    }
    let output = folder.output(&format!("{line} -o c.csv --quiet"));
    assert!(output.stderr.is_empty());
}
