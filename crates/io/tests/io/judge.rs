//! Whether a polluted file was read right, refused, or read otherwise.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_io::{Error, Note, ScanOptions, Source};
use dshap_table::{Kind, ReadAs, Wanted};
use dshap_testkit::{Meant, Polluted};

/// How a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it was meant.
    Right,
    /// Not at all, with an error.
    Refused,
    /// Otherwise, with a warning that names what is wrong.
    Warned,
    /// Otherwise, without a word about it.
    Wrong,
}

/// Reads a file, and what was said about it.
pub(crate) fn judge(path: &str, polluted: &Polluted) -> (Outcome, String) {
    let read = Source::open(&[path.to_owned()]).and_then(|source| {
        let table = table(&source)?;
        Ok((table, [source.notes(), &source.late_notes()].concat()))
    });
    match read {
        Err(error) => (Outcome::Refused, error.to_string()),
        Ok((table, notes)) => {
            let outcome = match table == canonical(&polluted.meant) {
                true => Outcome::Right,
                false if is_named(&polluted.name, &notes) => Outcome::Warned,
                false => Outcome::Wrong,
            };
            (outcome, format!("{notes:?}"))
        }
    }
}

/// Kinds of notes that name a pollution, by the beginning of its name: one of each list.
const NAMED_BY: &[(&str, &[&[&str]])] = &[
    ("quote_", &[&["StrayQuote"]]),
    ("other_quotes_", &[&["OtherQuotes"]]),
    ("number_", &[&["TextAmongNumbers"]]),
    ("between_header_", &[&["TextAmongNumbers", "SeveralHeaders"]]),
    ("preamble_and_footer_", &[&["SeveralHeaders", "UnnamedColumn"], &["LoneCell"]]),
    ("preamble_", &[&["SeveralHeaders", "UnnamedColumn"]]),
    ("footer_", &[&["LoneCell"]]),
    ("delimiter_two_bars", &[&["UnnamedColumn"]]),
    ("header_missing", &[&["NumericHeader"]]),
];

/// Whether notes name what is wrong with a file; others do not count.
fn is_named(name: &str, notes: &[Note]) -> bool {
    let pollution =
        ["numbers_last_", "text_last_", "late_"].iter().find_map(|label| name.strip_prefix(label));
    let pollution = pollution.expect("each table has a label");
    let kinds: Vec<String> = notes.iter().map(|note| format!("{note:?}")).collect();
    let has = |kind: &&str| kinds.iter().any(|note| note.split(' ').next() == Some(kind));
    let wanted = NAMED_BY.iter().find(|(beginning, _)| pollution.starts_with(beginning));
    wanted.is_some_and(|(_, lists)| lists.iter().all(|list| list.iter().any(has)))
}

/// Names and columns; a number differs from the same digits as text.
type Table = (Vec<String>, Vec<Vec<Option<Cell>>>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Text(String),
}

fn canonical(meant: &Meant) -> Table {
    let columns = (0..meant.names.len()).map(|field| {
        let cells: Vec<&String> = meant.rows.iter().map(|row| &row[field]).collect();
        let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        match numbers {
            Some(numbers) => numbers.into_iter().map(|number| Some(Cell::Number(number))).collect(),
            None => cells.into_iter().map(|cell| Some(Cell::Text(cell.clone()))).collect(),
        }
    });
    (meant.names.clone(), columns.collect())
}

fn table(source: &Source) -> Result<Table, Error> {
    let columns = &source.schema().columns;
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let read = |name: &str, read_as| -> Result<Vec<RecordBatch>, Error> {
        let wanted = [Wanted { name: name.to_owned(), read_as }];
        source.scan(&wanted, ScanOptions::default())?.map(|batch| batch.map(|batch| batch.rows)).collect()
    };
    let column = |column: &dshap_table::RawColumn| -> Result<Vec<Option<Cell>>, Error> {
        Ok(match column.kind {
            Kind::Number => read(&column.name, ReadAs::Number)?
                .iter()
                .flat_map(|rows| rows.column(0).as_primitive::<Float64Type>().iter())
                .map(|cell| cell.map(Cell::Number))
                .collect(),
            _ => read(&column.name, ReadAs::Text)?
                .iter()
                .flat_map(|rows| rows.column(0).as_string::<i32>().iter())
                .map(|cell| cell.map(|text| Cell::Text(text.to_owned())))
                .collect(),
        })
    };
    let columns: Result<_, Error> = columns.iter().map(column).collect();
    Ok((names, columns?))
}
