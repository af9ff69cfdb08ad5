//! `--task classification`, given or guessed.

use crate::common::{Csv, Folder};
use insta::assert_snapshot;
use std::fmt::Write as _;

/// A feature, a city and a label that follows them but for chance.
fn labelled(n: usize, label: impl Fn(bool) -> String) -> String {
    let mut draws = dshap_testkit::Draws::new(23);
    let mut csv = String::from("x,city,y\n");
    for row in 0..n {
        let x = draws.normal();
        let city = ["Bonn", "Oslo", "Rome"][row % 3];
        let positive = x + 0.3 * (row % 3) as f64 + 1.2 * draws.normal() > 0.0;
        let _ = writeln!(csv, "{x:.6},{city},{}", label(positive));
    }
    csv
}

fn yes_or_no(positive: bool) -> String {
    if positive { "yes".into() } else { "no".into() }
}

fn folder() -> Folder {
    Folder::with("t.csv", labelled(200, yes_or_no))
}

#[test]
fn classification_is_guessed_or_given() {
    assert_snapshot!(folder().run("dshap value t.csv --target y --bottom 2 --stderr"), @"
    $ dshap value t.csv --target y --bottom 2 --stderr
    exit 0
    --- stdout
    row,value,stderr,potential,penalty,dist_sq,prob,weight,given_label,label_prob,predicted,note
    57,-0.0138051,0.00690745,0.0044263,0.0182314,3.8571,0.901799,0.0885573,no,0.0825909,yes,
    145,-0.011634,0.00523027,0.00404653,0.0156805,3.38816,0.895443,0.093625,no,0.0907215,yes,
    --- stderr
    classification (guessed) of `y`, method gaussian: 200 rows, each valued against the others
    labels `no` (93), `yes` (107); `prob` is the probability of `yes`; ridge 1 for standardised columns (automatic)
    p = 4, q = 14, m = 200
    on rows left out: accuracy 0.725 (most frequent label 0.535), log-loss 0.565, AUC 0.774
    8 passes over the table: extra passes for labels and steps of the logistic fit
    values from -0.013805 to 0.0045742, half of them between 0.0022461 and 0.0039496
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean t.csv --target y` tests whether fewer or corrected rows make a better model
    ");
    let said = Folder::with("t.csv", labelled(200, |positive| u8::from(positive).to_string()));
    assert_snapshot!(said.run("dshap value t.csv --target y --task classification --positive 0 --method lower --top 1"), @"
    $ dshap value t.csv --target y --task classification --positive 0 --method lower --top 1
    exit 0
    --- stdout
    row,value,dist_sq,prob,weight,given_label,label_prob,predicted,note
    5,0.000128876,4.66141,0.832988,0.139119,0,0.829154,0,
    --- stderr
    classification of `y`, method lower: 200 rows, each valued against the others
    labels `1` (107), `0` (93); `prob` is the probability of `0`; ridge 1 for standardised columns (automatic)
    p = 4, q = 32, m = 200
    on rows left out: accuracy 0.725 (most frequent label 0.535), log-loss 0.565, AUC 0.774
    8 passes over the table: extra passes for labels and steps of the logistic fit
    values from -2.0931 to 0.00012888, half of them between 5.1959e-5 and 0.00010459
    ");
}

#[test]
fn classification_flags_that_do_not_fit_are_wrong_usage() {
    let folder = folder().and("numbers.csv", crate::common::many_rows(50));
    folder.stdout("dshap fit t.csv --target y -o v.dshap");
    for (line, words) in [
        (
            "value t.csv --target y --method algorithm-3",
            "`--method algorithm-3` is for regression; for classification use",
        ),
        ("value t.csv --target y --refit-intercept", "`--refit-intercept` is for regression"),
        ("value t.csv --target y --checkpoint c.state", "only the fit of a regression is a sum over rows"),
        ("value numbers.csv --target y --method general --ridge auto", "takes a number"),
        ("value numbers.csv --target y --ridge 1", "`--ridge` does not go with `--method gaussian`"),
        ("value numbers.csv --target y --positive 1", "`--positive` is for classification"),
        ("value t.csv --valuer v.dshap --ridge 1", "`--ridge` is fixed by the valuer"),
        ("value t.csv --valuer v.dshap --positive no", "`--positive` is fixed by the valuer"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

#[test]
fn every_method_of_classification_takes_a_ridge() {
    let folder = folder();
    for method in [
        "gaussian",
        "calibrated",
        "lower",
        "upper",
        "lower --convention printed",
        "lower --convention authors",
    ] {
        let line = format!("dshap value t.csv --target y --method {method}");
        let plain = Csv::parse(&folder.stdout(&line)).numbers("value");
        let ridge = Csv::parse(&folder.stdout(&format!("{line} --ridge 5"))).numbers("value");
        assert!(plain.iter().zip(&ridge).all(|(plain, ridge)| plain != ridge), "{method}");
    }
}

#[test]
fn classification_bits_do_not_depend_on_threads_or_memory() {
    let folder = Folder::with("t.csv", labelled(9000, yes_or_no));
    let line = "dshap value t.csv --target y --stderr";
    let expected = folder.stdout(line);
    for flags in ["--threads 1", "--threads 3", "--memory 64MB", "--memory 40MB --threads 2"] {
        assert_eq!(folder.stdout(&format!("{line} {flags}")), expected, "{flags}");
    }
}

#[test]
fn a_classification_valuer_is_saved_shown_and_not_updated() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap fit t.csv --target y --ridge 0.5 -o v.dshap"), @"
    $ dshap fit t.csv --target y --ridge 0.5 -o v.dshap
    exit 0
    --- stderr
    classification (guessed) of `y`, method gaussian: a reference of 200 rows
    labels `no` (93), `yes` (107); `prob` is the probability of `yes`; ridge 0.5
    p = 4, q = 14, m = 200, fitted in 6 passes
    saved to `v.dshap` (11 kB)
    ");
    assert_snapshot!(folder.run("dshap inspect v.dshap"), @"
    $ dshap inspect v.dshap
    exit 0
    --- stdout
    valuer          v.dshap (11 kB)
    format          version 2, written by dshap 0.1.0
    task            classification of `y`
    method          gaussian, ridge 0.5, constant gain, convention definition
    reference       200 rows
    carries         200 rows (6.4 kB)
    p               4 design columns of 2 features
    q               14 (by default)
    m               200 (by default)
    labels          no (93), yes (107); positive yes
    deviance        218.16, fitted in 6 passes
    intercept       0.066695
    missing cells   error
    unseen levels   error

    column     coefficient      mean  std_dev
    x              1.3159   -0.11438  0.99452
    city=Oslo      0.41580   0.33500  0.47199
    city=Rome      0.35672   0.33000  0.47021

    levels of `city`: Bonn, Oslo, Rome

    where the rows came from:
      200 rows fitted
        t.csv  3 623 bytes  sha256 dec9da33cd6a074f…
    ");
    assert_snapshot!(folder.run("dshap update v.dshap t.csv -o w.dshap"), @"
    $ dshap update v.dshap t.csv -o w.dshap
    exit 1
    --- stderr
    error: cannot update `v.dshap`
      caused by: the reference of a classification valuer cannot change: a logistic fit cannot be updated incrementally

    hint: fit the whole reference again
    ");
    assert_eq!(
        folder.stdout("dshap value t.csv --valuer v.dshap --stderr"),
        folder.stdout("dshap value t.csv --reference t.csv --target y --ridge 0.5 --stderr"),
    );
}

#[test]
fn one_label_is_refused() {
    let folder = Folder::with("t.csv", labelled(20, |_| "yes".into()));
    assert_snapshot!(folder.run("dshap value t.csv --target y"), @"
    $ dshap value t.csv --target y
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: every usable reference row has the label `yes` in target `y`; classification needs at least two labels

    hint: add rows with another label, or name another `--target`; rows without a label or with weight 0 do not count
    ");
}

#[test]
fn separated_labels_are_refused_and_a_ridge_helps() {
    let table: String = (0..30).map(|row| format!("{},{},{}\n", row % 7, row, row > 14)).collect();
    let folder = Folder::with("t.csv", format!("x,z,y\n{table}"));
    assert_snapshot!(folder.run("dshap value t.csv --target y --ridge 0"), @"
    $ dshap value t.csv --target y --ridge 0
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: the labels of target `y` are perfectly separated by the features, so the coefficients do not converge; column `z` contributes most

    hint: `--ridge auto` keeps the coefficients finite; if a feature repeats the target, leave it out with `--exclude z`
    ");
    folder.stdout("dshap value t.csv --target y --ridge 1");
    let by_default = folder.run("dshap value t.csv --target y --bottom 1");
    assert!(
        by_default.contains("exit 0") && by_default.contains("ridge 1 for standardised columns"),
        "{by_default}"
    );
    assert_eq!(
        folder.stdout("dshap value t.csv --target y"),
        folder.stdout("dshap value t.csv --target y --ridge auto")
    );
    let other_units: String =
        (0..30).map(|row| format!("{},{},{}\n", 1000 * (row % 7), row, row > 14)).collect();
    let folder = folder.and("scaled.csv", format!("x,z,y\n{other_units}"));
    let values =
        |file: &str| Csv::parse(&folder.stdout(&format!("dshap value {file} --target y"))).numbers("value");
    for (plain, scaled) in values("t.csv").iter().zip(values("scaled.csv")) {
        assert!((plain - scaled).abs() < 1e-9, "{plain} and {scaled}");
    }
    for method in ["calibrated", "general --samples 64", "lower --m 200", "second-order", "loo"] {
        folder.stdout(&format!("dshap value t.csv --target y --method {method}"));
    }
}

#[test]
fn unknown_and_missing_labels_are_refused() {
    let folder =
        folder().and("new.csv", "x,city,y\n1,Rome,yes\n2,Oslo,maybe\n").and("gap.csv", "x,city,y\n1,Rome,\n");
    assert_snapshot!(folder.run("dshap value new.csv --reference t.csv --target y"), @"
    $ dshap value new.csv --reference t.csv --target y
    exit 1
    --- stderr
    error: cannot value `new.csv`
      caused by: `new.csv` line 3, column `y` holds the label `maybe`, which no reference row has; the labels are `no`, `yes`

    hint: leave such rows out, or add rows with that label to the reference
    ");
    assert_snapshot!(folder.run("dshap value gap.csv --reference t.csv --target y"), @"
    $ dshap value gap.csv --reference t.csv --target y
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,prob,weight,given_label,label_prob,predicted,note
    0,,,,,,,,,,missing cell
    --- stderr
    classification (guessed) of `y`, method gaussian: 0 of 1 row valued against a reference of 200
    labels `no` (93), `yes` (107); `prob` is the probability of `yes`; ridge 1 for standardised columns (automatic)
    p = 4, q = 14, m = 200
    7 passes over the reference: extra passes for labels and steps of the logistic fit
    warning: 1 point row has no target and has no value
    ");
    assert_snapshot!(folder.run("dshap value t.csv --target y --positive yess"), @"
    $ dshap value t.csv --target y --positive yess
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: target `y` has no label `yess`; its labels are `no`, `yes`

    hint: did you mean `yes`?
    ");
}

#[test]
fn numbers_without_end_are_no_labels() {
    let folder = Folder::with("t.csv", crate::common::many_rows(400));
    assert_snapshot!(folder.run("dshap value t.csv --target y --task classification"), @"
    $ dshap value t.csv --target y --task classification
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: target `y` has more than 256 different labels

    hint: use `--task regression` for numbers, or name another `--target`
    ");
}

/// Twelve columns that follow three, and one of three labels.
fn embedded(n: usize) -> String {
    let mut draws = dshap_testkit::Draws::new(29);
    let mut csv = (0..12).map(|j| format!("e{j}")).collect::<Vec<_>>().join(",") + ",animal\n";
    for _ in 0..n {
        let z = [3.0 * draws.normal(), 2.0 * draws.normal(), draws.normal()];
        for j in 0..12 {
            let _ = write!(csv, "{:.4},", z[j % 3] + 0.2 * draws.normal());
        }
        let score = z[0] + z[2] + 3.0 * draws.normal();
        let _ = writeln!(csv, "{}", ["cat", "dog", "owl"][((score + 3.0).max(0.0) / 3.0).min(2.0) as usize]);
    }
    csv
}

#[test]
fn embeddings_are_reduced_and_labels_have_their_parts() {
    let folder = Folder::with("e.csv", embedded(240));
    assert_snapshot!(folder.run("dshap value e.csv --target animal --pca 3 --per-class --bottom 2"), @"
    $ dshap value e.csv --target animal --pca 3 --per-class --bottom 2
    exit 0
    --- stdout
    row,value,potential,penalty,value_cat,prob_cat,value_dog,prob_dog,value_owl,prob_owl,given_label,label_prob,predicted,note
    183,-0.0386282,0.00926496,0.0478932,-0.0121053,0.910266,0.00348146,0.132314,-0.0300044,0.0301641,owl,0.0220156,cat,
    11,-0.0184082,0.0118332,0.0302413,-0.0126015,0.899528,-0.00856063,0.13373,0.002754,0.0341191,dog,0.108052,cat,
    --- stderr
    classification (guessed) of `animal`, method gaussian: 240 rows, each valued against the others
    labels `cat` (125), `dog` (55), `owl` (60); one model per label against the others, values summed; ridge 1 for standardised columns (automatic)
    3 principal components of 12 columns, 99.4 % of their variance
    p = 4, q = 14, m = 240
    on rows left out: accuracy 0.642 (most frequent label 0.521), log-loss 0.840
    10 passes over the table: extra passes for labels, principal components and steps of the logistic fit
    values from -0.038628 to 0.014747, half of them between 0.0038776 and 0.0090919
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean e.csv --target animal --pca 3` tests whether fewer or corrected rows make a better model
    ");
    assert_snapshot!(folder.run("dshap fit e.csv --target animal --pca 3 -o v.dshap"), @"
    $ dshap fit e.csv --target animal --pca 3 -o v.dshap
    exit 0
    --- stderr
    classification (guessed) of `animal`, method gaussian: a reference of 240 rows
    labels `cat` (125), `dog` (55), `owl` (60); one model per label against the others, values summed; ridge 1 for standardised columns (automatic)
    3 principal components of 12 columns, 99.4 % of their variance
    p = 4, q = 14, m = 240, fitted in 7 passes
    saved to `v.dshap` (16 kB)
    ");
    assert_snapshot!(folder.run("dshap inspect v.dshap"), @"
    $ dshap inspect v.dshap
    exit 0
    --- stdout
    valuer          v.dshap (16 kB)
    format          version 2, written by dshap 0.1.0
    task            classification of `animal`
    method          gaussian, ridge 1 for standardised columns (automatic), constant gain, convention definition
    reference       240 rows
    carries         240 rows (7.7 kB)
    p               4 design columns of 12 features
    pca             3 principal components of 12 columns, 99.4 % of their variance
    q               14 (by default)
    m               240 (by default)
    labels          cat (125), dog (55), owl (60)
    deviance        688.59, fitted in 7 passes
    intercept       one for each label
    missing cells   error
    unseen levels   error

    column  mean  std_dev
    pca_1      0   6.1115
    pca_2      0   3.7900
    pca_3      0   1.9870

    where the rows came from:
      240 rows fitted
        e.csv  22 618 bytes  sha256 303f8a60ce28ea5e…
    ");
    for (line, words) in [
        ("value e.csv --valuer v.dshap --pca 2", "`--pca` is fixed by the valuer"),
        ("value e.csv --target animal --pca 0", "expected a whole number of at least 1"),
        ("value e.csv --target e0 --exclude animal --per-class", "`--per-class` is for classification"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
    assert_snapshot!(folder.run("dshap value e.csv --target animal --pca 13"), @"
    $ dshap value e.csv --target animal --pca 13
    exit 1
    --- stderr
    error: cannot value `e.csv`
      caused by: 240 reference rows with 12 columns have fewer than 13 principal components

    hint: set `--pca` to a number between 1 and 12
    ");
}

#[test]
fn two_labels_have_no_parts() {
    let folder = folder();
    let line = "dshap value t.csv --target y --per-class --top 1";
    let block = folder.run(line);
    assert!(
        block.contains("warning: one fit tells two labels apart, so `--per-class` adds nothing"),
        "{block}"
    );
    assert_eq!(folder.stdout(line), folder.stdout("dshap value t.csv --target y --top 1"));
}

/// Labels flipped on purpose come first when rows are sorted by penalty.
#[test]
fn rows_are_sorted_by_penalty() {
    let folder = folder();
    let csv = Csv::parse(&folder.stdout("dshap value t.csv --target y --sort penalty --top 30"));
    let penalty = csv.numbers("penalty");
    assert!(penalty.len() == 30 && penalty.windows(2).all(|pair| pair[0] >= pair[1]));
    let mut all = Csv::parse(&folder.stdout("dshap value t.csv --target y")).numbers("penalty");
    all.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(penalty, all[..30]);
    assert_eq!(
        Csv::parse(&folder.stdout("dshap value t.csv --target y --sort penalty")).numbers("penalty"),
        all
    );
    for (flags, words) in [
        ("--bottom 3", "`--bottom` goes by value"),
        ("--method lower", "`--sort penalty` needs values with a penalty"),
    ] {
        let block = folder.run(&format!("dshap value t.csv --target y --sort penalty {flags}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}
