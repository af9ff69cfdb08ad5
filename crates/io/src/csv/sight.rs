//! What the first records show of one column.

use dshap_table::Kind;

use super::cell::{self, Number, is_rounded};
use super::infer::Guess;
use crate::text::excerpt;

/// A cell worth a message.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// The record, counted from 0 below the header.
    pub(super) record: u64,
    pub(super) text: String,
}

/// One cell without its quotes.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) text: Vec<u8>,
    /// Whether it is not quoted and holds a quote all the same.
    pub(super) has_stray_quote: bool,
}

/// What the first records show of one column.
#[derive(Debug, Clone)]
pub(super) struct Sight {
    /// By all cells.
    guess: Guess,
    /// By all cells without stray quotes, once there is one.
    without_strays: Option<Guess>,
    n_numbers: u64,
    n_texts: u64,
    first_text: Option<Spot>,
    first_stray: Option<Spot>,
    first_rounded: Option<Spot>,
}

impl Sight {
    pub(super) fn new() -> Sight {
        Sight {
            guess: Guess::new(),
            without_strays: None,
            n_numbers: 0,
            n_texts: 0,
            first_text: None,
            first_stray: None,
            first_rounded: None,
        }
    }

    #[inline]
    pub(super) fn see(&mut self, record: u64, cell: &[u8], has_stray_quote: bool, decimal_comma: bool) {
        match cell::number_with(cell, decimal_comma) {
            Number::Value(value) => {
                self.n_numbers += 1;
                self.each_guess(|guess| guess.see_number(value));
                if is_rounded(cell, value) {
                    note_first(&mut self.first_rounded, record, cell);
                }
            }
            Number::NotFinite => {
                self.n_numbers += 1;
                self.each_guess(|guess| guess.see(cell, decimal_comma));
            }
            Number::Missing => self.each_guess(|guess| guess.see(cell, decimal_comma)),
            Number::Other if has_stray_quote => {
                self.without_strays.get_or_insert(self.guess);
                self.guess.see(cell, decimal_comma);
                note_first(&mut self.first_stray, record, cell);
            }
            Number::Other => {
                self.n_texts += 1;
                self.each_guess(|guess| guess.see(cell, decimal_comma));
                note_first(&mut self.first_text, record, cell);
            }
        }
    }

    #[inline]
    fn each_guess(&mut self, see: impl Fn(&mut Guess)) {
        see(&mut self.guess);
        if let Some(guess) = &mut self.without_strays {
            see(guess);
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.guess.kind()
    }

    /// Whether all cells are numbers, and there are at least `least`.
    pub(super) fn is_numeric(&self, least: u64) -> bool {
        self.guess.kind() == Kind::Number && self.n_numbers >= least
    }

    /// A quote in a column that holds numbers otherwise.
    pub(super) fn quote_among_numbers(&self) -> Option<&Spot> {
        let kind = self.without_strays?.kind();
        self.first_stray.as_ref().filter(|_| kind == Kind::Number && self.n_numbers > 0)
    }

    /// A quote in a column of text.
    pub(super) fn quote_in_text(&self) -> Option<&Spot> {
        self.first_stray.as_ref().filter(|_| self.quote_among_numbers().is_none())
    }

    /// A whole number that a double cannot hold, in a column of numbers.
    pub(super) fn rounded_integer(&self) -> Option<&Spot> {
        self.first_rounded.as_ref().filter(|_| self.kind() == Kind::Number)
    }

    /// A text in a column that seems to be meant for numbers.
    pub(super) fn text_among_numbers(&self) -> Option<&Spot> {
        /// So many numbers for each text are no accident.
        const NUMBERS_PER_TEXT: u64 = 9;
        let is_mixed = self.n_texts > 0 && self.n_numbers >= NUMBERS_PER_TEXT * self.n_texts;
        self.first_text.as_ref().filter(|_| is_mixed && self.kind() == Kind::Text)
    }
}

/// Keeps the spot nearest to the beginning.
fn note_first(first: &mut Option<Spot>, record: u64, cell: &[u8]) {
    if first.as_ref().is_none_or(|first| first.record > record) {
        *first = Some(Spot { record, text: excerpt(cell) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(cells: &[&str]) -> Sight {
        let mut sight = Sight::new();
        for (record, cell) in cells.iter().enumerate() {
            sight.see(record as u64, cell.as_bytes(), cell.contains('"'), false);
        }
        sight
    }

    #[test]
    fn quotes_are_faults_among_numbers_and_doubts_in_text() {
        let found = |cells: &[&str]| {
            let sight = sight(cells);
            let record = |spot: Option<&Spot>| spot.map(|spot| spot.record);
            (record(sight.quote_among_numbers()), record(sight.quote_in_text()))
        };
        assert_eq!(found(&["1", "5\"6", "2"]), (Some(1), None));
        assert_eq!(found(&["5\"6", "2"]), (Some(0), None));
        assert_eq!(found(&["5\" pipe", "red", "1"]), (None, Some(0)));
        assert_eq!(found(&["5\"", "6\"", ""]), (None, Some(0)));
        assert_eq!(found(&["1", "red"]), (None, None));
    }

    #[test]
    fn few_texts_among_many_numbers_are_doubted() {
        let mut cells = vec!["1"; 9];
        assert!(sight(&cells).text_among_numbers().is_none());
        cells.push("3x");
        assert_eq!(sight(&cells).text_among_numbers().map(|spot| spot.record), Some(9));
        cells.push("4x");
        assert!(sight(&cells).text_among_numbers().is_none());
    }
}
