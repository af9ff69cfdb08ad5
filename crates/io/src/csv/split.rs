//! Cutting text into records and records into cells.
//!
//! A quote opens a quoted cell only as the first byte of a cell. Anywhere else
//! it is an ordinary character, so that `5" pipe` keeps its meaning and does
//! not swallow the lines up to the next quote. Python's `csv`, pandas and
//! Arrow read files in the same way.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter, memchr3_iter};

use crate::text::{QUOTE, Quotes};

/// Bounds of one cell within the text, quotes included.
pub(super) type Bounds = (usize, usize);

/// Walks over the records of a text that begins with a record.
pub(super) struct Records<'a> {
    text: &'a [u8],
    delimiter: u8,
    hits: Hits<'a>,
    /// Where the next record begins.
    next: usize,
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
    pub(super) fn new(text: &'a [u8], delimiter: u8) -> Records<'a> {
        let hits = if memchr(QUOTE, text).is_some() {
            Hits::Quoted(memchr3_iter(delimiter, b'\n', QUOTE, text))
        } else {
            Hits::Plain(memchr2_iter(delimiter, b'\n', text))
        };
        Records { text, delimiter, hits, next: 0 }
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

    /// Where the record after the last one returned begins.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    #[inline]
    fn read(&mut self, cells: &mut Vec<Bounds>) {
        cells.clear();
        let mut cell_start = self.next;
        let mut quotes = Quotes::new();
        for hit in &mut self.hits {
            let byte = self.text[hit];
            if byte == QUOTE {
                quotes.see(hit, hit == cell_start);
            } else if quotes.open {
                continue;
            } else if byte == self.delimiter {
                cells.push((cell_start, hit));
                cell_start = hit + 1;
            } else {
                cells.push((cell_start, self.without_return(cell_start, hit)));
                self.next = hit + 1;
                return;
            }
        }
        let end = self.text.len();
        cells.push((cell_start, self.without_return(cell_start, end)));
        self.next = end;
    }

    #[inline]
    fn without_return(&self, start: usize, end: usize) -> usize {
        if end > start && self.text[end - 1] == b'\r' { end - 1 } else { end }
    }

    #[inline]
    fn is_blank(&self, cells: &[Bounds]) -> bool {
        match cells {
            [(start, end)] => self.text[*start..*end].trim_ascii().is_empty(),
            _ => false,
        }
    }
}

/// The text of a cell without its quotes, and whether it had any.
pub(super) fn unquoted(cell: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let Some((&QUOTE, inside)) = cell.split_first() else {
        return (Cow::Borrowed(cell), false);
    };
    match memchr(QUOTE, inside) {
        Some(end) if end + 1 == inside.len() => (Cow::Borrowed(&inside[..end]), true),
        _ => (Cow::Owned(unescaped(inside)), true),
    }
}

/// Doubled quotes become single ones. What follows the closing quote, as in `"a"b`,
/// is kept as it is.
fn unescaped(mut inside: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(inside.len());
    while let Some(quote) = memchr(QUOTE, inside) {
        text.extend_from_slice(&inside[..quote]);
        inside = &inside[quote + 1..];
        match inside.split_first() {
            Some((&QUOTE, rest)) => {
                text.push(QUOTE);
                inside = rest;
            }
            _ => break,
        }
    }
    text.extend_from_slice(inside);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Vec<String>> {
        let mut records = Records::new(text.as_bytes(), b',');
        let (mut cells, mut all) = (Vec::new(), Vec::new());
        while records.next(&mut cells).is_some() {
            let decode = |&(start, end): &Bounds| {
                let (cell, _) = unquoted(&text.as_bytes()[start..end]);
                String::from_utf8(cell.into_owned()).expect("is text")
            };
            all.push(cells.iter().map(decode).collect());
        }
        all
    }

    #[test]
    fn records_are_split_as_python_splits_them() {
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
            ("\"a\"b,c", vec![vec!["ab", "c"]]),
            ("\"a\"b\"c,d", vec![vec!["ab\"c", "d"]]),
            ("\"\"\n\"x\"\n", vec![vec![""], vec!["x"]]),
            ("a, \"b\"\n", vec![vec!["a", " \"b\""]]),
        ] {
            assert_eq!(records(text), expected, "{text:?}");
        }
    }
}
