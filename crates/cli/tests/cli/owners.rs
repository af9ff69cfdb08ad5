//! `dshap owners`, `dshap payout` and `dshap verify`.

use crate::common::{Csv, Folder};
use dshap_testkit::{Draws, assert_close};
use std::fmt::Write as _;

/// Rows of a linear model as CSV lines without an owner.
fn lines(seed: u64, n: usize, noise: f64) -> Vec<String> {
    let mut draws = Draws::new(seed);
    (0..n)
        .map(|_| {
            let (a, b) = (draws.normal(), draws.normal());
            let y = 3.0 + 2.0 * a - b + noise * draws.normal();
            format!("{a:.4},{b:.4},{y:.4}")
        })
        .collect()
}

/// A table with the rows of owners, one owner after the other.
fn table(owners: &[(&str, Vec<String>)]) -> String {
    let mut csv = String::from("a,b,y,vendor\n");
    for (owner, lines) in owners {
        for line in lines {
            let _ = writeln!(csv, "{line},{owner}");
        }
    }
    csv
}

fn without_owner(lines: &[String]) -> String {
    format!("a,b,y\n{}\n", lines.join("\n"))
}

/// Three vendors: one fresh, one noisy, one a copy of the first, and some test rows.
fn market() -> Folder {
    let first = lines(1, 50, 1.0);
    let owners = [("fresh", first.clone()), ("noisy", lines(2, 50, 6.0)), ("copy", first)];
    Folder::with("rows.csv", table(&owners))
        .and("test.csv", without_owner(&lines(3, 200, 1.0)))
        .and("mine.csv", without_owner(&lines(4, 30, 1.0)))
}

fn csv(folder: &Folder, line: &str) -> Csv {
    Csv::parse(&folder.stdout(line))
}

fn json(folder: &Folder, file: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(file)).expect("JSON")
}

/// Minus the mean of [`losses`].
fn refit(train: &[[f64; 3]], test: &[[f64; 3]], ridge: f64) -> f64 {
    -losses(train, test, ridge).iter().sum::<f64>() / test.len() as f64
}

/// Squared errors at the test rows of ridge regression with an unpenalised intercept by elimination, sharing no
/// code with dshap.
fn losses(train: &[[f64; 3]], test: &[[f64; 3]], ridge: f64) -> Vec<f64> {
    if train.is_empty() {
        let mean = test.iter().map(|row| row[2]).sum::<f64>() / test.len() as f64;
        return test.iter().map(|row| (row[2] - mean).powi(2)).collect();
    }
    let x = |row: &[f64; 3]| [1.0, row[0], row[1]];
    let mut system = [[0.0; 4]; 3];
    for row in train {
        for (i, equation) in system.iter_mut().enumerate() {
            (0..3).for_each(|j| equation[j] += x(row)[i] * x(row)[j]);
            equation[3] += x(row)[i] * row[2];
        }
    }
    (1..3).for_each(|i| system[i][i] += ridge);
    for k in 0..3 {
        for i in (0..3).filter(|&i| i != k) {
            let factor = system[i][k] / system[k][k];
            (0..4).for_each(|j| system[i][j] -= factor * system[k][j]);
        }
    }
    let coef: Vec<f64> = (0..3).map(|i| system[i][3] / system[i][i]).collect();
    let error = |row: &[f64; 3]| (row[2] - x(row).iter().zip(&coef).map(|(x, b)| x * b).sum::<f64>()).powi(2);
    test.iter().map(error).collect()
}

fn parsed(lines: &[String]) -> Vec<[f64; 3]> {
    let cells =
        |line: &String| line.split(',').map(|cell| cell.parse().expect("a number")).collect::<Vec<f64>>();
    lines.iter().map(cells).map(|cells| [cells[0], cells[1], cells[2]]).collect()
}

#[test]
fn values_are_those_of_real_refits() {
    let owners = [lines(1, 20, 1.0), lines(2, 9, 4.0), lines(3, 2, 1.0)];
    let (own, test) = (lines(4, 6, 1.0), lines(5, 40, 1.0));
    let names = ["a", "b", "c"];
    let folder = Folder::with(
        "rows.csv",
        table(&[("b", owners[1].clone()), ("a", owners[0].clone()), ("c", owners[2].clone())]),
    )
    .and("test.csv", without_owner(&test))
    .and("mine.csv", without_owner(&own));
    for has_own in [false, true] {
        let utility = |coalition: usize| {
            let members = (0..3).filter(|g| coalition >> g & 1 == 1).flat_map(|g| parsed(&owners[g]));
            let own = parsed(&own).into_iter().filter(|_| has_own);
            refit(&own.chain(members).collect::<Vec<_>>(), &parsed(&test), 0.7)
        };
        let extra = if has_own { " --own mine.csv" } else { "" };
        let found = csv(
            &folder,
            &format!(
                "dshap owners rows.csv --by vendor --target y --test test.csv --ridge 0.7 --game-only{extra}"
            ),
        );
        assert_eq!(found.column("owner"), names);
        for (g, value) in found.numbers("shapley").into_iter().enumerate() {
            let others: Vec<usize> = (0..3).filter(|other| *other != g).collect();
            let gain = |coalition: usize| utility(coalition | 1 << g) - utility(coalition);
            let pair = 1 << others[0] | 1 << others[1];
            let expected = (gain(0) + gain(pair)) / 3.0 + (gain(1 << others[0]) + gain(1 << others[1])) / 6.0;
            assert_close(value, expected, 1e-9);
            if has_own {
                assert_close(found.numbers("given_own")[g], gain(0), 1e-9);
                // The spread over test rows.
                let (mine, test) = (parsed(&own), parsed(&test));
                let both: Vec<[f64; 3]> = mine.iter().chain(&parsed(&owners[g])).copied().collect();
                let gains: Vec<f64> = losses(&mine, &test, 0.7)
                    .iter()
                    .zip(losses(&both, &test, 0.7))
                    .map(|(a, b)| a - b)
                    .collect();
                let n = gains.len() as f64;
                let mean = gains.iter().sum::<f64>() / n;
                let sum = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>();
                assert_close(found.numbers("given_own_stderr")[g], (sum / (n * (n - 1.0))).sqrt(), 1e-9);
            }
        }
    }
}

#[test]
fn a_copy_shares_the_credit_and_row_sums_do_not_show_it() {
    let folder = market();
    let line = "dshap owners rows.csv --by vendor --target y --test test.csv -o owners.json --seed 4";
    let said = folder.run(line);
    assert!(
        said.contains("exit 0")
            && said.contains("50 rows belong to more than one owner; `copy` and `fresh` share 50"),
        "{said}"
    );
    assert!(said.contains("all 8 coalitions of owners were tried"), "{said}");
    let found = json(&folder, "owners.json");
    let line = |owner: usize, column: &str| found["owners"][owner][column].as_f64().expect("a number");
    // By name: copy, fresh, noisy.
    assert_close(line(0, "shapley"), line(1, "shapley"), 1e-12);
    assert!(line(2, "shapley") < line(0, "shapley"));
    assert_close(line(0, "row_sum"), line(1, "row_sum"), 1e-12);
    assert_eq!((line(0, "duplicates"), line(2, "duplicates")), (50.0, 0.0));
    let sum: f64 = (0..3).map(|owner| line(owner, "shapley")).sum();
    assert_close(sum, found["total"].as_f64().expect("a total"), 1e-12);
    let first = &found["interactions"][0];
    assert_eq!((first["a"].as_str(), first["b"].as_str()), (Some("copy"), Some("fresh")));
    assert_eq!(found["seed"], 4);
    // To a buyer who has the copied rows, a copy brings next to nothing.
    folder.write("fresh.csv", without_owner(&lines(1, 50, 1.0)));
    let own = csv(
        &folder,
        "dshap owners rows.csv --by vendor --target y --test test.csv --own fresh.csv --game-only --ridge 0.1",
    );
    assert!(own.numbers("given_own")[0].abs() < 0.001 * line(0, "shapley"), "{:?}", own.numbers("given_own"));
}

#[test]
fn copies_can_count_once() {
    let folder = market();
    let line = "dshap owners rows.csv --by vendor --target y --test test.csv --ridge 0.5 --game-only";
    let once = csv(&folder, &format!("{line} --duplicates once")).numbers("shapley");
    // Without the copy there are two owners; together the copies are worth what the original is worth alone.
    folder.write("two.csv", table(&[("fresh", lines(1, 50, 1.0)), ("noisy", lines(2, 50, 6.0))]));
    let two =
        csv(&folder, "dshap owners two.csv --by vendor --target y --test test.csv --ridge 0.5 --game-only");
    let total: f64 = two.numbers("shapley").iter().sum();
    assert_close(once.iter().sum::<f64>(), total, 1e-9);
    assert_close(once[0], once[1], 1e-12);
    let each: f64 = csv(&folder, line).numbers("shapley").iter().sum();
    assert!((each - total).abs() > 1e-6, "each copy counts otherwise");
}

#[test]
fn copies_with_a_little_noise_are_found() {
    let first = lines(1, 40, 1.0);
    let mut draws = Draws::new(77);
    let blurred: Vec<String> = parsed(&first)
        .iter()
        .map(|row| row.map(|cell| format!("{:.6}", cell + 0.001 * draws.normal())).join(","))
        .collect();
    let owners = [("blurred", blurred), ("first", first), ("other", lines(2, 40, 1.0))];
    let folder = Folder::with("rows.csv", table(&owners)).and("test.csv", without_owner(&lines(3, 50, 1.0)));
    let line = "dshap owners rows.csv --by vendor --target y --test test.csv --near 0.01";
    let found = csv(&folder, line);
    assert_eq!(found.numbers("duplicates"), [0.0; 3]);
    assert_eq!(found.numbers("near"), [40.0, 40.0, 0.0]);
    assert!(
        folder
            .run(line)
            .contains("80 rows are near a row of another owner; most of them: 40 of `blurred` near `first`")
    );
}

#[test]
fn splitting_an_owner_changes_the_game_and_not_the_row_sums() {
    let (first, other) = (lines(1, 40, 1.0), lines(2, 40, 1.0));
    let halves = [("big", first[..20].to_vec()), ("big2", first[20..].to_vec()), ("other", other.clone())];
    let folder = Folder::with("one.csv", table(&[("big", first), ("other", other)]))
        .and("two.csv", table(&halves))
        .and("test.csv", without_owner(&lines(3, 200, 1.0)));
    let [one, two] = ["one", "two"]
        .map(|name| csv(&folder, &format!("dshap owners {name}.csv --by vendor --target y --test test.csv")));
    let sums = |column: &str| (one.numbers(column)[0], two.numbers(column)[0] + two.numbers(column)[1]);
    let (whole, halves) = sums("row_sum");
    assert_close(halves, whole, 1e-12);
    let (whole, halves) = sums("shapley");
    assert!(halves > 1.05 * whole, "{halves} {whole}");
}

#[test]
fn every_way_of_reading_gives_the_same_bits() {
    let folder = market();
    let options = "--by vendor --target y --test test.csv";
    let plain = folder.stdout(&format!("dshap owners rows.csv {options}"));
    for line in [
        format!("dshap owners rows.csv {options} --threads 1"),
        format!("dshap owners rows.csv {options} --threads 3 --memory 200MB"),
    ] {
        assert_eq!(folder.stdout(&line), plain, "{line}");
    }
    let piped = folder.output_with(&format!("dshap owners - {options}"), &folder.bytes("rows.csv"));
    assert_eq!(String::from_utf8_lossy(&piped.stdout), plain);
}

#[test]
fn without_test_rows_owners_measure_each_other() {
    let folder = market();
    let said = folder.run("dshap owners rows.csv --by vendor --target y --game-only");
    assert!(said.contains("the rows of the owners are also the test rows"), "{said}");
    assert!(said.contains("150 rows of the owners, by cross-fitting in 5 folds"), "{said}");
    let strict = folder.run("dshap owners rows.csv --by vendor --target y --game-only --strict -o o.csv");
    assert!(strict.contains("exit 1") && !folder.files().contains(&"o.csv".to_string()), "{strict}");
    let said = folder.run("dshap owners rows.csv --by vendor --target y --own mine.csv --game-only");
    assert!(said.contains("30 rows of the buyer, by cross-fitting in 5 folds"), "{said}");
}

#[test]
fn contributions_to_test_rows_average_to_the_values() {
    let mut test = String::from("a,b,y,region\n");
    for (i, line) in lines(3, 60, 1.0).iter().enumerate() {
        let _ = writeln!(test, "{line},{}", ["north", "south", ""][i % 3]);
    }
    let folder = market().and("test.csv", test);
    let options = "--by vendor --target y --test test.csv --game-only";
    let values = csv(&folder, &format!("dshap owners rows.csv {options} --explain-test each.csv"));
    let each = Csv::parse(&folder.read("each.csv"));
    assert_eq!(each.header(), ["row", "owner", "contribution"]);
    assert_eq!(each.len(), 180);
    for (owner, value) in values.column("owner").into_iter().zip(values.numbers("shapley")) {
        let of_owner = each.column("owner").into_iter().zip(each.numbers("contribution"));
        let sum: f64 =
            of_owner.filter(|(name, _)| *name == owner).map(|(_, contribution)| contribution).sum();
        assert_close(sum / 60.0, value, 1e-9);
    }
    folder.stdout(&format!("dshap owners rows.csv {options} --explain-test parts.csv --segment region"));
    let parts = Csv::parse(&folder.read("parts.csv"));
    assert_eq!(parts.header(), ["segment", "owner", "rows", "contribution", "stderr"]);
    assert_eq!((parts.len(), parts.numbers("rows")[0]), (9, 20.0));
    let north: f64 = (0..60).step_by(3).map(|row| each.numbers("contribution")[3 * row]).sum();
    let place = parts.column("segment").iter().position(|segment| *segment == "north").expect("north");
    assert_close(parts.numbers("contribution")[place], north / 20.0, 1e-9);
}

#[test]
fn labels_neighbours_and_densities_have_games_too() {
    let mut rows = String::from("a,b,label,vendor\n");
    let mut draws = Draws::new(8);
    for i in 0..90 {
        let (a, b) = (draws.normal(), draws.normal());
        let label = if a + 0.5 * draws.normal() > 0.0 { "yes" } else { "no" };
        let _ = writeln!(rows, "{a:.4},{b:.4},{label},{}", ["p", "q", "r"][i % 3]);
    }
    let folder = Folder::with("rows.csv", rows);
    for (options, model) in [
        ("--target label", "a logistic regression"),
        ("--target label --utility accuracy", "utility is the share of labels predicted right"),
        ("--target label --method knn --k 3", "the nearest neighbours"),
        ("--task density --exclude label --bandwidth 0.5", "a kernel density estimate"),
    ] {
        let line = format!("dshap owners rows.csv --by vendor {options} -o o.json");
        let said = folder.run(&line);
        assert!(said.contains("exit 0") && said.contains(model), "{said}");
        let found = json(&folder, "o.json");
        let sum: f64 =
            (0..3).map(|owner| found["owners"][owner]["shapley"].as_f64().expect("a number")).sum();
        assert!((sum - found["total"].as_f64().expect("a total")).abs() < 1e-9, "{line}");
        assert_eq!(found["owners"][0]["rows"], 30);
        assert_eq!(found["n_test"], 90);
    }
}

#[test]
fn many_owners_join_in_random_orders() {
    let owners: Vec<(String, Vec<String>)> =
        (0..24).map(|g| (format!("v{g:02}"), lines(100 + g, 12, 1.0 + (g % 4) as f64))).collect();
    let borrowed: Vec<(&str, Vec<String>)> =
        owners.iter().map(|(name, lines)| (name.as_str(), lines.clone())).collect();
    let folder =
        Folder::with("rows.csv", table(&borrowed)).and("test.csv", without_owner(&lines(3, 200, 1.0)));
    let line =
        "dshap owners rows.csv --by vendor --target y --test test.csv --game-only --stop 0.2 -o o.json";
    let said = folder.run(&format!("{line} --seed 3 --threads 2"));
    assert!(said.contains("owners joined in random orders"), "{said}");
    let found = json(&folder, "o.json");
    assert_eq!(found["solved"]["reached"], true);
    let sum: f64 = (0..24).map(|owner| found["owners"][owner]["shapley"].as_f64().expect("a number")).sum();
    assert_close(sum, found["total"].as_f64().expect("a total"), 1e-9);
    folder.run(&format!("{line} --seed 3 --threads 1"));
    assert_eq!(json(&folder, "o.json")["owners"], found["owners"]);
    let said = folder.run(&format!("{} --samples 1", line.replace("0.2", "0.001")));
    assert!(said.contains("some standard errors are still above 0.1 %"), "{said}");
}

#[test]
fn a_budget_is_divided_to_the_last_unit() {
    let folder = market();
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv -o owners.json");
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv -o owners.csv");
    for file in ["owners.json", "owners.csv"] {
        let said = folder.run(&format!("dshap payout {file} --budget 1000.01 -o paid.csv"));
        assert!(said.contains("the payouts add up to 1000.01"), "{said}");
        assert!(said.contains("the ranking of the owners survives resampling in"), "{said}");
        let paid = Csv::parse(&folder.read("paid.csv"));
        let cents: i64 = paid.numbers("payout").iter().map(|amount| (100.0 * amount).round() as i64).sum();
        assert_eq!(cents, 100_001);
        assert!(paid.numbers("payout_stderr").iter().all(|error| *error > 0.0));
    }
    let paid = |options: &str| {
        let paid = csv(&folder, &format!("dshap payout owners.csv --budget 900 {options}"));
        paid.numbers("payout")
    };
    assert_eq!(paid("--floor 300"), [300.0; 3]);
    assert_eq!(paid("--unit 300").iter().sum::<f64>(), 900.0);
    let rows = paid("--basis rows");
    assert_eq!(rows[2], 0.0, "noisy rows sum up to less than nothing: {rows:?}");
    assert!(paid("--basis rows --negative keep")[2] < 0.0);
    assert_eq!(paid("--cap 400").iter().sum::<f64>(), 900.0);
}

#[test]
fn row_values_can_be_paid_for() {
    let folder = market();
    folder.stdout("dshap value rows.csv --by vendor --target y -o values.csv");
    let by_rows = csv(&folder, "dshap payout values.csv --by vendor --budget 100");
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv -o owners.csv");
    let by_owners = csv(&folder, "dshap payout owners.csv --basis rows --budget 100");
    assert_eq!(by_rows.numbers("payout"), by_owners.numbers("payout"));
    assert_eq!(by_rows.numbers("rows"), [50.0; 3]);
}

#[test]
fn receipts_are_verified_and_forged_ones_are_caught() {
    let folder = market();
    folder.stdout(
        "dshap owners rows.csv --by vendor --target y --test test.csv -o owners.json --manifest o.receipt",
    );
    folder.stdout("dshap payout owners.json --budget 1000 --seed 9 -o paid.csv --manifest p.receipt");
    for receipt in ["o.receipt", "p.receipt"] {
        let said = folder.run(&format!("dshap verify {receipt}"));
        assert!(said.contains("exit 0") && said.contains("is right"), "{said}");
    }
    let receipt = json(&folder, "p.receipt");
    assert_eq!((receipt["seed"].as_u64(), receipt["options"]["budget"].as_f64()), (Some(9), Some(1000.0)));
    assert_eq!(receipt["inputs"][0]["sha256"].as_str().map(str::len), Some(64));
    // One figure is changed by hand.
    let text = folder.read("p.receipt");
    let place = text.find("\"units\": ").expect("units") + 9;
    let forged = format!("{}7{}", &text[..place], &text[place + 1..]);
    assert_ne!(forged, text);
    folder.write("forged.receipt", forged);
    let said = folder.run("dshap verify forged.receipt");
    assert!(
        said.contains("exit 1") && said.contains("the receipt was changed after it was written"),
        "{said}"
    );
    // An input is changed.
    let owners = folder.read("owners.json").replacen("\"rows\": 50", "\"rows\": 51", 1);
    folder.write("owners.json", owners);
    let said = folder.run("dshap verify p.receipt");
    assert!(said.contains("exit 1") && said.contains("`owners.json` has changed since"), "{said}");
    std::fs::remove_file(folder.path("test.csv")).expect("it is there");
    let said = folder.run("dshap verify o.receipt");
    assert!(said.contains("exit 1") && said.contains("`test.csv` is not there"), "{said}");
    let said = folder.run("dshap verify rows.csv");
    assert!(said.contains("exit 1") && said.contains("is not a receipt of dshap"), "{said}");
}

#[test]
fn a_valuer_remembers_the_moments_of_owners() {
    let (a, b, c) = (lines(1, 30, 1.0), lines(2, 20, 3.0), lines(5, 25, 1.0));
    let folder = Folder::with("ab.csv", table(&[("a", a.clone()), ("b", b.clone())]))
        .and("c.csv", table(&[("c", c.clone())]))
        .and("b.csv", table(&[("b", b.clone())]))
        .and("abc.csv", table(&[("a", a.clone()), ("b", b), ("c", c.clone())]))
        .and("ac.csv", table(&[("a", a), ("c", c)]))
        .and("test.csv", without_owner(&lines(3, 100, 1.0)));
    let values = |table: &str| {
        let options = if table.ends_with(".dshap") { "" } else { "--by vendor --target y" };
        csv(&folder, &format!("dshap owners {table} {options} --test test.csv --ridge 0.3 --game-only"))
    };
    let same = |valuer: &str, table: &str| {
        let (found, expected) = (values(valuer), values(table));
        assert_eq!(found.column("owner"), expected.column("owner"));
        assert_eq!(found.numbers("rows"), expected.numbers("rows"));
        for column in ["shapley", "stderr"] {
            let pairs = found.numbers(column).into_iter().zip(expected.numbers(column));
            pairs.for_each(|(found, expected)| assert_close(found, expected, 1e-9));
        }
    };
    folder.stdout("dshap fit ab.csv --by vendor --target y -o ab.dshap");
    same("ab.dshap", "ab.csv");
    folder.stdout("dshap update ab.dshap c.csv -o abc.dshap");
    same("abc.dshap", "abc.csv");
    folder.stdout("dshap update abc.dshap --forget b.csv -o ac.dshap");
    same("ac.dshap", "ac.csv");
    folder.stdout("dshap fit c.csv --by vendor --target y -o c.dshap");
    folder.stdout("dshap merge ab.dshap c.dshap -o merged.dshap");
    same("merged.dshap", "abc.csv");
    let said = folder.run("dshap owners ab.dshap --test test.csv -o o.csv --manifest receipt");
    assert!(
        said.contains("chosen by") && folder.read("o.csv").starts_with("owner,rows,joint,shapley,stderr\n"),
        "{said}"
    );
    assert!(folder.run("dshap verify receipt").contains("is right"));
    folder.stdout("dshap fit ab.csv --exclude vendor --target y -o plain.dshap");
    for (line, words) in [
        ("owners plain.dshap --test test.csv", "does not know the owners of its rows"),
        ("owners ab.dshap", "holds no rows, so there are none to test on"),
        ("owners ab.dshap --test test.csv --target b", "`--target` is fixed by the valuer"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(!block.contains("exit 0") && block.contains(words), "{block}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let pipe = market();
    let said = pipe.run("dshap owners - --by vendor --target y --manifest m.json");
    assert!(said.contains("exit 2") && said.contains("standard input is not one"), "{said}");
    assert!(!pipe.path("m.json").exists());
    let folder = market().and("none.csv", "a,b,y,vendor\n1,2,3,\n2,3,4,\n");
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv --game-only -o owners.csv");
    for (line, exit, words) in [
        ("owners rows.csv --target y", 2, "no column names the owners"),
        ("owners none.csv --by vendor --target y", 1, "column `vendor` is empty: no row has an owner"),
        ("owners rows.csv --by vendor --target y --method loo", 2, "there is no game between owners for it"),
        (
            "owners rows.csv --by vendor --target y --k 3",
            2,
            "`--k` has no effect on the owners of a regression table",
        ),
        ("owners rows.csv --by vendor --target y --segment a", 2, "`--segment` needs `--explain-test`"),
        ("owners rows.csv --by vendor --target y --test rows.csv -o rows.csv", 2, "`rows.csv` is an input"),
        ("payout owners.csv --budget 1.005", 2, "`--budget 1.005` is not a whole number of units of 0.01"),
        ("payout owners.csv --budget 100 --floor 50", 2, "`--floor` is too high"),
        ("payout owners.csv --budget 100 --basis given-own", 1, "has no column `given_own`"),
        ("payout test.csv --budget 100", 1, "`test.csv` has no column `owner`"),
        ("payout owners.csv", 2, "--budget <AMOUNT>"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains(&format!("exit {exit}")) && block.contains(words), "{block}");
    }
}

#[test]
fn joint_values_of_owners_see_copies() {
    let good = lines(21, 60, 1.0);
    let one = lines(22, 1, 1.0);
    let owners = [
        ("fresh", good.clone()),
        ("other", lines(23, 60, 1.0)),
        ("solo", one),
        // One row of its own, sold sixty times.
        ("stuffed", vec![lines(24, 1, 0.1).remove(0); 60]),
    ];
    let folder = Folder::with("rows.csv", table(&owners)).and("test.csv", without_owner(&lines(25, 80, 1.0)));
    let found = csv(&folder, "dshap owners rows.csv --by vendor --target y --test test.csv");
    let (joint, sums) = (found.numbers("joint"), found.numbers("row_sum"));
    // One row joins as it does when rows are valued.
    assert_close(joint[2], sums[2], 1e-8);
    // Row sums count the copies sixty times, the joint value does not.
    assert!(joint[3] < 0.2 * sums[3], "{joint:?} {sums:?}");
    assert!(joint[0] > 2.0 * joint[3], "{joint:?}");
    // A valuer has the moments, and they suffice.
    folder.stdout("dshap fit rows.csv --by vendor --target y -o rows.dshap");
    let saved = csv(&folder, "dshap owners rows.dshap --test test.csv").numbers("joint");
    joint.iter().zip(&saved).for_each(|(joint, saved)| assert_close(*saved, *joint, 1e-9));
    // The game alone has no such column.
    for table in ["rows.csv --by vendor --target y", "rows.dshap"] {
        let game = folder.stdout(&format!("dshap owners {table} --test test.csv --game-only"));
        assert!(game.starts_with("owner,rows,shapley,"), "{game}");
    }
}

#[test]
fn a_name_with_blanks_around_it_has_the_sums_of_its_rows() {
    let plain = [("north", lines(1, 20, 1.0)), ("1", lines(2, 20, 1.0)), ("west", lines(3, 20, 1.0))];
    let padded = [("north ", lines(1, 20, 1.0)), (" 1.0", lines(2, 20, 1.0)), ("west", lines(3, 20, 1.0))];
    let folder = Folder::with("plain.csv", table(&plain)).and("padded.csv", table(&padded));
    let sums = |file: &str| {
        let found = csv(&folder, &format!("dshap owners {file} --by vendor --target y"));
        (found.column("owner").join(","), found.numbers("row_sum"), found.numbers("row_mean"))
    };
    let expected = sums("plain.csv");
    assert_eq!(expected.0, "1,north,west");
    assert!(expected.1.iter().all(|sum| *sum > 0.0), "{expected:?}");
    assert_eq!(sums("padded.csv"), expected);
}

#[test]
fn errors_of_random_orders_reach_payouts() {
    let names: Vec<String> = (0..18).map(|i| format!("v{i:02}")).collect();
    let owners: Vec<(&str, Vec<String>)> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), lines(i as u64, 6, 1.0))).collect();
    let folder = Folder::with("rows.csv", table(&owners)).and("test.csv", without_owner(&lines(99, 60, 1.0)));
    folder.stdout(
        "dshap owners rows.csv --by vendor --target y --test test.csv --stop 0.5 -o o.json --game-only",
    );
    let found = json(&folder, "o.json");
    for owner in 0..18 {
        let error = found["owners"][owner]["stderr"].as_f64().expect("an error");
        let variance = found["covariance"][owner][owner].as_f64().expect("a variance");
        assert_close(variance, error * error, 1e-12);
    }
}

#[test]
fn payouts_for_what_an_owner_adds_to_yours_have_errors() {
    let folder = market();
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv --own mine.csv -o o.json");
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv --own mine.csv -o o.csv");
    for (file, errors) in [("o.json", "joint"), ("o.csv", "independent")] {
        let line = format!("dshap payout {file} --budget 100 --basis given-own --negative clip");
        let said = folder.run(&line);
        assert!(said.contains("exit 0") && said.contains(&format!("({errors} errors)")), "{said}");
        let found = csv(&folder, &line);
        assert!(found.numbers("payout_stderr").iter().any(|error| *error > 0.0), "{said}");
    }
}

#[test]
fn too_few_rows_for_row_values_leave_the_game() {
    let mut wide = String::from("a,b,c,d,e,f,g,h,y,vendor\n");
    let mut draws = Draws::new(5);
    for i in 0..9 {
        let cells: Vec<String> = (0..9).map(|_| format!("{:.4}", draws.normal())).collect();
        let _ = writeln!(wide, "{},v{}", cells.join(","), i % 3);
    }
    let folder = Folder::with("wide.csv", wide);
    let line = "dshap owners wide.csv --by vendor --target y";
    let said = folder.run(line);
    assert!(
        said.contains("exit 0") && said.contains("9 rows are too few for values of single rows"),
        "{said}"
    );
    let found = csv(&folder, line);
    assert!(found.numbers("shapley").iter().all(|value| value.is_finite()));
    assert!(!folder.stdout(line).contains("row_sum"));
}

#[test]
fn owners_who_pay_are_counted_apart() {
    let folder = Folder::with("o.csv", "owner,rows,shapley\na,1,3\nb,1,-1\nc,1,2\n");
    let said = folder.run("dshap payout o.csv --budget 100 --negative keep");
    assert!(said.contains("2 of 3 owners receive a payout, 1 pays, and"), "{said}");
}

/// A vendor, a copy of it, a noisy one and one with a single row; and the same without the copy.
fn copied_market() -> Folder {
    let (fresh, noisy, solo) = (lines(1, 50, 1.0), lines(2, 50, 6.0), lines(7, 1, 1.0));
    let whole = |name, lines: &Vec<String>| (name, lines.clone());
    let three = [whole("fresh", &fresh), whole("noisy", &noisy), whole("solo", &solo)];
    // Within one owner, too.
    let twice = [noisy.clone(), noisy[..20].to_vec()].concat();
    let copied = [whole("fresh", &fresh), ("noisy", twice), whole("solo", &solo), whole("copy", &fresh)];
    Folder::with("three.csv", table(&three))
        .and("copied.csv", table(&copied))
        .and("test.csv", without_owner(&lines(3, 100, 1.0)))
}

#[test]
fn copies_count_once_in_row_sums_and_joint_values_too() {
    let folder = copied_market();
    for options in ["", " --m 20,80", " --method knn --k 3", " --memory 200MB --threads 1"] {
        let line = "--by vendor --target y --test test.csv";
        let three = csv(&folder, &format!("dshap owners three.csv {line}{options}"));
        let once = csv(&folder, &format!("dshap owners copied.csv {line}{options} --duplicates once"));
        assert_eq!(once.column("owner"), ["copy", "fresh", "noisy", "solo"]);
        assert_eq!(once.numbers("repeated"), [0.0, 0.0, 20.0, 0.0]);
        let sums = if options.contains("--m ") {
            vec!["row_sum", "row_sum_m20", "row_sum_m80"]
        } else {
            vec!["row_sum"]
        };
        for column in sums {
            let (three, once) = (three.numbers(column), once.numbers(column));
            assert_close(once[0], once[1], 1e-12);
            assert_close(once[0] + once[1], three[0], 1e-9);
            assert_close(once[2], three[1], 1e-9);
            assert_close(once[3], three[2], 1e-9);
        }
        if !options.contains("knn") {
            let (three, once) = (three.numbers("joint"), once.numbers("joint"));
            [(0, 0), (1, 0), (2, 1), (3, 2)].iter().for_each(|&(a, b)| assert_close(once[a], three[b], 1e-8));
        }
    }
    // So the two are paid together what the first is paid without its copy.
    folder.stdout("dshap owners three.csv --by vendor --target y --test test.csv -o three.json");
    folder.stdout(
        "dshap owners copied.csv --by vendor --target y --test test.csv --duplicates once -o once.json",
    );
    let paid = |file: &str| {
        csv(&folder, &format!("dshap payout {file} --budget 100 --basis rows")).numbers("payout")
    };
    let (three, once) = (paid("three.json"), paid("once.json"));
    assert!((once[0] + once[1] - three[0]).abs() < 0.011, "{once:?} {three:?}");
}

#[test]
fn near_copies_count_once_and_within_an_owner_too() {
    let (first, other) = (lines(1, 40, 1.0), lines(2, 40, 1.0));
    let mut draws = Draws::new(77);
    let mut blur = |lines: &[String]| -> Vec<String> {
        let blurred =
            |row: &[f64; 3]| row.map(|cell| format!("{:.6}", cell + 0.001 * draws.normal())).join(",");
        parsed(lines).iter().map(blurred).collect()
    };
    let blurred = blur(&first);
    let padded = [other.clone(), blur(&other[..15])].concat();
    let near = [("first", first.clone()), ("other", padded), ("blurred", blurred)];
    let exact = [("first", first.clone()), ("other", other.clone()), ("blurred", first)];
    let folder = Folder::with("near.csv", table(&near))
        .and("exact.csv", table(&exact))
        .and("test.csv", without_owner(&lines(3, 50, 1.0)));
    let line = "--by vendor --target y --ridge 0.5 --duplicates once";
    for options in ["--test test.csv", "--test test.csv --method knn --k 3"] {
        let line = format!("{line} {options}")
            .replace(if options.contains("knn") { "--ridge 0.5" } else { "  " }, "");
        let found = csv(&folder, &format!("dshap owners near.csv {line} --near 0.01"));
        let expected = csv(&folder, &format!("dshap owners exact.csv {line}"));
        assert_eq!(found.column("owner"), ["blurred", "first", "other"]);
        assert_eq!(found.numbers("near"), [40.0, 40.0, 0.0]);
        assert_eq!(found.numbers("near_repeated"), [0.0, 0.0, 15.0]);
        for column in ["shapley", "row_sum"] {
            let pairs = found.numbers(column).into_iter().zip(expected.numbers(column));
            pairs.for_each(|(found, expected)| assert_close(found, expected, 1e-9));
        }
        let each = csv(&folder, &format!("dshap owners near.csv {line} --game-only"));
        assert!((each.numbers("shapley")[0] - found.numbers("shapley")[0]).abs() > 1e-6);
    }
    let said = folder.run(&format!("dshap owners near.csv {line} --test test.csv --near 0.01"));
    assert!(said.contains("15 rows are near an earlier row of the same owner"), "{said}");
    // Where rows test themselves, one of each cluster does.
    let said = folder.run(&format!("dshap owners near.csv {line} --near 0.01 --game-only"));
    assert!(said.contains("80 rows of the owners, by cross-fitting"), "{said}");
}

#[test]
fn rounds_end_at_the_most_and_say_that_errors_are_large() {
    let names: Vec<String> = (0..24).map(|i| format!("v{i:02}")).collect();
    let owners: Vec<(&str, Vec<String>)> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), lines(i as u64, 6, 1.0))).collect();
    let folder = Folder::with("rows.csv", table(&owners)).and("test.csv", without_owner(&lines(99, 60, 1.0)));
    let line = "dshap owners rows.csv --by vendor --target y --test test.csv --game-only -o o.json";
    for samples in [50, 25, 300] {
        let said = folder.run(&format!("{line} --stop 0.0001 --samples {samples}"));
        let rounds = json(&folder, "o.json")["solved"]["rounds"].as_u64().expect("rounds");
        assert!(rounds <= samples && rounds + 8 > samples, "{rounds} of {samples}");
        assert!(said.contains("the most allowed; not all standard errors are below 0.0001"), "{said}");
        assert!(!said.contains("until standard errors were below"), "{said}");
    }
    let said = folder.run(&format!("{line} --stop 0.5"));
    assert!(
        said.contains("until standard errors were below 0.5") && !said.contains("the most allowed"),
        "{said}"
    );
}

#[test]
fn a_valuer_that_keeps_no_owners_says_so() {
    let mut rows = String::from("a,b,label,w,vendor\n");
    let mut draws = Draws::new(8);
    for i in 0..60 {
        let (a, b) = (draws.normal(), draws.normal());
        let label = if a + 0.5 * draws.normal() > 0.0 { "yes" } else { "no" };
        let _ = writeln!(rows, "{a:.4},{b:.4},{label},1,{}", ["p", "q"][i % 2]);
    }
    let folder = Folder::with("rows.csv", rows);
    for options in [
        "--target label --exclude w",
        "--target a --weight w --exclude label",
        "--task density --exclude label",
    ] {
        let line = format!("dshap fit rows.csv --by vendor {options} -o v.dshap");
        let said = folder.run(&line);
        let words = "the valuer does not keep the owners in column `vendor`: only a regression without row weights does";
        assert!(said.contains("exit 0") && said.contains(words), "{said}");
        let said = folder.run(&format!("{line} --strict"));
        assert!(said.contains("exit 1") && said.contains(words), "{said}");
    }
    let said = folder.run("dshap fit rows.csv --by vendor --target a --exclude label,w -o v.dshap --strict");
    assert!(said.contains("exit 0"), "{said}");
}

#[test]
fn nothing_to_pay_for_has_a_hint_that_helps() {
    let folder = Folder::with("neg.csv", "owner,rows,shapley\na,3,-1\nb,3,-2\n")
        .and("mixed.csv", "owner,rows,shapley\na,3,1\nb,3,-2\n");
    for negative in ["", " --negative keep"] {
        let said = folder.run(&format!("dshap payout neg.csv --budget 100{negative}"));
        assert!(said.contains("no owner has a positive value"), "{said}");
        assert!(said.contains("hint: choose another `--basis`") && !said.contains("clip"), "{said}");
    }
    let said = folder.run("dshap payout mixed.csv --budget 100 --negative keep");
    assert!(said.contains("`--negative clip` pays owners of positive value only"), "{said}");
}

#[test]
fn help_of_owners_is_about_owners() {
    let folder = Folder::new();
    let help = folder.stdout("dshap owners --help");
    for words in [
        "Rows that measure what coalitions of owners are worth",
        "chosen by five-fold error of all rows",
        "Default: 0.05",
        "Default: 20000",
        "one JSON object with everything",
    ] {
        assert!(help.contains(words), "{words}: {help}");
    }
    for words in ["d-shapley", "one JSON array", "rows drawn from the reference"] {
        assert!(!help.contains(words), "{words}: {help}");
    }
    assert!(folder.stdout("dshap value --help").contains("one JSON array"));
    let said = folder.run("dshap owners rows.csv --by v --target y --weight w");
    assert!(said.contains("exit 2") && said.contains("rows of owners have no weights"), "{said}");
}

#[test]
fn payouts_by_rows_have_errors_that_share_a_fit() {
    let folder = market();
    let options = "--by vendor --target y --test test.csv";
    folder.stdout(&format!("dshap owners rows.csv {options} -o o.json"));
    folder.stdout(&format!("dshap owners rows.csv {options} -o o.parquet"));
    let found = json(&folder, "o.json");
    let covariance = |g: usize, h: usize| found["row_sum_covariance"][g][h].as_f64().expect("a number");
    // By name: copy, fresh, noisy. The sums of copies go together perfectly.
    assert_close(covariance(0, 1), covariance(0, 0), 1e-6);
    let error = found["owners"][0]["row_sum_stderr"].as_f64().expect("a number");
    assert_close(covariance(0, 0), error * error, 1e-12);
    // Each row alone has the error of its value.
    let names: Vec<String> = (0..40).map(|i| format!("v{i:02}")).collect();
    let rows = lines(1, 40, 1.0);
    let single: Vec<(&str, Vec<String>)> =
        names.iter().zip(&rows).map(|(name, row)| (name.as_str(), vec![row.clone()])).collect();
    folder.write("single.csv", table(&single));
    let sums = csv(&folder, "dshap owners single.csv --by vendor --target y --stop 0.9");
    let values = csv(&folder, "dshap value single.csv --by vendor --target y --stderr");
    let pairs = sums.numbers("row_sum_stderr").into_iter().zip(values.numbers("stderr"));
    pairs.for_each(|(sum, value)| assert_close(sum, value, 1e-9));
    for (file, errors) in [("o.json", "joint"), ("o.parquet", "independent")] {
        let line = format!("dshap payout {file} --budget 100 --basis rows");
        let said = folder.run(&line);
        assert!(said.contains(&format!("({errors} errors)")), "{said}");
        let why = "errors are drawn independently, since the table does not say how those of two owners go together";
        assert_eq!(said.contains(why), errors == "independent", "{said}");
        assert!(csv(&folder, &line).numbers("payout_stderr")[0] > 0.0);
    }
}

#[test]
fn an_edited_result_is_refused_and_a_table_is_taken_as_it_is() {
    let folder = market();
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv --game-only -o owners.json");
    folder.stdout("dshap owners rows.csv --by vendor --target y --test test.csv --game-only -o owners.csv");
    folder.stdout("dshap payout owners.json --budget 100 --manifest sealed.json");
    let said = folder.run("dshap verify sealed.json");
    assert!(said.contains("is right") && !said.contains("note:"), "{said}");
    folder.stdout("dshap payout owners.csv --budget 100 --manifest plain.json");
    let said = folder.run("dshap verify plain.json");
    assert!(
        said.contains("note: `owners.csv` has no digest of its own") && said.contains("is right"),
        "{said}"
    );
    // One value is doubled by hand.
    let text = folder.read("owners.json");
    let mut edited = json(&folder, "owners.json");
    edited["owners"][2]["shapley"] =
        (2.0 * edited["owners"][2]["shapley"].as_f64().expect("a number")).into();
    folder.write("owners.json", edited.to_string());
    let said = folder.run("dshap payout owners.json --budget 100 --manifest new.json");
    assert!(
        said.contains("exit 1") && said.contains("`owners.json` was changed after dshap wrote it"),
        "{said}"
    );
    let said = folder.run("dshap verify sealed.json");
    assert!(said.contains("exit 1") && said.contains("`owners.json` has changed since"), "{said}");
    assert!(!folder.path("new.json").exists());
    folder.write("owners.json", text);
    assert!(folder.run("dshap verify sealed.json").contains("is right"));
}

/// Written by a version that broke ties by names and the seed alone.
const FIRST_RECEIPT: &str = include_str!("first_receipt.json");

#[test]
fn receipts_of_the_first_format_are_still_verified() {
    let folder = Folder::with("o.csv", "owner,shapley\na,1\nb,1\nc,1\nd,1\ne,1\nf,1\n")
        .and("first.json", FIRST_RECEIPT);
    let said = folder.run("dshap verify first.json");
    assert!(said.contains("exit 0") && said.contains("is right"), "{said}");
    // Now other owners receive the units left over.
    let then: serde_json::Value = serde_json::from_str(FIRST_RECEIPT).expect("JSON");
    let then: Vec<f64> =
        (0..6).map(|owner| then["result"]["owners"][owner]["payout"].as_f64().expect("a number")).collect();
    assert_ne!(csv(&folder, "dshap payout o.csv --budget 1.05").numbers("payout"), then);
    // A new receipt has a new format, and is verified by the new rule.
    folder.stdout("dshap payout o.csv --budget 1.05 --manifest second.json");
    assert_eq!(json(&folder, "second.json")["format"], 2);
    assert!(folder.run("dshap verify second.json").contains("is right"));
}

/// The numbers alone take three times the limit: 320 000 rows of 50 columns as doubles.
#[test]
fn a_table_above_the_limit_has_the_same_bits() {
    let (n, p) = (320_000, 50);
    let mut header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({n}, {p}), }}");
    header += &" ".repeat(117 - header.len());
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.push(b'\n');
    let mut state = 7_u64;
    for row in 0..n {
        for _ in 1..p {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.push((state >> 56) as u8);
        }
        bytes.push((row % 2) as u8);
    }
    let folder = Folder::with("rows.npy", bytes);
    let line = "dshap owners rows.npy --by column_49 --target column_48 --task regression --threads 2 \
                --duplicates once --game-only";
    let free = folder.stdout(line);
    assert_eq!(folder.stdout(&format!("{line} --memory 44MB")), free);
    let said = folder.run(&format!("{line} --memory 30MB"));
    assert!(said.contains("30 MB of memory is too little"), "{said}");
}
