//! Valuers that last: `fit`, `value --valuer`, `inspect`, `update`, `merge`, and bad files one by one.

use crate::common::{Csv, Folder, goods, goods_with};
use insta::assert_snapshot;

const SHADES: [&str; 3] = ["red", "blue", "green"];

/// The goods with a shade, in a folder with new goods to be valued.
fn folder() -> Folder {
    let shaded = goods_with("shade,", |row| format!("{},", SHADES[row % 3]));
    Folder::with("goods.csv", shaded).and("new.csv", "shade,size,age,price\nred,20,10,50\nblue,10,30,-20\n")
}

/// The text without the size of a valuer: digits printed may differ between processors.
fn masked(text: &str) -> String {
    let mask = |line: &str| match (line.rfind(" ("), line.strip_suffix(" kB)")) {
        (Some(start), Some(_)) => format!("{} (… kB)", &line[..start]),
        _ => line.to_string(),
    };
    text.lines().map(mask).collect::<Vec<_>>().join("\n")
}

fn fitted() -> Folder {
    let folder = folder();
    folder.stdout("dshap fit goods.csv --target price -o goods.dshap");
    folder
}

#[test]
fn a_fit_is_saved_and_described() {
    let folder = folder();
    assert_snapshot!(masked(&folder.run("dshap fit goods.csv --target price -o goods.dshap")), @"
    $ dshap fit goods.csv --target price -o goods.dshap
    exit 0
    --- stderr
    regression (guessed) of `price`, method gaussian: a reference of 22 rows
    p = 4, q = 14, m = 22, noise variance 40.414, R² 0.97706
    saved to `goods.dshap` (… kB)
    warning: values average over only 9 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
    assert_eq!(folder.files(), ["goods.csv", "goods.dshap", "new.csv"]);
}

#[test]
fn a_saved_valuer_values_rows_never_seen() {
    assert_snapshot!(masked(&fitted().run("dshap value new.csv --valuer goods.dshap")), @r"
    $ dshap value new.csv --valuer goods.dshap
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    0,0.972496,0.997399,0.0249025,4.96313,2.62856,48.3787,1.62128,
    1,-5.13344,0.698585,5.83203,2.66201,793.238,8.16448,-28.1645,
    --- stderr
    regression of `price`, method gaussian: 2 rows valued by `goods.dshap`, fitted to 22
    p = 4, q = 14, m = 22, noise variance 40.414
    values from -5.1334 to 0.97250
    warning: values average over only 9 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
}

#[test]
fn a_valuer_gives_the_bits_of_its_reference() {
    let folder = fitted();
    let direct = folder.stdout("dshap value new.csv --reference goods.csv --target price --stderr");
    assert_eq!(folder.stdout("dshap value new.csv --valuer goods.dshap --stderr"), direct);
    assert_eq!(folder.stdout("dshap value new.csv --valuer goods.dshap --stderr --threads 1"), direct);
}

#[test]
fn sizes_and_constants_can_be_overridden() {
    let folder = fitted();
    let line = "dshap value new.csv --valuer goods.dshap --m 100 --q 30 --constant theorem";
    assert_snapshot!(masked(&folder.run(line)), @r"
    $ dshap value new.csv --valuer goods.dshap --m 100 --q 30 --constant theorem
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    0,-0.484519,-0.480902,0.00361719,4.96313,2.62856,48.3787,1.62128,
    1,-1.18971,-0.530275,0.659433,2.66201,793.238,8.16448,-28.1645,
    --- stderr
    regression of `price`, method gaussian: 2 rows valued by `goods.dshap`, fitted to 22
    p = 4, q = 30, m = 100, noise variance 40.414
    values from -1.1897 to -0.48452
    ");
    let direct = "dshap value new.csv --reference goods.csv --target price --m 100 --q 30 --constant theorem";
    assert_eq!(folder.stdout(line), folder.stdout(direct));
}

#[test]
fn inspect_shows_what_a_valuer_holds() {
    assert_snapshot!(masked(&fitted().run("dshap inspect goods.dshap")), @r"
    $ dshap inspect goods.dshap
    exit 0
    --- stdout
    valuer          goods.dshap (… kB)
    format          version 2, written by dshap 0.1.0
    task            regression of `price`
    method          gaussian, constant gain, convention definition
    reference       22 rows
    p               4 design columns of 3 features
    q               14 (by default)
    m               22 (by default)
    noise variance  40.414
    R²              0.97706
    condition       2.6615 (values keep about 11 of 16 digits)
    intercept       -8.4468
    missing cells   error
    unseen levels   error

    column       coefficient      mean   std_dev
    shade=green      5.2004    0.31818   0.46577
    shade=red        0.64596   0.36364   0.48105
    size             3.0385   21.409    11.631
    age             -0.45914  26.591     9.9254

    levels of `shade`: blue, green, red

    where the rows came from:
      22 rows fitted
        goods.csv  415 bytes  sha256 3ef080abb6198a97…

    warning: values average over only 9 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
}

#[test]
fn inspect_prints_json() {
    let text = fitted().stdout("dshap inspect goods.dshap --json");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((found["p"].as_u64(), found["m"].as_u64()), (Some(4), Some(22)));
    assert_eq!(found["levels"], serde_json::json!([["shade", ["blue", "green", "red"]]]));
    assert_eq!(found["columns"][0]["name"], "shade=green");
    assert_eq!(found["history"][0]["files"][0]["name"], "goods.csv");
    assert_eq!(found["history"][0]["files"][0]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn an_update_adds_rows_and_says_what_follows() {
    let folder = fitted();
    folder.write("more.csv", "shade,size,age,price\nred,25,12,55\nblack,12,31,22\nblack,30,20,80\n");
    assert_snapshot!(masked(&folder.run("dshap update goods.dshap more.csv -o goods.dshap")), @"
    $ dshap update goods.dshap more.csv -o goods.dshap
    exit 0
    --- stderr
    regression of `price`, method gaussian: a reference of 25 rows
    p = 5, q = 15, m = 25, noise variance 38.751, R² 0.97681
    m follows the number of rows: 25, was 22; q follows p and m: 15, was 14
    new levels: shade=black
    saved to `goods.dshap` (… kB)
    ");
    assert_snapshot!(masked(&folder.run("dshap update goods.dshap --forget more.csv -o old.dshap")), @"
    $ dshap update goods.dshap --forget more.csv -o old.dshap
    exit 0
    --- stderr
    regression of `price`, method gaussian: a reference of 22 rows
    p = 4, q = 14, m = 22, noise variance 40.414, R² 0.97706
    m follows the number of rows: 22, was 25; q follows p and m: 14, was 15
    levels that no row has any more: shade=black
    after forgetting rows, the moments keep about 16 of 16 digits
    saved to `old.dshap` (… kB)
    warning: values average over only 9 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
    let columns = |valuer: &str| folder.stdout(&format!("dshap inspect {valuer} --json")).replace(valuer, "");
    let level = "black";
    assert!(columns("goods.dshap").contains(level) && !columns("old.dshap").contains(level));
}

#[test]
fn a_merge_is_the_fit_of_all_rows() {
    let folder = folder();
    let text = folder.read("goods.csv");
    let lines: Vec<&str> = text.lines().collect();
    folder.write("a.csv", format!("{}\n", lines[..12].join("\n")));
    folder.write("b.csv", format!("{}\n{}\n", lines[0], lines[12..].join("\n")));
    folder.stdout("dshap fit a.csv --target price -o a.dshap");
    folder.stdout("dshap fit b.csv --target price -o b.dshap");
    folder.stdout("dshap fit goods.csv --target price -o goods.dshap");
    assert_snapshot!(masked(&folder.run("dshap merge a.dshap b.dshap -o all.dshap")), @"
    $ dshap merge a.dshap b.dshap -o all.dshap
    exit 0
    --- stderr
    regression of `price`, method gaussian: a reference of 22 rows
    p = 4, q = 14, m = 22, noise variance 40.414, R² 0.97706
    m follows the number of rows: 22; q follows p and m: 14
    saved to `all.dshap` (… kB)
    warning: values average over only 9 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
    let value = |valuer: &str| Csv::parse(&folder.stdout(&format!("dshap value new.csv --valuer {valuer}")));
    for (merged, whole) in
        value("all.dshap").numbers("value").iter().zip(value("goods.dshap").numbers("value"))
    {
        assert!((merged / whole - 1.0).abs() < 1e-12, "{merged} and {whole}");
    }
}

#[test]
fn the_summary_of_a_fit_records_it() {
    let folder = folder();
    folder.stdout("dshap fit goods.csv --target price --summary s.json -o goods.dshap");
    let summary: serde_json::Value = serde_json::from_str(&folder.read("s.json")).expect("JSON");
    assert_eq!((summary["n_reference"].as_u64(), summary["q"].as_u64()), (Some(22), Some(14)));
    assert_eq!(summary["history"][0]["action"], "fit");
}

#[test]
fn a_strict_fit_with_a_warning_leaves_nothing() {
    let folder = Folder::with(
        "goods.csv",
        goods_with("twice,", |row| format!("{},", 2.0 * crate::common::GOODS[row].0)),
    );
    let block = folder.run("dshap fit goods.csv --target price --strict --summary s.json -o goods.dshap");
    assert!(block.contains("exit 1") && block.contains("`size` was dropped"), "{block}");
    assert_eq!(folder.files(), ["goods.csv"]);
}

/// Runs a line that must be refused, where `out.csv` is what it would write.
#[track_caller]
fn refused(folder: &Folder, line: &str) -> String {
    let before = folder.files();
    let block = folder.run(line);
    assert!(block.contains("\nexit 1\n") || block.contains("\nexit 2\n"), "{block}");
    assert_eq!(folder.files(), before, "nothing appears");
    block
}

#[track_caller]
fn bad_valuer(bytes: &[u8]) -> String {
    let folder = folder().and("bad.dshap", bytes);
    let value = refused(&folder, "dshap value new.csv --valuer bad.dshap -o out.csv");
    let inspect = refused(&folder, "dshap inspect bad.dshap");
    let update = refused(&folder, "dshap update bad.dshap new.csv -o out.dshap");
    let merge = refused(&folder, "dshap merge bad.dshap bad.dshap -o out.dshap");
    // Whatever uses it says the same.
    let cause = value.lines().find(|line| line.contains("caused by")).expect("a cause").to_string();
    for other in [inspect, update, merge] {
        assert!(other.contains(&cause), "{other}");
    }
    cause
}

#[test]
fn a_truncated_valuer_is_called_so() {
    let bytes = fitted().bytes("goods.dshap");
    assert_snapshot!(bad_valuer(&bytes[..2000]), @"  caused by: `bad.dshap` is truncated: it ends after 2000 bytes, in the middle of its contents");
    assert_snapshot!(bad_valuer(&bytes[..300]), @"  caused by: `bad.dshap` is truncated: it ends after 300 bytes, in the middle of its contents");
    assert_snapshot!(bad_valuer(b""), @"  caused by: `bad.dshap` is truncated: it ends after 0 bytes, in the middle of its contents");
}

#[test]
fn a_damaged_valuer_is_called_so() {
    let mut bytes = fitted().bytes("goods.dshap");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_snapshot!(bad_valuer(&bytes), @"  caused by: `bad.dshap` is damaged: its checksum does not match its contents");
    bytes[last] ^= 1;
    bytes.push(b'\n');
    assert_snapshot!(bad_valuer(&bytes), @"  caused by: `bad.dshap` is damaged: something was added after its end");
}

#[test]
fn foreign_files_are_called_so() {
    assert_snapshot!(bad_valuer(goods().as_bytes()), @"  caused by: `bad.dshap` is not a file made by dshap; it looks like text, perhaps a table");
    assert_snapshot!(bad_valuer(b"PK\x03\x04 a zip archive"), @"  caused by: `bad.dshap` is not a file made by dshap; it looks like a zip archive");
    assert_snapshot!(bad_valuer(b"\x10\0\0\0\0\0\0\0{\"a\":{\"dtype\":1}}"), @"  caused by: `bad.dshap` is not a file made by dshap; it looks like a safetensors file of another program");
}

/// A sound envelope with other contents, as a newer or broken dshap might write.
fn rewritten(change: impl Fn(&mut dshap_io::Container)) -> Vec<u8> {
    let folder = fitted();
    let mut container =
        dshap_io::Container::read(&folder.path("goods.dshap"), "valuer", dshap_run::FORMAT_VERSION)
            .expect("what was written is read");
    change(&mut container);
    container.to_bytes().expect("can be written")
}

#[test]
fn a_valuer_of_a_newer_format_is_called_so() {
    assert_snapshot!(bad_valuer(&rewritten(|c| c.version = 8)), @"  caused by: `bad.dshap` has format version 8; this dshap reads versions up to 7");
}

#[test]
fn a_checkpoint_is_not_a_valuer() {
    assert_snapshot!(bad_valuer(&rewritten(|c| c.kind = "checkpoint".into())), @"  caused by: `bad.dshap` is a dshap checkpoint, not a valuer");
}

/// The bytes are sound, so somebody wrote nonsense; none of it may panic.
#[test]
fn nonsense_in_a_sound_envelope_is_refused() {
    assert_snapshot!(bad_valuer(&rewritten(|c| c.arrays.clear())), @"  caused by: `bad.dshap` is damaged: its array `moments.shift` is missing");
    assert_snapshot!(bad_valuer(&rewritten(|c| c.document = "{}".into())), @"  caused by: `bad.dshap` is damaged: its document cannot be read: missing field `dshap` at line 1 column 2");
    let array = |name: &'static str, change: fn(&mut Vec<f64>)| {
        bad_valuer(&rewritten(move |c| {
            let (_, numbers) = c.arrays.iter_mut().find(|(have, _)| have == name).expect("the array");
            change(numbers);
        }))
    };
    assert_snapshot!(array("fit.factor", |numbers| numbers[0] = -1.0), @"  caused by: `bad.dshap` is damaged: the factor of the fit is not positive");
    assert_snapshot!(array("fit.coef", |numbers| numbers[0] = f64::NAN), @"  caused by: `bad.dshap` is damaged: a number of the fit is not finite");
    assert_snapshot!(array("moments.gram", |numbers| numbers.truncate(3)), @"  caused by: `bad.dshap` is damaged: the moments do not match the columns in size");
    assert_snapshot!(array("moments.gram", |numbers| numbers[0] = f64::INFINITY), @"  caused by: `bad.dshap` is damaged: a moment is not finite");
    let document = |from: &'static str, to: &'static str| {
        bad_valuer(&rewritten(move |c| {
            assert!(c.document.contains(from), "{}", c.document);
            c.document = c.document.replace(from, to);
        }))
    };
    assert_snapshot!(document(r#""kept":[0,1,2,3]"#, r#""kept":[3,1,2,0]"#), @"  caused by: `bad.dshap` is damaged: the columns of the fit contradict each other");
    assert_snapshot!(document(r#""levels":["blue","green","red"]"#, r#""levels":["blue","blue","red"]"#), @"  caused by: `bad.dshap` is damaged: the encoding of a feature contradicts itself");
    assert_snapshot!(document(r#""levels":["blue","green","red"]"#, r#""levels":["blue","red"]"#), @"  caused by: `bad.dshap` is damaged: its design has other columns than its fit");
    assert_snapshot!(document(r#""n_rows":22"#, r#""n_rows":2"#), @"  caused by: `bad.dshap` is damaged: the rows of the fit do not add up");
}

#[test]
fn a_valuer_for_other_columns_says_which() {
    let folder = fitted().and("other.csv", "shade,Size,price\nred,1,2\n");
    assert_snapshot!(refused(&folder, "dshap value other.csv --valuer goods.dshap"), @"
    $ dshap value other.csv --valuer goods.dshap
    exit 1
    --- stderr
    error: cannot value `other.csv`
      caused by: valuer `goods.dshap` is for other columns: `other.csv` has no `size`, `age`

    hint: is it called `Size` there?
    ");
    assert_snapshot!(refused(&folder, "dshap update goods.dshap other.csv -o new.dshap"), @"
    $ dshap update goods.dshap other.csv -o new.dshap
    exit 1
    --- stderr
    error: cannot update `goods.dshap`
      caused by: valuer `goods.dshap` is for other columns: `other.csv` has no `size`, `age`

    hint: is it called `Size` there?
    ");
}

#[test]
fn text_where_the_valuer_has_numbers_is_refused() {
    let folder = fitted().and("other.csv", "shade,size,age,price\nred,big,2,3\n");
    assert_snapshot!(refused(&folder, "dshap value other.csv --valuer goods.dshap"), @"
    $ dshap value other.csv --valuer goods.dshap
    exit 1
    --- stderr
    error: cannot value `other.csv`
      caused by: `other.csv` line 2, column `size` holds `big`, which is not a number

    hint: if the column holds categories, use `--categorical size`; if `big` means that the value is unknown, leave the cell empty and see `--missing`
    ");
}

#[test]
fn what_the_valuer_fixes_cannot_be_given_again() {
    let folder = fitted();
    for flag in [
        "--target size",
        "--features size",
        "--exclude age",
        "--weight age",
        "--no-intercept",
        "--task regression",
    ] {
        let block = refused(&folder, &format!("dshap value new.csv --valuer goods.dshap {flag}"));
        let name = flag.split(' ').next().expect("a flag");
        assert!(
            block.contains(&format!("`{name}` is fixed by the valuer")) && block.contains("exit 2"),
            "{block}"
        );
    }
    let block = refused(&folder, "dshap value new.csv --valuer goods.dshap --reference goods.csv");
    assert!(block.contains("cannot be used with"), "{block}");
    let block = refused(&folder, "dshap value new.csv --valuer goods.dshap --checkpoint c");
    assert!(block.contains("exit 2"), "{block}");
    let block = refused(&folder, "dshap value new.csv --valuer goods.dshap -o goods.dshap --format csv");
    assert!(block.contains("cannot be the same file"), "{block}");
}

#[test]
fn a_reference_is_never_replaced_by_its_valuer() {
    let folder = folder();
    let block = refused(&folder, "dshap fit goods.csv --target price -o goods.csv");
    assert!(block.contains("`goods.csv` is an input"), "{block}");
    let block = refused(&folder, "dshap fit goods.csv --target price -o v.dshap --checkpoint goods.csv");
    assert!(block.contains("`goods.csv` is an input"), "{block}");
    let block = refused(&folder, "dshap fit - --target price -o v.dshap --checkpoint c");
    assert!(block.contains("not standard input"), "{block}");
}

#[test]
fn a_summary_never_replaces_a_valuer() {
    let folder = fitted();
    folder.stdout("dshap fit goods.csv --target price -o other.dshap");
    let before = folder.bytes("other.dshap");
    for line in [
        "dshap merge goods.dshap other.dshap -o new.dshap --summary other.dshap",
        "dshap merge goods.dshap other.dshap -o goods.dshap --summary ./other.dshap",
        "dshap update other.dshap goods.csv -o new.dshap --summary other.dshap",
        "dshap fit goods.csv --target price -o new.dshap --summary ./new.dshap",
        "dshap value goods.csv --target price -o new.csv --summary ./new.csv",
        "dshap fit goods.csv --target price -o new.dshap --checkpoint ./new.dshap",
    ] {
        let block = refused(&folder, line);
        assert!(block.contains("cannot be the same file") && block.contains("exit 2"), "{block}");
    }
    assert_eq!(folder.bytes("other.dshap"), before);
    let twice = "dshap fit goods.csv --target price -o new.dshap --summary /dev/null --quiet";
    folder.stdout(twice);
}

#[test]
fn a_summary_that_cannot_be_written_leaves_nothing() {
    let folder = folder();
    let block = refused(&folder, "dshap value goods.csv --target price -o out.csv --summary /dev/full");
    assert!(block.contains("cannot write the summary"), "{block}");
    let block = refused(&folder, "dshap fit goods.csv --target price -o v.dshap --checkpoint nowhere/state");
    assert!(block.contains("nowhere"), "{block}");
}

#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let folder = Folder::with("t.csv", goods_with("shade,", |row| format!("\u{1b}[31m{},", row % 2)));
    folder.stdout("dshap fit t.csv --target price -o t.dshap");
    let shown = folder.stdout("dshap inspect t.dshap");
    assert!(!shown.contains('\u{1b}') && shown.contains("\\u{1b}[31m0"), "{shown}");
    folder.write("u.csv", "size,age,\u{1b}[31m\n1,2,3\n");
    let output = folder.output("dshap value u.csv --target price");
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\u{1b}'));
}

#[test]
fn rows_that_were_never_there_cannot_be_forgotten() {
    let folder = fitted().and("far.csv", "shade,size,age,price\nred,900,10,3\nred,-900,10,3\n");
    assert_snapshot!(refused(&folder, "dshap update goods.dshap --forget far.csv -o new.dshap"), @"
    $ dshap update goods.dshap --forget far.csv -o new.dshap
    exit 1
    --- stderr
    error: cannot update `goods.dshap`
      caused by: the rows of `far.csv` cannot be forgotten: column `size` varies more in them than in the whole reference

    hint: only rows that were fitted or added can be forgotten, and not all of them
    ");
}

#[test]
fn weights_are_described_and_checked() {
    let weighted = goods_with("w,", |row| format!("{},", 1 + row % 3));
    let folder = Folder::with("goods.csv", weighted)
        .and("bad.csv", "w,size,price\n1,2,3\n-1,3,4\n1,2,2\n1,5,3\n1,7,7\n")
        .and("text.csv", "w,size,price\nheavy,2,3\nlight,3,4\n");
    assert_snapshot!(masked(&folder.run("dshap value goods.csv --target price --weight w --top 1")), @r"
    $ dshap value goods.csv --target price --weight w --top 1
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    0,0.930611,0.93088,0.000269088,3.07072,0.0356901,80.2111,0.188918,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 2, q = 12, m = 22, noise variance 50.350
    weighted by `w`: as informative as 19 rows of equal weight
    values from -2.4332 to 0.93061, half of them between 0.16360 and 0.56588
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price --exclude w` tests whether fewer or corrected rows make a better model
    ");
    assert_snapshot!(refused(&folder, "dshap value bad.csv --target price --weight w"), @"
    $ dshap value bad.csv --target price --weight w
    exit 1
    --- stderr
    error: cannot value `bad.csv`
      caused by: `bad.csv` line 3, column `w` holds -1.0; a weight is 0 or between 1e-100 and 1e100
    ");
    assert_snapshot!(refused(&folder, "dshap value text.csv --target price --weight w"), @"
    $ dshap value text.csv --target price --weight w
    exit 1
    --- stderr
    error: cannot value `text.csv`
      caused by: weight column `w` holds text values; weights are numbers
    ");
}

#[test]
fn too_little_memory_is_refused_with_what_would_do() {
    let block = refused(&folder(), "dshap value goods.csv --target price --memory 1MB");
    assert!(block.contains("1 MB of memory is too little for this table; about"), "{block}");
    let block = refused(&folder(), "dshap value goods.csv --target price --memory much");
    assert!(block.contains("expected a size such as 512MB"), "{block}");
}

/// A saved valuer keeps its semivalue, and it can be overridden.
#[test]
fn a_valuer_keeps_its_semivalue() {
    let folder = folder();
    folder.stdout("dshap fit goods.csv --target price --semivalue beta:1,4 -o beta.dshap");
    let values = |command: &str| Csv::parse(&folder.stdout(command)).numbers("value");
    let saved = values("dshap value new.csv --valuer beta.dshap");
    assert_eq!(
        saved,
        values("dshap value new.csv --reference goods.csv --target price --semivalue beta:1,4")
    );
    let plain = values("dshap value new.csv --reference goods.csv --target price");
    assert_ne!(saved, plain);
    assert_eq!(plain, values("dshap value new.csv --valuer beta.dshap --semivalue shapley"));
    assert!(folder.stdout("dshap inspect beta.dshap").contains("semivalue beta:1,4"));
}

/// A saved valuer draws sets with the targets that it was fitted to draw, and these can be overridden.
#[test]
fn a_valuer_keeps_its_targets() {
    let folder = folder();
    let drawn = "--method general --q 8 --samples 64";
    folder.stdout(&format!("dshap fit goods.csv --target price {drawn} --targets observed -o seen.dshap"));
    folder.stdout(&format!("dshap fit goods.csv --target price {drawn} -o plain.dshap"));
    let values = |command: &str| Csv::parse(&folder.stdout(command)).numbers("value");
    let fresh = |targets: &str| {
        values(&format!(
            "dshap value new.csv --reference goods.csv --target price {drawn} --targets {targets}"
        ))
    };
    let saved = values("dshap value new.csv --valuer seen.dshap");
    assert_eq!(saved, fresh("observed"));
    assert_ne!(saved, fresh("expected"));
    assert_eq!(fresh("expected"), values("dshap value new.csv --valuer seen.dshap --targets expected"));
    assert_eq!(saved, values("dshap value new.csv --valuer plain.dshap --targets observed"));
    let (seen, plain) =
        (folder.stdout("dshap inspect seen.dshap"), folder.stdout("dshap inspect plain.dshap"));
    assert!(seen.contains("observed targets") && seen.contains("version 7"), "{seen}");
    // Older versions of dshap read what they know.
    assert!(!plain.contains("targets") && plain.contains("version 2"), "{plain}");
}

#[test]
fn only_drawn_sets_of_a_regression_have_targets() {
    let folder = folder();
    let block = refused(&folder, "dshap value goods.csv --target price --targets observed");
    assert!(block.contains("`--targets`") && block.contains("`general`"), "{block}");
    let block = refused(&folder, "dshap value goods.csv --target shade --method general --targets observed");
    assert!(block.contains("`--targets`") && block.contains("regression"), "{block}");
}

/// Every closed form takes a semivalue; Beta(1, 1) is Shapley's, summed by another rule.
#[test]
fn beta_1_1_gives_shapley_values_for_every_closed_form() {
    let folder = Folder::with("goods.csv", goods());
    for how in [
        "--target price --task regression --q 8",
        "--target price --task regression --q 8 --method calibrated",
        "--target price --task regression --method knn --k 2",
        "--exclude price --task density --bandwidth 1",
    ] {
        let values = |law: &str| {
            Csv::parse(&folder.stdout(&format!("dshap value goods.csv {how} --semivalue {law}")))
                .numbers("value")
        };
        let (beta, shapley) = (values("beta:1,1"), values("shapley"));
        let scale = shapley.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let close = beta.iter().zip(&shapley).all(|(one, other)| (one - other).abs() <= 1e-11 * scale);
        assert!(close, "{how}: {beta:?} {shapley:?}");
        for law in ["banzhaf", "at-m", "beta:4,1"] {
            let other = values(law);
            assert!(
                other.iter().all(|value| value.is_finite()) && other != shapley,
                "{how} {law}: {other:?}"
            );
        }
    }
}

#[test]
fn semivalues_go_with_the_gain_only() {
    let folder = Folder::with("goods.csv", goods());
    for (option, why) in [
        ("--constant theorem", "constant `gain`"),
        ("--convention printed", "Shapley values only"),
        ("--method general", "--semivalue"),
    ] {
        let refused =
            folder.run(&format!("dshap value goods.csv --target price --semivalue banzhaf {option}"));
        assert!(refused.contains("exit 2") && refused.contains(why), "{refused}");
    }
}
