//! CSV files without a header, with decimal commas, and CSV output for spreadsheets.

use crate::common::{Folder, GOODS, goods};
use std::fmt::Write as _;

/// The goods without their header.
fn bare() -> String {
    goods().split_once('\n').expect("a header").1.to_owned()
}

/// The goods as a program in much of Europe writes them.
fn with_commas() -> String {
    let mut csv = String::from("size;age;price\n");
    for (size, age, price) in GOODS {
        let _ = writeln!(
            csv,
            "{};{age};{}",
            size.to_string().replace('.', ","),
            price.to_string().replace('.', ",")
        );
    }
    csv
}

/// The same table, read in all ways, has the same values.
#[test]
fn the_first_row_counts_with_every_command() {
    let folder = Folder::with("goods.csv", goods()).and("bare.csv", bare()).and("commas.csv", with_commas());
    let by_name = |line: &str| line.replace("column_1", "size").replace("column_3", "price");
    for line in [
        "value TABLE --target column_3",
        "value TABLE --target column_3 --reference TABLE",
        "value TABLE --target column_3 --method knn --test TABLE",
        "value TABLE --task density",
        "evaluate TABLE --target column_3 --methods gaussian --test TABLE --format csv",
        "compare TABLE --target column_3 --methods gaussian,calibrated",
        "owners TABLE --by column_1 --target column_3 --own TABLE --format csv",
    ] {
        let run = |table: &str, options: &str| {
            folder.stdout(&format!("dshap {} {options} --quiet", line.replace("TABLE", table)))
        };
        let headed = folder.stdout(&format!("dshap {} --quiet", by_name(line).replace("TABLE", "goods.csv")));
        assert_eq!(run("bare.csv", "--no-header"), headed, "{line}");
        let commas = folder
            .stdout(&format!("dshap {} --decimal , --quiet", by_name(line).replace("TABLE", "commas.csv")));
        assert_eq!(commas, headed, "{line}");
    }
}

#[test]
fn valuers_are_fitted_updated_and_used_without_a_header() {
    let folder = Folder::with("goods.csv", goods()).and("bare.csv", bare()).and("commas.csv", with_commas());
    let renamed = goods().replace("size,age,price", "column_1,column_2,column_3");
    folder.write("named.csv", renamed);
    for (name, table, option) in [("n", "named.csv", ""), ("b", "bare.csv", "--no-header")] {
        folder.stdout(&format!("dshap fit {table} --target column_3 {option} -o {name}.dshap"));
        folder.stdout(&format!("dshap update {name}.dshap {table} {option} -o {name}2.dshap"));
        folder.stdout(&format!("dshap update {name}2.dshap --forget {table} {option} -o {name}3.dshap"));
    }
    for valuer in ["", "2", "3"] {
        let named = folder.stdout(&format!("dshap value named.csv --valuer n{valuer}.dshap"));
        let bare = folder.stdout(&format!("dshap value bare.csv --no-header --valuer b{valuer}.dshap"));
        assert_eq!(named, bare);
        assert_eq!(named.lines().count(), GOODS.len() + 1);
    }
    folder.stdout("dshap fit commas.csv --decimal , --target price -o c.dshap");
    let commas = folder.stdout("dshap value commas.csv --decimal , --valuer c.dshap");
    folder.stdout("dshap fit goods.csv --target price -o g.dshap");
    assert_eq!(commas, folder.stdout("dshap value goods.csv --valuer g.dshap"));
}

#[test]
fn a_header_that_looks_like_a_row_is_a_warning_that_names_the_option() {
    let folder = Folder::with("bare.csv", bare());
    for line in ["dshap value bare.csv --task density", "dshap value bare.csv --target 80.4"] {
        let block = folder.run(&format!("{line} -o out.csv"));
        assert!(block.contains("exit 0") && block.contains("--no-header"), "{block}");
        let block = folder.run(&format!("{line} --strict"));
        assert!(block.contains("exit 1") && block.contains("--no-header"), "{block}");
    }
    let block = folder.run("dshap value bare.csv --task density --no-header -o out.csv");
    assert!(block.contains("22 rows") && !block.contains("warning"), "{block}");
}

#[test]
fn receipts_repeat_how_files_were_read() {
    let folder = Folder::with("bare.csv", bare());
    let options = "--by column_1 --target column_3 --no-header";
    folder.stdout(&format!("dshap owners bare.csv {options} --manifest receipt.json -o owners.csv"));
    assert!(folder.read("receipt.json").contains("no_header"), "{}", folder.read("receipt.json"));
    let block = folder.run("dshap verify receipt.json");
    assert!(block.contains("exit 0"), "{block}");
}

#[test]
fn texts_that_spreadsheets_would_run_are_marked_on_request() {
    let mut csv = String::from("=name,x,y\n");
    for row in 0..12 {
        let name = ["=cmd|' /C calc'!A0", "+a", "-b", "@c", "-5", "plain"][row % 6];
        let _ = writeln!(csv, "\"{name}\",{row},{}", (row * row) % 7);
    }
    let folder = Folder::with("t.csv", csv);
    let line = "dshap value t.csv --target y --id =name --quiet";
    let plain = folder.stdout(line);
    assert!(
        plain.starts_with("row,=name,value") && plain.contains("0,\"=cmd") && plain.contains("1,+a,"),
        "{plain}"
    );
    let safe = folder.stdout(&format!("{line} --csv-safe"));
    for cell in ["row,'=name,value", "0,\"'=cmd|", "1,'+a,", "2,'-b,", "3,'@c,", "4,-5,", "5,plain,"] {
        assert!(safe.contains(cell), "{cell}: {safe}");
    }
    // Numbers are as they were, negative ones too.
    let values = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.rsplit(',').nth(5).expect("a value").to_owned()).collect()
    };
    assert_eq!(values(&plain), values(&safe));
    folder.stdout(&format!("{line} --csv-safe -o safe.csv"));
    assert_eq!(folder.read("safe.csv"), safe);
    let block = folder.run(&format!("{line} --csv-safe -o out.parquet"));
    assert!(block.contains("exit 2") && block.contains("`--csv-safe` goes with CSV output"), "{block}");
}
