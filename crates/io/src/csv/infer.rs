//! What a column holds, judged by the first records.

use dshap_table::Kind;

use super::cell::{self, Boolean, Number};

/// This many records settle the kinds of all columns.
pub(super) const INFER_RECORDS: u64 = 10_000;

/// What a column may still hold after the cells seen so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    number: bool,
    boolean: bool,
    date: bool,
}

impl Guess {
    pub(super) fn new() -> Guess {
        Guess { number: true, boolean: true, date: true }
    }

    pub(super) fn see(&mut self, cell: &[u8], decimal_comma: bool) {
        let cell = cell.trim_ascii();
        if cell::is_missing(cell) {
            return;
        }
        // An infinite number is a number: reading it later says what is wrong,
        // where a silent change to text would not.
        self.number = self.number && cell::number_with(cell, decimal_comma) != Number::Other;
        // 0 and 1 are numbers, unless they occur among true and false.
        self.boolean = self.boolean && matches!(cell::boolean(cell), Boolean::Value(_));
        self.date = self.date && cell::is_date(cell);
    }

    /// As [`see`](Guess::see) does for a cell that was read as this number.
    #[inline]
    pub(super) fn see_number(&mut self, value: f64) {
        self.boolean = self.boolean && (value == 0.0 || value == 1.0);
        self.date = false;
    }

    /// A column whose cells are all missing counts as numeric.
    pub(super) fn kind(self) -> Kind {
        if self.number {
            Kind::Number
        } else if self.boolean {
            Kind::Boolean
        } else if self.date {
            Kind::Date
        } else {
            Kind::Text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_the_narrowest_that_fits_every_cell() {
        for (cells, expected) in [
            (&["1", "", "2.5e3"][..], Kind::Number),
            (&["0", "1", "1"], Kind::Number),
            (&["NA", "?", ""], Kind::Number),
            (&["1", "inf"], Kind::Number),
            (&["true", "False", "NA"], Kind::Boolean),
            (&["true", "0"], Kind::Boolean),
            (&["true", "2"], Kind::Text),
            (&["2024-01-31", "", "2024-02-01T10:00:00"], Kind::Date),
            (&["2024-01-31", "soon"], Kind::Text),
            (&["1", "two"], Kind::Text),
            (&["1,5", "2,5"], Kind::Text),
            (&["2024", "2025"], Kind::Number),
        ] {
            let mut guess = Guess::new();
            for cell in cells {
                guess.see(cell.as_bytes(), false);
            }
            assert_eq!(guess.kind(), expected, "{cells:?}");
        }
    }
}
