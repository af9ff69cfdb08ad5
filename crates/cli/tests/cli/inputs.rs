//! One table, however it comes: file, standard input, compressed, in parts.

use crate::common::{Folder, goods, many_rows};

const TABLE: &str = " --target price --stderr";

#[track_caller]
fn assert_same(found: &std::process::Output, expected: &str) {
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    assert_eq!(String::from_utf8_lossy(&found.stdout), expected);
}

#[test]
fn standard_input_is_as_good_as_a_file() {
    let folder = Folder::with("goods.csv", goods());
    let expected = folder.stdout(&format!("dshap value goods.csv{TABLE}"));
    assert_same(&folder.output_with(&format!("dshap value -{TABLE}"), goods().as_bytes()), &expected);
    assert_eq!(folder.files(), ["goods.csv"], "the copy of standard input is gone");
}

#[test]
fn the_reference_may_come_from_standard_input() {
    let folder = Folder::with("goods.csv", goods()).and("new.csv", "size,age,price\n22,20,52.5\n");
    let expected = folder.stdout(&format!("dshap value new.csv --reference goods.csv{TABLE}"));
    let line = format!("dshap value new.csv --reference -{TABLE}");
    assert_same(&folder.output_with(&line, goods().as_bytes()), &expected);
}

#[cfg(unix)]
#[test]
fn a_pipe_of_the_shell_is_as_good_as_a_file() {
    let folder = Folder::with("goods.csv", goods());
    let expected = folder.shell("dshap value goods.csv --target price --quiet");
    let piped = folder.shell("dshap value <(cat goods.csv) --target price --quiet");
    let body = |block: &str| block.split_once('\n').expect("more than a line").1.to_owned();
    assert_eq!(body(&piped), body(&expected));
}

#[cfg(unix)]
#[test]
fn rows_are_the_same_however_slowly_they_come() {
    let folder = Folder::with("many.csv", many_rows(30_000));
    let slowly = "(head -c 1000000 many.csv; sleep 0.3; tail -c +1000001 many.csv)";
    for job in ["fit - --target y -o v.dshap", "value - --target y -o out.csv"] {
        let output =
            |block: String| (folder.bytes(job.rsplit(' ').next().expect("a name")), block.contains("exit 0"));
        let expected = output(folder.shell(&format!("cat many.csv | dshap {job} --quiet")));
        assert_eq!(output(folder.shell(&format!("{slowly} | dshap {job} --quiet"))), expected, "{job}");
        assert!(expected.1, "{job}");
    }
}

#[cfg(unix)]
#[test]
fn a_fault_in_a_pipe_is_reported_before_its_end() {
    let folder = Folder::with("many.csv", many_rows(20_000));
    for job in ["fit - --target y -o v.dshap", "value - --target y -o out.csv"] {
        // The pipe stays open for longer than a run takes.
        let pipe = "exec 2> /dev/null; cat many.csv; echo one,2; yes 1,2 | head -n 8000000; sleep 60";
        let block = folder.shell(&format!("timeout 30 dshap {job} < <({pipe})"));
        assert!(block.contains("line 20002, column `x` holds `one`"), "{block}");
    }
}

#[test]
fn compressed_files_are_as_good_as_plain_ones() {
    let plain = many_rows(2000);
    let folder = Folder::with("many.csv", &plain)
        .and("many.csv.gz", gzip(plain.as_bytes()))
        .and("many.csv.zst", zstd(plain.as_bytes()));
    let expected = folder.stdout("dshap value many.csv --target y");
    for name in ["many.csv.gz", "many.csv.zst"] {
        assert_eq!(folder.stdout(&format!("dshap value {name} --target y")), expected, "{name}");
        let piped = folder.output_with("dshap value - --target y", &folder.bytes(name));
        assert_same(&piped, &expected);
    }
}

#[test]
fn errors_in_compressed_files_have_the_line_of_the_text() {
    let folder = Folder::with("bad.csv.gz", gzip(goods().replace("42.5,", "4x,").as_bytes()));
    let block = folder.run("dshap value bad.csv.gz --target price");
    assert!(block.contains("`bad.csv.gz` line 4, column `size` holds `4x`"), "{block}");
}

#[test]
fn a_compressed_file_that_was_cut_short_is_refused() {
    let whole = gzip(many_rows(2000).as_bytes());
    let folder = Folder::with("cut.csv.gz", &whole[..whole.len() / 2]);
    let block = folder.run("dshap value cut.csv.gz --target y");
    assert!(block.contains("\nexit 1\n") && block.contains("seems to be cut short"), "{block}");
}

#[test]
fn several_files_are_one_table() {
    let table = goods();
    let mut lines = table.lines();
    let header = lines.next().expect("a header");
    let rows: Vec<&str> = lines.collect();
    let part = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    let folder = Folder::with("goods.csv", &table)
        .and("part-1.csv", part(&rows[..9]))
        .and("part-2.csv", part(&rows[9..10]))
        .and("part-3.csv", part(&rows[10..]));
    let expected = folder.stdout(&format!("dshap value goods.csv{TABLE}"));
    let named = format!("dshap value part-1.csv part-2.csv part-3.csv{TABLE}");
    assert_eq!(folder.stdout(&named), expected);
    // Without a shell the pattern reaches the program, as if it were quoted.
    assert_eq!(folder.stdout(&format!("dshap value part-*.csv{TABLE}")), expected);
}

#[test]
fn parts_may_have_their_columns_in_any_order() {
    let folder = Folder::with("whole.csv", goods() + "22,20,52.5\n")
        .and("a.csv", goods())
        .and("b.csv", "price,size,age\n52.5,22,20\n");
    let expected = folder.stdout(&format!("dshap value whole.csv{TABLE}"));
    assert_eq!(folder.stdout(&format!("dshap value a.csv b.csv{TABLE}")), expected);
}

#[test]
fn errors_in_a_part_name_the_part() {
    let folder = Folder::with("a.csv", goods()).and("b.csv", "size,age,price\n22,20,52.5\n22,,52.5\n");
    let block = folder.run("dshap value a.csv b.csv --target price");
    assert!(block.contains("`b.csv` line 3, column `age` has no value"), "{block}");
}

#[test]
fn delimiters_line_ends_and_marks_do_not_matter() {
    let folder = Folder::with("goods.csv", goods());
    let expected = folder.stdout(&format!("dshap value goods.csv{TABLE}"));
    for (name, text) in [
        ("semicolons.csv", goods().replace(',', ";")),
        ("tabs.csv", goods().replace(',', "\t")),
        ("windows.csv", goods().replace('\n', "\r\n")),
        ("mark.csv", format!("\u{feff}{}", goods())),
        ("unfinished.csv", goods().trim_end().to_owned()),
        ("blank.csv", goods().replace('\n', "\n\n")),
    ] {
        folder.write(name, text);
        assert_eq!(folder.stdout(&format!("dshap value {name}{TABLE}")), expected, "{name}");
    }
}

#[test]
fn parquet_is_as_good_as_csv() {
    let folder = Folder::with("goods.csv", goods());
    folder.write_parquet("goods.parquet");
    let expected = folder.stdout(&format!("dshap value goods.csv{TABLE}"));
    assert_eq!(folder.stdout(&format!("dshap value goods.parquet{TABLE}")), expected);
    let piped = folder.output_with(&format!("dshap value -{TABLE}"), &folder.bytes("goods.parquet"));
    assert_same(&piped, &expected);
}

/// Gzip without compression, so that the test needs no library and no tool.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let n_blocks = bytes.chunks(0xffff).count();
    for (index, block) in bytes.chunks(0xffff).enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(index + 1 == n_blocks));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    let crc = bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    out.extend((!crc).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// Zstandard without compression.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    // One segment, its size in four bytes.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend((bytes.len() as u32).to_le_bytes());
    let n_blocks = bytes.chunks(1 << 16).count();
    for (index, block) in bytes.chunks(1 << 16).enumerate() {
        let header = (block.len() as u32) << 3 | u32::from(index + 1 == n_blocks);
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(block);
    }
    out
}
