//! What passes find odd where opening a file did not look: it reads only its beginning.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::note::Note;

/// What is odd about a cell that can be read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Oddity {
    /// It is not quoted and holds a quote.
    StrayQuote,
    /// It stands between quotes that are none in this file.
    OtherQuotes,
    /// It is a whole number that a double rounds.
    Rounded,
}

/// An odd cell of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Odd {
    /// The record, counted from the beginning of the chunk.
    pub(crate) record: usize,
    /// Position among all columns of the file.
    pub(crate) field: usize,
    pub(crate) oddity: Oddity,
    /// The beginning of the cell.
    pub(crate) text: String,
}

/// The first odd cell of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The record, counted from the first one of the file.
    pub(crate) record: u64,
    pub(crate) text: String,
    /// Whether another record has such a cell, too.
    pub(crate) is_repeated: bool,
}

/// Odd cells by column, for all passes over a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Late(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What was noted when the file was opened.
    known: HashSet<(Oddity, String)>,
    found: BTreeMap<(Oddity, String), Found>,
}

impl Late {
    /// Nothing so far, besides what was noted when the file was opened.
    pub(crate) fn after(notes: &[Note]) -> Late {
        let known = notes.iter().filter_map(|note| match note {
            Note::StrayQuote { column, .. } => Some((Oddity::StrayQuote, column.clone())),
            Note::LargeIntegers { column, .. } => Some((Oddity::Rounded, column.clone())),
            _ => None,
        });
        Late(Arc::new(Mutex::new(State { known: known.collect(), found: BTreeMap::new() })))
    }

    /// Takes note of an odd cell. Cells come in order within a pass.
    pub(crate) fn add(&self, oddity: Oddity, column: &str, record: u64, text: &str) {
        let mut state = self.lock();
        let key = (oddity, column.to_owned());
        if state.known.contains(&key) {
            return;
        }
        let found = state.found.entry(key);
        let found = found.or_insert_with(|| Found { record, text: text.to_owned(), is_repeated: false });
        found.is_repeated |= found.record != record;
        if record < found.record {
            // An earlier pass began further on.
            (found.record, found.text) = (record, text.to_owned());
        }
    }

    /// Whether a column was found odd in this way, or noted when the file was opened.
    pub(crate) fn has(&self, oddity: Oddity, column: &str) -> bool {
        let state = self.lock();
        let key = (oddity, column.to_owned());
        state.known.contains(&key) || state.found.contains_key(&key)
    }

    /// What was found, by oddity and column.
    pub(crate) fn found(&self) -> Vec<(Oddity, String, Found)> {
        let state = self.lock();
        state.found.iter().map(|((oddity, column), found)| (*oddity, column.clone(), found.clone())).collect()
    }

    /// Columns with rounded numbers, as notes about the file.
    pub(crate) fn rounded(&self, file: &str) -> Vec<Note> {
        let columns = self.found().into_iter().filter(|(oddity, ..)| *oddity == Oddity::Rounded);
        columns.map(|(_, column, _)| Note::LargeIntegers { file: file.to_owned(), column }).collect()
    }

    /// A thread that panicked left the state as it was between two cells.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Odd cells of one chunk: the first two of each column and oddity.
#[derive(Debug, Default)]
pub(crate) struct OddCells {
    all: Vec<Odd>,
    /// How many of each oddity there are, by the position of the column among those read.
    counts: Vec<[u8; 3]>,
}

impl OddCells {
    /// Enough to tell whether a cell is alone.
    const MOST: u8 = 2;

    /// Whether another cell of the column would be kept.
    pub(crate) fn has_room(&self, position: usize, oddity: Oddity) -> bool {
        self.counts.get(position).is_none_or(|counts| counts[oddity as usize] < Self::MOST)
    }

    /// Adds a cell, if there is room.
    pub(crate) fn add(&mut self, position: usize, odd: Odd) {
        if !self.has_room(position, odd.oddity) {
            return;
        }
        if self.counts.len() <= position {
            self.counts.resize(position + 1, [0; 3]);
        }
        self.counts[position][odd.oddity as usize] += 1;
        self.all.push(odd);
    }

    /// In the order of records.
    pub(crate) fn finish(self) -> Vec<Odd> {
        self.all
    }
}
