//! Which part of a text is the table.

use std::io::{self, Read};

use super::{Layout, Text};
use crate::error::Error;
use crate::input::Input;

/// Which part of a text is the table, and how it is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) layout: Layout,
    /// Bytes of the decompressed text before the table.
    pub(crate) start: u64,
    /// Lines in these bytes.
    pub(crate) lines_before: u64,
    /// Where the table ends, if something follows it.
    pub(crate) end: Option<u64>,
    /// Whether lines end in carriage returns alone.
    pub(crate) carriage_returns: bool,
}

impl Body {
    /// The whole text.
    pub(crate) fn whole(layout: Layout) -> Body {
        Body { layout, start: 0, lines_before: 0, end: None, carriage_returns: false }
    }

    /// Begins to read the table; every line ends in `\n`.
    pub(crate) fn open(&self, input: &Input) -> Result<Text, Error> {
        let mut text = Text::open(input)?;
        if self.carriage_returns {
            text.reader = Box::new(NewLines(text.reader));
        }
        if self.start > 0 {
            io::copy(&mut (&mut text.reader).take(self.start), &mut io::sink())
                .map_err(|reason| Error::read(input.name(), reason))?;
        }
        if let Some(end) = self.end {
            text.reader = Box::new(text.reader.take(end.saturating_sub(self.start)));
        }
        Ok(text)
    }
}

/// Carriage returns become line ends.
struct NewLines<R>(R);

impl<R: Read> Read for NewLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.0.read(buffer)?;
        with_new_lines(&mut buffer[..n_read]);
        Ok(n_read)
    }
}

/// Carriage returns become line ends.
pub(crate) fn with_new_lines(text: &mut [u8]) {
    for byte in text {
        if *byte == b'\r' {
            *byte = b'\n';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_is_read_and_its_lines_end_alike() {
        let input = Input::holding("a text", "title\ra,b\r1,2\rtotal\r");
        let layout = Layout::Lines;
        let body = Body { layout, start: 6, lines_before: 1, end: Some(14), carriage_returns: true };
        let text = body.open(&input).expect("opens").head(100).expect("reads");
        assert_eq!(text, b"a,b\n1,2\n");
    }
}
