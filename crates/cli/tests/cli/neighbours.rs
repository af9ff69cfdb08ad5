//! `--method knn` and `--method knn-shapley`: values by nearest neighbours.

use crate::common::{Csv, Folder, goods};
use insta::assert_snapshot;
use std::fmt::Write as _;

/// Three kinds of trees, told by two lengths; every tenth has a wrong name.
fn trees(seed: u64, n: usize) -> String {
    let mut draws = dshap_testkit::Draws::new(seed);
    let mut csv = String::from("id,leaf,trunk,soil,kind\n");
    for row in 0..n {
        let kind = row % 3;
        let (leaf, trunk) = (draws.normal() + 4.0 * kind as f64, 100.0 * draws.normal());
        let name = ["ash", "elm", "oak"][if row % 10 == 0 { (kind + 1) % 3 } else { kind }];
        let _ = writeln!(csv, "t{row},{leaf:.6},{trunk:.6},{},{name}", ["clay", "sand"][row % 7 % 2]);
    }
    csv
}

fn folder() -> Folder {
    Folder::with("t.csv", trees(5, 60)).and("new.csv", trees(6, 9)).and("test.csv", trees(7, 30))
}

#[test]
fn labels_are_valued_by_their_neighbours() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap value t.csv --target kind --id id --method knn --k 3 --stderr --bottom 3"), @"
    $ dshap value t.csv --target kind --id id --method knn --k 3 --stderr --bottom 3
    exit 0
    --- stdout
    row,id,value,stderr,note
    43,t43,-0.014663,0.00634518,
    0,t0,-0.0094507,0.00577736,
    50,t50,-0.00498979,0.00378871,
    --- stderr
    classification (guessed) of `kind`, method knn: 60 rows, each valued against the others
    labels `ash` (20), `elm` (20), `oak` (20)
    3 nearest rows by euclidean distance, columns divided by their standard deviations
    all 60 reference rows serve as test rows, each without itself
    p = 4, q = 4, m = 60
    3 passes over the table: an extra pass for labels
    values from -0.014663 to 0.014811, half of them between 0.0038686 and 0.011397
    ");
    assert_snapshot!(folder.run("dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn --metric cosine --scale none --m 30 --q 6"), @"
    $ dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn --metric cosine --scale none --m 30 --q 6
    exit 0
    --- stdout
    row,value,note
    0,0.00109166,
    1,-0.00121558,
    2,-0.00203322,
    3,0.00437572,
    4,0.00146286,
    5,0.00365238,
    6,0.00342537,
    7,0.00314072,
    8,0.00897692,
    --- stderr
    classification (guessed) of `kind`, method knn: 9 rows valued against a reference of 60
    labels `ash` (20), `elm` (20), `oak` (20)
    5 nearest rows by cosine distance, columns as given
    30 test rows from `test.csv`
    p = 4, q = 6, m = 30
    2 passes over the reference: an extra pass for labels
    values from -0.0020332 to 0.0089769, half of them between 0.0010917 and 0.0036524
    ");
    assert_snapshot!(folder.run("dshap value t.csv --target kind --exclude id,soil --method knn-shapley --k 1 --samples 20 --seed 4 --top 2"), @"
    $ dshap value t.csv --target kind --exclude id,soil --method knn-shapley --k 1 --samples 20 --seed 4 --top 2
    exit 0
    --- stdout
    row,value,note
    13,0.0736419,
    33,0.0542073,
    --- stderr
    classification (guessed) of `kind`, method knn-shapley: 60 rows, valued as one dataset
    labels `ash` (20), `elm` (20), `oak` (20)
    nearest row by euclidean distance, columns divided by their standard deviations
    a sample of 20 reference rows serves as test rows, each without itself (seed 4)
    p = 2, sets of every size
    3 passes over the table: an extra pass for labels
    values from -0.061797 to 0.073642, half of them between 0.0022567 and 0.027885
    ");
}

#[test]
fn numbers_are_valued_by_their_neighbours() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(folder.run("dshap value goods.csv --target price --method knn --bottom 2"), @"
    $ dshap value goods.csv --target price --method knn --bottom 2
    exit 0
    --- stdout
    row,value,note
    20,22.2637,
    12,34.5695,
    --- stderr
    regression (guessed) of `price`, method knn: 22 rows, each valued against the others
    5 nearest rows by euclidean distance, columns divided by their standard deviations
    all 22 reference rows serve as test rows, each without itself
    p = 2, q = 6, m = 22
    values from 22.264 to 119.59, half of them between 46.972 and 91.819
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --method knn-shapley --metric manhattan --bottom 2"), @"
    $ dshap value goods.csv --target price --method knn-shapley --metric manhattan --bottom 2
    exit 0
    --- stdout
    row,value,note
    8,-131.191,
    10,-126.294,
    --- stderr
    regression (guessed) of `price`, method knn-shapley: 22 rows, valued as one dataset
    5 nearest rows by manhattan distance, columns divided by their standard deviations
    all 22 reference rows serve as test rows, each without itself
    p = 2, sets of every size
    values from -131.19 to 123.62, half of them between -87.472 and 72.334
    ");
}

/// The rows with a wrong name are those of the lowest value.
#[test]
fn wrong_labels_have_low_values() {
    let folder = Folder::with("t.csv", trees(8, 200));
    for method in ["knn", "knn-shapley"] {
        let line = format!("dshap value t.csv --target kind --exclude id --method {method} --bottom 20");
        let rows = Csv::parse(&folder.stdout(&line));
        let n_wrong = rows.numbers("row").iter().filter(|row| *row % 10.0 == 0.0).count();
        // One in ten of all rows is wrong: two of twenty by chance.
        assert!(n_wrong >= 15, "{method}: {n_wrong} of 20");
    }
}

#[test]
fn a_valuer_carries_its_rows_and_gives_the_same_bits() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap fit t.csv --target kind --exclude id --method knn --k 3 -o own.dshap"), @"
    $ dshap fit t.csv --target kind --exclude id --method knn --k 3 -o own.dshap
    exit 0
    --- stderr
    classification (guessed) of `kind`, method knn: a reference of 60 rows
    labels `ash` (20), `elm` (20), `oak` (20)
    3 nearest rows by euclidean distance, columns divided by their standard deviations
    all 60 reference rows serve as test rows, each without itself
    p = 4, q = 4, m = 60
    saved to `own.dshap` (4.3 kB)
    ");
    assert_snapshot!(folder.run("dshap fit t.csv --test test.csv --target kind --exclude id --method knn --k 3 -o v.dshap"), @"
    $ dshap fit t.csv --test test.csv --target kind --exclude id --method knn --k 3 -o v.dshap
    exit 0
    --- stderr
    classification (guessed) of `kind`, method knn: a reference of 60 rows
    labels `ash` (20), `elm` (20), `oak` (20)
    3 nearest rows by euclidean distance, columns divided by their standard deviations
    30 test rows from `test.csv`
    p = 4, q = 4, m = 60
    saved to `v.dshap` (5.2 kB)
    ");
    assert_snapshot!(folder.run("dshap inspect v.dshap"), @"
    $ dshap inspect v.dshap
    exit 0
    --- stdout
    valuer          v.dshap (5.2 kB)
    format          version 4, written by dshap 0.1.0
    task            classification of `kind`
    method          knn
    reference       60 rows
    carries         60 rows (2.4 kB)
    p               4 design columns of 3 features
    q               4 (by default)
    m               60 (by default)
    labels          ash (20), elm (20), oak (20)
    k               3
    metric          euclidean
    scale           std
    test rows       30, carried (1.2 kB)
                      test.csv  1 007 bytes  sha256 4e99fd4305072d47…
    missing cells   error
    unseen levels   error

    column         mean   std_dev
    leaf        4.0572    3.3960
    trunk      13.137    91.313
    soil=clay   0.56667   0.49554
    soil=sand   0.43333   0.49554

    levels of `soil`: clay, sand

    where the rows came from:
      60 rows fitted
        t.csv  1 980 bytes  sha256 5ca1f21e53b5f72c…
    ");
    let line = "--target kind --exclude id --method knn --k 3 --stderr";
    for (test, valuer) in [("", "own.dshap"), ("--test test.csv", "v.dshap")] {
        let direct = folder.stdout(&format!("dshap value new.csv --reference t.csv {test} {line}"));
        assert_eq!(folder.stdout(&format!("dshap value new.csv --valuer {valuer} --stderr")), direct);
        let one = folder.stdout(&format!("dshap value new.csv --valuer {valuer} --stderr --threads 1"));
        assert_eq!(one, direct);
    }
    let other = folder
        .stdout("dshap value new.csv --reference t.csv --target kind --exclude id --method knn --k 7 --m 20");
    assert_eq!(folder.stdout("dshap value new.csv --valuer own.dshap --k 7 --m 20"), other);
    assert_snapshot!(folder.run("dshap value new.csv --valuer own.dshap --top 1"), @"
    $ dshap value new.csv --valuer own.dshap --top 1
    exit 0
    --- stdout
    row,value,note
    4,0.0145454,
    --- stderr
    classification of `kind`, method knn: 9 rows valued by `own.dshap`, fitted to 60
    labels `ash` (20), `elm` (20), `oak` (20)
    3 nearest rows by euclidean distance, columns divided by their standard deviations
    all 60 reference rows serve as test rows, each without itself
    p = 4, q = 4, m = 60
    values from -0.0031734 to 0.014545, half of them between 0.0058904 and 0.011513
    ");
    assert_snapshot!(folder.run("dshap update v.dshap t.csv -o v.dshap"), @"
    $ dshap update v.dshap t.csv -o v.dshap
    exit 1
    --- stderr
    error: cannot update `v.dshap`
      caused by: the reference of a nearest-neighbour valuer cannot change: its scaling and its test rows depend on all its rows

    hint: fit the whole reference again: that reads it once
    ");
    assert_snapshot!(folder.run("dshap merge v.dshap own.dshap -o w.dshap"), @"
    $ dshap merge v.dshap own.dshap -o w.dshap
    exit 1
    --- stderr
    error: cannot merge `v.dshap`, `own.dshap`
      caused by: the reference of a nearest-neighbour valuer cannot change: its scaling and its test rows depend on all its rows

    hint: fit the whole reference again: that reads it once
    ");
}

/// Lists that are saved change no bit, whatever sizes are asked for, and older programs
/// refuse such a file by its version.
#[test]
fn lists_may_be_saved_with_a_valuer() {
    let folder = folder();
    let line = "--test test.csv --target kind --exclude id --method knn --k 3";
    folder.stdout(&format!("dshap fit t.csv {line} -o plain.dshap"));
    folder.stdout(&format!("dshap fit t.csv {line} --lists -o lists.dshap"));
    folder.stdout("dshap fit t.csv --target kind --exclude id --method knn --q 30 --lists -o own.dshap");
    folder.stdout("dshap fit t.csv --target kind --exclude id --method knn --q 30 -o plain-own.dshap");
    let inspected = folder.stdout("dshap inspect lists.dshap");
    assert!(inspected.contains("format          version 7,"), "{inspected}");
    // 60 rows for each of 30 test rows.
    assert!(
        inspected.contains("lists           in order of distance from each test row (14 kB)"),
        "{inspected}"
    );
    for (plain, lists) in [("plain", "lists"), ("plain-own", "own")] {
        for more in ["--stderr", "--k 7 --m 40", "--q 8", "--m 50,40", "--semivalue banzhaf", "--threads 1"] {
            let values =
                |valuer: &str| folder.stdout(&format!("dshap value new.csv --valuer {valuer}.dshap {more}"));
            assert_eq!(values(lists), values(plain), "{lists} {more}");
        }
    }
    let refused = folder.run(&format!("dshap value new.csv --reference t.csv {line} --lists"));
    assert!(refused.contains("exit 2") && refused.contains("unexpected argument '--lists'"), "{refused}");
    let folder = Folder::with("large.csv", trees(8, 2000));
    let fit = "dshap fit large.csv --target kind --exclude id --method knn --lists -o v.dshap";
    assert_snapshot!(folder.run(&format!("{fit} --memory 70MB")), @"
    $ dshap fit large.csv --target kind --exclude id --method knn --lists -o v.dshap --memory 70MB
    exit 1
    --- stderr
    error: cannot fit `large.csv`
      caused by: the lists of neighbours take 49 MB of memory, and `--memory` leaves 44 MB for them

    hint: allow more with `--memory`, or do without `--lists`
    ");
}

/// A tolerance is shown wherever a valuer is described, and one that leaves hardly any row is
/// reported.
#[test]
fn a_tolerance_is_shown_and_one_that_is_too_large_gets_a_warning() {
    let folder = folder().and("one.csv", trees(9, 1));
    let line = "--test one.csv --target kind --exclude id --method knn --k 3";
    folder.stdout(&format!("dshap fit t.csv {line} --tolerance 0.25 -o short.dshap"));
    let shown = "the furthest rows with 0.25 of all weight do not count";
    let inspected = folder.stdout("dshap inspect short.dshap");
    assert!(inspected.contains(&format!("tolerance       {shown}\n")), "{inspected}");
    let json = folder.stdout("dshap inspect short.dshap --json");
    assert!(json.contains("\"tolerance\": 0.25") || json.contains("\"tolerance\":0.25"), "{json}");
    let said = folder.run(&format!("dshap value t.csv {line} --tolerance 0.25 -o out.csv"));
    assert!(said.contains(shown), "{said}");

    let warned = |tolerance: &str| {
        let value = "dshap value new.csv --reference t.csv";
        let said = folder.run(&format!("{value} {line} --tolerance {tolerance} -o out.csv"));
        let values = std::fs::read_to_string(folder.path("out.csv")).expect("is there");
        let value = |line: &str| line.split(',').nth(1).and_then(|cell| cell.parse::<f64>().ok());
        let is_zero = |line: &&str| value(line) == Some(0.0);
        let n_zero = values.lines().skip(1).filter(is_zero).count();
        let zeros = 2 * n_zero > values.lines().skip(1).count();
        (said.contains(&format!("with `--tolerance {tolerance}` few rows are near enough")), zeros)
    };
    assert_eq!(warned("0.9"), (true, true));
    assert_eq!(warned("1e-6"), (false, false));
    let described = folder.stdout("dshap methods knn");
    assert!(described.contains("default 1e-16") && !described.contains("0.0000000"), "{described}");
}

#[test]
fn the_summary_says_how_neighbours_were_found() {
    let folder = folder();
    folder.stdout("dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn --summary s.json");
    let summary: serde_json::Value = serde_json::from_str(&folder.read("s.json")).expect("JSON");
    assert_eq!(summary["k"], 5);
    assert_eq!(summary["metric"], "euclidean");
    assert_eq!(summary["scale"], "std");
    assert_eq!(summary["test_rows"], 30);
    assert_eq!(summary["test_from_reference"], false);
    assert_eq!(summary["test_files"][0]["name"], "test.csv");
    assert_eq!(summary["test_files"][0]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(summary["labels"], serde_json::json!(["ash", "elm", "oak"]));
    assert_eq!(summary["q"], 6);
    assert_eq!(summary["m"], 60);
    folder.stdout(
        "dshap value t.csv --target kind --exclude id --method knn --samples 20 --seed 7 --summary s.json",
    );
    let summary: serde_json::Value = serde_json::from_str(&folder.read("s.json")).expect("JSON");
    assert_eq!((&summary["test_rows"], &summary["test_seed"]), (&20.into(), &7.into()));
}

#[test]
fn what_neighbours_cannot_do_is_refused_with_advice() {
    let folder = folder().and("goods.csv", goods());
    let knn = "dshap value t.csv --target kind --exclude id --method knn";
    assert_snapshot!(folder.run(&format!("{knn} --k 60")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --k 60
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: sets are drawn from 58 reference rows (60 without the test row and the row that is valued), too few for the 60 nearest rows

    hint: set `--k` to at most 58, or give at least 62 reference rows
    ");
    assert_snapshot!(folder.run(&format!("{knn} --k 59")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --k 59
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: sets are drawn from 58 reference rows (60 without the test row and the row that is valued), too few for the 59 nearest rows

    hint: set `--k` to at most 58, or give at least 61 reference rows
    ");
    assert_snapshot!(folder.run(&format!("{knn} --k 0")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --k 0
    exit 2
    --- stderr
    error: invalid value '0' for '--k <N>': expected a whole number of at least 1

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --m 5")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --m 5
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: m = 5 is too small: a row joins sets of at most 4 rows, too few for the 5 nearest rows

    hint: set `--k` to at most 4, or set `--m` to at least 6
    ");
    assert_snapshot!(folder.run(&format!("{knn} --m 20 --q 30")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --m 20 --q 30
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: m = 20 is too small: a row joins sets of at most 19 rows, too few for q = 30

    hint: set `--q` to at most 20, or set `--m` to at least 30
    ");
    assert_snapshot!(folder.run(&format!("{knn} --ridge 1")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --ridge 1
    exit 2
    --- stderr
    error: `--ridge` does not go with `--method knn`: neighbours have no coefficients to shrink

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --constant theorem")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --constant theorem
    exit 2
    --- stderr
    error: `--constant` goes with `gaussian` only

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --positive oak")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --positive oak
    exit 2
    --- stderr
    error: `--positive` does not go with `--method knn`: labels agree or differ, and none counts as 1

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --per-class")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --per-class
    exit 2
    --- stderr
    error: `--per-class` does not go with `--method knn`: neighbours compare labels as they are

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --weight leaf")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --weight leaf
    exit 2
    --- stderr
    error: `--weight` does not go with `--method knn`: reference rows count alike

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --no-intercept")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --no-intercept
    exit 2
    --- stderr
    error: `--no-intercept` does not go with `--method knn`: neighbours have no intercept

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --dependent error")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --dependent error
    exit 2
    --- stderr
    error: `--dependent` does not go with `--method knn`: only constant columns are left out, and `--strict` makes that an error

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --bandwidth scott")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --bandwidth scott
    exit 2
    --- stderr
    error: `--bandwidth` is for densities (`--task density`)

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --test test.csv --samples 9")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --test test.csv --samples 9
    exit 2
    --- stderr
    error: `--samples 9` and `--test` do not go together: `--samples` limits how many reference rows are test rows, and with `--test` all test rows are given; leave out `--samples`

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("{knn} --samples 1")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --samples 1
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: at least two reference rows are needed as test rows, because none tests itself
    ");
    assert_snapshot!(folder.run(&format!("{knn} --test goods.csv")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --test goods.csv
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: the test rows have other columns than the reference: `goods.csv` has no `leaf`, `trunk`, `soil`, `kind`

    hint: test rows need the target and every feature of the reference; leave out other features
    ");
    assert_snapshot!(folder.run(&format!("{knn} --checkpoint c")), @"
    $ dshap value t.csv --target kind --exclude id --method knn --checkpoint c
    exit 2
    --- stderr
    error: `--checkpoint` does not go with `--method knn`: nothing is fitted; the rows are read and kept

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --k 3"), @"
    $ dshap value goods.csv --target price --k 3
    exit 2
    --- stderr
    error: `--k` goes with `knn` and `knn-shapley` only

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --scale none"), @"
    $ dshap value goods.csv --target price --scale none
    exit 2
    --- stderr
    error: `--scale` goes with `knn`, `closed`, `monte-carlo`, `d-shapley`, `tmc-shapley`, `exact-shapley`, `knn-shapley` and `loo` only

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --method lower --test goods.csv"), @"
    $ dshap value goods.csv --target price --method lower --test goods.csv
    exit 2
    --- stderr
    error: `--test` goes with `gaussian`, `calibrated`, `knn`, `d-shapley`, `tmc-shapley`, `exact-shapley`, `knn-shapley` and `loo` only

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --task density --method knn"), @"
    $ dshap value goods.csv --task density --method knn
    exit 2
    --- stderr
    error: `--method knn` is for regression and classification; for densities use `closed` or `monte-carlo`

    For more information, try '--help'.
    ");
}

#[test]
fn finite_datasets_have_no_unseen_rows_and_no_set_sizes() {
    let folder = folder();
    let shapley = "--target kind --exclude id --method knn-shapley";
    assert_snapshot!(folder.run(&format!("dshap value new.csv --reference t.csv {shapley}")), @"
    $ dshap value new.csv --reference t.csv --target kind --exclude id --method knn-shapley
    exit 2
    --- stderr
    error: `--reference` does not go with `--method knn-shapley`: it values the rows of one finite dataset, and other rows have no such value; leave `--reference` out to value rows against each other, or use `--method knn`, which values any row

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("dshap value t.csv {shapley} --m 9")), @"
    $ dshap value t.csv --target kind --exclude id --method knn-shapley --m 9
    exit 2
    --- stderr
    error: `--m` does not go with `--method knn-shapley`: it counts sets of every size; `--method knn` has set sizes

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run(&format!("dshap fit t.csv {shapley} -o v.dshap")), @"
    $ dshap fit t.csv --target kind --exclude id --method knn-shapley -o v.dshap
    exit 2
    --- stderr
    error: `--method knn-shapley` has no valuer to save: a valuer values rows that come later, and this method values the rows of one finite dataset; `--method knn` values any row

    For more information, try '--help'.
    ");
}

/// Every reference row may be among the nearest of a set that holds them all.
#[test]
fn as_many_neighbours_as_reference_rows_need_a_set_of_all() {
    let folder = Folder::with("t.csv", trees(5, 8)).and("new.csv", trees(6, 9)).and("test.csv", trees(7, 30));
    let knn = "dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn";
    assert_snapshot!(folder.run(&format!("{knn} --k 8")), @"
    $ dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn --k 8
    exit 1
    --- stderr
    error: cannot value `new.csv`
      caused by: m = 8, the number of reference rows, is too small: a row joins sets of at most 7 rows, too few for the 8 nearest rows

    hint: set `--k` to at most 7, or set `--m` to at least 9, or give at least 9 reference rows
    ");
    let values = Csv::parse(&folder.stdout(&format!("{knn} --k 8 --m 9"))).numbers("value");
    assert!(values.len() == 9 && values.iter().any(|value| *value != 0.0), "{values:?}");
    assert_snapshot!(folder.run(&format!("{knn} --k 3 --q 10")), @"
    $ dshap value new.csv --reference t.csv --test test.csv --target kind --exclude id --method knn --k 3 --q 10
    exit 1
    --- stderr
    error: cannot value `new.csv`
      caused by: sets are drawn from 8 reference rows, too few for q = 10: a row joins sets of 9 rows or more

    hint: set `--q` to at most 8, or give at least 10 reference rows
    ");
    // Rows against each other, the test rows among them, leave six to draw from.
    let own = "dshap value t.csv --target kind --exclude id --method knn --k 3";
    let said = folder.run(&format!("{own} --q 9"));
    assert!(said.contains("set `--q` to at most 7, or give at least 10 reference rows"), "{said}");
    assert!(folder.run(&format!("{own} --q 7")).contains("exit 0"));
}

/// Sets of k rows and fewer never count.
#[test]
fn a_q_below_k_plus_one_counts_as_that_with_a_warning() {
    let folder = folder();
    let knn = "dshap value t.csv --target kind --exclude id --method knn --k 5";
    let said = folder.run(&format!("{knn} --q 3 --top 1"));
    assert!(said.contains("p = 4, q = 6, m = 60"), "{said}");
    let doubt = "warning: q = 3 counts as 6: a smaller set does not have the 5 nearest rows and a row that joins them";
    assert!(said.contains(doubt), "{said}");
    assert_eq!(folder.stdout(&format!("{knn} --q 3")), folder.stdout(knn));
    assert!(!folder.run(&format!("{knn} --q 6 --top 1")).contains("warning"));
}

/// Every set is smaller than k: each row brings its label, over k.
#[test]
fn finite_datasets_may_have_fewer_rows_than_neighbours() {
    let folder = Folder::with("t.csv", trees(5, 12)).and("test.csv", trees(7, 30));
    let line =
        "dshap value t.csv --test test.csv --target kind --exclude id --method knn-shapley --keep kind";
    for k in [12, 13, 40] {
        let rows = Csv::parse(&folder.stdout(&format!("{line} --k {k}")));
        let tests = Csv::parse(&folder.read("test.csv"));
        for (kind, value) in rows.column("kind").iter().zip(rows.numbers("value")) {
            let share = tests.column("kind").iter().filter(|other| *other == kind).count() as f64 / 30.0;
            // A mean of thirty terms, each rounded.
            assert!((value - share / f64::from(k)).abs() < 1e-15, "{kind}: {value}");
        }
    }
    // Test rows of the reference are players less one.
    let own = folder.run("dshap value t.csv --target kind --exclude id --method knn-shapley --k 12 --top 1");
    assert!(own.contains("exit 0") && !own.contains("`--m`"), "{own}");
}

#[test]
fn messages_name_the_cause_and_what_helps() {
    let folder = folder()
        .and("goods.csv", goods())
        .and("one.csv", "size,price\n1,2\n")
        .and("two.csv", "size,price\n1,2\n3,5\n");
    folder.stdout("dshap fit t.csv --target kind --exclude id --method knn -o v.dshap");
    assert_snapshot!(folder.run("dshap value new.csv --valuer v.dshap --method knn-shapley"), @"
    $ dshap value new.csv --valuer v.dshap --method knn-shapley
    exit 2
    --- stderr
    error: `--valuer` does not go with `--method knn-shapley`: a valuer values rows that come later, and this method values the rows of one finite dataset; `--method knn` values any row

    For more information, try '--help'.
    ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --samples 9"), @"
    $ dshap value goods.csv --target price --samples 9
    exit 2
    --- stderr
    error: `--samples` goes with `general`, `knn`, `closed`, `algorithm-3`, `monte-carlo`, `d-shapley`, `tmc-shapley` and `knn-shapley` only

    For more information, try '--help'.
    ");
    let memory = "dshap value t.csv --target kind --exclude id --method knn --memory 30MB";
    let said = folder.run(&format!("{memory} --threads 3"));
    assert!(said.contains("or use fewer than 3 threads with `--threads`: each needs memory"), "{said}");
    let said = folder.run(&format!("{memory} --threads 1"));
    assert!(said.contains("allow more with `--memory`, or use fewer columns"), "{said}");
    let one = "dshap value goods.csv --reference one.csv --target price --features size --test goods.csv --method knn --k 1 --m 2";
    assert_snapshot!(folder.run(one), @"
    $ dshap value goods.csv --reference one.csv --target price --features size --test goods.csv --method knn --k 1 --m 2
    exit 1
    --- stderr
    error: cannot value `goods.csv`
      caused by: there is 1 reference row, which has no spread: distances are in standard deviations of the reference

    hint: give more rows; to value rows by a single one, `--scale none` takes columns as they are
    ");
    let said = folder.run(&format!("{one} --scale none --top 1"));
    assert!(said.contains("exit 0") && said.contains("give more rows"), "{said}");
    let single = "dshap value one.csv --reference two.csv --test one.csv --task regression --target price --method knn --k 1 --m 3 --stderr";
    let said = folder.run(single);
    assert!(said.contains("1 row valued against a reference of 2"), "{said}");
    assert!(said.contains("1 test row from `one.csv`"), "{said}");
    assert!(said.contains("1 test row is too few for standard errors"), "{said}");
}

/// A saved valuer warns of points that are test rows, as a direct run does.
#[test]
fn points_that_are_test_rows_of_a_valuer_get_a_warning() {
    let folder = folder();
    folder.stdout("dshap fit t.csv --test test.csv --target kind --exclude id --method knn -o v.dshap");
    let copy = folder.read("test.csv");
    let folder = folder.and("copy.csv", &copy);
    for points in ["test.csv", "copy.csv"] {
        let said = folder.run(&format!("dshap value {points} --valuer v.dshap --top 1"));
        let doubt = format!(
            "warning: the rows of `{points}` are test rows of `v.dshap`, so the value of a row includes its use to itself"
        );
        assert!(said.contains(&doubt), "{said}");
    }
    assert!(!folder.run("dshap value new.csv --valuer v.dshap --top 1").contains("warning"));
}

/// A power of two changes no order, so values keep their bits however small cells are.
#[test]
fn a_column_of_tiny_numbers_counts_like_any_other() {
    let table = |unit: f64| {
        let mut csv = String::from("x,y\n");
        (0..40).for_each(|i| {
            let (x, y) = (f64::from(i * 17 % 41) * unit, i * i % 7);
            let _ = writeln!(csv, "{x:e},{y}");
        });
        csv
    };
    let folder = Folder::with("one.csv", table(1.0)).and("tiny.csv", table(2.0_f64.powi(-600)));
    let value =
        |file: &str| folder.stdout(&format!("dshap value {file} --task regression --target y --method knn"));
    assert_eq!(value("tiny.csv"), value("one.csv"));
}

#[test]
fn what_a_valuer_fixes_cannot_be_given_again() {
    let folder = folder();
    folder.stdout("dshap fit t.csv --target kind --exclude id --method knn -o v.dshap");
    for flag in ["--metric cosine", "--scale none", "--test test.csv"] {
        let said = folder.run(&format!("dshap value new.csv --valuer v.dshap {flag}"));
        assert!(said.contains("exit 2") && said.contains("is fixed by the valuer"), "{said}");
    }
    let said = folder.run("dshap value new.csv --valuer v.dshap --samples 9");
    assert!(said.contains("`--samples` is fixed by the valuer"), "{said}");
}

#[test]
fn test_rows_that_are_reference_rows_get_a_warning() {
    let said = folder().run("dshap value t.csv --test t.csv --target kind --exclude id --method knn --top 1");
    assert!(said.contains("each row is also valued for predicting itself"), "{said}");
    let said = folder().run("dshap value new.csv --reference t.csv --test new.csv --target kind --exclude id --method knn --top 1");
    assert!(said.contains("the value of a row includes its use to itself"), "{said}");
}

/// A test row tells nothing of itself, and of two others there is no spread.
#[test]
fn standard_errors_need_test_rows() {
    let said = folder()
        .run("dshap value t.csv --target kind --exclude id --method knn --samples 2 --stderr --top 1");
    assert!(said.contains("2 test rows are too few for standard errors"), "{said}");
}

/// The options of neighbours have their own heading in `--help`.
#[test]
fn the_help_has_a_section_on_neighbours() {
    let help = folder().stdout("dshap value --help");
    let (_, section) = help.split_once("Nearest neighbours:\n").expect("a heading");
    // Up to the next heading, which stands at the beginning of its line.
    let lines = section.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
    let lines = lines.map(str::trim_end);
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    --k <N>
        Number of nearest rows that predict

        Methods: knn, knn-shapley
        Default: 5

    --metric <METRIC>
        How far apart rows are

        Cosine is seen from the mean of the reference, or from 0 with --scale none.

        Methods: knn, knn-shapley
        Default: euclidean

        Possible values:
        - euclidean: Euclidean distance
        - manhattan: sum of absolute differences
        - cosine:    1 minus the cosine of the angle

    --tolerance <SHARE>
        Ignore the furthest rows that together have at most this share of all weight

        Each test row then lists only the rows nearest to it. With 0.001, lists of a large
        reference are short and values hardly change; the default counts every row.

        Methods: knn
        Default: 1e-16
    ");
    for command in ["value", "fit"] {
        let help = folder().stdout(&format!("dshap {command} --help"));
        assert!(help.contains("--method knn --") && help.contains("--test held-out.csv"), "{command}");
    }
}
