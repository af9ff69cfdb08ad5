//! `--method lower`, `upper` and `calibrated`, and `--refit-intercept`.

use crate::common::{Csv, Folder, many_rows};
use insta::assert_snapshot;

fn folder() -> Folder {
    Folder::with("t.csv", many_rows(400))
}

fn values(folder: &Folder, flags: &str) -> Vec<f64> {
    Csv::parse(&folder.stdout(&format!("dshap value t.csv --target y --q 40 {flags}"))).numbers("value")
}

#[test]
fn bounds_lie_on_both_sides_of_the_value() {
    let folder = folder();
    let (lower, exact, upper) =
        (values(&folder, "--method lower"), values(&folder, ""), values(&folder, "--method upper"));
    for row in 0..400 {
        assert!(lower[row] <= exact[row] && exact[row] <= upper[row], "row {row}");
    }
}

#[test]
fn a_bound_chooses_the_first_finite_size() {
    assert_snapshot!(folder().run("dshap value t.csv --target y --method lower --top 2"), @"
    $ dshap value t.csv --target y --method lower --top 2
    exit 0
    --- stdout
    row,value,dist_sq,resid_sq,predicted,residual,note
    363,0.000292475,10.0803,0.0656963,-5.87441,-0.256313,
    226,0.000242664,8.2362,0.0678091,5.24382,0.260402,
    --- stderr
    regression (guessed) of `y`, method lower: 400 rows, each valued against the others
    p = 1, q = 21, m = 400, noise variance 1.0287, R² 0.771 on rows left out
    values from -28.014 to 0.00029248, half of them between 3.3368e-7 and 2.1954e-5
    ");
    assert_snapshot!(folder().run("dshap value t.csv --target y --method upper --q 10 --top 1"), @"
    $ dshap value t.csv --target y --method upper --q 10 --top 1
    exit 0
    --- stdout
    row,value,dist_sq,resid_sq,predicted,residual,note
    0,inf,0.280877,0.332181,0.943697,0.576352,
    --- stderr
    regression (guessed) of `y`, method upper: 400 rows, each valued against the others
    p = 1, q = 10, m = 400, noise variance 1.0287, R² 0.771 on rows left out
    values from inf to inf, half of them between inf and inf
    warning: the bound is infinite, because it says nothing about sets this small (q below 21); `--q 21` makes it finite
    ");
}

#[test]
fn too_few_rows_for_a_bound_are_refused() {
    let folder = Folder::with("t.csv", many_rows(12));
    assert_snapshot!(folder.run("dshap value t.csv --target y --method upper"), @"
    $ dshap value t.csv --target y --method upper
    exit 1
    --- stderr
    error: cannot value `t.csv`
      caused by: the bound is infinite for sets of fewer than 16 rows, and m = 12

    hint: give at least 16 reference rows or set `--m` to at least 16, give `--ridge` together with `--q`, or use fewer columns (`--features`, `--exclude`)
    ");
}

#[test]
fn a_ridge_goes_with_bounds_only() {
    assert_snapshot!(folder().run("dshap value t.csv --target y --ridge 3"), @"
    $ dshap value t.csv --target y --ridge 3
    exit 2
    --- stderr
    error: `--ridge` does not go with `--method gaussian`: the closed form of a regression has no ridge

    For more information, try '--help'.
    ");
    assert_snapshot!(folder().run("dshap value t.csv --target y --method upper --ridge 3 --top 1"), @"
    $ dshap value t.csv --target y --method upper --ridge 3 --top 1
    exit 0
    --- stdout
    row,value,dist_sq,resid_sq,predicted,residual,note
    363,0.0216481,10.0803,0.0656963,-5.87441,-0.256313,
    --- stderr
    regression (guessed) of `y`, method upper: 400 rows, each valued against the others
    p = 1, q = 21, m = 400, noise variance 1.0287, R² 0.771 on rows left out
    values from -0.00012679 to 0.021648, half of them between 0.0001355 and 0.0049285
    warning: with a ridge, the bound covers only the main term, not what the ridge itself changes
    ");
}

#[test]
fn flags_of_other_methods_are_refused() {
    let folder = folder();
    for (line, words) in [
        ("--method lower --constant gain", "`--constant` goes with `gaussian` only"),
        (
            "--method lower --stop 0.1",
            "`--stop 0.1` is not possible: only sums as printed stop early; `--convention printed` or `--convention authors` goes with it",
        ),
        (
            "--method upper --stderr",
            "`--stderr` goes with `gaussian`, `calibrated`, `general`, `second-order`, `knn`, `closed`, `d-shapley`, \
             `tmc-shapley` and `knn-shapley` only",
        ),
        ("--bound-c 1", "`--bound-c` goes with `lower` and `upper` only"),
        (
            "--method lower --refit-intercept",
            "`--refit-intercept` goes with `gaussian`, `calibrated`, `general`, `algorithm-3`, `d-shapley`, ",
        ),
        (
            "--refit-intercept --no-intercept",
            "`--refit-intercept` and `--no-intercept` do not go together: there is no intercept to refit",
        ),
        ("--method lower --bound-c 0", "expected a number above 0"),
    ] {
        let block = folder.run(&format!("dshap value t.csv --target y {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

#[test]
fn bounds_are_saved_with_their_constants() {
    let folder = folder();
    let flags = "--method lower --ridge 2 --bound-c 0.7 --bound-C 1.2";
    folder.stdout(&format!("dshap fit t.csv --target y {flags} -o v.dshap"));
    let direct = folder.stdout(&format!("dshap value t.csv --reference t.csv --target y {flags}"));
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap"), direct);
    let inspected = folder.stdout("dshap inspect v.dshap --json");
    let inspected: serde_json::Value = serde_json::from_str(&inspected).expect("JSON");
    assert_eq!((&inspected["method"], &inspected["ridge"]), (&"lower".into(), &2.0.into()));
    assert_eq!(inspected["bound_constants"], serde_json::json!([0.7, 1.2]));
}

#[test]
fn a_refitted_intercept_counts_as_a_column() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap value t.csv --target y --refit-intercept --stderr --top 1"), @r"
    $ dshap value t.csv --target y --refit-intercept --stderr --top 1
    exit 0
    --- stdout
    row,value,stderr,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    363,0.0038076,0.000332973,0.00390246,9.48572e-5,10.0803,0.0656963,-5.87441,-0.256313,
    --- stderr
    regression (guessed) of `y`, method gaussian: 400 rows, each valued against the others
    p = 2, q = 12, m = 400, noise variance 1.0287, R² 0.771 on rows left out
    values from -0.0034094 to 0.0038076, half of them between 0.00029495 and 0.00084216
    17 rows lie far below the others, by more than two standard errors
    next: `dshap clean t.csv --target y` tests whether fewer or corrected rows make a better model
    ");
    folder.stdout("dshap fit t.csv --target y --refit-intercept -o v.dshap");
    let direct = folder.stdout("dshap value t.csv --reference t.csv --target y --refit-intercept");
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap"), direct);
    let block = folder.run("dshap value t.csv --valuer v.dshap --refit-intercept");
    assert!(block.contains("is fixed by the valuer"), "{block}");
}

/// Inputs of two values only, and enough rows to see what that changes.
fn two_point(n: usize) -> String {
    use std::fmt::Write;
    let mut draws = dshap_testkit::Draws::new(3);
    let mut csv = String::from("a,b,c,y\n");
    for _ in 0..n {
        let [a, b, c] = std::array::from_fn(|_| if draws.uniform() < 0.5 { -1.0 } else { 1.0 });
        let _ = writeln!(csv, "{a},{b},{c},{:.6}", a + b - c + draws.normal());
    }
    csv
}

#[test]
fn inputs_that_are_not_gaussian_get_a_warning() {
    let folder = Folder::with("t.csv", two_point(8000)).and("few.csv", two_point(60));
    let said = |line: &str| String::from_utf8_lossy(&folder.output(line).stderr).into_owned();
    let words = "warning: the inputs are not Gaussian: use these values to order rows (rank correlation ";
    for line in [
        "dshap value t.csv --target y --m 100 --top 1",
        "dshap value few.csv --reference t.csv --target y --m 100 --top 1",
        "dshap fit t.csv --target y --m 100 -o v.dshap",
    ] {
        assert!(said(line).contains(words), "{}", said(line));
    }
    assert!(!said("dshap value t.csv --target y --m 100 --method calibrated --top 1").contains("Gaussian"));
    assert!(!said("dshap value few.csv --target y --top 1").contains("Gaussian"), "too few rows to tell");
}

#[test]
fn calibrated_values_take_one_pass_more() {
    let folder = Folder::with("t.csv", two_point(300));
    assert_snapshot!(folder.run("dshap value t.csv --target y --method calibrated --stderr --top 2"), @"
    $ dshap value t.csv --target y --method calibrated --stderr --top 2
    exit 0
    --- stdout
    row,value,stderr,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    227,0.00201294,0.000215953,0.00201729,4.35341e-6,3.63786,0.00446154,-2.95889,-0.0667947,
    62,0.00200423,0.000212981,0.00201723,1.30022e-5,3.63786,0.0133252,-2.96168,0.115435,
    --- stderr
    regression (guessed) of `y`, method calibrated: 300 rows, each valued against the others
    p = 3, q = 13, m = 300, noise variance 0.91724, R² 0.740 on rows left out
    3 passes over the table: an extra pass for calibration
    values from -0.0053403 to 0.0020129, half of them between 0.00082019 and 0.0016321
    21 rows lie far below the others, by more than two standard errors
    next: `dshap clean t.csv --target y` tests whether fewer or corrected rows make a better model
    ");
}

#[test]
fn calibrated_valuers_are_saved_with_their_distances() {
    let folder = Folder::with("t.csv", two_point(300));
    folder.stdout("dshap fit t.csv --target y --method calibrated -o v.dshap");
    folder.stdout("dshap fit t.csv --target y -o plain.dshap");
    let direct = folder.stdout("dshap value t.csv --reference t.csv --target y --method calibrated --m 50");
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap --m 50"), direct);
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap --m 50 --threads 1 --memory 60MB"), direct);
    let plain = folder.stdout("dshap value t.csv --valuer plain.dshap --m 50");
    assert_eq!(folder.stdout("dshap value t.csv --valuer v.dshap --m 50 --method gaussian"), plain);
    let block = folder.run("dshap value t.csv --valuer plain.dshap --method calibrated");
    assert!(block.contains("stores no distances to calibrate with") && block.contains("exit 1"), "{block}");
    for line in ["update v.dshap t.csv -o w.dshap", "merge v.dshap v.dshap -o w.dshap"] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("a `calibrated` valuer cannot change") && block.contains("exit 1"), "{block}");
    }
    assert!(!folder.path("w.dshap").exists());
}

#[test]
fn general_values_come_with_rounds_and_errors() {
    let folder = Folder::with("t.csv", many_rows(300));
    let line = "dshap value t.csv --target y --m 100 --method general --stderr --top 2 --seed 4";
    assert_snapshot!(folder.run(line), @"
    $ dshap value t.csv --target y --m 100 --method general --stderr --top 2 --seed 4
    exit 0
    --- stdout
    row,value,stderr,dist_sq,resid_sq,predicted,residual,note
    226,0.0115062,0.000159204,7.82518,0.0371083,5.31159,0.192635,
    299,0.0112416,0.000158032,7.29979,0.00281065,5.14136,0.0530155,
    --- stderr
    regression (guessed) of `y`, method general: 300 rows, each valued against the others
    p = 1, q = 11, m = 100, noise variance 1.0609, R² 0.772 on rows left out
    1 072 rounds of sets were drawn
    values from -0.008808 to 0.011506, half of them between 3.5315e-5 and 0.0018178
    ");
    assert_eq!(folder.stdout(line), folder.stdout(&format!("{line} --threads 1 --memory 60MB")));
    assert_ne!(folder.stdout(line), folder.stdout(&line.replace("seed 4", "seed 5")));
}

/// Gaussian inputs: both methods agree within the errors of the draws, and a row
/// has its own value whatever else is valued with it.
#[test]
fn general_values_of_gaussian_inputs_are_the_closed_form() {
    let folder = Folder::with("t.csv", many_rows(600)).and("new.csv", many_rows(40));
    let values = |flags: &str| {
        let line = format!("dshap value new.csv --reference t.csv --target y --m 60 {flags}");
        Csv::parse(&folder.stdout(&line)).numbers("value")
    };
    let (exact, drawn) = (values(""), values("--method general --stop 0.01"));
    let spread = exact.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (exact, drawn) in exact.iter().zip(&drawn) {
        assert!((exact - drawn).abs() < 0.05 * spread, "{exact} and {drawn}");
    }
    let penalised = values("--method general --ridge 50");
    assert!(penalised.iter().zip(&drawn).any(|(p, d)| (p - d).abs() > 0.02 * spread));
}

#[test]
fn general_needs_rows_without_weights_and_sets_that_fit() {
    let folder = Folder::with("t.csv", many_rows(100))
        .and("w.csv", two_point(100).replace("a,b,c,y", "a,b,w,y").replace("-1,", "2,"));
    for (line, words) in [
        ("value t.csv --target y --method general --m 200", "set `--m` to at most 100"),
        (
            "value w.csv --target y --weight w --method general",
            "`--weight` does not go with `--method general`",
        ),
        (
            "fit w.csv --target y --weight w --method general -o v.dshap",
            "`--weight` does not go with `--method general`",
        ),
        ("value t.csv --target y --method general --ridge -1", "expected auto or a number of at least 0"),
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(!block.contains("exit 0") && block.contains(words), "{block}");
    }
    let missing = "x,y\n".to_string() + &many_rows(100)[4..] + "NA,3\n";
    folder.write("gap.csv", missing);
    let out = folder.stdout("dshap value gap.csv --target y --method general --missing drop --samples 32");
    let out = Csv::parse(&out);
    assert_eq!((out.len(), out.column("note")[100]), (101, "missing cell"));
    let said = folder.output("dshap value t.csv --target y --method general --samples 16").stderr;
    assert!(
        String::from_utf8_lossy(&said).contains("after 16 rounds the errors of the draws are still above")
    );
}

/// What the paper prints as bounds says so, and how much of its sums Algorithm 4 keeps.
#[test]
fn published_bounds_say_that_they_bound_nothing_and_how_much_was_kept() {
    let folder = folder();
    for convention in ["printed", "authors"] {
        for method in ["lower", "upper"] {
            let line = format!("dshap value t.csv --target y --method {method} --convention {convention}");
            let whole = folder.run(&line);
            assert!(whole.contains("exit 0") && whole.contains("they bound nothing"), "{whole}");
            assert!(!whole.contains("% of the sum"), "{whole}");
            let stopped = folder.run(&format!("{line} --stop 0.005"));
            assert!(stopped.contains("they bound nothing") && stopped.contains("% of the sum"), "{stopped}");
        }
    }
    let valid = folder.run("dshap value t.csv --target y --method lower");
    assert!(!valid.contains("they bound nothing"), "{valid}");
}

#[test]
fn the_authors_bounds_of_labels_need_an_intercept() {
    let labels: String = (0..60).fold("x,label\n".into(), |csv, i| {
        let label = if (i * 7) % 10 < 3 + i / 12 { "yes" } else { "no" };
        csv + &format!("{},{label}\n", f64::from(i) / 10.0)
    });
    let folder = Folder::with("t.csv", labels);
    let line = "dshap value t.csv --target label --method lower --no-intercept";
    let refused = folder.run(&format!("{line} --convention authors"));
    assert!(refused.contains("the authors' program fits labels with an intercept"), "{refused}");
    assert!(refused.contains("`--convention printed` does without"), "{refused}");
    assert!(folder.run(&format!("{line} --convention printed")).contains("exit 0"));
}
