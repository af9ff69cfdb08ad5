//! Where the records of a text begin and end.

use memchr::{memchr, memchr_iter, memchr2_iter, memrchr};
use rayon::iter::Either;

/// What makes a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A line, unless its end is within a quoted cell.
    Csv(Dialect),
    /// A line.
    Lines,
}

/// What separates cells and quotes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
    /// What makes a quote part of the text, besides doubling it.
    pub(crate) escape: Option<u8>,
    /// Whether numbers have a decimal comma.
    pub(crate) decimal_comma: bool,
}

impl Dialect {
    /// Cells as RFC 4180 has them, but for the delimiter.
    pub(crate) const fn delimited_by(delimiter: u8) -> Dialect {
        Dialect { delimiter, quote: b'"', escape: None, decimal_comma: false }
    }

    /// Whether only blanks lie between `position` and the beginning of its cell.
    #[inline]
    fn starts_cell(self, text: &[u8], position: usize) -> bool {
        for &byte in text[..position].iter().rev() {
            if byte == self.delimiter || byte == b'\n' {
                return true;
            }
            if !is_blank(byte) {
                return false;
            }
        }
        true
    }

    /// Whether the quote at `position` is escaped: an odd number of escapes precede it.
    #[inline]
    pub(crate) fn is_escaped(self, text: &[u8], position: usize) -> bool {
        let Some(escape) = self.escape else { return false };
        text[..position].iter().rev().take_while(|&&byte| byte == escape).count() % 2 == 1
    }
}

/// What may stand between a delimiter and a quote.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl Layout {
    /// Where the record numbered `n` begins in a text that begins with record 0, or
    /// how many records there are if there are fewer. Blank lines do not count.
    pub(crate) fn nth_record(self, text: &[u8], n: u64) -> Result<usize, u64> {
        let mut n_records = 0;
        let mut start = 0;
        for end in self.line_ends(text).chain([text.len()]) {
            if start < end && !self.is_blank(&text[start..end]) {
                if n_records == n {
                    return Ok(start);
                }
                n_records += 1;
            }
            start = end + 1;
        }
        Err(n_records)
    }

    /// Line ends that also end a record.
    fn line_ends(self, text: &[u8]) -> impl Iterator<Item = usize> {
        match self {
            Layout::Csv(dialect) if memchr(dialect.quote, text).is_some() => {
                let mut quotes = Quotes::new();
                Either::Left(memchr2_iter(dialect.quote, b'\n', text).filter(move |&hit| {
                    if text[hit] == dialect.quote {
                        quotes.see_in(text, hit, dialect);
                        return false;
                    }
                    !quotes.open
                }))
            }
            _ => Either::Right(memchr_iter(b'\n', text)),
        }
    }

    fn is_blank(self, record: &[u8]) -> bool {
        record.trim_ascii().is_empty()
            && match self {
                // A tab is a blank and may be a delimiter between empty cells.
                Layout::Csv(dialect) => memchr(dialect.delimiter, record).is_none(),
                Layout::Lines => true,
            }
    }
}

/// Finds the end of the last whole record in a text that grows at its end.
#[derive(Debug)]
pub(crate) struct RecordEnds {
    layout: Layout,
    quotes: Quotes,
    scanned: usize,
    last_end: usize,
}

impl RecordEnds {
    pub(crate) fn new(layout: Layout) -> RecordEnds {
        RecordEnds { layout, quotes: Quotes::new(), scanned: 0, last_end: 0 }
    }

    /// Looks at what was added to `text` since the last call. `text` begins
    /// with a record.
    pub(crate) fn scan(&mut self, text: &[u8]) {
        let added = &text[self.scanned..];
        let quoted = match self.layout {
            Layout::Csv(dialect) if self.quotes.open || memchr(dialect.quote, added).is_some() => {
                Some(dialect)
            }
            _ => None,
        };
        if let Some(dialect) = quoted {
            for offset in memchr2_iter(dialect.quote, b'\n', added) {
                let hit = self.scanned + offset;
                if text[hit] == dialect.quote {
                    self.quotes.see_in(text, hit, dialect);
                } else if !self.quotes.open {
                    self.last_end = hit + 1;
                }
            }
        } else if let Some(offset) = memrchr(b'\n', added) {
            self.last_end = self.scanned + offset + 1;
        }
        self.scanned = text.len();
    }

    /// Where the last whole record ends, 0 if there is none.
    pub(crate) fn last_end(&self) -> usize {
        self.last_end
    }

    /// Where the quoted cell begins that is still open at the end of the text.
    pub(crate) fn open_quote(&self) -> Option<usize> {
        self.quotes.open.then_some(self.quotes.opened_at)
    }
}

/// Whether the next byte is within a quoted cell.
#[derive(Debug)]
pub(crate) struct Quotes {
    pub(crate) open: bool,
    opened_at: usize,
    /// Position after the last quote that closed a cell, 0 if there is none.
    pub(crate) closed_before: usize,
}

impl Quotes {
    pub(crate) fn new() -> Quotes {
        Quotes { open: false, opened_at: 0, closed_before: 0 }
    }

    /// A quote at `position` of a text that begins with a record.
    #[inline]
    fn see_in(&mut self, text: &[u8], position: usize, dialect: Dialect) {
        if self.open {
            self.see(position, false, dialect.is_escaped(text, position));
        } else if self.is_doubled(position) {
            self.see(position, false, false);
        } else {
            self.see(position, dialect.starts_cell(text, position), false);
        }
    }

    fn is_doubled(&self, position: usize) -> bool {
        self.closed_before == position && position > 0
    }

    /// A quote that is escaped, which matters within a quoted cell, or begins a cell,
    /// which matters elsewhere.
    #[inline]
    pub(crate) fn see(&mut self, position: usize, starts_cell: bool, is_escaped: bool) {
        if self.open {
            if is_escaped {
                return;
            }
            self.open = false;
            self.closed_before = position + 1;
        } else if self.is_doubled(position) {
            // The second of a doubled quote: the cell was not closed after all.
            self.open = true;
        } else if starts_cell {
            self.open = true;
            self.opened_at = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_ends_do_not_depend_on_how_the_text_arrives() {
        let text = b"a,\"x\ny\"\n\"\"\"\n\",5\"\n1,\"\n";
        for cut in 0..=text.len() {
            let mut ends = RecordEnds::new(Layout::Csv(Dialect::delimited_by(b',')));
            ends.scan(&text[..cut]);
            ends.scan(text);
            assert_eq!(ends.last_end(), 17, "cut at {cut}");
            assert_eq!(ends.open_quote(), Some(19), "cut at {cut}");
        }
    }

    #[test]
    fn records_are_counted_without_blank_lines_and_quoted_line_ends() {
        let csv = Layout::Csv(Dialect::delimited_by(b','));
        for (layout, text, starts) in [
            (csv, &b"a,b\n\n  \r\n\"x\n\ny\",2\n3,4"[..], &[0, 9, 18][..]),
            (csv, b"\n5\" pipe\n\"\"\n", &[1, 9]),
            (Layout::Csv(Dialect::delimited_by(b'\t')), b"\t\n\n\t", &[0, 3]),
            (Layout::Lines, b"{\"a\":1}\n\t\n{\"\n", &[0, 10]),
            (Layout::Lines, b"", &[]),
        ] {
            let n_records = starts.len() as u64;
            let found: Vec<_> = (0..n_records).map(|n| layout.nth_record(text, n)).collect();
            let expected: Vec<_> = starts.iter().map(|&start| Ok(start)).collect();
            assert_eq!(found, expected);
            assert_eq!(layout.nth_record(text, n_records), Err(n_records));
            assert_eq!(layout.nth_record(text, u64::MAX), Err(n_records));
        }
    }
}
