//! `--task density`: values without a target.

use crate::common::{Csv, Folder};
use insta::assert_snapshot;
use std::fmt::Write as _;

/// Two clusters, a city and the shop that a row is from.
fn cells(n: usize) -> String {
    let mut draws = dshap_testkit::Draws::new(31);
    let mut csv = String::from("shop,length,width,city\n");
    for row in 0..n {
        let far = if row % 4 == 0 { 3.0 } else { 0.0 };
        let (length, width) = (draws.normal() + far, 10.0 * draws.normal());
        let _ = writeln!(csv, "s{},{length:.6},{width:.6},{}", row % 3, ["Bonn", "Oslo"][row % 2]);
    }
    csv
}

fn folder() -> Folder {
    Folder::with("t.csv", cells(120))
}

#[test]
fn a_density_is_valued_row_by_row() {
    assert_snapshot!(folder().run("dshap value t.csv --task density --id shop --stderr --bottom 2"), @"
    $ dshap value t.csv --task density --id shop --stderr --bottom 2
    exit 0
    --- stdout
    row,shop,value,stderr,log_density,relative,note
    1,s1,-0.0392155,0.000129124,-5.87387,-0.000415915,
    75,s0,-0.0390736,0.000155224,-4.15974,-0.000274041,
    --- stderr
    density, method closed: 120 rows, each valued against the others
    gaussian kernel, bandwidth 0.21721 (best of 13 by cross-validation), columns divided by their standard deviations
    4 columns, m = 120
    3 passes over the table: an extra pass for text columns and means
    values from -0.039215 to -0.0064752, half of them between -0.03646 and -0.026219
    ");
    assert_snapshot!(folder().run("dshap value t.csv --task density --exclude shop,city --kernel uniform --bandwidth 1.5 --scale none --m 10 --top 1"), @"
    $ dshap value t.csv --task density --exclude shop,city --kernel uniform --bandwidth 1.5 --scale none --m 10 --top 1
    exit 0
    --- stdout
    row,value,log_density,relative,note
    37,-0.059622,-3.79829,0.00925655,
    --- stderr
    density, method closed: 120 rows, each valued against the others
    uniform kernel, bandwidth 1.5000 (as given), columns as given
    2 columns, m = 10
    values from -0.069968 to -0.059622, half of them between -0.069068 and -0.066134
    ");
    assert_snapshot!(folder().run("dshap value t.csv --task density --exclude shop,city --bandwidth silverman --method monte-carlo --seed 3 --samples 50 --top 1"), @"
    $ dshap value t.csv --task density --exclude shop,city --bandwidth silverman --method monte-carlo --seed 3 --samples 50 --top 1
    exit 0
    --- stdout
    row,value,note
    31,0.00503104,
    --- stderr
    density, method monte-carlo: 120 rows, each valued against the others
    gaussian kernel, bandwidth 0.52100 (by Silverman's rule), columns divided by their standard deviations
    a sample of 50 of the 120 reference rows, seed 3
    2 columns, m = 120
    values from -0.005335 to 0.005031, half of them between -0.0032179 and 0.00051741
    ");
}

#[test]
fn a_density_valuer_is_saved_shown_and_merged() {
    let folder = folder().and("more.csv", cells(90));
    assert_snapshot!(folder.run("dshap fit t.csv --task density --exclude shop -o v.dshap"), @"
    $ dshap fit t.csv --task density --exclude shop -o v.dshap
    exit 0
    --- stderr
    density, method closed: a reference of 120 rows
    gaussian kernel, bandwidth 0.21721 (best of 13 by cross-validation), columns divided by their standard deviations
    4 columns, m = 120
    saved to `v.dshap` (6.0 kB)
    ");
    assert_snapshot!(folder.run("dshap inspect v.dshap"), @"
    $ dshap inspect v.dshap
    exit 0
    --- stdout
    valuer          v.dshap (6.0 kB)
    format          version 3, written by dshap 0.1.0
    task            density
    method          closed
    reference       120 rows
    carries         120 rows (4.1 kB)
    p               4 design columns of 3 features
    m               120 (by default)
    kernel          gaussian
    bandwidth       0.21721 (cross-validated)
                      0.01   scores -654.52
                      0.031623   scores -60.881
                      0.10000    scores -5.4717
                      0.15523    scores -3.1076
                      0.18363    scores -2.8564
                      0.20371    scores -2.8044
                      0.21721    scores -2.8028  chosen
                      0.22600    scores -2.8118
                      0.24097    scores -2.8405
                      0.31623    scores -3.1114
                      1.0000     scores -5.4659
                      3.1623     scores -8.6458
                      10.000     scores -12.926
    scale           std
    missing cells   error
    unseen levels   error

    column          mean   std_dev
    length      0.80401    1.5995
    width      -0.013758  10.911
    city=Bonn   0.50000    0.50000
    city=Oslo   0.50000    0.50000

    levels of `city`: Bonn, Oslo

    where the rows came from:
      120 rows fitted
        t.csv  3 290 bytes  sha256 841f0d5ebf1063cf…
    ");
    let direct =
        folder.stdout("dshap value more.csv --reference t.csv --task density --exclude shop --stderr");
    assert_eq!(folder.stdout("dshap value more.csv --valuer v.dshap --stderr"), direct);
    folder.stdout("dshap fit more.csv --task density --exclude shop -o w.dshap");
    assert_snapshot!(folder.run("dshap merge v.dshap w.dshap -o all.dshap"), @"
    $ dshap merge v.dshap w.dshap -o all.dshap
    exit 0
    --- stderr
    density, method closed: a reference of 210 rows
    gaussian kernel, bandwidth 0.20371 (best of 13 by cross-validation), columns divided by their standard deviations
    4 columns, m = 210
    m follows the number of rows: 210
    saved to `all.dshap` (9.1 kB)
    ");
    assert_snapshot!(folder.run("dshap update v.dshap more.csv -o new.dshap"), @"
    $ dshap update v.dshap more.csv -o new.dshap
    exit 1
    --- stderr
    error: cannot update `v.dshap`
      caused by: a density valuer cannot be updated: its bandwidth and its scaling depend on all its rows

    hint: fit the new rows alone and combine both with `dshap merge`, or fit the whole reference again
    ");
}

#[test]
fn flags_that_do_not_fit_a_density_are_wrong_usage() {
    let folder = folder();
    folder.stdout("dshap fit t.csv --task density --exclude shop --bandwidth 1 -o v.dshap");
    folder.stdout("dshap fit t.csv --target width --exclude shop -o w.dshap");
    let density = "value t.csv --task density";
    for (line, words) in [
        (format!("{density} --target width"), "`--target` does not go with `--method closed`"),
        (format!("{density} --q 3"), "`--q` does not go with `--method closed`"),
        (
            format!("{density} --ridge 1"),
            "`--ridge` does not go with `--method closed`: use `--bandwidth` to control smoothness",
        ),
        (
            format!("{density} --positive yes"),
            "`--positive` does not go with `--method closed`: a density has no labels",
        ),
        (format!("{density} --weight width"), "`--weight` does not go with `--method closed`"),
        (format!("{density} --constant gain"), "`--constant` goes with `gaussian` only"),
        (format!("{density} --convention printed"), "`--convention` goes with"),
        (format!("{density} --stop 0.1"), "`--stop` goes with"),
        (format!("{density} --no-intercept"), "`--no-intercept` does not go with `--method closed`"),
        (format!("{density} --refit-intercept"), "`--refit-intercept` does not go with `--method closed`"),
        (format!("{density} --dependent error"), "`--dependent` does not go with `--method closed`"),
        (
            format!("{density} --method gaussian"),
            "`--method gaussian` is for regression and classification; for densities use `closed` or `monte-carlo`",
        ),
        (
            format!("{density} --method monte-carlo --stderr"),
            "`--stderr` does not go with `--method monte-carlo`",
        ),
        (format!("{density} --per-class"), "`--per-class` does not go with `--method closed`"),
        (format!("{density} --checkpoint c.state"), "`--checkpoint` does not go with `--method closed`"),
        (format!("{density} --bandwidth 0"), "expected auto, grid, scott, silverman or a number"),
        (format!("{density} --sort penalty"), "`--sort penalty` needs values with a penalty"),
        (
            "value t.csv --target width --kernel uniform".into(),
            "`--kernel` is for densities (`--task density`)",
        ),
        (
            "value t.csv --target width --method closed".into(),
            "`--target` does not go with `--method closed`",
        ),
        ("value t.csv --valuer v.dshap --kernel uniform".into(), "`--kernel` is fixed by the valuer"),
        ("value t.csv --valuer v.dshap --samples 5".into(), "`--samples` is fixed by the valuer"),
        (
            "value t.csv --valuer v.dshap --method lower".into(),
            "a valuer fitted with `closed` cannot value rows with `lower`",
        ),
        ("value t.csv --valuer v.dshap --q 3".into(), "`--q` does not go with `--method closed`"),
        (
            "value t.csv --valuer w.dshap --method closed".into(),
            "a valuer fitted with `gaussian` cannot value rows with `closed`",
        ),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

#[test]
fn tables_without_a_density_are_refused() {
    let folder = folder().and("two.csv", "a\n1\n2\n").and("same.csv", "a,b\n1,2\n1,2\n1,2\n");
    assert_snapshot!(folder.run("dshap value two.csv --task density"), @"
    $ dshap value two.csv --task density
    exit 1
    --- stderr
    error: cannot value `two.csv`
      caused by: 2 reference rows are too few: at least 5 are needed

    hint: cross-validation needs a row in each of its folds; `--bandwidth scott` or a number needs none
    ");
    assert_snapshot!(folder.run("dshap value same.csv --task density --bandwidth 1"), @"
    $ dshap value same.csv --task density --bandwidth 1
    exit 1
    --- stderr
    error: cannot value `same.csv`
      caused by: no usable feature is left: none varies in the reference

    hint: check `--features` and `--exclude`
    ");
    assert_snapshot!(folder.run("dshap value t.csv --task density --exclude shop,city --bandwidth 1e-6"), @"
    $ dshap value t.csv --task density --exclude shop,city --bandwidth 1e-6
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: with bandwidth 1e-6 no reference row is near another, so every density is 0

    hint: with `--bandwidth 1.620e-1` about half of the rows have another near them
    ");
}

#[test]
fn density_bits_do_not_depend_on_threads_memory_or_the_tree_s_batches() {
    let folder = Folder::with("t.csv", cells(4000));
    for flags in ["--bandwidth scott --stderr", "--bandwidth 0.2 --samples 1500 --every-row"] {
        let line = format!("dshap value t.csv --task density --exclude shop {flags}");
        let expected = folder.stdout(&line);
        for flags in ["--threads 1", "--threads 3", "--memory 64MB", "--memory 40MB --threads 2"] {
            assert_eq!(folder.stdout(&format!("{line} {flags}")), expected, "{flags}");
        }
    }
}

#[test]
fn many_reference_rows_are_sampled_with_a_warning() {
    let folder = Folder::with("r.csv", cells(20_500)).and("p.csv", cells(3));
    let block = folder.run("dshap value p.csv --reference r.csv --task density --exclude shop --bandwidth 1");
    assert!(block.contains("a sample of 20 000 of the 20 500 reference rows, seed 0"), "{block}");
    assert!(block.contains("warning: the reference has 20500 rows, and values are against 20000"), "{block}");
    let said = folder.run(
        "dshap value p.csv --reference r.csv --task density --exclude shop --bandwidth 1 --samples 30000",
    );
    assert!(!said.contains("sample of") && !said.contains("warning"), "{said}");
}

#[test]
fn the_formula_of_densities_takes_columns_as_they_are() {
    let folder = Folder::with("r.csv", "a,b\n0,5\n2,5\n4,5\n").and("p.csv", "name,a,b\nx,1,5\ny,9,5\n");
    let line = "dshap formula density --reference r.csv --points p.csv --bandwidth 2 --m 2";
    assert_snapshot!(folder.run(&format!("{line} --kernel uniform")), @"
    $ dshap formula density --reference r.csv --points p.csv --bandwidth 2 --m 2 --kernel uniform
    exit 0
    --- stdout
    name,a,b,value
    x,1,5,0.0729167
    y,9,5,-0.15625
    ");
    assert_snapshot!(folder.run(&format!("{line} --as-set")), @"
    $ dshap formula density --reference r.csv --points p.csv --bandwidth 2 --m 2 --as-set
    exit 0
    --- stdout
    n,value
    2,0.0142925
    ");
    assert_snapshot!(folder.run("dshap formula density --reference r.csv --points r.csv --bandwidth 0 --m 2"), @"
    $ dshap formula density --reference r.csv --points r.csv --bandwidth 0 --m 2
    exit 2
    --- stderr
    error: the bandwidth must be a number from 1e-30 to 1e30, got 0

    For more information, try '--help'.
    ");
}

#[test]
fn synergy_thresholds_are_those_of_figure_3() {
    let folder = Folder::with("t.csv", cells(3));
    assert_snapshot!(folder.run("dshap formula synergy --h 0.1 --m 100 --c-den 0.2"), @"
    $ dshap formula synergy --h 0.1 --m 100 --c-den 0.2
    exit 0
    --- stdout
    h,m,c_den,threshold,probability,printed
    0.1,100,0.2,0.0187249,0.953736,0.958822
    ");
    for (h, threshold) in [(0.05, 0.009_999), (0.2, 0.032_303), (0.35, 0.042_785)] {
        let csv = folder.stdout(&format!("dshap formula synergy --h {h} --m 100 --c-den 0.2"));
        let found = Csv::parse(&csv).numbers("threshold")[0];
        assert!((found - threshold).abs() < 1e-6, "{h}: {found}");
    }
    // Figure 3 of the paper, and without the points for which its forms do not hold.
    let found = Csv::parse(&folder.stdout("dshap formula synergy --h 0.35 --m 100 --c-den 0.2"));
    let shown = |name: &str| format!("{:.3}", found.numbers(name)[0]);
    assert_eq!((shown("printed"), shown("probability")), ("0.873".into(), "0.735".into()));
    assert_snapshot!(folder.run("dshap formula synergy --h 0.1 --m 100 --c-den 0.2 --border"), @"
    $ dshap formula synergy --h 0.1 --m 100 --c-den 0.2 --border
    exit 0
    --- stdout
    h,m,c_den,threshold,probability,printed
    0.1,100,0.2,0.0187249,0.958698,0.958822
    ");
    assert_snapshot!(folder.run("dshap formula synergy --h 0.6 --m 100 --c-den 0.2"), @"
    $ dshap formula synergy --h 0.6 --m 100 --c-den 0.2
    exit 2
    --- stderr
    error: the examples need a bandwidth above 0 and up to ½

    For more information, try '--help'.
    ");
}

#[test]
fn sets_of_rows_are_valued_as_one() {
    let folder = folder();
    let line = "dshap value t.csv --task density --exclude city --bandwidth 0.8 --sets shop";
    assert_snapshot!(folder.run(&format!("{line} --stderr")), @"
    $ dshap value t.csv --task density --exclude city --bandwidth 0.8 --sets shop --stderr
    exit 0
    --- stdout
    set,n,value,stderr,relative,sum_of_members,note
    s0,40,0.00357517,0.00219691,0.0242932,0.0264031,
    s1,40,0.00414352,0.0018473,0.0248616,0.0249747,
    s2,40,0.00349137,0.00198914,0.0242094,0.0249667,
    --- stderr
    density, method closed: 120 rows in 3 sets, each set valued against the other rows
    gaussian kernel, bandwidth 0.80000 (as given), columns divided by their standard deviations
    2 columns, m = 120
    values from 0.0034914 to 0.0041435
    ");
    assert_snapshot!(folder.run(&format!("{line} --synergy s0,s2")), @"
    $ dshap value t.csv --task density --exclude city --bandwidth 0.8 --sets shop --synergy s0,s2
    exit 0
    --- stdout
    first,second,first_value,second_value,union_value,synergy
    s0,s2,0.00357517,0.00349137,0.00328807,-0.00377847
    --- stderr
    density, method closed: 120 rows in 3 sets, each set valued against the other rows
    gaussian kernel, bandwidth 0.80000 (as given), columns divided by their standard deviations
    2 columns, m = 120
    values from 0.0032881 to 0.0035752
    ");
    for (flags, words) in [
        ("--synergy s0", "it takes two different sets, such as `--synergy a,b`"),
        ("--synergy s0,s9", "there is no set `s9`"),
        ("--samples 50", "only a sample of the 120 rows is kept"),
        ("--keep length", "do not go together: the output has one row per set"),
    ] {
        let block = folder.run(&format!("{line} {flags}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
    folder.stdout("dshap fit t.csv --task density --exclude city,shop --bandwidth 0.8 -o v.dshap");
    let saved = folder.stdout("dshap value t.csv --valuer v.dshap --sets shop");
    let said = folder.run("dshap value t.csv --valuer v.dshap --sets shop");
    assert!(said.contains("the rows of `t.csv` are part of the reference of `v.dshap`"), "{said}");
    let direct =
        "dshap value t.csv --reference t.csv --task density --exclude city --bandwidth 0.8 --sets shop";
    assert_eq!(saved, folder.stdout(direct));
}

/// Example 1: the forms of the page, written out.
#[test]
fn two_points_are_worth_what_example_1_says() {
    let folder = Folder::new();
    let pair = |z2: f64, more: &str| {
        let line = format!("dshap formula pair --z1 0.4 --z2 {z2} --h 0.1 --m 100 --c-den 0.2{more}");
        let csv = Csv::parse(&folder.stdout(&line));
        ["value", "value_z1", "value_z2", "synergy"].map(|name| csv.numbers(name)[0])
    };
    let mut a_of_two = 0.0;
    for j in 1..=100 {
        a_of_two += 4.0 / f64::from((j + 1) * (j + 1)) / 100.0;
    }
    let (near, far) = (pair(0.43, ""), pair(0.7, ""));
    // A(2, m)(1 − 1/h + Δ/2h²) for points 0.03 apart, A(2, m)(1 − 1/2h) for points further than h.
    let gap = a_of_two * (1.0 / 0.1 - 0.03 / 0.02 - 1.0 / 0.2);
    assert!((far[0] - near[0] - gap).abs() < 1e-12, "{near:?} {far:?}");
    for [value, first, second, synergy] in [near, far] {
        assert_eq!(first, second, "points far from the ends are worth the same");
        assert!((value - first - second - synergy).abs() < 1e-15);
    }
    // The threshold of Example 2 at this h is 0.0187.
    assert!(pair(0.418, "")[3] < 0.0 && pair(0.4195, "")[3] > 0.0);
    // Nearer to an end than h, the term B·g counts.
    assert!(pair(0.92, " --border")[2] > pair(0.92, "")[2]);
    let refused = folder.run("dshap formula pair --z1 0.4 --z2 0.99 --h 0.1 --m 100 --c-den 0.2");
    assert!(refused.contains("exit 2") && refused.contains("from h/2 to 1 − h/2"), "{refused}");
}

/// A(n, m) and B(n, m) by their sums, and the constant that belongs to a reference.
#[test]
fn weights_of_set_sizes_are_the_sums_of_the_page() {
    let folder = Folder::with("r.csv", "x,z\n0.1,2\n0.4,1\n0.2,0.5\n");
    for (n, m) in [(1, 1), (1, 100), (2, 100), (30, 7)] {
        let csv = Csv::parse(&folder.stdout(&format!("dshap formula weights --n {n} --m {m}")));
        let (mut a, mut b) = (0.0, 0.0);
        for s in 0..m {
            let (size, others) = (f64::from(n), f64::from(s));
            a += size * size / (size + others).powi(2) / f64::from(m);
            b += 2.0 * size * others / (size + others).powi(2) / f64::from(m);
        }
        assert!((csv.numbers("A")[0] - a).abs() < 1e-13 && (csv.numbers("B")[0] - b).abs() < 1e-13);
        assert_eq!(csv.header(), ["n", "m", "A", "B"]);
    }
    let line = "dshap formula weights --n 2 --m 10 --reference r.csv --bandwidth 0.5";
    assert!(Csv::parse(&folder.stdout(line)).numbers("c_den_less_p2")[0].is_finite());
    for (line, words) in [
        ("--n 2 --m 10 --reference r.csv", "--bandwidth"),
        ("--n 2 --m 10 --bandwidth 0.5", "--reference"),
        ("--n 0 --m 10", "--n"),
        ("--n 2 --m 10 --reference none.csv --bandwidth 0.5", "cannot use the reference `none.csv`"),
    ] {
        let refused = folder.run(&format!("dshap formula weights {line}"));
        assert!(!refused.contains("exit 0") && refused.contains(words), "{refused}");
    }
}

/// Algorithm 5 has B = 2000: a larger reference is drawn from.
#[test]
fn algorithm_5_takes_two_thousand_rows_unless_told_otherwise() {
    let cell = |i: usize, k: usize| (((i * i + 7 * i * k) % 2003) as f64 / 2003.0).to_string();
    let csv = |rows: std::ops::Range<usize>| -> String {
        rows.fold("x\n".into(), |csv, i| csv + &cell(i, 3) + "\n")
    };
    let folder = Folder::with("r.csv", csv(0..2100)).and("p.csv", csv(5000..5004));
    let line =
        "dshap value p.csv --task density --reference r.csv --bandwidth 0.3 --m 50 --method monte-carlo";
    let with = |samples: &str| folder.stdout(&format!("{line}{samples}"));
    assert_eq!(with(""), with(" --samples 2000"));
    assert_ne!(with(""), with(" --samples 2100"));
}
