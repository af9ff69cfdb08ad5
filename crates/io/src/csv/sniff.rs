//! How a text is written: what separates cells, what quotes them, where they begin.

use super::cell::{self, Number};
use super::split::{Bounds, Records, is_quoted, unquoted};
use crate::read_options::ReadOptions;
use crate::text::{Dialect, Layout, RecordEnds};
use memchr::{memchr, memmem};

/// In order of preference. Tabs, semicolons and bars hardly ever occur equally
/// often in every record by accident; commas do, as decimal commas.
const USUAL: [u8; 4] = [b'\t', b';', b'|', b','];

/// Looked for in a text without any of the usual ones.
const UNUSUAL: [u8; 5] = [0x1f, b'~', b'^', b':', b' '];

/// This many bytes are looked at.
pub(super) const SNIFF_BYTES: usize = 256 << 10;

/// This many records are looked at.
const SNIFF_RECORDS: usize = 200;

/// More records before a header are taken for a table that is faulty.
const MAX_PREAMBLE: usize = 50;

/// What the beginning of a text says about the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sniffed {
    pub(super) dialect: Dialect,
    /// Bytes before the header.
    pub(super) preamble: usize,
}

impl Sniffed {
    /// Whether the delimiter is one that few programs write.
    pub(super) fn is_unusual(self) -> bool {
        UNUSUAL.contains(&self.dialect.delimiter)
    }
}

/// How a text is written of which `head` is the beginning, or the whole.
pub(super) fn sniff(head: &[u8], how: ReadOptions) -> Sniffed {
    let plain = Dialect { decimal_comma: how.decimal_comma, ..Dialect::delimited_by(b',') };
    let with_quoting = |head, quoting| with_quoting(head, quoting, how);
    let usual = with_quoting(head, plain);
    // Looked for only where no cell is quoted in the usual way.
    for (quote, escape) in [(b'\'', None), (b'\'', Some(b'\\')), (b'`', None)] {
        let occurs = |byte: u8| memchr(byte, head).is_some();
        if occurs(quote) && escape.is_none_or(occurs) && n_quoted(head, usual) == 0 {
            let other = with_quoting(head, Dialect { quote, escape, ..plain });
            if n_quoted(head, other) >= 2 && !is_faulty(head, other) {
                return other;
            }
        }
    }
    if memmem::find(head, br#"\""#).is_some() && is_faulty(head, usual) {
        let escaped = with_quoting(head, Dialect { escape: Some(b'\\'), ..plain });
        if !is_faulty(head, escaped) {
            return escaped;
        }
    }
    usual
}

/// The delimiter and the preamble, given how cells are quoted.
fn with_quoting(head: &[u8], quoting: Dialect, how: ReadOptions) -> Sniffed {
    let records = whole_records(head, count(head, quoting, USUAL));
    let sniffed = |delimiter, preamble| Sniffed { dialect: Dialect { delimiter, ..quoting }, preamble };
    // A comma between digits is no delimiter if it is the decimal one. Between quoted
    // cells it may be.
    let may_be_comma = !how.decimal_comma || memchr(quoting.quote, head).is_some();
    let usual = if may_be_comma { b',' } else { b';' };
    let Some((header, rows)) = records.split_first() else {
        return sniffed(usual, 0);
    };
    let agreement = |candidate: usize| {
        if USUAL[candidate] == b',' && !may_be_comma {
            return 0;
        }
        let wanted = header.counts[candidate];
        let n_agreeing = rows.iter().filter(|row| row.counts[candidate] == wanted).count();
        if wanted > 0 { 1 + n_agreeing } else { 0 }
    };

    for (candidate, &byte) in USUAL.iter().enumerate() {
        if agreement(candidate) == records.len() {
            return sniffed(byte, 0);
        }
    }
    // Without a header nothing tells where a table begins.
    if !how.no_header
        && let Some((delimiter, preamble)) = after_preamble(head, &records, quoting)
    {
        return sniffed(delimiter, preamble);
    }
    let has_usual = (0..USUAL.len()).any(|candidate| agreement(candidate) > 0);
    if !has_usual && let Some(delimiter) = unusual(head, quoting, how) {
        return sniffed(delimiter, 0);
    }

    // Some record is faulty, or there is one column. Guess what was meant, so
    // that a fault can be reported where it is.
    let mut best = (usual, 0);
    for (candidate, &byte) in USUAL.iter().enumerate().rev() {
        if agreement(candidate) > best.1 {
            best = (byte, agreement(candidate));
        }
    }
    sniffed(best.0, 0)
}

/// A delimiter and where the header begins, if lines that are not part of a table
/// precede one.
fn after_preamble(head: &[u8], records: &[Counted<4>], quoting: Dialect) -> Option<(u8, usize)> {
    let is_whole = head.len() < SNIFF_BYTES && records.len() < SNIFF_RECORDS;
    let found = USUAL.iter().enumerate().filter_map(|(candidate, &delimiter)| {
        let counts = || records.iter().map(|record| record.counts[candidate]);
        let wanted = counts().max().filter(|&most| most > 0)?;
        let first = counts().position(|count| count == wanted)?;
        let last = counts().rposition(|count| count == wanted)?;
        let n_alike = counts().filter(|&count| count == wanted).count();
        // Lines may also follow the table; whether they do, its reader finds out.
        let ends_well = is_whole || last + 1 == records.len();
        let is_table = n_alike == last - first + 1 && n_alike >= 3 && ends_well;
        let start = records[first].start;
        let dialect = Dialect { delimiter, ..quoting };
        (0 < first && first <= MAX_PREAMBLE && is_table && is_table_with_header(&head[start..], dialect))
            .then_some((n_alike, wanted, delimiter, start))
    });
    found.max().map(|(_, _, delimiter, start)| (delimiter, start))
}

/// A delimiter that separates as many cells in every record, if that makes a table.
fn unusual(head: &[u8], quoting: Dialect, how: ReadOptions) -> Option<u8> {
    let records = whole_records(head, count(head, quoting, UNUSUAL));
    let (header, rows) = records.split_first()?;
    let agrees = |candidate: usize| {
        let wanted = header.counts[candidate];
        wanted > 0 && rows.iter().all(|row| row.counts[candidate] == wanted)
    };
    let mut candidates = UNUSUAL.iter().enumerate();
    let (_, &delimiter) = candidates.find(|&(candidate, &delimiter)| {
        let dialect = Dialect { delimiter, ..quoting };
        let is_table = if how.no_header { is_table } else { is_table_with_header };
        agrees(candidate) && is_table(head, dialect)
    })?;
    Some(delimiter)
}

/// Whether a text begins with names, each of its own, above a column of numbers.
fn is_table_with_header(text: &[u8], dialect: Dialect) -> bool {
    let mut records = Records::new(text, dialect);
    let mut cells = Vec::new();
    if records.next(&mut cells).is_none() {
        return false;
    }
    let mut names = texts(text, &cells, dialect);
    let n_fields = names.len();
    if names.iter().any(|name| cell::number_with(name, dialect.decimal_comma) != Number::Other) {
        return false;
    }
    names.sort_unstable();
    names.dedup();
    names.len() == n_fields && is_table(&text[records.position()..], dialect)
}

/// Whether a text begins with rows of which some column is numeric.
fn is_table(text: &[u8], dialect: Dialect) -> bool {
    let mut records = Records::new(text, dialect);
    let mut cells = Vec::new();
    let mut columns: Vec<(usize, bool)> = Vec::new();
    for record in 0..SNIFF_RECORDS {
        if records.next(&mut cells).is_none() || record > 0 && cells.len() != columns.len() {
            break;
        }
        columns.resize(cells.len(), (0, true));
        for ((n_numbers, is_numeric), cell) in columns.iter_mut().zip(texts(text, &cells, dialect)) {
            match cell::number_with(&cell, dialect.decimal_comma) {
                Number::Value(_) | Number::NotFinite => *n_numbers += 1,
                Number::Missing => {}
                Number::Other => *is_numeric = false,
            }
        }
    }
    columns.iter().any(|&(n_numbers, is_numeric)| is_numeric && n_numbers >= 2)
}

fn texts(text: &[u8], cells: &[Bounds], dialect: Dialect) -> Vec<Vec<u8>> {
    let text = |&(start, end): &Bounds| unquoted(&text[start..end], dialect).0.trim_ascii().to_vec();
    cells.iter().map(text).collect()
}

/// Whether text follows a closing quote, or a quote is never closed.
fn is_faulty(head: &[u8], sniffed: Sniffed) -> bool {
    let text = &head[sniffed.preamble..];
    let mut ends = RecordEnds::new(Layout::Csv(sniffed.dialect));
    ends.scan(text);
    let is_cut = head.len() >= SNIFF_BYTES;
    if ends.open_quote().is_some() && (!is_cut || ends.last_end() == 0) {
        return true;
    }
    let whole = if is_cut { &text[..ends.last_end()] } else { text };
    let mut records = Records::new(whole, sniffed.dialect);
    let mut cells = Vec::new();
    while records.next(&mut cells).is_some() {
        if records.after_quote().is_some() {
            return true;
        }
    }
    false
}

/// How many cells are quoted.
fn n_quoted(head: &[u8], sniffed: Sniffed) -> usize {
    let text = &head[sniffed.preamble..];
    let mut records = Records::new(text, sniffed.dialect);
    let (mut cells, mut n_quoted) = (Vec::new(), 0);
    while records.next(&mut cells).is_some() {
        n_quoted +=
            cells.iter().filter(|&&(start, end)| is_quoted(&text[start..end], sniffed.dialect)).count();
    }
    n_quoted
}

/// How often each candidate occurs in a record, outside of quotes.
struct Counted<const N: usize> {
    /// Where the record begins.
    start: usize,
    counts: [usize; N],
}

/// A record cut by the end of the sample says nothing.
fn whole_records<const N: usize>(head: &[u8], mut records: Vec<Counted<N>>) -> Vec<Counted<N>> {
    if head.len() >= SNIFF_BYTES && records.len() < SNIFF_RECORDS && records.len() > 1 {
        records.pop();
    }
    records
}

/// Counts candidates in each of the first records.
///
/// The delimiter is not known yet, so a quote opens a cell after any of them.
fn count<const N: usize>(head: &[u8], quoting: Dialect, candidates: [u8; N]) -> Vec<Counted<N>> {
    let mut records = Vec::new();
    let mut counted = Counted { start: 0, counts: [0; N] };
    let mut is_blank = true;
    let mut is_quoted = false;
    let mut is_escaped = false;
    let mut closed_before = usize::MAX;
    let mut before = b'\n';
    for (i, &byte) in head.iter().enumerate() {
        if is_escaped {
            is_escaped = false;
        } else if is_quoted && Some(byte) == quoting.escape {
            is_escaped = true;
        } else if byte == quoting.quote {
            if is_quoted {
                is_quoted = false;
                closed_before = i + 1;
            } else if closed_before == i || before == b'\n' || candidates.contains(&before) {
                is_quoted = true;
            }
        } else if !is_quoted && byte == b'\n' {
            let counts = std::mem::replace(&mut counted.counts, [0; N]);
            let start = std::mem::replace(&mut counted.start, i + 1);
            if !std::mem::replace(&mut is_blank, true) {
                records.push(Counted { start, counts });
                if records.len() == SNIFF_RECORDS {
                    return records;
                }
            }
        } else if !is_quoted && let Some(candidate) = candidates.iter().position(|&other| other == byte) {
            counted.counts[candidate] += 1;
        }
        is_blank = is_blank && byte.is_ascii_whitespace() && byte != b'\t';
        // Blanks may stand before a quote.
        if byte != b' ' || candidates.contains(&byte) {
            before = byte;
        }
    }
    if !is_blank {
        records.push(counted);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(head: &[u8]) -> u8 {
        sniff(head, ReadOptions::default()).dialect.delimiter
    }

    #[test]
    fn the_delimiter_is_the_one_that_is_consistent() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("weight, kg;height, m\n1,5;2,5\n", b';'),
            ("a\n1\n2\n", b','),
            ("a,b\n\"x;y\",\"z;w\"\n", b','),
            ("a;b\n\"x,y\";\"z,w\"\n", b';'),
            ("c,\"a;b\"\n1,\"x;y\"\n", b','),
            ("c,\"a;\"\"b\"\n1,\"x;\n|y\"\n", b','),
            ("size,n\n5\" pipe,1\n6\" pipe,2\n", b','),
            ("title,tags\nx,a|b\ny,a|b|c\n", b','),
            ("name\tnote\nx\ta, b\ny\tc\n", b'\t'),
            ("a,b,c\n1,2\n3,4,5\n6,7,8\n", b','),
            ("a;b;c\n1;2\n3;4;5\n6,5;7;8\n", b';'),
            ("\n\na;b\n1;2", b';'),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()) as char, expected as char, "{text:?}");
        }
    }

    #[test]
    fn a_record_cut_by_the_end_of_the_sample_does_not_count() {
        let mut text = "a;b\n1;2\n".to_owned();
        text.push_str(&format!("{};3", "x".repeat(SNIFF_BYTES)));
        assert_eq!(delimiter(&text.as_bytes()[..SNIFF_BYTES]), b';');
    }

    #[test]
    fn lines_before_the_header_are_found_when_a_table_follows() {
        for (text, preamble) in [
            ("My data\n\na,b\n1,2\n3,4\n", 9),
            ("# made by, x\n# on Monday\na,b,c\n1,2,3\n4,5,6\n", 25),
            ("title;\nx;y;z\n1;2;3\n4;5;6\nTotal\n", 7),
            // A row name without a header is not a preamble.
            ("a,b\n1,2,3\n4,5,6\n7,8,9\n", 0),
            // A header that lacks a delimiter is not one.
            ("ab,c\n1,2,3\n4,5,6\n7,8,9\n", 0),
            // One row is too little evidence.
            ("My data\na,b\n1,2\n", 0),
            ("a,b\n1,2\n3,4\n", 0),
        ] {
            assert_eq!(sniff(text.as_bytes(), ReadOptions::default()).preamble, preamble, "{text:?}");
        }
    }

    #[test]
    fn unusual_delimiters_are_found_when_they_make_a_table() {
        for (text, expected) in [
            ("a b\n1 2\n3 4\n", b' '),
            ("a~b\nx~2\ny~4\n", b'~'),
            ("a\u{1f}b\n1\u{1f}2\n3\u{1f}4\n", 0x1f),
            ("full name\nAda Lovelace\nAlan Turing\n", b','),
            ("time\n10:00\n11:00\n", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()) as char, expected as char, "{text:?}");
        }
    }

    #[test]
    fn quotes_and_escapes_are_those_that_leave_no_fault() {
        let quoting = |text: &str| {
            let dialect = sniff(text.as_bytes(), ReadOptions::default()).dialect;
            (dialect.quote, dialect.escape)
        };
        assert_eq!(quoting("a,b\n'x, y',1\n'z',2\n"), (b'\'', None));
        assert_eq!(quoting("a,b\n`x, y`,1\n`z`,2\n"), (b'`', None));
        assert_eq!(quoting("a,b\n'tis,1\nit's,2\n"), (b'"', None));
        assert_eq!(quoting("a,b\n\"say \\\"x\\\", y\",1\n"), (b'"', Some(b'\\')));
        assert_eq!(quoting("a,b\n\"c:\\\",1\n\"d:\\\",2\n"), (b'"', None));
    }

    #[test]
    fn a_decimal_comma_separates_cells_only_if_they_are_quoted() {
        let how = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
        for (text, expected) in [
            ("a;b\n1,5;2,5\n", b';'),
            ("y\n1,5\n2,5\n", b';'),
            ("1,5\n2,5\n", b';'),
            ("a b\n1,5 2\n3,5 4\n", b' '),
            ("a,b\n\"1,5\",\"2,5\"\n", b','),
        ] {
            assert_eq!(sniff(text.as_bytes(), how).dialect.delimiter as char, expected as char, "{text:?}");
        }
    }

    #[test]
    fn a_table_without_a_header_begins_at_once() {
        let how = ReadOptions { no_header: true, ..ReadOptions::default() };
        assert_eq!(sniff(b"1 2\n3 4\n", how).dialect.delimiter, b' ');
        assert_eq!(sniff(b"x y\nz w\n", how).dialect.delimiter, b',');
        assert_eq!(sniff(b"My data\n1,2\n3,4\n5,6\n", how).preamble, 0);
    }
}
