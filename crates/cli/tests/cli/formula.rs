//! `dshap formula`: the closed forms for given numbers.

use crate::common::{Csv, Folder};
use dshap_testkit::{cases, cases_under};
use insta::assert_snapshot;
use std::fmt::Write as _;

/// Columns of the program beside those of the table.
const FORMS: [(&str, &str); 4] = [
    ("gain", "marginal_definition"),
    ("simple", "simple_definition"),
    ("full", "full_definition"),
    ("printed", "simple_printed"),
];

#[test]
fn the_closed_forms_agree_with_the_reference_table() {
    let table = cases("reference/regression.json");
    let mut csv = String::from("p,q,m,d2,e2,sigma2,C_lin\n");
    for case in &table {
        let numbers = ["p", "q", "m", "d2", "e2", "sigma2", "C_lin"];
        let cells =
            numbers.map(|name| case.optional(name).map_or(String::new(), |number| number.to_string()));
        let _ = writeln!(csv, "{}", cells.join(","));
    }
    let folder = Folder::with("cases.csv", csv);
    let out = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    assert_eq!(out.len(), table.len());
    for (name, reference) in FORMS {
        let mut n_compared = 0;
        for (case, found) in table.iter().zip(out.numbers(name)) {
            match case.optional(reference) {
                None => assert!(found.is_nan(), "{name} exists for {case:?}"),
                Some(exact) => {
                    n_compared += 1;
                    // The full value is a difference and may nearly vanish.
                    let scale = if name == "full" { case.number("simple_definition") } else { exact };
                    let error = (found - exact).abs();
                    let allowed = 1e-12 * scale.abs().max(exact.abs());
                    assert!(error <= allowed, "{name} is {found:e}, off by {error:.1e} in {case:?}");
                }
            }
        }
        assert!(n_compared > 0, "no case has {name}");
    }
}

/// Test rows, semivalues and refitted intercepts in one table; empty cells are the plain form.
#[test]
fn forms_beyond_the_paper_agree_with_the_reference_table() {
    let mut csv = String::from("p,q,m,d2,e2,sigma2,semivalue,b,tau,c,intercept\n");
    let (target, refitted) = (
        cases_under("reference/extensions.json", "target"),
        cases_under("reference/extensions.json", "refit_intercept"),
    );
    // Cells with commas are left to the tests of the arithmetic.
    let target: Vec<_> = target.into_iter().filter(|case| !case.text("semivalue").contains(',')).collect();
    for case in &target {
        let numbers = ["p", "q", "m", "a"].map(|name| case.number(name).to_string()).join(",");
        let rest = ["b", "tau", "c"].map(|name| case.number(name).to_string()).join(",");
        let (e, sigma2) = (case.number("e"), case.number("sigma2"));
        let _ = writeln!(csv, "{numbers},{},{sigma2},{},{rest},", e * e, case.text("semivalue"));
    }
    for case in &refitted {
        let numbers = ["p", "q", "m", "a", "e2", "sigma2"].map(|name| case.number(name).to_string());
        let _ = writeln!(csv, "{},,,,,refitted", numbers.join(","));
    }
    let folder = Folder::with("cases.csv", csv);
    let out = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    for (case, found) in target.iter().chain(&refitted).zip(out.numbers("gain")) {
        let exact = case.number("value");
        assert!((found - exact).abs() <= 1e-11 * (exact.abs() + 0.1), "{found} in {case:?}");
    }
    let command =
        "dshap formula regression --p 2 --q 11 --m 23 --d2 5.8 --e2 3.67 --sigma2 0.98 --intercept refitted";
    let found = Csv::parse(&folder.stdout(command)).numbers("gain")[0];
    assert!((found / -0.011_087_888_923_683_887 - 1.0).abs() < 1e-10, "{found}");
    let refused = folder.run(&format!("{command} --tau 3"));
    assert!(refused.contains("exit 2") && refused.contains("no closed form"), "{refused}");
}

#[test]
fn one_case_can_be_given_by_flags() {
    assert_snapshot!(
        Folder::new().run("dshap formula regression --p 3 --q 9 --m 40 --d2 3.5 --e2 0.25 --sigma2 0.8"),
        @"
        $ dshap formula regression --p 3 --q 9 --m 40 --d2 3.5 --e2 0.25 --sigma2 0.8
        exit 0
        --- stdout
        p,q,m,d2,e2,sigma2,gain,simple,full,printed
        3,9,40,3.5,0.25,0.8,0.0232555,-0.0319024,,-0.0301368
        "
    );
    assert_snapshot!(
        Folder::new().run(
            "dshap formula regression --p 3 --q 9 --m 40 --d2 3.5 --e2 0.25 --sigma2 0.8 --c-lin -1.5 --format json"
        ),
        @r#"
        $ dshap formula regression --p 3 --q 9 --m 40 --d2 3.5 --e2 0.25 --sigma2 0.8 --c-lin -1.5 --format json
        exit 0
        --- stdout
        [
        {"p":3,"q":9,"m":40,"d2":3.5,"e2":0.25,"sigma2":0.8,"C_lin":-1.5,"gain":0.0232555,"simple":-0.0319024,"full":-0.0492445,"printed":-0.0301368}
        ]
        "#
    );
}

#[test]
fn forms_that_do_not_exist_for_a_size_are_empty() {
    let folder = Folder::with("cases.csv", "p,q,m,d2,e2,sigma2\n3,6,40,2,1,1\n3,5,40,2,1,1\n3,4,40,2,1,1\n");
    assert_snapshot!(folder.run("dshap formula regression --cases cases.csv"), @"
        $ dshap formula regression --cases cases.csv
        exit 0
        --- stdout
        p,q,m,d2,e2,sigma2,gain,simple,full,printed
        3,6,40,2,1,1,0.0707945,-0.0814861,,-0.0700712
        3,5,40,2,1,1,,-0.103849,,-0.0821776
        3,4,40,2,1,1,,,,-0.104541
        ");
}

#[test]
fn other_columns_are_carried_through_as_they_are() {
    let folder = Folder::with("cases.csv", "name,m,p,q,d2,e2,sigma2\nfar,40,3,9,9.50,1,1\n");
    let out = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    assert_eq!(out.header()[..7], ["name", "m", "p", "q", "d2", "e2", "sigma2"]);
    assert_eq!((out.column("name"), out.column("d2")), (vec!["far"], vec!["9.50"]));
}

#[test]
fn columns_with_the_name_of_a_form_are_renamed() {
    let folder = Folder::with("cases.csv", "p,q,m,d2,e2,sigma2,gain,gain_input\n3,9,40,2,1,1,7,8\n");
    let out = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    assert_eq!(out.header()[6..], ["gain_input_input", "gain_input", "gain", "simple", "full", "printed"]);
    assert_eq!((out.column("gain_input_input"), out.column("gain_input")), (vec!["7"], vec!["8"]));
}

#[test]
fn flags_and_a_file_of_one_case_agree() {
    let folder = Folder::with("cases.csv", "p,q,m,d2,e2,sigma2,C_lin\n7,23,900,8.25,0.5,1.75,2.5\n");
    let from_file = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    let from_flags = Csv::parse(&folder.stdout(
        "dshap formula regression --p 7 --q 23 --m 900 --d2 8.25 --e2 0.5 --sigma2 1.75 --c-lin 2.5",
    ));
    for (name, _) in FORMS {
        assert_eq!(from_file.column(name), from_flags.column(name));
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused_with_their_line() {
    let good = "p,q,m,d2,e2,sigma2\n3,9,40,2,1,1\n";
    let refused = |row: &str| {
        let folder = Folder::with("cases.csv", format!("{good}{row}\n"));
        let block = folder.run("dshap formula regression --cases cases.csv -o out.csv");
        assert_eq!(folder.files(), ["cases.csv"]);
        block
    };
    assert_snapshot!(refused("3,9.5,40,2,1,1"), @"
        $ dshap formula regression --cases cases.csv -o out.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: `cases.csv` line 3, q = 9.5 is not a whole number of at least 1
        ");
    assert_snapshot!(refused("3,9,8,2,1,1"), @"
        $ dshap formula regression --cases cases.csv -o out.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: `cases.csv` line 3, m = 8 is less than q = 9
        ");
    assert_snapshot!(refused("3,9,40,-2,1,1"), @"
        $ dshap formula regression --cases cases.csv -o out.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: `cases.csv` line 3, d2 = -2 is not a finite number of at least 0
        ");
    assert_snapshot!(refused("3,9,40,2,,1"), @"
        $ dshap formula regression --cases cases.csv -o out.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: `cases.csv` line 3, e2 is missing
        ");
    assert_snapshot!(refused("3,9,40,2,many,1"), @"
        $ dshap formula regression --cases cases.csv -o out.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: `cases.csv` line 3, e2 is `many`, which is not a number
        ");
}

#[test]
fn a_missing_column_is_refused() {
    let folder = Folder::with("cases.csv", "p,q,m,d2,e2\n3,9,40,2,1\n");
    assert_snapshot!(folder.run("dshap formula regression --cases cases.csv"), @"
        $ dshap formula regression --cases cases.csv
        exit 1
        --- stderr
        error: cannot evaluate the cases of `cases.csv`
          caused by: no column `sigma2` in `cases.csv`

        hint: its columns are `p`, `q`, `m`, `d2`, `e2`
        ");
}

#[test]
fn bad_flags_are_wrong_usage() {
    assert_snapshot!(
        Folder::new().run("dshap formula regression --p 3 --q 9 --m 40 --d2 -1 --e2 1 --sigma2 1"),
        @"
        $ dshap formula regression --p 3 --q 9 --m 40 --d2 -1 --e2 1 --sigma2 1
        exit 2
        --- stderr
        error: d2 = -1 is not a finite number of at least 0

        For more information, try '--help'.
        "
    );
    assert_snapshot!(Folder::new().run("dshap formula regression --p 3 --q 9"), @"
        $ dshap formula regression --p 3 --q 9
        exit 2
        --- stderr
        error: the following required arguments were not provided:
          --m <M>
          --d2 <D2>
          --e2 <E2>
          --sigma2 <SIGMA2>

        Usage: dshap formula regression --p <P> --q <Q> --m <M> --d2 <D2> --e2 <E2> --sigma2 <SIGMA2>

        For more information, try '--help'.
        ");
    assert_snapshot!(Folder::new().run("dshap formula regression --cases cases.csv --p 3"), @"
        $ dshap formula regression --cases cases.csv --p 3
        exit 2
        --- stderr
        error: the argument '--cases <FILE>' cannot be used with '--p <P>'

        Usage: dshap formula regression --cases <FILE>

        For more information, try '--help'.
        ");
}

/// Bounds: columns of the program beside those of the table.
const BOUNDS: [(&str, &str); 4] = [
    ("lower", "valid_joint/lower"),
    ("upper", "valid_joint/upper"),
    ("authors_lower", "authors/lower"),
    ("authors_upper", "authors/upper"),
];

#[test]
fn bounds_agree_with_the_reference_table() {
    let table = cases("reference/bounds.json");
    let names = ["p", "q", "m", "gamma", "lambda_min", "lambda_max", "c", "C", "d2", "e2", "sigma2"];
    let mut csv = names.join(",") + "\n";
    for case in &table {
        let field = |name: &str| match name {
            "lambda_min" | "lambda_max" => format!("{name}_SigmaInv"),
            other => other.to_string(),
        };
        let cells = names.map(|name| case.number(&field(name)).to_string());
        let _ = writeln!(csv, "{}", cells.join(","));
    }
    let folder = Folder::with("cases.csv", csv);
    let out = Csv::parse(&folder.stdout("dshap formula bounds --cases cases.csv"));
    for (name, reference) in BOUNDS {
        for (case, found) in table.iter().zip(out.numbers(name)) {
            match case.number(reference) {
                exact if exact.is_infinite() => assert_eq!(found, exact, "{name} of {case:?}"),
                exact => assert!((found / exact - 1.0).abs() < 1e-10, "{name} of {case:?}: {found}"),
            }
        }
    }
}

#[test]
fn a_single_bound_comes_from_flags() {
    let folder = Folder::new();
    let line = "dshap formula bounds --p 10 --q 80 --m 1000 --d2 12 --e2 2 --sigma2 1";
    assert_snapshot!(folder.run(line), @"
    $ dshap formula bounds --p 10 --q 80 --m 1000 --d2 12 --e2 2 --sigma2 1
    exit 0
    --- stdout
    p,q,m,gamma,lambda_min,lambda_max,c,C,d2,e2,sigma2,lower,upper,printed_lower,printed_upper,authors_lower,authors_upper
    10,80,1000,0.0,1.0,1.0,0.5,1.0,12.0,2.0,1.0,6.13595e-7,0.00315607,-1.80369e-5,0.0157778,-1.82201e-5,0.0561452
    ");
    let wrong = folder.run("dshap formula bounds --p 10 --q 1 --m 1000 --d2 12 --e2 2 --sigma2 1");
    assert!(wrong.contains("exit 2") && wrong.contains("q = 1 leaves the empty set"), "{wrong}");
}

/// The columns of `dshap value` put into the formula give its value back.
#[test]
fn classification_cases_are_the_values_of_rows() {
    let mut draws = dshap_testkit::Draws::new(31);
    let mut table = String::from("a,b,y\n");
    for _ in 0..80 {
        let (a, b) = (draws.normal(), draws.normal());
        table += &format!("{a},{b},{}\n", u8::from(a - b + 1.5 * draws.normal() > 0.0));
    }
    let folder = Folder::with("t.csv", &table);
    let values =
        Csv::parse(&folder.stdout("dshap value t.csv --reference t.csv --target y --keep y --m 60 --q 20"));
    let (d2, prob, y) = (values.numbers("dist_sq"), values.numbers("prob"), values.numbers("y"));
    let mut cases = String::from("p,q,m,d2,prob,y\n");
    for row in 0..80 {
        cases += &format!("3,20,60,{:?},{:?},{}\n", d2[row], prob[row], y[row]);
    }
    let folder = folder.and("cases.csv", &cases);
    let found = Csv::parse(&folder.stdout("dshap formula classification --cases cases.csv"));
    for (form, column) in [("gain", "value"), ("potential", "potential"), ("penalty", "penalty")] {
        for (found, expected) in found.numbers(form).iter().zip(values.numbers(column)) {
            assert!(
                (found - expected).abs() < 1e-11 * expected.abs().max(1e-4),
                "{form}: {found} {expected}"
            );
        }
    }
}

#[test]
fn a_classification_case_by_flags_and_what_is_no_case() {
    let folder = Folder::with("t.csv", "");
    assert_snapshot!(folder.run("dshap formula classification --p 5 --q 20 --m 500 --d2 6 --prob 0.9 --y 0"), @"
    $ dshap formula classification --p 5 --q 20 --m 500 --d2 6 --prob 0.9 --y 0
    exit 0
    --- stdout
    p,q,m,d2,prob,y,gain,potential,penalty,simple
    5,20,500,6.0,0.9,0.0,-0.00486892,0.00163569,0.00650461,-0.0128192
    ");
    for (flags, words) in [
        ("--prob 1 --y 1", "prob = 1 is not a probability between 0 and 1"),
        ("--prob 0.2 --y 2", "y = 2 is neither 0 nor 1"),
        ("--prob -0.1 --y 1", "prob = -0.1 is not a probability"),
    ] {
        let block = folder.run(&format!("dshap formula classification --p 5 --q 20 --m 500 --d2 6 {flags}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}

/// Rows of the table whose test population is that of the training rows.
#[test]
fn semivalues_agree_with_the_reference_table() {
    let table = dshap_testkit::cases_under("reference/extensions.json", "target");
    let is_plain = |case: &&dshap_testkit::Case| {
        case.number("b") == case.number("a")
            && case.number("tau") == case.number("p")
            && case.number("c") == 0.0
    };
    let plain: Vec<_> = table.iter().filter(is_plain).collect();
    let mut csv = String::from("p,q,m,d2,e2,sigma2,semivalue\n");
    for case in &plain {
        let [p, q, m, a, e, sigma2] = ["p", "q", "m", "a", "e", "sigma2"].map(|name| case.number(name));
        let _ = writeln!(csv, "{p},{q},{m},{a},{},{sigma2},\"{}\"", e * e, case.text("semivalue"));
    }
    let folder = Folder::with("cases.csv", csv);
    // The reader of these tests knows no quotes.
    let text = folder.stdout("dshap formula regression --cases cases.csv").replace("\"beta:1,4\"", "beta");
    let out = Csv::parse(&text);
    assert!(plain.len() >= 4 && out.len() == plain.len());
    for (case, found) in plain.iter().zip(out.numbers("gain")) {
        let exact = case.number("value");
        assert!((found / exact - 1.0).abs() < 1e-11, "{found:e} in {case:?}");
    }
}

#[test]
fn an_empty_semivalue_is_the_plain_form_and_a_wrong_one_is_refused() {
    let folder =
        Folder::with("cases.csv", "p,q,m,d2,e2,sigma2,semivalue\n3,13,40,2,1,1,\n3,13,40,2,1,1,at-m\n");
    let out = Csv::parse(&folder.stdout("dshap formula regression --cases cases.csv"));
    let plain = "dshap formula regression --p 3 --q 13 --m 40 --d2 2 --e2 1 --sigma2 1";
    let single = Csv::parse(&folder.stdout(plain));
    assert_eq!(out.numbers("gain")[0], single.numbers("gain")[0]);
    assert!(out.numbers("simple")[1].is_nan() && out.numbers("gain")[1] != out.numbers("gain")[0]);
    let at_m = Csv::parse(&folder.stdout(&format!("{plain} --semivalue at-m")));
    assert_eq!(at_m.numbers("gain")[0], out.numbers("gain")[1]);
    assert!(folder.run(&format!("{plain} --semivalue beta:1")).contains("beta:A,B"));
}

/// Algorithm 4 ends the sums of the paper and of its authors' program, not those of valid bounds.
#[test]
fn published_bounds_may_stop_early() {
    let folder = Folder::new();
    let line = "dshap formula bounds --p 10 --q 80 --m 1000 --d2 12 --e2 2 --sigma2 1 --c 1";
    let whole = Csv::parse(&folder.stdout(line));
    let stopped = Csv::parse(&folder.stdout(&format!("{line} --stop 0.005")));
    assert_eq!(stopped.numbers("stop"), [0.005]);
    for name in ["printed_lower", "printed_upper", "authors_lower", "authors_upper"] {
        assert_ne!(whole.numbers(name), stopped.numbers(name), "{name}");
    }
    for name in ["lower", "upper"] {
        assert_eq!(whole.numbers(name), stopped.numbers(name), "{name}");
    }
    // The upper bound to the letter, as a sum that ends at a small term.
    let (a, m, p) = (12.0, 1000.0_f64, 10.0_f64);
    let mut total = 0.0;
    for j in 79..1000 {
        let j = f64::from(j);
        let delta = (p.sqrt() + ((j * m).ln() / 2.0).sqrt()) / j.sqrt();
        let (upper, lower) = (1.0 / (j * (1.0 - delta).powi(2)), 1.0 / (j * (1.0 + delta).powi(2)));
        let ratio = ((1.0 + a * lower) / (1.0 + a * upper)).powi(2);
        let term = a * upper * upper / (1.0 + a * lower).powi(2) * (2.0 + a * upper - ratio * 2.0) / m;
        let before = total;
        total += term;
        if (before / total - 1.0).abs() <= 0.005 {
            break;
        }
    }
    let found = stopped.numbers("printed_upper")[0];
    assert!((found / total - 1.0).abs() < 1e-10, "{found}, {total}");
    let cases = "p,q,m,gamma,lambda_min,lambda_max,c,C,d2,e2,sigma2,stop\n10,80,1000,0,1,1,1,1,12,2,1,0.005\n10,80,1000,0,1,1,1,1,12,2,1,\n";
    let folder = Folder::with("cases.csv", cases);
    let table = Csv::parse(&folder.stdout("dshap formula bounds --cases cases.csv"));
    assert_eq!(table.numbers("printed_upper"), [found, whole.numbers("printed_upper")[0]]);
    let refused = folder.run(&format!("{line} --stop -1"));
    assert!(refused.contains("exit 2") && refused.contains("stop = -1"), "{refused}");
}
