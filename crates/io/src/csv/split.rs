//! Cutting text into records and records into cells.
//!
//! A quote opens a quoted cell only at the beginning of a cell, after blanks at
//! most. Anywhere else it is an ordinary character, so that `5" pipe` keeps its
//! meaning and does not swallow the lines up to the next quote. After the quote that
//! closes a cell only blanks may follow: `"5"6` could mean anything.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter, memchr3_iter};

use crate::text::{Dialect, Quotes, is_blank};

/// Bounds of one cell within the text, quotes included.
pub(super) type Bounds = (usize, usize);

/// Walks over the records of a text that begins with a record.
pub(super) struct Records<'a> {
    text: &'a [u8],
    dialect: Dialect,
    hits: Hits<'a>,
    /// Where the next record begins.
    next: usize,
    /// The first cell of the last record in which text follows the closing quote.
    after_quote: Option<usize>,
    /// Whether a cell of the last record that is not quoted holds a quote.
    has_stray: bool,
}

/// Positions at which something may happen. Most files of numbers hold no
/// quote at all, and looking for one byte less is measurably faster.
enum Hits<'a> {
    Plain(memchr::Memchr2<'a>),
    Quoted(memchr::Memchr3<'a>),
}

impl Iterator for Hits<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Hits::Plain(hits) => hits.next(),
            Hits::Quoted(hits) => hits.next(),
        }
    }
}

impl<'a> Records<'a> {
    pub(super) fn new(text: &'a [u8], dialect: Dialect) -> Records<'a> {
        let hits = if memchr(dialect.quote, text).is_some() {
            Hits::Quoted(memchr3_iter(dialect.delimiter, b'\n', dialect.quote, text))
        } else {
            Hits::Plain(memchr2_iter(dialect.delimiter, b'\n', text))
        };
        Records { text, dialect, hits, next: 0, after_quote: None, has_stray: false }
    }

    /// Puts the cells of the next record that is not blank into `cells` and
    /// returns where the record begins.
    #[inline]
    pub(super) fn next(&mut self, cells: &mut Vec<Bounds>) -> Option<usize> {
        loop {
            let start = self.next;
            if start >= self.text.len() {
                return None;
            }
            self.read(cells);
            if !self.is_blank(cells) {
                return Some(start);
            }
        }
    }

    /// The first cell of the last record in which text follows the closing quote.
    pub(super) fn after_quote(&self) -> Option<usize> {
        self.after_quote
    }

    /// Whether a cell of the last record that is not quoted holds a quote.
    pub(super) fn has_stray(&self) -> bool {
        self.has_stray
    }

    /// Whether the text holds any quote.
    pub(super) fn has_quotes(&self) -> bool {
        matches!(self.hits, Hits::Quoted(_))
    }

    /// Where the record after the last one returned begins.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    #[inline]
    fn read(&mut self, cells: &mut Vec<Bounds>) {
        cells.clear();
        self.after_quote = None;
        self.has_stray = false;
        let (text, dialect) = (self.text, self.dialect);
        let mut cell_start = self.next;
        let mut quotes = Quotes::new();
        let mut check_after_quote = |closed: usize, end: usize, field: usize| {
            let is_nothing = |&byte: &u8| is_blank(byte) || byte == b'\r';
            if self.after_quote.is_none() && !text[closed..end].iter().all(is_nothing) {
                self.after_quote = Some(field);
            }
        };
        for hit in &mut self.hits {
            let byte = text[hit];
            if byte == dialect.quote {
                let is_escaped = quotes.open && dialect.is_escaped(text, hit);
                // Mostly the first byte of the cell, so that is looked at first.
                let starts_cell = hit == cell_start
                    || !quotes.open && text[cell_start..hit].iter().all(|&byte| is_blank(byte));
                // Just after a closing quote, it is the second one of two.
                self.has_stray |= !quotes.open && !starts_cell && quotes.closed_before != hit;
                quotes.see(hit, starts_cell, is_escaped);
                continue;
            } else if quotes.open {
                continue;
            }
            // Only a quoted cell was closed after it began, mostly just before.
            if quotes.closed_before > cell_start && quotes.closed_before != hit {
                check_after_quote(quotes.closed_before, hit, cells.len());
            }
            if byte == dialect.delimiter {
                cells.push((cell_start, hit));
                cell_start = hit + 1;
            } else {
                cells.push((cell_start, without_return(text, cell_start, hit)));
                self.next = hit + 1;
                return;
            }
        }
        let end = text.len();
        if !quotes.open && quotes.closed_before > cell_start {
            check_after_quote(quotes.closed_before, end, cells.len());
        }
        cells.push((cell_start, without_return(text, cell_start, end)));
        self.next = end;
    }

    #[inline]
    fn is_blank(&self, cells: &[Bounds]) -> bool {
        match cells {
            [(start, end)] => self.text[*start..*end].trim_ascii().is_empty(),
            _ => false,
        }
    }
}

#[inline]
fn without_return(text: &[u8], start: usize, end: usize) -> usize {
    if end > start && text[end - 1] == b'\r' { end - 1 } else { end }
}

/// The text of a cell without its quotes, and whether it had any.
pub(super) fn unquoted(cell: &[u8], dialect: Dialect) -> (Cow<'_, [u8]>, bool) {
    let Some(inside) = after_opening_quote(cell, dialect) else {
        return (Cow::Borrowed(cell), false);
    };
    match memchr(dialect.quote, inside) {
        Some(end) if end + 1 == inside.len() && !dialect.escapes(inside) => {
            (Cow::Borrowed(&inside[..end]), true)
        }
        _ => (Cow::Owned(unescaped(inside, dialect)), true),
    }
}

/// Whether a cell begins with a quote.
pub(super) fn is_quoted(cell: &[u8], dialect: Dialect) -> bool {
    after_opening_quote(cell, dialect).is_some()
}

/// Whether a cell holds a quote but does not begin with one.
pub(super) fn has_stray_quote(cell: &[u8], dialect: Dialect) -> bool {
    memchr(dialect.quote, cell).is_some() && !is_quoted(cell, dialect)
}

#[inline]
fn after_opening_quote(cell: &[u8], dialect: Dialect) -> Option<&[u8]> {
    let (&first, inside) = cell.split_first()?;
    if first == dialect.quote {
        return Some(inside);
    }
    if !is_blank(first) {
        return None;
    }
    let n_blanks = inside.iter().take_while(|&&byte| is_blank(byte)).count();
    match inside[n_blanks..].split_first() {
        Some((&first, inside)) if first == dialect.quote => Some(inside),
        _ => None,
    }
}

/// Doubled and escaped quotes become single ones. The closing quote ends the text;
/// only blanks may follow it.
fn unescaped(inside: &[u8], dialect: Dialect) -> Vec<u8> {
    let mut text = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == dialect.quote {
            if bytes.next_if_eq(&dialect.quote).is_none() {
                break;
            }
        } else if Some(byte) == dialect.escape
            && let Some(escaped) = bytes.next_if(|&next| next == dialect.quote || next == byte)
        {
            text.push(escaped);
            continue;
        }
        text.push(byte);
    }
    text
}

impl Dialect {
    fn escapes(self, inside: &[u8]) -> bool {
        self.escape.is_some_and(|escape| memchr(escape, inside).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Dialect = Dialect::delimited_by(b',');

    fn records(text: &str, dialect: Dialect) -> Vec<Vec<String>> {
        let mut records = Records::new(text.as_bytes(), dialect);
        let (mut cells, mut all) = (Vec::new(), Vec::new());
        while records.next(&mut cells).is_some() {
            assert_eq!(records.after_quote(), None, "{text:?}");
            let decode = |&(start, end): &Bounds| {
                let (cell, _) = unquoted(&text.as_bytes()[start..end], dialect);
                String::from_utf8(cell.into_owned()).expect("is text")
            };
            all.push(cells.iter().map(decode).collect());
        }
        all
    }

    #[test]
    fn records_are_split_as_rfc_4180_has_it() {
        for (text, expected) in [
            ("a,b\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a,b\r\n1,2", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a,\n,\n", vec![vec!["a", ""], vec!["", ""]]),
            ("\n\r\n  \na\n\nb", vec![vec!["a"], vec!["b"]]),
            ("\"a,b\",c", vec![vec!["a,b", "c"]]),
            ("\"a\nb\",c\r\n", vec![vec!["a\nb", "c"]]),
            ("\"a \"\"b\"\" c\",d", vec![vec!["a \"b\" c", "d"]]),
            ("\"\"\"\",\"\"\n", vec![vec!["\"", ""]]),
            ("5\" pipe,1\n6\" pipe,2\n", vec![vec!["5\" pipe", "1"], vec!["6\" pipe", "2"]]),
            ("\"\"\n\"x\"\n", vec![vec![""], vec!["x"]]),
            ("a, \"b, c\" \n", vec![vec!["a", "b, c"]]),
            ("\"a\" ,\t\"b\"\r\n", vec![vec!["a", "b"]]),
        ] {
            assert_eq!(records(text, CSV), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_may_be_single_or_escaped_by_backslashes() {
        let single = Dialect { quote: b'\'', ..CSV };
        assert_eq!(records("'a,\"b',c\n'it''s',d", single), [["a,\"b", "c"], ["it's", "d"]]);
        let escaped = Dialect { escape: Some(b'\\'), ..CSV };
        let text = r#""a \"b\", c",1
"d\\",2
"e\n",3
"f ""g""",4"#;
        let expected = [[r#"a "b", c"#, "1"], [r"d\", "2"], [r"e\n", "3"], [r#"f "g""#, "4"]];
        assert_eq!(records(text, escaped), expected);
    }

    #[test]
    fn text_after_a_closing_quote_is_found_in_the_first_cell_that_has_it() {
        for (text, expected) in [
            ("15,\"5\"6,10\n", Some(1)),
            ("\"\"5,1\n", Some(0)),
            ("1,\"a\"b", Some(1)),
            ("\"a\" \"b\",1\r\n", Some(0)),
            ("\"a\"b\"c,d\n", Some(0)),
            ("1,\"a\" \r\n", None),
            ("5\" pipe,\"a\"\n", None),
            ("\"\"\"\",\"\"", None),
        ] {
            let mut records = Records::new(text.as_bytes(), CSV);
            records.next(&mut Vec::new());
            assert_eq!(records.after_quote(), expected, "{text:?}");
        }
        let mut records = Records::new(b"\"a\"b,1\nc,2\n", CSV);
        let mut cells = Vec::new();
        let found = [0, 1].map(|_| records.next(&mut cells).map(|_| records.after_quote()));
        assert_eq!(found, [Some(Some(0)), Some(None)]);
    }
}
