//! Values for the data that one predicts: `--test`, `--population` and `teach`.

use crate::common::{Csv, Folder, goods, goods_with};
use std::fmt::Write as _;

/// Goods of another kind: smaller and older, and cheaper than the model thinks.
const TODAY: &str = "size,age,price\n8,38,2.5\n6.5,41,-4\n12,35,11\n9.25,44,1\n";

fn folder() -> Folder {
    let folder = Folder::with("goods.csv", goods());
    folder.write("today.csv", TODAY);
    folder.write("inputs.csv", inputs());
    folder
}

/// The same without targets.
fn inputs() -> String {
    let features = |line: &str| line.rsplit_once(',').map(|(features, _)| format!("{features}\n"));
    TODAY.lines().filter_map(features).collect()
}

fn values(folder: &Folder, command: &str) -> Vec<f64> {
    Csv::parse(&folder.stdout(command)).numbers("value")
}

#[test]
fn values_are_for_the_rows_that_are_given() {
    let folder = folder();
    let plain = values(&folder, "dshap value goods.csv --target price");
    let tests = values(&folder, "dshap value goods.csv --target price --test today.csv");
    let population = values(&folder, "dshap value goods.csv --target price --population inputs.csv");
    assert!(plain != tests && tests != population);
    // The goods themselves change next to nothing: each row leaves the mean, and they stay.
    let themselves =
        values(&folder, "dshap value goods.csv --reference goods.csv --target price --test goods.csv");
    let against = values(&folder, "dshap value goods.csv --reference goods.csv --target price");
    for (one, other) in themselves.iter().zip(against) {
        assert!((one - other).abs() < 1e-9 * (one.abs() + 1.0), "{one} and {other}");
    }
    let shown = folder.run("dshap value goods.csv --target price --test today.csv --stderr -o values.csv");
    assert!(shown.contains("values are for the 4 rows of `today.csv`"), "{shown}");
    let shown = folder.run("dshap value goods.csv --target price --population inputs.csv -o values.csv");
    assert!(shown.contains("values are for the 4 rows of `inputs.csv` without targets"), "{shown}");
}

/// Utilities add up over test rows, so values for all are the mean of those for each.
#[test]
fn cases_add_up_to_the_test_rows() {
    let folder = folder();
    let together = values(&folder, "dshap value goods.csv --target price --test today.csv");
    let taught = Csv::parse(&folder.stdout("dshap teach goods.csv --target price --case today.csv"));
    assert_eq!(taught.len(), 4 * 22);
    let (cases, rows, each) = (taught.numbers("case"), taught.numbers("row"), taught.numbers("value"));
    for (row, whole) in together.iter().enumerate() {
        let own = (0..each.len()).filter(|&i| rows[i] == row as f64);
        let mean = own.map(|i| each[i]).sum::<f64>() / 4.0;
        assert!((mean - whole).abs() < 1e-9 * (whole.abs() + 1.0), "row {row}: {mean} and {whole}");
    }
    assert_eq!((cases[0], cases[22], cases[87]), (0.0, 1.0, 3.0));
    // The best rows of each case, and cases without targets.
    let best = Csv::parse(&folder.stdout("dshap teach goods.csv --target price --case today.csv --top 2"));
    assert_eq!(best.numbers("case"), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    let highest = each[..22].iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(best.numbers("value")[0], highest);
    let shown = folder.run("dshap teach goods.csv --target price --case inputs.csv -o taught.csv");
    assert!(shown.contains("what each of 22 rows teaches about 4 cases without targets"), "{shown}");
}

#[test]
fn saved_valuers_keep_the_test_rows() {
    let folder = folder();
    let text = folder.read("goods.csv");
    let lines: Vec<&str> = text.lines().collect();
    folder.write("a.csv", format!("{}\n", lines[..12].join("\n")));
    folder.write("b.csv", format!("{}\n{}\n", lines[0], lines[12..].join("\n")));
    folder.write("new.csv", "size,age,price\n10,30,12\n40,10,100\n");
    for part in ["a", "b", "goods"] {
        folder.stdout(&format!("dshap fit {part}.csv --target price --test today.csv -o {part}.dshap"));
    }
    folder.stdout("dshap merge a.dshap b.dshap -o all.dshap");
    folder.stdout("dshap update a.dshap b.csv -o more.dshap");
    folder.write("old.csv", "size,age,price\n5.75,34,-5.6\n");
    let direct = values(&folder, "dshap value new.csv --reference goods.csv --target price --test today.csv");
    let plain = values(&folder, "dshap value new.csv --reference goods.csv --target price");
    assert!(direct != plain);
    for valuer in ["goods", "all", "more"] {
        let found = values(&folder, &format!("dshap value new.csv --valuer {valuer}.dshap"));
        for (found, direct) in found.iter().zip(&direct) {
            assert!((found / direct - 1.0).abs() < 1e-9, "{valuer}: {found} and {direct}");
        }
    }
    assert_eq!(values(&folder, "dshap value new.csv --valuer goods.dshap"), direct);
    let shown = folder.run("dshap inspect goods.dshap");
    assert!(shown.contains("4 test rows"), "{shown}");

    // Parts that are for other data do not merge; methods without test rows do not value.
    folder.stdout("dshap fit b.csv --target price -o plain.dshap");
    let refused = folder.run("dshap merge a.dshap plain.dshap -o all.dshap");
    assert!(refused.contains("exit 1") && refused.contains("different data"), "{refused}");
    let refused = folder.run("dshap value new.csv --valuer goods.dshap --method lower");
    assert!(refused.contains("exit 2") && refused.contains("`--test`"), "{refused}");
    let refused = folder.run("dshap value new.csv --valuer goods.dshap --constant theorem");
    assert!(refused.contains("exit 2"), "{refused}");
}

#[test]
fn what_does_not_go_with_test_rows_is_refused() {
    let folder = folder();
    for options in [
        "--refit-intercept",
        "--constant theorem",
        "--convention printed",
        "--population inputs.csv",
        "--method general",
        "--method lower",
    ] {
        let command = format!("dshap value goods.csv --target price --test today.csv {options}");
        let refused = folder.run(&command);
        assert!(refused.contains("exit 2"), "{refused}");
    }
    let refused = folder.run("dshap teach goods.csv --target price --case today.csv --refit-intercept");
    assert!(refused.contains("exit 2") && refused.contains("means of the reference"), "{refused}");
    folder.write("other.csv", "size,price\n1,2\n");
    let refused = folder.run("dshap value goods.csv --target price --test other.csv");
    assert!(refused.contains("exit 1") && refused.contains("age"), "{refused}");
    folder.write("empty.csv", "size,age,price\n");
    let refused = folder.run("dshap value goods.csv --target price --test empty.csv");
    assert!(refused.contains("exit 1"), "{refused}");
}

/// Labels, two and three of them, calibrated and with semivalues.
#[test]
fn labels_are_valued_for_test_rows_too() {
    let mut draws = dshap_testkit::Draws::new(3);
    let mut table = |n: usize, shift: f64| {
        let mut csv = String::from("u,v,two,three\n");
        for _ in 0..n {
            let (u, v) = (draws.normal() + shift, draws.normal());
            let two = if u + draws.normal() > 0.0 { "yes" } else { "no" };
            let three = if v + draws.normal() > 0.7 {
                "c"
            } else if u > 0.0 {
                "b"
            } else {
                "a"
            };
            let _ = writeln!(csv, "{u:.5},{v:.5},{two},{three}");
        }
        csv
    };
    let folder = Folder::with("train.csv", table(200, 0.0));
    folder.write("far.csv", table(50, 1.5));
    for (target, other) in [("two", "three"), ("three", "two")] {
        for more in ["", "--method calibrated", "--semivalue banzhaf"] {
            let command = format!("dshap value train.csv --target {target} --exclude {other} {more}");
            let plain = values(&folder, &command);
            let far = values(&folder, &format!("{command} --test far.csv"));
            assert!(plain.len() == 200 && plain != far, "{command}");
            let population = values(&folder, &format!("{command} --population far.csv"));
            assert!(population != far && population != plain, "{command}");
        }
    }
    folder.stdout("dshap fit train.csv --target three --exclude two --test far.csv -o three.dshap");
    let saved = values(&folder, "dshap value far.csv --valuer three.dshap");
    let command = "dshap value far.csv --reference train.csv --target three --exclude two --test far.csv";
    assert_eq!(saved, values(&folder, command));
    let refused = folder.run("dshap value train.csv --target two --exclude three --test far.csv --stderr");
    assert!(refused.contains("exit 2") && refused.contains("no standard errors"), "{refused}");
}

/// Text columns, missing cells and owners' columns go through as without test rows.
#[test]
fn test_rows_are_encoded_like_the_reference() {
    let kinds = |row: usize| format!("{},", ["a", "b", "c"][row % 3]);
    let folder = Folder::with("goods.csv", goods_with("kind,", kinds));
    folder.write("today.csv", "kind,size,age,price\na,8,38,2.5\nc,6.5,41,-4\nb,12,,11\n");
    let refused = folder.run("dshap value goods.csv --target price --test today.csv");
    assert!(refused.contains("exit 1") && refused.contains("today.csv"), "{refused}");
    let shown = folder.run("dshap value goods.csv --target price --test today.csv --missing drop -o out.csv");
    assert!(shown.contains("exit 0") && shown.contains("2 rows of `today.csv`"), "{shown}");
}

/// Points without the target's column have the values expected of them.
#[test]
fn rows_without_targets_are_ranked_by_what_is_expected() {
    let folder = folder();
    folder.stdout("dshap fit goods.csv --target price -o goods.dshap");
    let by_reference = folder.stdout("dshap value inputs.csv --reference goods.csv --target price");
    assert_eq!(by_reference, folder.stdout("dshap value inputs.csv --valuer goods.dshap"));
    let found = Csv::parse(&by_reference);
    assert_eq!(found.header(), ["row", "value", "potential", "penalty", "dist_sq", "note"]);
    let known = Csv::parse(&folder.stdout("dshap value today.csv --valuer goods.dshap"));
    // What a position could bring does not depend on the target.
    assert_eq!(found.numbers("potential"), known.numbers("potential"));
    for (value, potential) in found.numbers("value").into_iter().zip(found.numbers("potential")) {
        assert!(0.0 < value && value < potential, "{value} of {potential}");
    }
    let shown = folder.run("dshap value inputs.csv --valuer goods.dshap -o values.csv");
    assert!(shown.contains("rows have no `price`: values are those expected"), "{shown}");
    // Standard errors, and methods that need the target, say what is missing.
    for options in ["--valuer goods.dshap --stderr", "--valuer goods.dshap --method lower"] {
        let refused = folder.run(&format!("dshap value inputs.csv {options}"));
        assert!(refused.contains("exit 1") && refused.contains("price"), "{refused}");
    }
    let refused = folder.run("dshap value inputs.csv --target price");
    assert!(refused.contains("exit 1") && refused.contains("price"), "{refused}");
}
