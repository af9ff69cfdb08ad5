//! `--method second-order`.

use crate::common::{Csv, Folder};
use insta::assert_snapshot;
use std::fmt::Write as _;

/// Two features and a label that follows them but for chance.
fn labelled(n: usize) -> String {
    let mut draws = dshap_testkit::Draws::new(29);
    let mut csv = String::from("a,b,y\n");
    for _ in 0..n {
        let (a, b) = (draws.normal(), draws.normal());
        let label = if a - 0.6 * b + 1.4 * draws.normal() > 0.2 { "yes" } else { "no" };
        let _ = writeln!(csv, "{a:.6},{b:.6},{label}");
    }
    csv
}

/// Two features and one of three labels that follows them but for chance.
fn three_labels() -> String {
    let mut draws = dshap_testkit::Draws::new(31);
    let mut csv = String::from("a,b,animal\n");
    for _ in 0..300 {
        let (a, b) = (draws.normal(), draws.normal());
        let score = a + 0.5 * b + 1.5 * draws.normal();
        let _ = writeln!(
            csv,
            "{a:.6},{b:.6},{}",
            ["ant", "bee", "cat"][((score + 1.0).max(0.0) as usize).min(2)]
        );
    }
    csv
}

fn folder() -> Folder {
    Folder::with("t.csv", labelled(300))
}

#[test]
fn second_order_values_come_with_their_parts() {
    assert_snapshot!(folder().run("dshap value t.csv --target y --method second-order --ridge 0 --top 2 --stderr"), @"
    $ dshap value t.csv --target y --method second-order --ridge 0 --top 2 --stderr
    exit 0
    --- stdout
    row,value,stderr,potential,penalty,correction,dist_sq,prob,weight,given_label,label_prob,predicted,note
    119,0.00143021,0.000237346,0.000295653,0.00108187,0.00221643,2.36491,0.132662,0.115063,yes,0.12564,no,
    297,0.00140514,0.000298168,0.000202738,0.00219355,0.00339596,1.93014,0.0621071,0.0582498,yes,0.055734,no,
    --- stderr
    classification (guessed) of `y`, method second-order: 300 rows, each valued against the others
    labels `no` (160), `yes` (140); `prob` is the probability of `yes`
    a model refitted on each set, judged by log-loss; sandwich spread, κ = p + 1 = 4
    p = 3, q = 26 (larger than usual: smaller sets often have no fit), m = 300
    on rows left out: accuracy 0.740 (most frequent label 0.533), log-loss 0.471, AUC 0.851
    11 passes over the table: extra passes for labels, steps of the logistic fit and moments of refitted models
    values from -0.00014018 to 0.0014302, half of them between -1.5565e-5 and 0.00030997
    low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or `--method knn`
    ");
    assert_snapshot!(folder().run("dshap value t.csv --target y --method second-order --utility accuracy --ridge 1 --bottom 1"), @"
    $ dshap value t.csv --target y --method second-order --utility accuracy --ridge 1 --bottom 1
    exit 0
    --- stdout
    row,value,potential,penalty,correction,dist_sq,prob,weight,given_label,label_prob,predicted,note
    157,-0.00108431,0.000239687,0.00107653,-0.000247463,2.02966,0.04742,0.0451713,yes,0.0406664,no,
    --- stderr
    classification (guessed) of `y`, method second-order: 300 rows, each valued against the others
    labels `no` (160), `yes` (140); `prob` is the probability of `yes`; ridge 1
    a model refitted on each set, judged by accuracy; sandwich spread
    p = 3, q = 13, m = 300
    on rows left out: accuracy 0.740 (most frequent label 0.533), log-loss 0.471, AUC 0.851
    21 passes over the table: extra passes for labels, steps of the logistic fit and moments of refitted models
    values from -0.0010843 to 0.00066655, half of them between 5.5913e-5 and 0.0003598
    low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or `--method knn`
    ");
    assert_snapshot!(folder().run("dshap value t.csv --target y --method second-order --spread model --small-ridge 0.5 --shift 6.5 --top 1"), @"
    $ dshap value t.csv --target y --method second-order --spread model --small-ridge 0.5 --shift 6.5 --top 1
    exit 0
    --- stdout
    row,value,potential,penalty,correction,dist_sq,prob,weight,given_label,label_prob,predicted,note
    72,0.000791067,0.00122301,0.000279774,-0.00015217,14.2887,0.672739,0.220161,yes,0.657275,yes,
    --- stderr
    classification (guessed) of `y`, method second-order: 300 rows, each valued against the others
    labels `no` (160), `yes` (140); `prob` is the probability of `yes`
    a model refitted on each set, judged by log-loss; model spread, small ridge 0.5, κ = 6.5000 (given)
    p = 3, q = 32 (larger than usual: smaller sets often have no fit), m = 300
    on rows left out: accuracy 0.740 (most frequent label 0.533), log-loss 0.471, AUC 0.851
    10 passes over the table: extra passes for labels, steps of the logistic fit and moments of refitted models
    values from -0.001353 to 0.00079107, half of them between 0.00013573 and 0.00022946
    low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or `--method knn`
    warning: a small ridge of 0.5 is 25 % of the curvature of the smallest sets in some direction, too much for a first-order correction; use `--ridge 0.5` instead, or a larger `--q`
    ");
}

#[test]
fn every_utility_is_a_value_of_its_own() {
    let folder = folder();
    let values = |flags: &str| {
        let line = format!("dshap value t.csv --target y --method second-order {flags}");
        Csv::parse(&folder.stdout(&line)).numbers("value")
    };
    let plain = values("--ridge 0");
    for flags in
        ["", "--utility accuracy", "--utility brier", "--spread model", "--ridge 1", "--small-ridge 1"]
    {
        assert!(values(flags).iter().zip(&plain).all(|(value, plain)| value != plain), "{flags}");
    }
    assert_eq!(values("--utility log-loss --spread sandwich --shift 4"), plain, "the defaults, p + 1 = 4");
}

#[test]
fn second_order_bits_do_not_depend_on_threads_or_memory() {
    let folder = Folder::with("t.csv", labelled(9000));
    let line = "dshap value t.csv --target y --method second-order --utility brier --ridge 2";
    let expected = folder.stdout(line);
    for flags in ["--threads 1", "--threads 3", "--memory 64MB --threads 2"] {
        assert_eq!(folder.stdout(&format!("{line} {flags}")), expected, "{flags}");
    }
}

#[test]
fn a_second_order_valuer_is_saved_and_shown() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap fit t.csv --target y --method second-order --utility brier --ridge 0 -o v.dshap"), @"
    $ dshap fit t.csv --target y --method second-order --utility brier --ridge 0 -o v.dshap
    exit 0
    --- stderr
    classification (guessed) of `y`, method second-order: a reference of 300 rows
    labels `no` (160), `yes` (140); `prob` is the probability of `yes`
    a model refitted on each set, judged by brier; sandwich spread
    p = 3, q = 26 (larger than usual: smaller sets often have no fit), m = 300, fitted in 7 passes
    saved to `v.dshap` (13 kB)
    ");
    let shown = folder.stdout("dshap inspect v.dshap");
    assert!(shown.contains("format          version 4"), "{shown}");
    assert!(shown.contains("judged by brier; sandwich spread"), "{shown}");
    let direct = folder.stdout(
        "dshap value t.csv --reference t.csv --target y --method second-order --utility brier --ridge 0",
    );
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap"), direct);
}

#[test]
fn three_labels_have_one_model_where_possible() {
    let folder = Folder::with("t.csv", three_labels());
    assert_snapshot!(folder.run("dshap value t.csv --target animal --method second-order --ridge 0 --top 1 --per-class"), @"
    $ dshap value t.csv --target animal --method second-order --ridge 0 --top 1 --per-class
    exit 0
    --- stdout
    row,value,potential,penalty,correction,dist_sq,prob_ant,prob_bee,prob_cat,given_label,label_prob,predicted,note
    14,0.00156332,0.000439147,0.00171504,0.00283921,4.60644,0.783733,0.162711,0.053556,cat,0.0480586,ant,
    --- stderr
    classification (guessed) of `animal`, method second-order: 300 rows, each valued against the others
    labels `ant` (149), `bee` (61), `cat` (90); one softmax model for all labels
    a model refitted on each set, judged by log-loss; sandwich spread, κ = p + 1 = 4
    p = 3, q = 32 (larger than usual: smaller sets often have no fit), m = 300
    on rows left out: accuracy 0.597 (most frequent label 0.497), log-loss 0.905
    19 passes over the table: extra passes for labels, steps of the logistic fit and moments of refitted models
    values from -0.00022947 to 0.0015633, half of them between -3.7025e-5 and 0.00056983
    low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or `--method knn`
    warning: one model tells all labels apart, so a value is not a sum over labels: `--per-class` adds probabilities only
    ");
    assert_snapshot!(folder.run("dshap value t.csv --target animal --method second-order --utility brier --ridge 0 --bottom 1 --per-class"), @"
    $ dshap value t.csv --target animal --method second-order --utility brier --ridge 0 --bottom 1 --per-class
    exit 0
    --- stdout
    row,value,potential,penalty,correction,value_ant,prob_ant,value_bee,prob_bee,value_cat,prob_cat,given_label,label_prob,predicted,note
    244,-0.000326536,0.000426205,0.000791222,3.848e-5,-9.08829e-5,0.795036,-0.000260732,0.181484,2.50786e-5,0.0581412,bee,0.163814,ant,
    --- stderr
    classification (guessed) of `animal`, method second-order: 300 rows, each valued against the others
    labels `ant` (149), `bee` (61), `cat` (90); one model per label against the others, values summed
    a model refitted on each set, judged by brier; sandwich spread; one softmax model needs log-loss without a ridge
    p = 3, q = 26 (larger than usual: smaller sets often have no fit), m = 300
    on rows left out: accuracy 0.597 (most frequent label 0.497), log-loss 0.904
    12 passes over the table: extra passes for labels, steps of the logistic fit and moments of refitted models
    values from -0.00032654 to 0.00074646, half of them between 7.0775e-5 and 0.00031494
    low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or `--method knn`
    ");
}

#[test]
fn second_order_flags_that_do_not_fit_are_wrong_usage() {
    let folder = folder().and("numbers.csv", crate::common::many_rows(50));
    folder.stdout("dshap fit t.csv --target y --method second-order -o v.dshap");
    for (line, words) in [
        ("value t.csv --target y --utility brier", "`--utility` goes with `second-order`, `d-shapley`"),
        (
            "value t.csv --target y --method general --shift measured",
            "`--shift` goes with `second-order` only",
        ),
        (
            "value numbers.csv --target y --method second-order",
            "`--method second-order` is for classification; for regression use",
        ),
        (
            "value t.csv --target y --method second-order --refit-intercept",
            "`--refit-intercept` does not go with `--method second-order`",
        ),
        ("value t.csv --target y --method second-order --samples 5", "`--samples` goes with"),
        ("value t.csv --target y --method second-order --ridge 1 --spread model", "leave out `--spread`"),
        (
            "value t.csv --target y --method second-order --utility brier --shift 3",
            "`--shift 3` and `--utility brier` do not go together",
        ),
        ("value t.csv --valuer v.dshap --utility brier", "`--utility` is fixed by the valuer"),
        ("value t.csv --target y --method second-order --shift soon", "expected measured or a number"),
        (
            "value t.csv --target y --method second-order --utility accuracy --small-ridge 0.1",
            "`--small-ridge 0.1` and `--utility accuracy` do not go together",
        ),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

#[test]
fn set_sizes_too_small_for_the_sum_are_refused() {
    assert_snapshot!(folder().run("dshap value t.csv --target y --method second-order --q 4"), @"
    $ dshap value t.csv --target y --method second-order --q 4
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: set sizes q = 4, m = 300 are impossible for 3 design columns: 5 ≤ q ≤ m is needed

    hint: set `--q` between 5 and 300, or leave it out
    ");
    assert_snapshot!(folder().run("dshap value t.csv --target y --method second-order --shift 40 --q 20"), @"
    $ dshap value t.csv --target y --method second-order --shift 40 --q 20
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: a shift of κ = 40.0 rows leaves nothing of sets of q = 20 rows: 41 ≤ q ≤ m is needed, and m = 300

    hint: set `--q` between 41 and 300, or leave it out
    ");
    let far = folder().run("dshap value t.csv --target y --method second-order --shift 1e6");
    assert!(far.contains("κ = 1000000.0") && far.contains("hint: use a smaller `--shift`"), "{far}");
}

/// The default q stays as far above a shift as above the default one, p + 1.
#[test]
fn a_shift_moves_the_default_q() {
    let folder = folder();
    for (flags, words) in [
        ("--shift 40", "p = 3, q = 49, m = 300"),
        ("--shift 4", "p = 3, q = 26 (larger than usual: smaller sets often have no fit), m = 300"),
        ("--shift 12.4 --q 13", "with a shift of 12.4 rows, the smallest sets (q = 13) count as 0.1 rows"),
        ("--shift -1000000", "rows, so values are those of much larger sets"),
    ] {
        let block =
            folder.run(&format!("dshap value t.csv --target y --method second-order --top 1 {flags}"));
        assert!(block.contains("exit 0") && block.contains(words), "{block}");
    }
    let measured = folder.run("dshap value t.csv --target y --method second-order --top 1 --shift measured");
    assert!(measured.contains("exit 0") && measured.contains("(measured)"), "{measured}");
}

/// Four rows of 40 with the rarer label, and 40 of 41 rows told apart by one column:
/// most references drawn from these have no fit, and half the rows have none either.
#[test]
fn standard_errors_exist_wherever_values_do() {
    let mut draws = dshap_testkit::Draws::new(37);
    let (mut rare, mut nearly) = (String::from("a,b,y\n"), String::from("a,b,y\n"));
    for i in 0..41 {
        let (a, b) = (draws.normal(), draws.normal());
        let _ = writeln!(rare, "{a:.6},{b:.6},{}", if i % 11 == 5 { "yes" } else { "no" });
        let is_one = if i == 40 { a < -0.3 } else { a > 0.0 };
        let _ = writeln!(nearly, "{a:.6},{b:.6},{}", if is_one { "yes" } else { "no" });
    }
    let folder = Folder::with("rare.csv", rare).and("nearly.csv", nearly);
    for table in ["rare.csv", "nearly.csv"] {
        for flags in ["", "--ridge 0", "--ridge 0 --utility brier", "--utility accuracy", "--ridge 0.5"] {
            let line = format!("dshap value {table} --target y --method second-order --stderr {flags}");
            let errors = Csv::parse(&folder.stdout(&line)).numbers("stderr");
            assert!(errors.len() == 41 && errors.iter().all(|error| *error > 0.0), "{line}: {errors:?}");
        }
    }
}

/// Warnings about sets name a remedy that was tried.
#[test]
fn doubtful_sets_get_a_warning() {
    let folder = folder().and("three.csv", three_labels());
    for (line, words) in [
        ("t.csv --target y --ridge 0 --q 13", "sets of 12 rows drawn from the reference"),
        ("t.csv --target y --ridge 0", "(larger than usual: smaller sets often have no fit), m = 300"),
        (
            "t.csv --target y --ridge 0 --q 13",
            " of 50; with a `--ridge`, sets that have all labels have a fit",
        ),
        ("three.csv --target animal --ridge 0", "p = 3, q = 32 (larger than usual"),
        ("three.csv --target animal --ridge 0 --per-class", "`--per-class` adds probabilities only"),
        (
            "three.csv --target animal --utility accuracy",
            "with more than two labels, accuracy here means telling each label from all others",
        ),
        ("t.csv --target y --small-ridge 5", "too much for a first-order correction"),
        ("t.csv --target y --utility accuracy --m 3000", "set `--m` to at most 2700"),
    ] {
        let block = folder.run(&format!("dshap value {line} --method second-order --top 1"));
        assert!(block.contains("exit 0") && block.contains(words), "{block}");
    }
    for line in [
        "",
        "--ridge 1",
        "--ridge 0 --q 60",
        "--ridge 0 --utility accuracy --q 60 --small-ridge 0",
        "--q 60 --small-ridge 0.01",
    ] {
        let block = folder.run(&format!("dshap value t.csv --target y --method second-order --top 1 {line}"));
        assert!(block.contains("exit 0") && !block.contains("warning"), "{block}");
    }
}
