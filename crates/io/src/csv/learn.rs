//! What the beginning of a text table says: names, kinds, and what is odd about it.

use dshap_table::Kind;

use super::cell::{self, Number};
use super::footer::{self, Footer};
use super::sight::{Cell, Sight, Spot};
use super::split::{Bounds, Records, has_stray_quote, unquoted};
use super::{CsvFile, infer::INFER_RECORDS};
use crate::error::Error;
use crate::location::Location;
use crate::names::MAX_TEXT_COLUMNS;
use crate::note::Note;
use crate::text::{self, CHUNK_BYTES, CellFault, ChunkReader, Problem, excerpt};

/// A header has at most this many records below its first.
const MAX_MORE_HEADERS: usize = 2;

/// The names of a header; none for a cell without one.
type Names = Vec<Option<String>>;

/// The table as its first records show it.
pub(super) struct Learning<'a> {
    file: &'a CsvFile,
    header: Option<Names>,
    /// Cells of a record, once there is one.
    n_fields: Option<usize>,
    /// Whether the records, but not the header, end with a delimiter.
    only_rows_end: bool,
    /// Whether the last cell of every record is empty.
    last_is_empty: bool,
    /// The first records below the header, which may belong to it.
    lead: Vec<Vec<Cell>>,
    /// All others.
    sights: Vec<Sight>,
    n_records: u64,
    footer: Option<Footer>,
    /// The first cell of the header that holds a quote although it is not quoted.
    header_stray: Option<(usize, String)>,
    /// The first record with nothing but its first cell, and how many there are.
    first_lone: Option<Spot>,
    n_lone: u64,
}

/// What was learned.
pub(super) struct Learned {
    pub(super) names: Vec<String>,
    /// None if there are no rows.
    pub(super) kinds: Option<Vec<Kind>>,
    /// Records of the header.
    pub(super) n_header: u64,
    /// Cells of a record.
    pub(super) n_fields: usize,
    /// Whether the last of them belongs to no column.
    pub(super) ends_in_delimiter: bool,
    /// Where the table ends, if something follows it.
    pub(super) end: Option<u64>,
}

impl<'a> Learning<'a> {
    pub(super) fn of(file: &'a CsvFile) -> Learning<'a> {
        Learning {
            file,
            header: None,
            n_fields: None,
            only_rows_end: false,
            last_is_empty: true,
            lead: Vec::new(),
            sights: Vec::new(),
            n_records: 0,
            footer: None,
            header_stray: None,
            first_lone: None,
            n_lone: 0,
        }
    }

    /// Reads the first records.
    pub(super) fn run(mut self, notes: &mut Vec<Note>) -> Result<Learned, Error> {
        let file = self.file;
        let mut chunks = ChunkReader::new(file.body.open(&file.input)?, file.body.layout, CHUNK_BYTES);
        let mut cells = Vec::new();
        while self.n_records < INFER_RECORDS {
            let Some(chunk) = chunks.next().map_err(|error| text::explain(&file.input, &file.body, error))?
            else {
                break;
            };
            let mut records = Records::new(&chunk.text, file.dialect);
            while self.n_records < INFER_RECORDS
                && let Some(start) = records.next(&mut cells)
            {
                if let Some(field) = records.after_quote() {
                    return Err(self.after_quote(&chunk.text, &cells, field)?);
                }
                if self.header.is_none() && file.n_header == 0 {
                    self.header = Some(self.numbered(cells.len())?);
                }
                if self.header.is_none() {
                    self.header = Some(self.read_header(&chunk.text, &cells)?);
                    let raw = |&(start, end): &Bounds| &chunk.text[start..end];
                    let stray = cells.iter().map(raw).position(|cell| has_stray_quote(cell, file.dialect));
                    self.header_stray = stray.map(|field| (field, excerpt(raw(&cells[field]))));
                    continue;
                }
                if !self.fits(&chunk.text, &cells) {
                    self.follow(&chunk.text, &cells, chunk.start, start)?;
                    continue;
                }
                if let Some(footer) = &self.footer {
                    // The table goes on, so what seemed to follow it is faulty.
                    return Err(self.ragged(self.n_records, footer.n_fields)?);
                }
                self.see(&chunk.text, &cells, records.has_quotes());
            }
        }
        self.settle(notes)
    }

    /// Whether a record has the cells of the others. The first record settles them.
    fn fits(&mut self, text: &[u8], cells: &[Bounds]) -> bool {
        let found = cells.len();
        let header = self.header.as_mut().expect("the header is read before any record");
        let n_fields = *self.n_fields.get_or_insert_with(|| {
            let last_is_empty = cells.last().is_some_and(|(start, end)| start == end);
            if found == header.len() + 1 && last_is_empty {
                self.only_rows_end = true;
                return found;
            }
            if found > 0 && found + 1 == header.len() && header.last() == Some(&None) {
                // Only the header ends with a delimiter.
                header.pop();
            }
            header.len()
        });
        found == n_fields
            && !(self.only_rows_end && cells.last().is_some_and(|&(a, b)| !text[a..b].is_empty()))
    }

    /// A record that does not fit: a line after the table, or a fault.
    fn follow(&mut self, text: &[u8], cells: &[Bounds], chunk_start: u64, start: usize) -> Result<(), Error> {
        let n_fields = self.n_fields.unwrap_or(cells.len());
        let is_footer = self.n_records > 0 && footer::is_line_of_one(text, start, cells, n_fields);
        let footer = self.footer.get_or_insert(Footer {
            start: chunk_start + start as u64,
            n_records: 0,
            n_fields: cells.len(),
        });
        footer.n_records += 1;
        if is_footer && footer.n_records <= footer::MAX_RECORDS {
            return Ok(());
        }
        let found = footer.n_fields;
        if self.only_rows_end && footer.n_records == 1 {
            // Not all records end with a delimiter, so the first one is faulty.
            return Err(Error::Ragged { at: self.at(0)?, expected: n_fields - 1, found: n_fields });
        }
        Err(self.ragged(self.n_records, found)?)
    }

    fn ragged(&self, record: u64, found: usize) -> Result<Error, Error> {
        let expected = self.n_fields.unwrap_or(found);
        Ok(Error::Ragged { at: self.at(record)?, expected, found })
    }

    /// Where a record is, counted from the first one below the first of the header.
    fn at(&self, record: u64) -> Result<Location, Error> {
        self.file.at_record(record + self.file.n_header)
    }

    fn after_quote(&self, text: &[u8], cells: &[Bounds], field: usize) -> Result<Error, Error> {
        let (start, end) = cells[field];
        let fault = CellFault { field, text: excerpt(&text[start..end]), problem: Problem::AfterQuote };
        let names: Vec<String> = self.header.iter().flatten().flatten().cloned().collect();
        let n_footer = self.footer.as_ref().map_or(0, |footer| footer.n_records as u64);
        let record = self.header.as_ref().map_or(0, |_| self.n_records + n_footer + self.file.n_header);
        Ok(fault.into_error(self.file.at_record(record)?, &names))
    }

    fn refuse_too_many(&self, n_columns: usize) -> Result<(), Error> {
        if n_columns > MAX_TEXT_COLUMNS {
            let file = self.file.input.name().to_owned();
            return Err(Error::TooManyColumns { file, limit: MAX_TEXT_COLUMNS });
        }
        Ok(())
    }

    /// The names of the columns of a table without a header.
    fn numbered(&self, n_columns: usize) -> Result<Names, Error> {
        self.refuse_too_many(n_columns)?;
        Ok((1..=n_columns).map(|column| Some(format!("column_{column}"))).collect())
    }

    /// The names in the header; none for a cell without one.
    fn read_header(&self, text: &[u8], cells: &[Bounds]) -> Result<Names, Error> {
        self.refuse_too_many(cells.len())?;
        let name = |&(start, end): &Bounds| {
            let (name, _) = unquoted(&text[start..end], self.file.dialect);
            match std::str::from_utf8(name.trim_ascii()) {
                Ok("") => Ok(None),
                Ok(name) => Ok(Some(name.to_owned())),
                Err(_) => {
                    Err(Error::NotUtf8 { at: self.file.at_record(0)?, column: excerpt(name.trim_ascii()) })
                }
            }
        };
        cells.iter().map(name).collect()
    }

    fn see(&mut self, text: &[u8], cells: &[Bounds], has_quotes: bool) {
        let dialect = self.file.dialect;
        let record = self.n_records;
        let is_empty = |&(start, end): &Bounds| text[start..end].trim_ascii().is_empty();
        if cells.len() >= 3 && cells[1..].iter().all(is_empty) && !is_empty(&cells[0]) {
            let (start, end) = cells[0];
            self.n_lone += 1;
            self.first_lone.get_or_insert(Spot { record, text: excerpt(&text[start..end]) });
        }
        self.last_is_empty &= cells.last().is_some_and(|(start, end)| start == end);
        if self.lead.len() < MAX_MORE_HEADERS {
            let cell = |&(start, end): &Bounds| {
                let raw = &text[start..end];
                let text = unquoted(raw, dialect).0.into_owned();
                Cell { text, has_stray_quote: has_stray_quote(raw, dialect) }
            };
            self.lead.push(cells.iter().map(cell).collect());
        } else {
            self.sights.resize_with(cells.len(), Sight::new);
            for (sight, &(start, end)) in self.sights.iter_mut().zip(cells) {
                let raw = &text[start..end];
                let is_stray = has_quotes && has_stray_quote(raw, dialect);
                sight.see(record, &unquoted(raw, dialect).0, is_stray, dialect.decimal_comma);
            }
        }
        self.n_records += 1;
    }

    /// How many of the first records belong to the header.
    fn n_more_headers(&self) -> usize {
        let number = |cell: &Cell| cell::number_with(&cell.text, self.file.dialect.decimal_comma);
        let is_number = |cell: &Cell| matches!(number(cell), Number::Value(_));
        let is_word = |cell: &Cell| {
            let is_text = number(cell) == Number::Other && !cell.has_stray_quote;
            is_text && cell.text.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
        };
        if self.file.n_header == 0 {
            return 0;
        }
        let begins_with = |n_more: usize| {
            let (above, below) = self.lead.split_at(n_more);
            let n_below = self.n_records - n_more as u64;
            if n_below < 3 || above.iter().flatten().any(is_number) {
                return false;
            }
            // Columns of numbers that the records above would make columns of text.
            let sights = self.sights_with(below, n_more as u64);
            let turns = |field: usize, sight: &Sight| {
                sight.is_numeric(3) && above.iter().all(|record| record.get(field).is_some_and(is_word))
            };
            let n_turning = sights.iter().enumerate().filter(|&(field, sight)| turns(field, sight)).count();
            n_turning >= 2 || n_turning == 1 && sights.len() == 1
        };
        (1..=self.lead.len()).find(|&n_more| begins_with(n_more)).unwrap_or(0)
    }

    /// What all records show, the first ones being `lead`, which begin at record `first`.
    fn sights_with(&self, lead: &[Vec<Cell>], first: u64) -> Vec<Sight> {
        let mut sights = self.sights.clone();
        sights.resize_with(self.n_fields.unwrap_or(0), Sight::new);
        for (record, cells) in lead.iter().enumerate() {
            for (sight, cell) in sights.iter_mut().zip(cells) {
                let decimal_comma = self.file.dialect.decimal_comma;
                sight.see(first + record as u64, &cell.text, cell.has_stray_quote, decimal_comma);
            }
        }
        sights
    }

    fn settle(self, notes: &mut Vec<Note>) -> Result<Learned, Error> {
        let file = || self.file.input.name().to_owned();
        let Some(mut header) = self.header.clone() else {
            return Err(Error::EmptyFile { file: file() });
        };
        let n_more = self.n_more_headers();
        if n_more > 0 {
            join_headers(&mut header, &self.lead[..n_more]);
            notes.push(Note::SeveralHeaders {
                file: file(),
                n_records: n_more + 1,
                name: header.iter().flatten().next().cloned().unwrap_or_default(),
            });
        }
        let is_unnamed = self.file.n_header == 0 || header.last() == Some(&None);
        let both_end = header.len() > 1 && self.last_is_empty && is_unnamed;
        if both_end {
            header.pop();
        }
        let ends_in_delimiter = both_end || self.only_rows_end;
        if ends_in_delimiter {
            notes.push(Note::TrailingDelimiter { file: file() });
        }
        let names = settle_names(header, &file(), notes);
        let n_fields = self.n_fields.unwrap_or(names.len() + usize::from(ends_in_delimiter));

        let mut sights = self.sights_with(&self.lead[n_more..], n_more as u64);
        sights.truncate(names.len());
        if self.file.n_header > 0 && is_like_a_row(&names, &sights, self.file.dialect.decimal_comma) {
            notes.push(Note::NumericHeader { file: file() });
        }
        for (name, sight) in names.iter().zip(&sights) {
            let place =
                |spot: &Spot| Ok::<_, Error>((self.at(spot.record)?, name.clone(), spot.text.clone()));
            if let Some(spot) = sight.quote_among_numbers() {
                let (at, column, text) = place(spot)?;
                return Err(Error::StrayQuote { at, column, text });
            }
            if let Some(spot) = sight.quote_in_text() {
                let (at, column, text) = place(spot)?;
                notes.push(Note::StrayQuote { at, column, text });
            } else if let Some(spot) = sight.text_among_numbers() {
                let (at, column, text) = place(spot)?;
                notes.push(Note::TextAmongNumbers { at, column, text });
            }
        }
        if let Some((field, text)) = &self.header_stray
            && let Some(column) = names.get(*field)
        {
            let (column, text) = (column.clone(), text.clone());
            notes.push(Note::StrayQuote { at: self.file.at_record(0)?, column, text });
        }
        // A few of them are remarks rather than rows; many are rows with much missing.
        if let Some(lone) = self.first_lone.as_ref().filter(|_| 10 * self.n_lone <= self.n_records) {
            notes.push(Note::LoneCell { at: self.at(lone.record)?, text: lone.text.clone() });
        }
        for (name, sight) in names.iter().zip(&sights) {
            if sight.rounded_integer().is_some() {
                notes.push(Note::LargeIntegers { file: file(), column: name.clone() });
            }
        }
        let end = match &self.footer {
            Some(footer) => Some(footer.start),
            None if self.n_records == INFER_RECORDS => footer::at_end(self.file, n_fields)?,
            None => None,
        };
        if let Some(end) = end {
            let line = self.file.line_at(end)?;
            notes.push(Note::Footer { file: file(), line });
        }
        let has_rows = self.n_records > n_more as u64;
        Ok(Learned {
            names,
            kinds: has_rows.then(|| sights.iter().map(Sight::kind).collect()),
            n_header: self.file.n_header + n_more as u64,
            n_fields,
            ends_in_delimiter,
            end,
        })
    }
}

/// Adds what further records of the header hold to the names.
fn join_headers(header: &mut Names, more: &[Vec<Cell>]) {
    for cells in more {
        for (name, cell) in header.iter_mut().zip(cells) {
            let text = String::from_utf8_lossy(cell.text.trim_ascii()).into_owned();
            match name {
                _ if text.is_empty() => {}
                None => *name = Some(text),
                Some(name) => *name = format!("{name} {text}"),
            }
        }
    }
}

fn settle_names(header: Names, file: &str, notes: &mut Vec<Note>) -> Vec<String> {
    header
        .into_iter()
        .enumerate()
        .map(|(field, name)| {
            name.unwrap_or_else(|| {
                let name = format!("column_{}", field + 1);
                notes.push(Note::UnnamedColumn { file: file.to_owned(), name: name.clone() });
                name
            })
        })
        .collect()
}

/// Whether the names look like a row: all are numbers, or all that stand above numbers
/// are, and neither count nor are years.
fn is_like_a_row(names: &[String], sights: &[Sight], decimal_comma: bool) -> bool {
    let number = |name: &String| match cell::number_with(name.as_bytes(), decimal_comma) {
        Number::Value(value) => Some(value),
        _ => None,
    };
    if names.iter().all(|name| number(name).is_some()) {
        return true;
    }
    let above_numbers = || names.iter().zip(sights).filter(|(_, sight)| sight.is_numeric(1));
    let Some(numbers) = above_numbers().map(|(name, _)| number(name)).collect::<Option<Vec<f64>>>() else {
        return false;
    };
    let is_year = |&number: &f64| number.fract() == 0.0 && (1000.0..=3000.0).contains(&number);
    let do_count = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0) && numbers.len() > 1;
    !numbers.is_empty() && !do_count && !numbers.iter().all(is_year)
}
