//! Whether a polluted file was read right, refused, or read otherwise.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_io::{Error, ScanOptions, Source};
use dshap_table::{Kind, ReadAs, Wanted};
use dshap_testkit::Meant;

/// How a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it was meant.
    Right,
    /// Not at all, with an error.
    Refused,
    /// Otherwise, with a warning.
    Warned,
    /// Otherwise, without a word.
    Wrong,
}

/// Reads a file, and what was said about it.
pub(crate) fn judge(path: &str, meant: &Meant) -> (Outcome, String) {
    let read = Source::open(&[path.to_owned()]).and_then(|source| {
        let table = table(&source)?;
        let notes: Vec<String> = source.notes().iter().map(|note| format!("{note:?}")).collect();
        Ok((table, notes.join("; ")))
    });
    match read {
        Err(error) => (Outcome::Refused, error.to_string()),
        Ok((table, notes)) if table == canonical(meant) => (Outcome::Right, notes),
        Ok((table, notes)) if notes.is_empty() => (Outcome::Wrong, format!("{table:?}")),
        Ok((_, notes)) => (Outcome::Warned, notes),
    }
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
