//! A table of rows that a model learns from.

use crate::Error;
use crate::file::InputFile;
use crate::held_rows::HeldRows;
use crate::observer::{Observer, Stage};
use dshap::Rows;
use dshap_table::Design;
use serde::{Deserialize, Serialize};

/// Rows that can be read again and again. `dshap-run` reads files and memory;
/// models say what to do with the rows and do not know where they come from.
pub trait Reference: Sync {
    /// How columns become numbers.
    fn design(&self) -> &Design;

    /// Who watches.
    fn observer(&self) -> &dyn Observer;

    /// The files the rows come from, with digests; none for tables in memory.
    fn files(&self) -> Vec<InputFile> {
        Vec::new()
    }

    /// Length of the table in bytes, as far as it is known.
    fn n_bytes(&self) -> u64;

    /// The most rows that the table can have.
    fn most_rows(&self) -> u64;

    /// Reads all rows once, in order, a slice at a time. With each slice comes what
    /// became of the rows up to its end.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the table, and the errors of `work`.
    fn each(&self, pass: Pass, work: EachRows<'_>) -> Result<RowCounts, Error>;

    /// As [`each`](Self::each), with the rows used where they are in memory. Returns
    /// whether that could be done; if not, `work` may have seen some rows already.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`].
    fn each_in_place(
        &self,
        _stage: Stage,
        _work: &mut dyn FnMut(Rows<'_>) -> Result<(), dshap::Error>,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    /// Reads all rows into memory.
    ///
    /// # Errors
    ///
    /// [`Error::TooLittleMemory`], and whatever is wrong with the table.
    fn hold(&self, stage: Stage) -> Result<(HeldRows, RowCounts), Error>;

    /// Reads rows into memory in blocks of at least `most_bytes`, each with the share
    /// of the table it is.
    ///
    /// # Errors
    ///
    /// As [`hold`](Self::hold), and the errors of `work`.
    fn each_block(
        &self,
        most_bytes: u64,
        work: &mut (dyn FnMut(&HeldRows, Share) -> Result<(), Error> + Send),
    ) -> Result<RowCounts, Error>;
}

/// What is done with slices of rows.
pub type EachRows<'a> = &'a mut (dyn FnMut(Rows<'_>, RowCounts) -> Result<(), dshap::Error> + Send);

/// What a pass over a reference takes.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// What it is for.
    pub stage: Stage,
    /// What is summed.
    pub sums: Sums,
    /// What a later pass sums: too little memory for that is too little now.
    pub later: Sums,
    /// Bytes that are held beside.
    pub reserved: u64,
    /// Rows to skip, which a run before this one has read.
    pub skip_rows: u64,
}

impl Pass {
    /// A pass that sums one block of moments.
    pub fn new(stage: Stage) -> Self {
        Self { stage, sums: Sums::ONE, later: Sums::ONE, reserved: 0, skip_rows: 0 }
    }
}

/// What a pass sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// Sums that gather rows of their own until a block is full.
    pub n_blocks: usize,
    /// `p × p` matrices of each thread and level.
    pub n_squares: usize,
}

impl Sums {
    /// One block of moments.
    pub const ONE: Self = Self { n_blocks: 1, n_squares: 1 };

    /// Those of several fits at once.
    pub fn of_fits(n_fits: usize) -> Self {
        Self { n_blocks: n_fits, n_squares: n_fits }
    }
}

/// What became of the rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows read, those left out included.
    pub n_read: u64,
    /// Rows without a missing cell, or with filled ones, whatever their weight.
    pub n_usable: u64,
    /// Missing cells that a mean was put into.
    pub n_filled: u64,
}

impl RowCounts {
    /// Rows that are all usable.
    pub fn all(n_rows: usize) -> Self {
        Self { n_read: n_rows as u64, n_usable: n_rows as u64, n_filled: 0 }
    }

    /// Rows left out for a missing cell.
    pub fn n_left_out(&self) -> u64 {
        self.n_read - self.n_usable
    }
}

/// A part of all rows: from one share to another.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The share before it.
    pub from: f64,
    /// The share at its end.
    pub to: f64,
}

/// Why the reference is read once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraPass {
    /// Levels of text columns, and means for missing cells.
    Levels,
    /// Labels, and what [`Levels`](Self::Levels) are.
    Labels,
    /// Moments of all columns, for their principal components.
    Components,
    /// Steps of a logistic fit, a pass each.
    Steps,
    /// Moments anew: columns turned out to be nearly combinations of others.
    HardColumns,
    /// Distances of all rows, to calibrate by.
    Calibration,
    /// All rows, to draw sets from.
    Rows,
    /// Moments of the authors' variables.
    Authors,
    /// Moments of models that are refitted on each set.
    Expansion,
}
