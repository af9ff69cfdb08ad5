//! From a row to the line on which an editor shows it.
//!
//! Lines are not counted while reading. Only an error needs one, and then the
//! file is read once more up to that place.

use std::io::Read;

use memchr::memchr_iter;

use super::{Body, CHUNK_BYTES, ChunkReader};
use crate::error::Error;
use crate::input::Input;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The line on which it begins.
    Line(u64),
    /// Nowhere: the file has fewer records.
    Beyond { n_records: u64, last_line: u64 },
}

/// Looks for a record; the header of a CSV file is record 0.
pub(crate) fn find(input: &Input, body: &Body, record: u64) -> Result<Found, Error> {
    let mut n_records = 0;
    let mut lines_before = body.lines_before;
    let mut chunks = ChunkReader::new(body.open(input)?, body.layout, CHUNK_BYTES);
    // A file that is faulty further on still has the lines before the fault.
    while let Ok(Some(chunk)) = chunks.next() {
        match body.layout.nth_record(&chunk.text, record - n_records) {
            Ok(start) => return Ok(Found::Line(lines_before + newlines(&chunk.text[..start]) + 1)),
            Err(n_more) => n_records += n_more,
        }
        lines_before += newlines(&chunk.text);
    }
    Ok(Found::Beyond { n_records, last_line: lines_before + 1 })
}

/// The line that holds the byte at `offset` of the table.
pub(crate) fn line_of_offset(input: &Input, body: &Body, offset: u64) -> Result<u64, Error> {
    let mut text = body.open(input)?.into_reader().take(offset);
    let mut buffer = vec![0; 64 << 10];
    let mut line = body.lines_before + 1;
    loop {
        let n_read = text.read(&mut buffer).map_err(|reason| Error::read(input.name(), reason))?;
        if n_read == 0 {
            return Ok(line);
        }
        line += newlines(&buffer[..n_read]);
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Dialect, Layout};

    #[test]
    fn lines_count_quoted_newlines_and_blank_lines() {
        let text = "\na,b\n1,\"x\ny\"\n\n\r\n2,z\n3,w";
        let input = Input::holding("a text", text);
        let csv = &Body::whole(Layout::Csv(Dialect::delimited_by(b',')));
        let lines = [0, 1, 2, 3].map(|record| find(&input, csv, record).expect("is read"));
        assert_eq!(lines, [2, 3, 7, 8].map(Found::Line));
        let beyond = Found::Beyond { n_records: 4, last_line: 8 };
        assert_eq!(find(&input, csv, 9).expect("is read"), beyond);
        let at = |offset| line_of_offset(&input, csv, offset).expect("is read");
        assert_eq!([at(0), at(1), at(5), at(10)], [1, 2, 3, 4]);
    }
}
