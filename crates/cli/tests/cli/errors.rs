//! What cannot be valued: which words, which exit code, and that nothing is left.

use crate::common::{Folder, goods, goods_with, many_rows};
use insta::assert_snapshot;

const OLD: &str = "the output of yesterday\n";

/// Runs `dshap value bad.csv … -o out.csv` where `out.csv` exists already;
/// checks that it is still as it was and that no other file has appeared.
#[track_caller]
fn refused_in(folder: &Folder, line: &str) -> String {
    folder.write("out.csv", OLD);
    let before = folder.files();
    let block = folder.run(&format!("{line} -o out.csv"));
    assert!(block.contains("\nexit 1\n") || block.contains("\nexit 2\n"), "{block}");
    assert!(!block.contains("--- stdout"), "{block}");
    assert_eq!(folder.read("out.csv"), OLD);
    assert_eq!(folder.files(), before);
    std::fs::remove_file(folder.path("out.csv")).expect("out.csv is there");
    folder.run(&format!("{line} -o out.csv"));
    assert!(!folder.files().contains(&"out.csv".into()), "a new file appeared");
    block
}

/// The same for one table in `bad.csv` with target `y`.
#[track_caller]
fn refused(table: impl AsRef<[u8]>) -> String {
    refused_in(&Folder::with("bad.csv", table), "dshap value bad.csv --target y")
}

/// `n` rows `x,y`, one of which is replaced: row 0 is line 2.
fn with_row(n: usize, row: usize, line: &str) -> String {
    let mut lines: Vec<String> = many_rows(n).lines().map(String::from).collect();
    lines[row + 1] = line.into();
    lines.join("\n") + "\n"
}

#[test]
fn an_empty_file_is_refused() {
    assert_snapshot!(refused(""), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` is empty

    hint: a table begins with a line of column names
    ");
}

#[test]
fn a_header_alone_is_refused() {
    assert_snapshot!(refused("x,y\n"), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` has no rows

    hint: there is a header but nothing below it; was the file cut short?
    ");
}

#[test]
fn a_row_with_too_many_cells_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, "1,2,3")), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: `bad.csv` line 9 has 3 fields, expected 2

        hint: look for a delimiter inside text that is not quoted, or a decimal comma
        ");
}

#[test]
fn a_row_with_too_few_cells_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, "1")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9 has 1 field, expected 2

    hint: look for a line that was cut short or is not part of the table
    ");
}

#[test]
fn text_among_numbers_is_pointed_out() {
    assert_snapshot!(refused(with_row(30, 7, "about 3,2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `x` holds `about 3`, but most of the column is numbers

    hint: correct the cell; if the value is unknown, leave the cell empty; if the column holds categories, use `--categorical x`
    ");
}

#[test]
fn text_among_numbers_is_pointed_out_far_down() {
    assert_snapshot!(refused(with_row(10_020, 10_010, "about 3,2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 10012, column `x` holds `about 3`, which is not a number

    hint: if the column holds categories, use `--categorical x`; if `about 3` means that the value is unknown, leave the cell empty and see `--missing`
    ");
}

#[test]
fn a_decimal_comma_far_down_is_recognised() {
    assert_snapshot!(refused(with_row(10_020, 10_010, "\"3,5\",2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 10012, column `x` holds `3,5`, which is not a number

    hint: `3,5` looks like a decimal comma; write decimals with a point
    ");
}

#[test]
fn infinity_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, "inf,2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `x` holds `inf`, which is not finite

    hint: if the value is unknown, leave the cell empty and see `--missing`
    ");
}

#[test]
fn a_number_beyond_doubles_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, "1e999,2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `x` holds `1e999`, which is not finite

    hint: if the value is unknown, leave the cell empty and see `--missing`
    ");
}

#[test]
fn nan_is_a_missing_cell() {
    assert_snapshot!(refused(with_row(30, 7, "NaN,2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `x` has no value

    hint: `--missing drop` leaves out such rows, `--missing mean` fills in the mean of the column
    ");
}

#[test]
fn a_missing_feature_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, ",2.5")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `x` has no value

    hint: `--missing drop` leaves out such rows, `--missing mean` fills in the mean of the column
    ");
}

#[test]
fn a_row_without_a_target_is_left_out_and_never_filled_in() {
    let folder = Folder::with("bad.csv", with_row(30, 7, "2.5,"));
    for missing in ["error", "drop", "mean"] {
        let said = folder.run(&format!("dshap value bad.csv --target y --missing {missing} -o out.csv"));
        assert!(said.contains("exit 0") && said.contains("29 of 30 rows"), "{said}");
        let lack = if missing == "drop" { "a missing cell or no target" } else { "no target" };
        assert!(said.contains(&format!("1 reference row has {lack}")), "{said}");
        assert_eq!(folder.read("out.csv").lines().nth(8), Some("7,,,,,,,,missing cell"), "{missing}");
    }
}

#[test]
fn a_table_whose_rows_all_have_gaps_is_refused() {
    let table: String = (0..20).map(|row| format!("{row},,{}\n", row * row)).collect();
    let folder = Folder::with("bad.csv", format!("x,z,y\n{table}"));
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target y --missing drop"), @"
        $ dshap value bad.csv --target y --missing drop -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: every row of the reference has a missing cell

        hint: `--missing mean` fills in the mean of a column
        ");
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target y --missing mean"), @"
        $ dshap value bad.csv --target y --missing mean -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: column `z` has no value at all

        hint: leave it out with `--exclude z`
        ");
}

#[test]
fn constant_features_alone_are_refused() {
    let table: String = (0..20).map(|row| format!("4,{}\n", row * row)).collect();
    assert_snapshot!(refused(format!("x,y\n{table}")), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: no usable feature is left: none varies in the reference

        hint: check `--features` and `--exclude`
        ");
}

#[test]
fn a_table_without_features_is_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target price --exclude size,age"), @"
        $ dshap value goods.csv --target price --exclude size,age -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: no feature column is left besides the target `price`

        hint: check `--features` and `--exclude`
        ");
}

#[test]
fn a_target_that_is_not_there_is_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target prise"), @"
    $ dshap value goods.csv --target prise -o out.csv
    exit 1
    --- stderr
    error: cannot value `goods.csv`
      caused by: there is no column `prise`; the columns are `size`, `age`, `price`

    hint: did you mean `price`?
    ");
}

#[test]
fn no_target_is_refused_with_the_columns_there_are() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv"), @"
        $ dshap value goods.csv -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: no target column was named; the columns are `size`, `age`, `price`

        hint: name the column to predict with `--target`; `--task density` with `--method closed` needs none
        ");
}

#[test]
fn columns_that_are_not_there_are_refused() {
    let folder = Folder::with("goods.csv", goods());
    for flag in ["--features", "--exclude", "--id", "--by", "--keep", "--categorical"] {
        let block = refused_in(&folder, &format!("dshap value goods.csv --target price {flag} weight"));
        assert!(block.contains("\nexit 1\n") && block.contains("no column `weight`"), "{block}");
    }
}

#[test]
fn a_column_the_points_lack_is_refused() {
    let folder = Folder::with("goods.csv", goods()).and("new.csv", "size,price\n22,50\n");
    assert_snapshot!(refused_in(&folder, "dshap value new.csv --reference goods.csv --target price"), @"
        $ dshap value new.csv --reference goods.csv --target price -o out.csv
        exit 1
        --- stderr
        error: cannot value `new.csv`
          caused by: no column `age` in `new.csv`

        hint: its columns are `size`, `price`
        ");
}

#[test]
fn a_column_with_two_parts_is_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target price --exclude price"), @"
    $ dshap value goods.csv --target price --exclude price -o out.csv
    exit 1
    --- stderr
    error: cannot value `goods.csv`
      caused by: column `price` is named by both `--target` and `--exclude`

    hint: name `price` only once
    ");
}

#[test]
fn a_constant_target_is_refused() {
    let table: String = (0..20).map(|row| format!("{row},4\n")).collect();
    assert_snapshot!(refused(format!("x,y\n{table}")), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: target `y` is constant (4)

        hint: name another `--target`
        ");
}

#[test]
fn two_values_are_numbers_if_the_task_is_given() {
    let table: String = (0..30).map(|row| format!("{},{}\n", row * row % 17, row % 2)).collect();
    let folder = Folder::with("t.csv", format!("x,y\n{table}"));
    assert!(folder.stdout("dshap value t.csv --target y --task regression").contains("resid_sq"));
    assert!(folder.stdout("dshap value t.csv --target y").contains("prob"));
}

#[test]
fn a_regression_of_text_is_refused() {
    let table: String = (0..20).map(|row| format!("{row},{}\n", ["red", "blue"][row % 2])).collect();
    let folder = Folder::with("bad.csv", format!("x,y\n{table}"));
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target y --task regression"), @"
    $ dshap value bad.csv --target y --task regression -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: target `y` holds text values; regression needs numbers

    hint: use `--task classification` for text, or name a column of numbers with `--target`
    ");
}

#[test]
fn a_perfect_fit_is_refused() {
    let table: String = (0..20).map(|row| format!("{row},{}\n", 3 * row + 1)).collect();
    assert_snapshot!(refused(format!("x,y\n{table}")), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: target `y` is a linear function of the features, up to rounding; values need some noise in it

        hint: if a feature repeats the target, leave it out with `--exclude`
        ");
}

#[test]
fn fewer_rows_than_columns_are_refused() {
    assert_snapshot!(refused("a,b,c,d,y\n1,2,3,5,8\n2,3,5,8,2\n3,1,4,1,6\n"), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: 3 reference rows are too few for 4 design columns

        hint: give at least 7 rows, or use fewer columns (`--features`, `--exclude`)
        ");
}

#[test]
fn impossible_set_sizes_are_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target price --m 4"), @"
        $ dshap value goods.csv --target price --m 4 -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: set sizes q = 5, m = 4 are impossible for 2 design columns: 5 ≤ q ≤ m is needed

        hint: set `--m` to at least 5; without it, m is the number of reference rows
        ");
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target price --q 4"), @"
        $ dshap value goods.csv --target price --q 4 -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: set sizes q = 4, m = 22 are impossible for 2 design columns: 5 ≤ q ≤ m is needed

        hint: set `--q` between 5 and 22, or leave it out
        ");
    assert_snapshot!(refused_in(&folder, "dshap value goods.csv --target price --q 40"), @"
        $ dshap value goods.csv --target price --q 40 -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: set sizes q = 40, m = 22 are impossible for 2 design columns: 5 ≤ q ≤ m is needed

        hint: set `--q` between 5 and 22, or leave it out
        ");
}

#[test]
fn dependent_columns_are_refused_if_asked() {
    let folder = Folder::with("bad.csv", goods_with("one,", |_| "1,".into()));
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target price --dependent error"), @"
        $ dshap value bad.csv --target price --dependent error -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: `one` is constant or a linear function of columns before it

        hint: leave it out with `--exclude one`, or leave out `--dependent error`: dshap then drops the column
        ");
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let folder = Folder::new();
    assert_snapshot!(refused_in(&folder, "dshap value nothing.csv --target y"), @"
    $ dshap value nothing.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `nothing.csv`
      caused by: cannot read `nothing.csv`: no such file or directory

    hint: check the name, and the folder the command runs in
    ");
    assert_snapshot!(refused_in(&folder, "dshap value nothing-*.csv --target y"), @"
    $ dshap value nothing-*.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `nothing-*.csv`
      caused by: no file matches `nothing-*.csv`

    hint: check the pattern, and the folder the command runs in
    ");
}

#[test]
fn a_folder_is_not_a_table() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("tables")).expect("makes a folder");
    assert_snapshot!(refused_in(&folder, "dshap value tables --target y"), @"
        $ dshap value tables --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `tables`
          caused by: cannot read `tables`: is a directory

        hint: name the files in it, for example with a pattern such as `*.csv`
        ");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let folder = Folder::with("goods.csv", goods());
    let forbidden = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(folder.path("goods.csv"), forbidden).expect("is ours");
    let mut command = folder.command("dshap value goods.csv --target price");
    if std::fs::read(folder.path("goods.csv")).is_ok() {
        // This user may read every file; `nobody` may not.
        folder.open_to_all();
        command.uid(NOBODY).gid(NOBODY);
    }
    let Ok(output) = command.output() else {
        return dshap_testkit::skip("another user cannot start the program here");
    };
    let block = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{block}");
    assert!(block.contains("cannot read `goods.csv`: permission denied"), "{block}");
}

#[test]
fn a_date_is_refused_with_advice() {
    let folder = Folder::with("bad.csv", goods_with("sold,", |row| format!("2024-03-{:02},", row + 1)));
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target price"), @"
    $ dshap value bad.csv --target price -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: column `sold` holds date values, which cannot be used as a feature

    hint: `--dates days` or `--dates parts` turns dates into numbers; or leave it out with `--exclude sold`
    ");
}

#[test]
fn a_level_for_every_row_is_refused() {
    let folder = Folder::with("bad.csv", goods_with("sku,", |row| format!("g-{row},")));
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target price"), @"
        $ dshap value bad.csv --target price -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: column `sku` has a different value in each of its 22 rows, too many for categories

        hint: leave it out with `--exclude sku`, or keep it as the name of each row with `--id sku`
        ");
}

#[test]
fn hundreds_of_levels_are_refused() {
    let rows = many_rows(600)
        .lines()
        .skip(1)
        .enumerate()
        .fold(String::from("code,x,y\n"), |csv, (row, line)| format!("{csv}c{},{line}\n", row / 2));
    assert_snapshot!(refused(rows), @"
        $ dshap value bad.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `bad.csv`
          caused by: column `code` has more than 256 different values, too many for categories

        hint: leave it out with `--exclude code`, or keep it as the name of each row with `--id code`, or pool rare categories with `--rare-levels 20`
        ");
}

#[test]
fn a_level_the_reference_does_not_have_is_refused() {
    let shade = |row: usize| format!("{},", ["red", "blue"][row % 2]);
    let folder = Folder::with("goods.csv", goods_with("shade,", shade))
        .and("new.csv", "shade,size,age,price\nred,22,20,52.5\npink,22,20,52.5\n");
    assert_snapshot!(refused_in(&folder, "dshap value new.csv --reference goods.csv --target price"), @"
    $ dshap value new.csv --reference goods.csv --target price -o out.csv
    exit 1
    --- stderr
    error: cannot value `new.csv`
      caused by: `new.csv` line 3, column `shade` holds `pink`, which no reference row has

    hint: `--unseen zero` sets the columns of all known levels to 0
    ");
}

#[test]
fn two_columns_of_one_name_are_refused() {
    assert_snapshot!(refused("x,x,y\n1,2,3\n2,3,5\n"), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: column `x` occurs more than once in `bad.csv`

    hint: give each column a different name
    ");
}

#[test]
fn a_quote_that_is_never_closed_is_refused() {
    assert_snapshot!(refused(with_row(30, 7, "\"1,2")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, a quoted field begins here and is never closed

    hint: close the quote, or remove it if it is part of the text
    ");
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let mut table = goods_with("shade,", |row| format!("{},", ["red", "blue"][row % 2])).into_bytes();
    let at = table.windows(3).position(|word| word == b"red").expect("there is red");
    table[at + 1] = 0xe9;
    let folder = Folder::with("bad.csv", table);
    assert_snapshot!(refused_in(&folder, "dshap value bad.csv --target price"), @"
    $ dshap value bad.csv --target price -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 2, column `shade` is not valid UTF-8

    hint: save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`
    ");
}

#[test]
fn a_damaged_parquet_file_is_refused_without_a_trace() {
    let folder = Folder::new();
    folder.write_parquet("good.parquet");
    let good = folder.bytes("good.parquet");
    let line = "dshap value bad.parquet --target price";
    folder.stdout(&line.replace("bad", "good"));

    folder.write("bad.parquet", &good[..good.len() / 2]);
    let cut = refused_in(&folder, line);
    assert!(cut.contains("`bad.parquet` is not a readable Parquet file"), "{cut}");

    // Whatever a damaged byte does, it is not our panic.
    for at in (4..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        folder.write("bad.parquet", bytes);
        let block = folder.run(line);
        assert!(block.contains("\nexit 0\n") || block.contains("\nexit 1\n"), "byte {at}: {block}");
        assert!(!block.contains("panicked"), "byte {at}: {block}");
    }
}

#[test]
fn other_binary_files_are_recognised() {
    assert_snapshot!(refused(b"PK\x03\x04\x14\0\0\0\x08\0"), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` is not text; it looks like an Excel workbook or a zip archive

    hint: these can be read: CSV and NDJSON as UTF-8 text (also .gz and .zst), Parquet, Arrow and NPY
    ");
}

#[test]
fn files_of_one_table_need_the_same_columns() {
    let folder = Folder::with("a.csv", "x,y\n1,2\n").and("b.csv", "x,z\n1,2\n");
    assert_snapshot!(refused_in(&folder, "dshap value a.csv b.csv --target y"), @"
        $ dshap value a.csv b.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `a.csv`, `b.csv`
          caused by: `b.csv` has no column `y`, which `a.csv` has

        hint: all files of one table need the same column names, in any order
        ");
}

#[test]
fn an_output_folder_that_is_not_there_is_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(folder.run("dshap value goods.csv --target price -o results/out.csv"), @"
        $ dshap value goods.csv --target price -o results/out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: cannot write `results/out.csv`: folder `results` does not exist

        hint: make it with `mkdir -p results`
        ");
    assert_snapshot!(folder.run("dshap value goods.csv --target price --top 1 --summary results/s.json"), @"
        $ dshap value goods.csv --target price --top 1 --summary results/s.json
        exit 1
        --- stderr
        error: cannot write the summary
          caused by: cannot write `results/s.json`: folder `results` does not exist

        hint: make it with `mkdir -p results`
        ");
    assert_eq!(folder.files(), ["goods.csv"]);
}

#[test]
fn an_output_of_unknown_format_is_refused() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(folder.run("dshap value goods.csv --target price -o out.xlsx"), @"
    $ dshap value goods.csv --target price -o out.xlsx
    exit 2
    --- stderr
    error: the name of `out.xlsx` does not tell its format; call it .csv, .json, .ndjson, .parquet, .arrow or .npy, or give `--format`

    For more information, try '--help'.
    ");
    assert_eq!(folder.files(), ["goods.csv"]);
    folder.stdout("dshap value goods.csv --target price -o out.xlsx --format csv");
    assert_eq!(folder.files(), ["goods.csv", "out.xlsx"]);
}

#[test]
fn words_that_contradict_each_other_are_wrong_usage() {
    let folder = Folder::with("goods.csv", goods());
    for flags in [
        "--top 1 --bottom 1",
        "--task density",
        "--samples 3",
        "--stop 0.1",
        "--stop-draws 0.1",
        "--convention printed --constant gain",
        "--method algorithm-3 --stderr",
        "--method algorithm-3 --constant theorem",
        "--method algorithm-3 --convention printed",
        "--method algorithm-3 --samples 0",
        "--method nothing",
        "--constant full:x",
        "--constant full:inf",
        "--threads 0",
        "--missing zero",
        "--m -3",
        "--m 18446744073709551615",
        "--q 1e3",
        "--summary out.csv",
        "--format xml",
        "--unheard-of",
    ] {
        let block = refused_in(&folder, &format!("dshap value goods.csv --target price {flags}"));
        assert!(block.contains("\nexit 2\n") && block.contains("error: "), "{block}");
    }
}

#[test]
fn standard_input_is_read_once() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(refused_in(&folder, "dshap value - --reference - --target price"), @"
        $ dshap value - --reference - --target price -o out.csv
        exit 2
        --- stderr
        error: standard input `-` can be read only once

        For more information, try '--help'.
        ");
}

#[test]
fn an_empty_standard_input_is_named() {
    assert_snapshot!(refused_in(&Folder::new(), "dshap value - --target price"), @"
    $ dshap value - --target price -o out.csv
    exit 1
    --- stderr
    error: cannot value `-`
      caused by: `standard input` is empty

    hint: a table begins with a line of column names
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::with("goods.csv", goods());
    assert_snapshot!(folder.run("dshap value goods.csv --target price -o /dev/full --format csv"), @"
        $ dshap value goods.csv --target price -o /dev/full --format csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: cannot write `/dev/full`: no space left on device
        ");
    assert_snapshot!(folder.shell("dshap value goods.csv --target price > /dev/full"), @"
        $ dshap value goods.csv --target price > /dev/full
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: cannot write `standard output`: no space left on device
        ");
    assert_eq!(folder.files(), ["goods.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_outgrows_its_limit_leaves_nothing() {
    let folder = Folder::with("goods.csv", goods()).and("many.csv", many_rows(9000));
    assert_snapshot!(
        folder.shell("trap '' XFSZ; ulimit -f 1; dshap value goods.csv --target price -o out.csv"),
        @"
        $ trap '' XFSZ; ulimit -f 1; dshap value goods.csv --target price -o out.csv
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: cannot write `out.csv`: file too large
        "
    );
    assert_snapshot!(
        folder.shell("trap '' XFSZ; ulimit -f 1; dshap value many.csv --target y -o out.csv"),
        @"
        $ trap '' XFSZ; ulimit -f 1; dshap value many.csv --target y -o out.csv
        exit 1
        --- stderr
        error: cannot value `many.csv`
          caused by: cannot write `out.csv`: file too large
        "
    );
    assert_snapshot!(
        folder.shell("trap '' XFSZ; ulimit -f 1; dshap value many.csv --target y -o out.parquet"),
        @"
        $ trap '' XFSZ; ulimit -f 1; dshap value many.csv --target y -o out.parquet
        exit 1
        --- stderr
        error: cannot value `many.csv`
          caused by: cannot write `out.parquet`: file too large
        "
    );
    assert_eq!(folder.files(), ["goods.csv", "many.csv"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::with("many.csv", many_rows(9000));
    assert_snapshot!(
        folder.shell("dshap value many.csv --target y | head -1; echo \"exit ${PIPESTATUS[0]}\""),
        @r#"
    $ dshap value many.csv --target y | head -1; echo "exit ${PIPESTATUS[0]}"
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    exit 0
    "#
    );
    assert_snapshot!(
        folder.shell("dshap value many.csv --target y --sort value --quiet | true; echo \"exit ${PIPESTATUS[0]}\""),
        @r#"
        $ dshap value many.csv --target y --sort value --quiet | true; echo "exit ${PIPESTATUS[0]}"
        exit 0
        --- stdout
        exit 0
        "#
    );
}

#[cfg(unix)]
mod interrupted {
    use super::*;
    use std::io::Write;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    fn interrupt(child: &Child) {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("there is kill").success());
    }

    #[test]
    fn an_interrupted_run_leaves_no_file() {
        let folder = Folder::with("many.csv", many_rows(3000)).and("out.csv", OLD);
        // Complete sums by Monte Carlo would take hours.
        let line = "dshap value many.csv --target y --method algorithm-3 --stop 0 --stop-draws 0 -o out.csv";
        let mut child = folder.command(line).stderr(Stdio::null()).spawn().expect("starts");
        let begun = Instant::now();
        while folder.files().len() < 3 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no output was begun: {:?}", folder.files());
            assert!(child.try_wait().expect("a child").is_none(), "the run is over");
            std::thread::sleep(Duration::from_millis(5));
        }
        interrupt(&child);
        assert_eq!(child.wait().expect("a child").code(), Some(130));
        assert_eq!(folder.files(), ["many.csv", "out.csv"]);
        assert_eq!(folder.read("out.csv"), OLD);
    }

    #[test]
    fn waiting_for_standard_input_can_be_interrupted() {
        let folder = Folder::new();
        let mut child = folder
            .command("dshap value - --target y -o out.csv")
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        // More than a pipe holds: once it is written, the program is reading.
        stdin.write_all(many_rows(30_000).as_bytes()).expect("the program reads");
        interrupt(&child);
        assert_eq!(child.wait().expect("a child").code(), Some(130));
        assert_eq!(folder.files(), [""; 0]);
    }
}

#[test]
fn numbers_written_with_commas_or_signs_are_not_taken_for_categories() {
    let table = |cell: fn(usize) -> String| {
        let rows: Vec<String> = (0..40).map(|i| format!("{};{}", cell(i % 7), (i * i) % 23)).collect();
        format!("x;y\n{}\n", rows.join("\n"))
    };
    assert_snapshot!(refused(table(|i| format!("3,{i}"))), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 2, column `x` holds the number `3,0` as text

    hint: write the numbers with a decimal point and nothing else (no comma, no currency or percent sign; in Parquet use a number type); if the column holds categories, use `--categorical x`
    ");
    for cell in
        [|i| format!("$ {i}0"), |i| format!("1 00{i}"), |i| format!("-{i},5 %")] as [fn(usize) -> String; 3]
    {
        let block = refused(table(cell));
        assert!(
            block.contains("line 2, column `x` holds the number `") && block.contains("` as text"),
            "{block}"
        );
    }
}

#[test]
fn a_slip_in_the_target_is_pointed_out() {
    assert_snapshot!(refused(with_row(30, 7, "1,about 3")), @"
    $ dshap value bad.csv --target y -o out.csv
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 9, column `y` holds `about 3`, but most of the column is numbers

    hint: correct the cell; if the value is unknown, leave the cell empty; if the column holds categories, use `--categorical y`
    ");
}

#[test]
fn an_input_is_never_overwritten() {
    let folder = Folder::with("goods.csv", goods()).and("old.csv", goods());
    let block = folder.run("dshap value goods.csv --target price -o goods.csv");
    assert_snapshot!(block, @"
    $ dshap value goods.csv --target price -o goods.csv
    exit 2
    --- stderr
    error: `goods.csv` is an input; writing there would destroy it

    hint: name another file with `--output`

    For more information, try '--help'.
    ");
    for line in ["--reference old.csv -o ./old.csv", "-o new.csv --summary goods.csv"] {
        let block = folder.run(&format!("dshap value goods.csv --target price {line}"));
        assert!(block.contains("exit 2") && block.contains("is an input"), "{block}");
    }
    assert_eq!(folder.read("goods.csv"), goods());
    assert_eq!(folder.read("old.csv"), goods());
}

#[test]
fn a_handful_of_rows_is_called_too_few() {
    for n in 1..=3 {
        let block = refused(many_rows(n));
        assert!(block.contains("too few"), "{block}");
    }
}
