//! `--m 100,1000`: what rows and owners are worth to buyers with little or much data.

use crate::common::{Csv, Folder};
use dshap_testkit::{Draws, assert_close};
use std::fmt::Write as _;

/// Two features, a number, a label and an owner.
fn table(seed: u64, n: usize) -> String {
    let (mut draws, mut csv) = (Draws::new(seed), String::from("a,b,y,label,vendor\n"));
    for row in 0..n {
        let (a, b) = (draws.normal(), draws.normal());
        let y = 1.0 + a - 2.0 * b + draws.normal();
        let label = if a + b + draws.normal() > 0.0 { "yes" } else { "no" };
        let _ = writeln!(csv, "{a:.5},{b:.5},{y:.5},{label},{}", ["acme", "bolt", "cole"][row % 3]);
    }
    csv
}

fn folder() -> Folder {
    Folder::with("rows.csv", table(1, 60)).and("old.csv", table(2, 90))
}

/// Every family, leave-one-out and against a reference.
#[test]
fn each_size_has_the_bits_of_a_run_of_its_own() {
    let folder = folder();
    for line in [
        "dshap value rows.csv --features a,b --target y --stderr",
        "dshap value rows.csv --features a,b --target y --reference old.csv --method calibrated",
        "dshap value rows.csv --features a,b --target y --method general --samples 20",
        "dshap value rows.csv --features a,b --target label --stderr",
        "dshap value rows.csv --features a,b --target label --method second-order",
        "dshap value rows.csv --features a,b --target y --method knn",
        "dshap value rows.csv --features a,b --task density",
        "dshap value rows.csv --features a,b --target y --method d-shapley --samples 100",
    ] {
        let several = Csv::parse(&folder.stdout(&format!("{line} --m 30,40,25")));
        for m in [30, 40, 25] {
            let one = Csv::parse(&folder.stdout(&format!("{line} --m {m}")));
            let column = format!("value_m{m}");
            if line.contains("second-order") {
                // Its moments are summed at nodes for the largest size. Other nodes differ in late digits.
                let pairs = several.numbers(&column).into_iter().zip(one.numbers("value"));
                pairs.for_each(|(found, alone)| assert_close(found, alone, 1e-7));
                continue;
            }
            assert_eq!(several.column(&column), one.column("value"), "{line}, m = {m}");
            if line.contains("--stderr") {
                assert_eq!(several.column(&format!("stderr_m{m}")), one.column("stderr"), "{line}, m = {m}");
            }
            if m == 30 {
                assert_eq!(several.column("value"), one.column("value"), "{line}");
            }
        }
    }
}

#[test]
fn a_saved_valuer_values_for_several_sizes_too() {
    let folder = folder();
    folder.stdout("dshap fit old.csv --features a,b --target y -o v.dshap");
    let several = Csv::parse(&folder.stdout("dshap value rows.csv --valuer v.dshap --m 20,80"));
    let one = Csv::parse(&folder.stdout("dshap value rows.csv --valuer v.dshap --m 80"));
    assert_eq!(several.column("value_m80"), one.column("value"));
}

#[test]
fn owners_have_row_sums_and_joint_values_for_each_size() {
    let folder = folder();
    let owners = "dshap owners rows.csv --by vendor --features a,b --target y --test old.csv";
    let several = Csv::parse(&folder.stdout(&format!("{owners} --m 30,50")));
    for m in [30, 50] {
        let one = Csv::parse(&folder.stdout(&format!("{owners} --m {m}")));
        for column in ["row_sum", "joint"] {
            assert_eq!(several.column(&format!("{column}_m{m}")), one.column(column), "{column}");
        }
        assert_eq!(several.column("shapley"), one.column("shapley"));
    }
    folder.stdout("dshap fit rows.csv --by vendor --features a,b --target y -o v.dshap");
    let saved = Csv::parse(&folder.stdout("dshap owners v.dshap --test old.csv --m 30,50"));
    let one = Csv::parse(&folder.stdout("dshap owners v.dshap --test old.csv --m 50"));
    assert_eq!(saved.column("joint_m50"), one.column("joint"));
    assert_ne!(saved.column("joint_m30"), one.column("joint"));
}

#[test]
fn a_receipt_with_several_sizes_is_right() {
    let folder = folder();
    let line =
        "dshap owners rows.csv --by vendor --features a,b --target y --m 30,50 -o o.json --manifest r.json";
    folder.stdout(line);
    assert!(folder.run("dshap verify r.json").contains("is right"));
}

#[test]
fn several_sizes_are_refused_where_there_is_room_for_one() {
    let folder = folder();
    for line in [
        "dshap fit rows.csv --features a,b --target y --m 30,40 -o v.dshap",
        "dshap evaluate rows.csv --features a,b --target y --m 30,40",
        "dshap compare rows.csv --features a,b --target y --m 30,40",
        "dshap value rows.csv --features a,b --target y --m 30,30",
        "dshap value rows.csv --features a,b --target y --m 30,",
        "dshap value rows.csv --features a,b --task density --sets vendor --m 30,40",
    ] {
        let said = folder.run(line);
        assert!(said.contains("exit 2"), "{line}\n{said}");
    }
    let said = folder.run("dshap value rows.csv --features a,b --target y --m 40,3");
    assert!(said.contains("exit 1") && said.contains('3'), "{said}");
}
