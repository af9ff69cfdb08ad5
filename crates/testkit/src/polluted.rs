//! Text tables with one thing wrong or unusual, each with the table that is meant.
//!
//! The idea is that of the Pollock benchmark (Vitagliano and others, 2023): a clean
//! file, and hundreds of copies that differ from it in one delimiter, quote, escape,
//! line end, header, preamble or encoding.

/// A table as its author meant it. Every cell is text; a number is spelled as in the
/// clean file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// A file and what it means.
#[derive(Debug, Clone)]
pub struct Polluted {
    /// What is wrong or unusual, as a file name without an extension.
    pub name: String,
    /// The file.
    pub bytes: Vec<u8>,
    /// The table that a careful person would read from it, or from its intact copy.
    pub meant: Meant,
}

/// How a table is written.
#[derive(Debug, Clone, Copy)]
struct Style<'a> {
    delimiter: &'a str,
    quote: &'a str,
    /// What stands before a quote within a quoted cell.
    escape: &'a str,
    line_end: &'a str,
    quotes_all: bool,
}

const CLEAN: Style<'static> =
    Style { delimiter: ",", quote: "\"", escape: "\"", line_end: "\n", quotes_all: false };

/// All files.
pub fn polluted() -> Vec<Polluted> {
    let mut files = Vec::new();
    for (label, meant) in [("numbers_last", numbers_last()), ("text_last", text_last())] {
        let mut add = |name: String, bytes: Vec<u8>| {
            files.push(Polluted { name: format!("{label}_{name}"), bytes, meant: meant.clone() });
        };
        add("clean".into(), written(&meant, CLEAN).into());
        styles(&meant, &mut add);
        line_ends(&meant, &mut add);
        quotes(&meant, &mut add);
        delimiters(&meant, &mut add);
        around(&meant, &mut add);
        encodings(&meant, &mut add);
        headers(label, &meant, &mut files);
        // Where a carriage return ends a line, none is part of a cell.
        let lines = single_lines(&meant);
        let bytes = written(&lines, Style { line_end: "\r", ..CLEAN }).into();
        files.push(Polluted { name: format!("{label}_line_ends_cr"), bytes, meant: lines });
    }
    files
}

/// Files whose pollution comes after all that a reader may look at first: more than 10 000
/// clean rows and more than 256 KiB.
pub fn polluted_late() -> Vec<Polluted> {
    const N: usize = 20_000;
    let row = |i: usize| {
        vec![format!("{i}"), ["red", "deep blue", "green"][i % 3].into(), format!("{}.25", i % 97)]
    };
    let meant = table(&["id", "colour", "weight"], (0..N).map(row).collect());
    let records = cells(&meant, CLEAN);
    let mut files = Vec::new();
    let mut add = |name: &str, change: &dyn Fn(&mut Vec<Vec<String>>)| {
        let mut changed = records.clone();
        change(&mut changed);
        let bytes: Vec<u8> = joined(&changed, CLEAN).into();
        assert!(bytes.len() > 256 << 10, "the pollution comes late");
        files.push(Polluted { name: format!("late_{name}"), bytes, meant: meant.clone() });
    };
    add("clean", &|_| {});
    for at in [N - 1, N - 700] {
        let with = |cell: &str| {
            let cell = cell.to_owned();
            move |records: &mut Vec<Vec<String>>| records[at][1] = cell.clone()
        };
        add(&format!("quote_extra_middle_{at}"), &with("re\"d"));
        add(&format!("quote_extra_last_{at}"), &with("red\""));
        add(&format!("quote_extra_first_{at}"), &with("\"red"));
        add(&format!("quote_closed_early_{at}"), &with("\"re\"d"));
        add(&format!("quote_backslash_{at}"), &with("\"says \\\"red\\\"\""));
        add(&format!("delimiter_extra_{at}"), &with("re,d"));
        add(&format!("line_end_extra_{at}"), &with("re\nd"));
        let of_weight = |cell: &str| {
            let cell = cell.to_owned();
            move |records: &mut Vec<Vec<String>>| records[at][2] = cell.clone()
        };
        add(&format!("number_word_{at}"), &of_weight("unknown"));
        add(&format!("number_unit_{at}"), &of_weight("5 kg"));
        add(&format!("number_quote_{at}"), &of_weight("5\"6"));
        add(&format!("delimiter_missing_{at}"), &|records| drop(records[at].pop()));
        let inserted = |line: &str| {
            let line = line.to_owned();
            move |records: &mut Vec<Vec<String>>| records.insert(at, vec![line.clone()])
        };
        add(&format!("between_comment_{at}"), &inserted("# a remark"));
        add(&format!("between_header_{at}"), &inserted("id,colour,weight"));
    }
    for (name, quote) in [("single", "'"), ("backtick", "`")] {
        add(&format!("other_quotes_{name}"), &|records| {
            for cells in &mut records[N - 50..] {
                cells[1] = format!("{quote}{}{quote}", cells[1]);
            }
        });
    }
    files
}

/// Numbers first and last, text with delimiters, quotes and line ends between.
fn numbers_last() -> Meant {
    let names = ["id", "name", "price", "remark", "stock"];
    let row = |i: usize| {
        let remark = match i % 4 {
            0 => "plain".to_owned(),
            1 => format!("first, then {i}"),
            2 => "says \"yes\", twice".to_owned(),
            _ => "two\nlines".to_owned(),
        };
        let name = ["Ada", "Blaise", "Carl", "Dorothy", "Émilie"][i % 5];
        [format!("{}", i + 1), name.into(), format!("{}.5", 3 * i + 2), remark, format!("{}", 7 * i % 23)]
    };
    table(&names, (0..24).map(|i| row(i).to_vec()).collect())
}

/// Text first and last, numbers between, hardly any quote needed.
fn text_last() -> Meant {
    let names = ["city", "height", "weight", "colour"];
    let row = |i: usize| {
        let city = ["Rome", "Oslo", "Quito", "Accra"][i % 4];
        let colour = ["red", "deep blue", "green, pale"][i % 3];
        [city.into(), format!("{}", 150 + i), format!("{}.25", 40 + 2 * i), colour.into()]
    };
    table(&names, (0..20).map(|i| row(i).to_vec()).collect())
}

fn table(names: &[&str], rows: Vec<Vec<String>>) -> Meant {
    Meant { names: names.iter().map(|&name| name.to_owned()).collect(), rows }
}

fn cell(text: &str, style: Style<'_>) -> String {
    let needs = [style.delimiter.trim_end(), style.quote, "\n", "\r"];
    let needs_quotes = needs.iter().any(|special| !special.is_empty() && text.contains(special));
    if needs_quotes || style.quotes_all || style.delimiter == " " && text.contains(' ') {
        let inside = text.replace(style.quote, &format!("{}{}", style.escape, style.quote));
        format!("{0}{inside}{0}", style.quote)
    } else {
        text.to_owned()
    }
}

/// The cells of each line, header first, as they are written.
fn cells(meant: &Meant, style: Style<'_>) -> Vec<Vec<String>> {
    let record = |cells: &Vec<String>| cells.iter().map(|text| cell(text, style)).collect();
    std::iter::once(&meant.names).chain(&meant.rows).map(record).collect()
}

fn joined(records: &[Vec<String>], style: Style<'_>) -> String {
    records.iter().map(|cells| cells.join(style.delimiter) + style.line_end).collect()
}

fn written(meant: &Meant, style: Style<'_>) -> String {
    joined(&cells(meant, style), style)
}

type Add<'a> = dyn FnMut(String, Vec<u8>) + 'a;

/// Other delimiters, quotes and escapes, the same in the whole file.
fn styles(meant: &Meant, add: &mut Add<'_>) {
    for (name, delimiter) in [
        ("semicolon", ";"),
        ("tab", "\t"),
        ("bar", "|"),
        ("blank", " "),
        ("tilde", "~"),
        ("caret", "^"),
        ("colon", ":"),
        ("unit_separator", "\u{1f}"),
        ("comma_blank", ", "),
        ("semicolon_blank", "; "),
        ("two_bars", "||"),
    ] {
        add(format!("delimiter_{name}"), written(meant, Style { delimiter, ..CLEAN }).into());
        let style = Style { delimiter, quotes_all: true, ..CLEAN };
        add(format!("delimiter_{name}_all_quoted"), written(meant, style).into());
    }
    for (name, quote, escape) in [
        ("doubled", "\"", "\""),
        ("backslash", "\"", "\\"),
        ("single", "'", "'"),
        ("single_backslash", "'", "\\"),
        ("backtick", "`", "`"),
    ] {
        for (all, quotes_all) in [("", false), ("_all", true)] {
            let style = Style { quote, escape, quotes_all, ..CLEAN };
            add(format!("quotes_{name}{all}"), written(meant, style).into());
            let style = Style { delimiter: ";", ..style };
            add(format!("quotes_{name}{all}_semicolon"), written(meant, style).into());
        }
    }
    let mut records = cells(meant, CLEAN);
    for cells in &mut records {
        for cell in cells.iter_mut() {
            *cell = format!(" {cell} ");
        }
    }
    add("blanks_around_cells".into(), joined(&records, CLEAN).into());
}

fn line_ends(meant: &Meant, add: &mut Add<'_>) {
    for (name, line_end) in [("crlf", "\r\n"), ("blank_lines", "\n\n"), ("lf_cr", "\n\r")] {
        add(format!("line_ends_{name}"), written(meant, Style { line_end, ..CLEAN }).into());
    }
    let clean = written(meant, CLEAN);
    add("no_last_line_end".into(), clean.trim_end_matches('\n').into());
    add("blank_lines_at_end".into(), format!("{clean}\n\n\n").into());
    add("blank_lines_at_start".into(), format!("\n\n{clean}").into());
    let records = cells(meant, CLEAN);
    for row in [0, 1, 2, records.len() / 2, records.len() - 2] {
        let line = |cells: &[String]| cells.join(",");
        let lines: Vec<String> = records.iter().map(|cells| line(cells)).collect();
        let mut merged = lines.clone();
        let next = merged.remove(row + 1);
        merged[row] += &next;
        add(format!("line_end_missing_{row}"), (merged.join("\n") + "\n").into());
        let mut one = lines.clone();
        one[row] += "\r";
        add(format!("line_end_crlf_once_{row}"), (one.join("\n") + "\n").into());
        let mut text = String::new();
        for (i, line) in lines.iter().enumerate() {
            text += line;
            text += if i == row { "\r" } else { "\n" };
        }
        add(format!("line_end_cr_once_{row}"), text.into());
        for field in 1..meant.names.len() {
            for (side, before, after) in [("before", "\n", ""), ("after", "", "\n")] {
                let mut broken = records.clone();
                broken[row][field] = format!("{before}{}", broken[row][field]);
                broken[row][field - 1] += after;
                add(format!("line_end_extra_{side}_{row}_{field}"), joined(&broken, CLEAN).into());
            }
        }
    }
}

/// The same rows without line ends within cells.
fn single_lines(meant: &Meant) -> Meant {
    let line = |cell: &String| cell.replace('\n', " ");
    let rows = meant.rows.iter().map(|row| row.iter().map(line).collect()).collect();
    Meant { names: meant.names.clone(), rows }
}

/// A quote too many or too few in one cell.
fn quotes(meant: &Meant, add: &mut Add<'_>) {
    let records = cells(meant, CLEAN);
    let n = records.len();
    for row in [0, 1, 2, 3, 4, n / 2, n - 2, n - 1] {
        for field in 0..meant.names.len() {
            let original = &records[row][field];
            let middle = original.char_indices().nth(original.chars().count() / 2).map_or(0, |(at, _)| at);
            let mut with = |name: &str, cell: String| {
                let mut changed = records.clone();
                changed[row][field] = cell;
                add(format!("quote_{name}_{row}_{field}"), joined(&changed, CLEAN).into());
            };
            with("extra_first", format!("\"{original}"));
            with("extra_last", format!("{original}\""));
            // Three quotes begin a cell whose text begins with a quote: nothing is wrong with it.
            if !original.starts_with('"') {
                with("two_extra_first", format!("\"\"{original}"));
            }
            if middle > 0 {
                let (left, right) = original.split_at(middle);
                with("extra_middle", format!("{left}\"{right}"));
                with("closed_early", format!("\"{left}\"{right}"));
                with("opened_late", format!("{left}\"{right}\""));
            }
            if let Some(inside) = original.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                with("missing_first", format!("{inside}\""));
                with("missing_last", format!("\"{inside}"));
                with("missing_both", inside.to_owned());
                with("text_after", format!("{original}x"));
                with("undoubled", format!("\"{}\"", inside.replace("\"\"", "\"")));
            }
        }
    }
}

/// A delimiter too many or too few in one record, or in all.
fn delimiters(meant: &Meant, add: &mut Add<'_>) {
    let records = cells(meant, CLEAN);
    let n = records.len();
    for row in [0, 1, 2, n / 2, n - 2, n - 1] {
        for field in 0..meant.names.len() {
            let mut more = records.clone();
            more[row].insert(field, String::new());
            add(format!("delimiter_extra_{row}_{field}"), joined(&more, CLEAN).into());
            if field > 0 {
                let mut fewer = records.clone();
                let cell = fewer[row].remove(field);
                fewer[row][field - 1] += &cell;
                add(format!("delimiter_missing_{row}_{field}"), joined(&fewer, CLEAN).into());
                let mut other = records.clone();
                let cell = other[row].remove(field);
                other[row][field - 1] += &format!(";{cell}");
                add(format!("delimiter_other_{row}_{field}"), joined(&other, CLEAN).into());
            }
        }
        let mut longer = records.clone();
        longer[row].push(String::new());
        add(format!("delimiter_extra_at_end_{row}"), joined(&longer, CLEAN).into());
    }
    let ends = |header: bool, rows: bool| {
        let mut changed = records.clone();
        for (i, cells) in changed.iter_mut().enumerate() {
            if if i == 0 { header } else { rows } {
                cells.push(String::new());
            }
        }
        joined(&changed, CLEAN)
    };
    add("trailing_delimiter_everywhere".into(), ends(true, true).into());
    add("trailing_delimiter_in_rows".into(), ends(false, true).into());
    add("trailing_delimiter_in_header".into(), ends(true, false).into());
}

/// Lines before, between and after the rows.
fn around(meant: &Meant, add: &mut Add<'_>) {
    let clean = written(meant, CLEAN);
    let width = meant.names.len();
    let padded = |text: &str| format!("{text}{}", ",".repeat(width - 1));
    for (name, lines) in [
        ("title", vec!["Prices of the year".to_owned()]),
        ("comment", vec!["# made by a program".to_owned()]),
        ("two_comments", vec!["# made by a program".to_owned(), "# on a Monday".to_owned()]),
        ("title_and_blank", vec!["Prices of the year".to_owned(), String::new()]),
        ("with_delimiter", vec!["Prices, of the year".to_owned()]),
        (
            "five",
            ["Report", "Author: Ada", "Date: 2020-01-01", "", "Notes, if any"].map(str::to_owned).into(),
        ),
        ("padded", vec![padded("Report")]),
        ("padded_twice", vec![padded("Report"), padded("")]),
        ("number", vec!["2020".to_owned()]),
    ] {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        add(format!("preamble_{name}"), format!("{text}{clean}").into());
        add(format!("footer_{name}"), format!("{clean}{text}").into());
        add(format!("preamble_and_footer_{name}"), format!("{text}{clean}{text}").into());
        // Line ends within cells stay what they are.
        let crlf = written(meant, Style { line_end: "\r\n", ..CLEAN });
        add(format!("preamble_{name}_crlf"), format!("{}{crlf}", text.replace('\n', "\r\n")).into());
    }
    let records = cells(meant, CLEAN);
    for row in [1, 2, records.len() / 2] {
        for (name, line) in [
            ("comment", "# a remark".to_owned()),
            ("rule", "-----".to_owned()),
            ("header", meant.names.join(",")),
        ] {
            let mut changed = records.clone();
            changed.insert(row, vec![line]);
            add(format!("between_{name}_{row}"), joined(&changed, CLEAN).into());
        }
    }
    for row in [1, records.len() / 2] {
        for field in 0..width {
            for (name, text) in [("unit", "5 kg"), ("decimal_comma", "\"2,5\""), ("word", "unknown")] {
                let is_number = records[row][field].parse::<f64>().is_ok();
                if is_number {
                    let mut changed = records.clone();
                    changed[row][field] = text.into();
                    add(format!("number_{name}_{row}_{field}"), joined(&changed, CLEAN).into());
                }
            }
        }
    }
}

fn encodings(meant: &Meant, add: &mut Add<'_>) {
    let clean = written(meant, CLEAN);
    add("utf8_mark".into(), format!("\u{feff}{clean}").into());
    let utf16 = |big: bool| {
        clean.encode_utf16().flat_map(move |unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
    };
    add("utf16_le_mark".into(), [0xff, 0xfe].into_iter().chain(utf16(false)).collect());
    add("utf16_be_mark".into(), [0xfe, 0xff].into_iter().chain(utf16(true)).collect());
    add("utf16_le".into(), utf16(false).collect());
    add("utf16_be".into(), utf16(true).collect());
    if !clean.is_ascii() {
        // Every character of these tables is one byte in Latin-1.
        add("latin1".into(), clean.chars().map(|c| c as u8).collect());
    }
    // Within the last row. Within its last cell nobody could tell.
    let cut = clean.rfind(',').unwrap_or(0);
    let cut = if meant.rows.last().is_some_and(|row| row.iter().any(|cell| cell.contains(','))) {
        cut - 8
    } else {
        cut
    };
    add("cut_short".into(), clean[..cut].into());
}

/// Headers that are missing, doubled, or on several lines.
fn headers(label: &str, meant: &Meant, files: &mut Vec<Polluted>) {
    let records = cells(meant, CLEAN);
    let mut add = |name: &str, records: &[Vec<String>], meant: &Meant| {
        let bytes = joined(records, CLEAN).into();
        files.push(Polluted { name: format!("{label}_{name}"), bytes, meant: meant.clone() });
    };
    let numbered = (1..=meant.names.len()).map(|i| format!("column_{i}")).collect();
    add("header_missing", &records[1..], &Meant { names: numbered, rows: meant.rows.clone() });

    let with_header = |first: Vec<String>| {
        let mut changed = records.clone();
        changed[0] = first;
        changed
    };
    let renamed = |names: Vec<String>| Meant { names, rows: meant.rows.clone() };
    let mut doubled = meant.names.clone();
    doubled[1] = doubled[0].clone();
    add("header_doubled_name", &with_header(doubled), meant);
    let mut unnamed = meant.names.clone();
    unnamed[1] = String::new();
    let mut named = meant.names.clone();
    named[1] = "column_2".into();
    add("header_empty_name", &with_header(unnamed), &renamed(named));
    let quoted: Vec<String> = meant.names.iter().map(|name| format!("\"{name}\"")).collect();
    add("header_quoted", &with_header(quoted), meant);

    let second =
        |text: &str| -> Vec<String> { (0..meant.names.len()).map(|i| format!("{text}{i}")).collect() };
    let mut two = records.clone();
    two.insert(1, second("unit"));
    let names = meant.names.iter().zip(second("unit")).map(|(a, b)| format!("{a} {b}")).collect();
    add("header_of_two", &two, &renamed(names));
    let mut three = two.clone();
    three.insert(2, second("source"));
    let names = meant.names.iter().enumerate().map(|(i, a)| format!("{a} unit{i} source{i}")).collect();
    add("header_of_three", &three, &renamed(names));
}
