//! A first look at a table: what the target asks for, and whether numbers are numbers.

use crate::settings;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_catalogue::options::{CATEGORICAL, TARGET};
use dshap_catalogue::{Given, Task, Value};
use dshap_io::{ScanOptions, Source};
use dshap_models::Error;
use dshap_table::{Kind, ReadAs, Wanted};

/// Rows from which the task is guessed, as many as settle the column types.
const GUESS_ROWS: u64 = 10_000;

/// Later rows come in batches of this size, because often the next few settle it.
const GUESS_BYTES: usize = 1 << 20;

/// Fewer cells than this, for each label, do not tell labels from numbers.
const FEWEST_CELLS: u64 = 5;

/// More different numbers than this are hardly labels.
const MOST_LABELS: usize = 20;

/// The task, as given or as the target asks for, and whether it was guessed.
///
/// # Errors
///
/// [`Error`], if the target cannot be read.
pub fn settle_task(source: &Source, given: &Given) -> Result<(Task, bool), Error> {
    let task = settings::task(given);
    // That a target is missing is reported where roles are settled.
    let unknown = Ok((task.unwrap_or(Task::Regression), task.is_none()));
    let Some(target) = given.word(&TARGET) else { return unknown };
    let Some(column) = source.schema().column(target) else { return unknown };
    if column.kind == Kind::Text {
        let wanted = Wanted { name: target.into(), read_as: ReadAs::Text };
        refuse_mixed_columns(source, &[wanted], given.list(&CATEGORICAL))?;
    }
    let found = match (task, &column.kind) {
        (Some(task), _) => task,
        (None, Kind::Text | Kind::Boolean) => Task::Classification,
        (None, Kind::Number) if numbers(source, target)? == Numbers::Two => Task::Classification,
        (None, _) => Task::Regression,
    };
    Ok((found, task.is_none()))
}

/// The task that a column asks for if it is to be predicted: classification if it is
/// text, boolean or two-valued, else regression.
///
/// # Errors
///
/// [`Error`], if the column cannot be read.
pub fn guess_task(source: &Source, target: &str) -> Result<Task, Error> {
    let given = Given::new().with(&TARGET, Value::Word(target.into()));
    settle_task(source, &given).map(|(task, _)| task)
}

/// How many different whole numbers a numeric target has, if they are few enough to be
/// labels, and more than two.
pub(crate) fn few_whole_numbers(source: &Source, target: &str) -> Result<Option<usize>, Error> {
    match source.schema().column(target) {
        Some(column) if column.kind == Kind::Number => Ok(match numbers(source, target)? {
            Numbers::FewWhole(n) => Some(n),
            Numbers::Two | Numbers::Many => None,
        }),
        _ => Ok(None),
    }
}

/// What the numbers of a target look like.
#[derive(Debug, PartialEq, Eq)]
enum Numbers {
    /// Two, in all rows.
    Two,
    /// This many, all of them whole, in the first rows.
    FewWhole(usize),
    Many,
}

/// Looks at the first rows, and at all others while the target has two values only: of a
/// file that is sorted by label the first rows tell nothing.
fn numbers(source: &Source, target: &str) -> Result<Numbers, Error> {
    let first = ScanOptions { limit_rows: Some(GUESS_ROWS), ..ScanOptions::default() };
    let others = ScanOptions { skip_rows: GUESS_ROWS, batch_bytes: GUESS_BYTES, ..ScanOptions::default() };
    let (mut seen, mut n_cells): (Vec<f64>, u64) = (Vec::new(), 0);
    for options in [first, others] {
        let wanted = [Wanted { name: target.into(), read_as: ReadAs::Number }];
        for batch in source.scan(&wanted, options)? {
            let rows = batch?.rows;
            let cells = rows.column(0).as_primitive::<Float64Type>();
            for cell in (0..cells.len()).filter(|&row| cells.is_valid(row)).map(|row| cells.value(row)) {
                n_cells += 1;
                if !seen.contains(&cell) && seen.len() <= MOST_LABELS {
                    seen.push(cell);
                }
            }
            if seen.len() > MOST_LABELS {
                return Ok(Numbers::Many);
            }
        }
        if seen.len() > 2 {
            break;
        }
    }
    let are_whole = seen.iter().all(|number| number.fract() == 0.0);
    Ok(match seen.len() {
        // A handful of rows tells nothing; that they are too few is reported later.
        2 if n_cells >= FEWEST_CELLS => Numbers::Two,
        n @ 3..=MOST_LABELS if are_whole && n_cells >= FEWEST_CELLS * n as u64 => Numbers::FewWhole(n),
        _ => Numbers::Many,
    })
}

/// Refuses text columns that are numbers but for a few cells, or numbers
/// written with commas or signs: far more often a slip than categories, and as
/// categories they would silently become hundreds of columns.
pub(crate) fn refuse_mixed_columns(
    source: &Source,
    wanted: &[Wanted],
    categorical: &[String],
) -> Result<(), Error> {
    let text: Vec<Wanted> = wanted
        .iter()
        .filter(|column| column.read_as == ReadAs::Text && !categorical.contains(&column.name))
        .cloned()
        .collect();
    let mut looks = vec![Looks::default(); text.len()];
    let options = ScanOptions { limit_rows: Some(GUESS_ROWS), ..ScanOptions::default() };
    for batch in source.scan(&text, options)? {
        let batch = batch?;
        for (looks, column) in looks.iter_mut().zip(batch.rows.columns()) {
            for (row, cell) in column.as_string::<i32>().iter().enumerate() {
                if let Some(cell) = cell {
                    looks.add(batch.first_row + row as u64, cell);
                }
            }
        }
    }
    for (column, looks) in text.into_iter().zip(looks) {
        if looks.n_like_numbers <= looks.n_others {
            continue;
        }
        let name = column.name;
        return Err(match (looks.first_other, looks.first_like_number) {
            (Some((row, text)), _) => Error::MixedColumn { location: source.locate(row)?, name, text },
            (None, Some((row, text))) => Error::NumbersAsText { location: source.locate(row)?, name, text },
            (None, None) => continue,
        });
    }
    Ok(())
}

/// What the cells of a text column look like.
#[derive(Debug, Clone, Default)]
struct Looks {
    n_like_numbers: usize,
    n_others: usize,
    /// The first that is like a number but no plain one; else the first.
    first_like_number: Option<(u64, String)>,
    first_other: Option<(u64, String)>,
}

impl Looks {
    fn add(&mut self, row: u64, cell: &str) {
        if !is_like_a_number(cell) {
            self.n_others += 1;
            self.first_other.get_or_insert_with(|| (row, cell.into()));
            return;
        }
        self.n_like_numbers += 1;
        let is_plain = |text: &str| text.parse::<f64>().is_ok();
        match &self.first_like_number {
            Some((_, before)) if is_plain(cell) || !is_plain(before) => {}
            _ => self.first_like_number = Some((row, cell.into())),
        }
    }
}

/// Whether a person would read the text as a number: `12`, `3,12`, `1 000`, `$10`, `5 %`.
fn is_like_a_number(cell: &str) -> bool {
    if cell.parse::<f64>().is_ok() {
        return true;
    }
    let unit = |c: char| "$€£¥%".contains(c) || c.is_whitespace();
    let digits = cell.trim_matches(unit).trim_start_matches(['+', '-']).trim_start_matches(unit);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || ".,' \u{a0}\u{202f}".contains(c))
}
