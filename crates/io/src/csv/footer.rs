//! Lines after a table: totals, sources, remarks.
//!
//! A line counts as one if it is a single text where the table has several cells.
//! A row that lacks a delimiter has one cell less than the others, not one cell.

use std::io::Read;

use memchr::{memchr, memchr_iter, memrchr};

use super::CsvFile;
use super::cell::{self, Number};
use super::split::Bounds;
use crate::error::Error;
use crate::input_reader::InputReader;
use crate::text::with_new_lines;

/// More lines are taken for a fault.
pub(super) const MAX_RECORDS: usize = 10;

/// The end of a long file that is searched for such lines.
const TAIL_BYTES: u64 = 16 << 10;

/// Lines after a table.
pub(super) struct Footer {
    /// Where they begin.
    pub(super) start: u64,
    pub(super) n_records: usize,
    /// Cells of the first of them.
    pub(super) n_fields: usize,
}

/// Whether a record that begins at `start` is a single text in a table of several
/// columns.
pub(super) fn is_line_of_one(text: &[u8], start: usize, cells: &[Bounds], n_fields: usize) -> bool {
    let [(from, to)] = *cells else { return false };
    let before = &text[..start];
    let is_apart = before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n");
    is_text_apart(&text[from..to], n_fields, is_apart)
}

/// In a table of two columns a row without its delimiter is one text, too. There a
/// blank line or a comment sign has to set it apart.
fn is_text_apart(line: &[u8], n_fields: usize, is_apart: bool) -> bool {
    let line = line.trim_ascii();
    let is_set_apart = n_fields > 2 || n_fields == 2 && (is_apart || line.starts_with(b"#"));
    is_set_apart && [false, true].iter().all(|&comma| cell::number_with(line, comma) == Number::Other)
}

/// Where such lines begin at the end of a file that is longer than what was read.
///
/// Compressed files and pipes are not searched, because their end is not at hand.
/// There such a line is an error that names it.
pub(super) fn at_end(file: &CsvFile, n_fields: usize) -> Result<Option<u64>, Error> {
    if file.input.path().is_none() {
        return Ok(None);
    }
    let failed = |reason| Error::read(file.input.name(), reason);
    let reader = file.input.open()?;
    let mut magic = Vec::new();
    reader.reading_from(0).take(4).read_to_end(&mut magic).map_err(failed)?;
    if magic.starts_with(&[0x1f, 0x8b]) || magic == [0x28, 0xb5, 0x2f, 0xfd] {
        return Ok(None);
    }
    let n_bytes = reader.n_bytes();
    let n_tail = n_bytes.min(TAIL_BYTES);
    let mut tail = InputReader::bytes(&reader, n_bytes - n_tail, n_tail as usize).map_err(failed)?;
    if file.body.carriage_returns {
        with_new_lines(&mut tail);
    }
    // Within quotes a line end may be part of a cell.
    if memchr(file.dialect.quote, &tail).is_some() {
        return Ok(None);
    }
    let mark = if magic.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
    let start = footer_of(&tail, file.dialect.delimiter, n_fields);
    Ok(start.map(|start| n_bytes - n_tail + start as u64 - mark - file.body.start))
}

/// Where lines of one text begin that end `tail`, below a line of `n_fields` cells.
fn footer_of(tail: &[u8], delimiter: u8, n_fields: usize) -> Option<usize> {
    let mut end = tail.len();
    let mut footer = None;
    let mut n_records = 0;
    loop {
        // The first line of the tail may be cut.
        let start = memrchr(b'\n', &tail[..end])?;
        let line = &tail[start + 1..end];
        if !line.trim_ascii().is_empty() {
            if memchr_iter(delimiter, line).count() + 1 == n_fields {
                return footer;
            }
            let is_apart = tail[..=start].ends_with(b"\n\n") || tail[..=start].ends_with(b"\n\r\n");
            n_records += 1;
            if memchr(delimiter, line).is_some()
                || n_records > MAX_RECORDS
                || !is_text_apart(line, n_fields, is_apart)
            {
                return None;
            }
            footer = Some(start + 1);
        }
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_text_below_the_table_are_found() {
        for (tail, n_fields, expected) in [
            ("cut\n1,2,3\nTotal: 7\n", 3, Some(10)),
            ("cut\n1,2,3\n\nTotal: 7\nSource: x\n\n", 3, Some(11)),
            ("cut\n1,2,3\n", 3, None),
            ("cut\n1,2,3\n4,5\n", 3, None),
            ("cut\n1,2,3\n45\n", 3, None),
            ("cut\n1,2\nxy\n", 2, None),
            ("cut\n1,2\n\nxy\n", 2, Some(9)),
            ("cut\n1,2\n# xy\n", 2, Some(8)),
            ("cut\n1\nx\n", 1, None),
            ("all text\nno table\n", 3, None),
        ] {
            assert_eq!(footer_of(tail.as_bytes(), b',', n_fields), expected, "{tail:?}");
        }
    }
}
