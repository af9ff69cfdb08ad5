//! From the text of a chunk to columns.

use std::sync::Arc;

use dshap_table::{ReadAs, spelled};

use super::cell::{self, Boolean, Number};
use super::split::{Bounds, Records, has_stray_quote, is_quoted, unquoted};
use crate::late::{Late, Odd, OddCells, Oddity};
use crate::text::{CellFault, ColumnBuilder, Columns, Decode, Dialect, Fault, Problem, excerpt};

/// Which cells of a record are read, and how.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) dialect: Dialect,
    /// Fields of every record.
    pub(super) n_fields: usize,
    /// Whether the last of them belongs to no column and must be empty.
    pub(super) ends_in_delimiter: bool,
    /// Position in the record, for each column asked for.
    pub(super) columns: Vec<(usize, ReadAs)>,
    /// Names of all columns.
    pub(super) names: Arc<[String]>,
    /// Where odd cells are noted.
    pub(super) late: Late,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    FieldCount(usize),
    /// A cell that belongs to no column holds something.
    AfterLastColumn(String),
    Cell(CellFault),
}

impl Decode for Plan {
    type What = What;

    fn decode(&self, text: &[u8], max_rows: usize) -> Result<Columns, Fault<What>> {
        decode(text, self, max_rows)
    }

    fn notice(&self, record: u64, odd: &Odd) {
        if let Some(name) = self.names.get(odd.field) {
            self.late.add(odd.oddity, name, record, &odd.text);
        }
    }
}

/// Reads at most `max_rows` records.
fn decode(text: &[u8], plan: &Plan, max_rows: usize) -> Result<Columns, Fault<What>> {
    let mut records = Records::new(text, plan.dialect);
    let mut cells: Vec<Bounds> = Vec::with_capacity(plan.n_fields);
    let mut builders: Vec<ColumnBuilder> = Vec::new();
    let mut odd = OddCells::default();
    let mut n_rows = 0;
    while n_rows < max_rows && records.next(&mut cells).is_some() {
        if let Some(field) = records.after_quote() {
            let (start, end) = cells[field];
            let fault = CellFault { field, text: excerpt(&text[start..end]), problem: Problem::AfterQuote };
            return Err(Fault { record: n_rows, what: What::Cell(fault) });
        }
        if cells.len() != plan.n_fields {
            return Err(Fault { record: n_rows, what: What::FieldCount(cells.len()) });
        }
        if plan.ends_in_delimiter
            && let Some(&(start, end)) = cells.last()
            && start < end
        {
            let text = excerpt(&unquoted(&text[start..end], plan.dialect).0);
            return Err(Fault { record: n_rows, what: What::AfterLastColumn(text) });
        }
        if n_rows == 0 {
            // Records are about as long as the first one, give or take a quarter.
            let n_expected = text.len() / records.position().max(1) * 5 / 4 + 1;
            builders.extend(
                plan.columns
                    .iter()
                    .map(|&(_, read_as)| ColumnBuilder::new(read_as, n_expected.min(max_rows))),
            );
        }
        for (position, (builder, &(field, _))) in builders.iter_mut().zip(&plan.columns).enumerate() {
            let (start, end) = cells[field];
            let cell = &text[start..end];
            match builder.push_cell(cell, plan.dialect) {
                Ok(Looks::Plain) => {}
                Ok(looks) => odd_cell(&mut odd, (position, field), n_rows, cell, looks, plan.dialect),
                Err(problem) => {
                    let what = What::Cell(blame(field, cell, problem, plan));
                    return Err(Fault { record: n_rows, what });
                }
            }
        }
        if records.has_stray() {
            for (position, &(field, _)) in plan.columns.iter().enumerate() {
                let (start, end) = cells[field];
                odd_cell(&mut odd, (position, field), n_rows, &text[start..end], Looks::Stray, plan.dialect);
            }
        }
        n_rows += 1;
    }
    if n_rows == 0 {
        builders.extend(plan.columns.iter().map(|&(_, read_as)| ColumnBuilder::new(read_as, 0)));
    }
    let arrays = builders.into_iter().map(ColumnBuilder::finish).collect();
    Ok(Columns { arrays, n_rows, odd: odd.finish() })
}

/// What a look at a cell while it is read shows, at no cost. Only a cell that is not plain
/// is looked at again.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Looks {
    Plain,
    /// A number so large that a double may have rounded it.
    Large,
    /// Text between quotes of another kind.
    Wrapped,
    /// The record holds a quote in a cell that is not quoted.
    Stray,
}

/// Takes note of a cell if it is odd. `position` is that among the columns read, `field`
/// that among all.
#[cold]
fn odd_cell(
    odd: &mut OddCells,
    (position, field): (usize, usize),
    record: usize,
    cell: &[u8],
    looks: Looks,
    dialect: Dialect,
) {
    let oddity = match looks {
        Looks::Plain => return,
        Looks::Large => Oddity::Rounded,
        Looks::Wrapped => Oddity::OtherQuotes,
        Looks::Stray => Oddity::StrayQuote,
    };
    if !odd.has_room(position, oddity) {
        return;
    }
    let is_odd = match oddity {
        Oddity::Rounded => {
            let text = unquoted(cell, dialect).0;
            let number = cell::number_with(&text, dialect.decimal_comma);
            matches!(number, Number::Value(value) if cell::is_rounded(&text, value))
        }
        Oddity::StrayQuote => has_stray_quote(cell, dialect),
        Oddity::OtherQuotes => !is_quoted(cell, dialect),
    };
    if is_odd {
        odd.add(position, Odd { record, field, oddity, text: excerpt(cell) });
    }
}

/// Whether text stands between quotes that are none in this file.
#[inline]
fn is_wrapped(text: &[u8], dialect: Dialect) -> bool {
    match text {
        [first @ (b'\'' | b'`'), .., last] => first == last && *first != dialect.quote,
        _ => false,
    }
}

fn blame(field: usize, cell: &[u8], problem: Problem, plan: &Plan) -> CellFault {
    match problem {
        // The quote is what keeps it from being one.
        Problem::NotANumber | Problem::NotABoolean if has_stray_quote(cell, plan.dialect) => {
            CellFault { field, text: excerpt(cell), problem: Problem::StrayQuote }
        }
        _ => CellFault { field, text: excerpt(&unquoted(cell, plan.dialect).0), problem },
    }
}

impl ColumnBuilder {
    #[inline]
    fn push_cell(&mut self, cell: &[u8], dialect: Dialect) -> Result<Looks, Problem> {
        match self {
            ColumnBuilder::Number(values) => {
                // A cell with quotes is not a number as it is. Only then is it worth
                // looking for them.
                let number = match cell::number_with(cell, dialect.decimal_comma) {
                    Number::Other => cell::number_with(&unquoted(cell, dialect).0, dialect.decimal_comma),
                    number => number,
                };
                match number {
                    Number::Value(value) => {
                        values.append_value(value);
                        if cell::may_be_rounded(value) {
                            return Ok(Looks::Large);
                        }
                    }
                    Number::Missing => values.append_null(),
                    Number::NotFinite => return Err(Problem::NotFinite),
                    Number::Other => return Err(Problem::NotANumber),
                }
            }
            ColumnBuilder::Boolean(values) => match cell::boolean(&unquoted(cell, dialect).0) {
                Boolean::Value(value) => values.append_value(f64::from(u8::from(value))),
                Boolean::Missing => values.append_null(),
                Boolean::Other => return Err(Problem::NotABoolean),
            },
            ColumnBuilder::Text(texts) => {
                let (text, is_quoted) = unquoted(cell, dialect);
                // Quoted text is meant literally: the country code `"NA"` is not a
                // missing value. An empty cell always is.
                let text = if is_quoted { &text } else { text.trim_ascii() };
                if text.is_empty() || !is_quoted && cell::is_missing(text) {
                    texts.append_null();
                } else {
                    let looks = if is_wrapped(text, dialect) { Looks::Wrapped } else { Looks::Plain };
                    let text = cell::with_point(text, dialect.decimal_comma);
                    texts.append_value(spelled(std::str::from_utf8(&text).map_err(|_| Problem::NotUtf8)?));
                    return Ok(looks);
                }
            }
            ColumnBuilder::AsIs(texts) => {
                let (text, _) = unquoted(cell, dialect);
                let text = cell::with_point(&text, dialect.decimal_comma);
                texts.append_value(std::str::from_utf8(&text).map_err(|_| Problem::NotUtf8)?);
            }
        }
        Ok(Looks::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    fn plan(columns: &[(usize, ReadAs)]) -> Plan {
        let dialect = Dialect::delimited_by(b',');
        let names = ["a", "b"].map(String::from).into();
        let late = Late::default();
        Plan { dialect, n_fields: 2, ends_in_delimiter: false, columns: columns.to_vec(), names, late }
    }

    #[test]
    fn each_way_of_reading_has_its_own_idea_of_missing() {
        let text = b"1,NA\n,\"NA\"\n\"2.5\", x \nNA,\"\"\n";
        let plan = plan(&[(0, ReadAs::Number), (1, ReadAs::Text), (1, ReadAs::AsIs)]);
        let columns = decode(text, &plan, usize::MAX).expect("is read");
        let numbers: Vec<_> = columns.arrays[0].as_primitive::<Float64Type>().iter().collect();
        assert_eq!(numbers, [Some(1.0), None, Some(2.5), None]);
        let texts: Vec<_> = columns.arrays[1].as_string::<i32>().iter().collect();
        assert_eq!(texts, [None, Some("NA"), Some("x"), None]);
        let raw: Vec<_> = columns.arrays[2].as_string::<i32>().iter().collect();
        assert_eq!(raw, [Some("NA"), Some("NA"), Some(" x "), Some("")]);
    }

    #[test]
    fn the_first_fault_is_reported_and_none_beyond_the_rows_asked_for() {
        let text = b"1,a\n2,b\nx,c\n4\n";
        let plan = plan(&[(0, ReadAs::Number)]);
        let fault = decode(text, &plan, usize::MAX).expect_err("is refused");
        assert_eq!(
            fault,
            Fault {
                record: 2,
                what: What::Cell(CellFault { field: 0, text: "x".into(), problem: Problem::NotANumber })
            }
        );
        assert_eq!(decode(text, &plan, 2).expect("is read").n_rows, 2);
    }
}
