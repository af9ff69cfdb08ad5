//! Sums with their place in the table: merged in any tree, in the order of the rows.

use super::bad;
use super::pass::Plan;
use super::sums::{Sums, SumsDocument};
use dshap_io::Container;
use dshap_models::{Error, RowCounts};
use dshap_table::Design;
use serde::{Deserialize, Serialize};

const KIND: &str = "part";

/// A part is read by the release that wrote it; the plan sees to that.
const VERSION: u32 = 1;

/// The sums over some rows of a table.
pub(super) struct Part {
    /// Whether rows are numbered, so that runs are merged like the digits of a counter.
    pub(super) is_numbered: bool,
    pub(super) rows: RowCounts,
    /// In the order of the table.
    pub(super) runs: Vec<Run>,
}

/// The sums over rows without a gap between them.
pub(super) struct Run {
    /// The number of the group among those of its level, or the partition.
    pub(super) place: u64,
    /// There are `2^level` blocks in a group.
    pub(super) level: u32,
    /// Whether all rows of the group are there: only the last group may lack some.
    pub(super) is_full: bool,
    /// Nothing where no row counts.
    pub(super) sums: Option<Sums>,
}

#[derive(Serialize, Deserialize)]
struct PartDocument {
    is_numbered: bool,
    n_read: u64,
    n_usable: u64,
    n_filled: u64,
    runs: Vec<RunDocument>,
}

#[derive(Serialize, Deserialize)]
struct RunDocument {
    place: u64,
    level: u32,
    is_full: bool,
    sums: Option<SumsDocument>,
}

impl Part {
    pub(super) fn into_bytes(self) -> Result<Vec<u8>, Error> {
        let mut arrays = Vec::new();
        let runs = self.runs.into_iter().enumerate();
        let runs = runs.map(|(i, Run { place, level, is_full, sums })| RunDocument {
            place,
            level,
            is_full,
            sums: sums.map(|sums| sums.write(&i.to_string(), &mut arrays)),
        });
        let RowCounts { n_read, n_usable, n_filled } = self.rows;
        let document =
            PartDocument { is_numbered: self.is_numbered, n_read, n_usable, n_filled, runs: runs.collect() };
        let document = serde_json::to_string(&document).map_err(|error| bad(error.to_string()))?;
        let container = Container { kind: KIND.into(), version: VERSION, document, arrays };
        container.to_bytes().map_err(|error| bad(error.to_string()))
    }

    pub(super) fn from_bytes(bytes: &[u8], plan: &Plan, design: Option<&Design>) -> Result<Self, Error> {
        let mut container = Container::from_bytes(bytes, "a part", KIND, VERSION)?;
        let document: PartDocument =
            serde_json::from_str(&container.document).map_err(|error| bad(error.to_string()))?;
        let n_columns = design.map_or(0, Design::n_columns);
        let mut runs = Vec::with_capacity(document.runs.len());
        for (i, RunDocument { place, level, is_full, sums }) in document.runs.into_iter().enumerate() {
            let read = |sums| Sums::read(sums, &i.to_string(), &mut container, plan, n_columns);
            let sums = sums.map(read).transpose()?;
            runs.push(Run { place, level, is_full, sums });
        }
        let PartDocument { is_numbered, n_read, n_usable, n_filled, .. } = document;
        Ok(Self { is_numbered, rows: RowCounts { n_read, n_usable, n_filled }, runs })
    }

    /// Merges parts of one pass.
    pub(super) fn merged(parts: Vec<Part>, design: Option<&Design>) -> Result<Self, Error> {
        let is_numbered = parts.iter().any(|part| part.is_numbered);
        let (mut rows, mut runs) = (RowCounts::default(), Vec::new());
        for part in parts {
            rows.n_read += part.rows.n_read;
            rows.n_usable += part.rows.n_usable;
            rows.n_filled += part.rows.n_filled;
            runs.extend(part.runs);
        }
        // Where a group begins, in blocks, or which partition it is.
        runs.sort_by_key(|run| run.place << run.level);
        let mut whole = Self { is_numbered, rows, runs: Vec::new() };
        for run in runs {
            whole.push(run, design)?;
        }
        Ok(whole)
    }

    fn push(&mut self, mut run: Run, design: Option<&Design>) -> Result<(), Error> {
        if let Some(last) = self.runs.last() {
            let end = (last.place + 1) << last.level;
            if self.is_numbered && run.place << run.level < end {
                return Err(bad("some rows are there twice: two rows have the same number"));
            }
        }
        let are_siblings = |left: &mut Run, right: &Run| {
            left.is_full
                && right.is_full
                && left.level == right.level
                && left.place.is_multiple_of(2)
                && left.place + 1 == right.place
        };
        if !self.is_numbered {
            match self.runs.last_mut() {
                Some(last) => {
                    absorb(&mut last.sums, run.sums, design)?;
                    last.place = run.place;
                }
                None => self.runs.push(run),
            }
            return Ok(());
        }
        while let Some(mut left) = self.runs.pop_if(|left| are_siblings(left, &run)) {
            absorb(&mut left.sums, run.sums, design)?;
            run = Run { place: left.place / 2, level: left.level + 1, ..left };
        }
        self.runs.push(run);
        Ok(())
    }

    /// The sums over all rows, if there are any.
    pub(super) fn total(mut self, design: Option<&Design>) -> Result<Option<Sums>, Error> {
        if self.is_numbered {
            self.check_numbers()?;
        }
        let Some(Run { sums: mut total, .. }) = self.runs.pop() else { return Ok(None) };
        while let Some(mut before) = self.runs.pop() {
            absorb(&mut before.sums, total, design)?;
            total = before.sums;
        }
        Ok(total)
    }

    /// Refuses rows whose numbers do not run from 0 on.
    fn check_numbers(&self) -> Result<(), Error> {
        let mut end = 0;
        for (i, run) in self.runs.iter().enumerate() {
            if run.place << run.level != end || !(run.is_full || i + 1 == self.runs.len()) {
                return Err(bad("the numbers of the rows do not run from 0 on without a gap"));
            }
            end = (run.place + 1) << run.level;
        }
        Ok(())
    }
}

fn absorb(sums: &mut Option<Sums>, later: Option<Sums>, design: Option<&Design>) -> Result<(), Error> {
    match (sums.as_mut(), later) {
        (Some(sums), Some(later)) => sums.absorb(later, design),
        (None, later) => {
            *sums = later;
            Ok(())
        }
        (Some(_), None) => Ok(()),
    }
}

/// Merges parts of the pass of a plan, in the order of their rows.
///
/// # Errors
///
/// [`Error::BadPart`], and those of sums that are too large.
pub fn merge_parts(plan: &[u8], parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let plan = Plan::from_bytes(plan)?;
    let design = plan.design.clone().map(Design::from_parts).transpose();
    let design = design.map_err(|error| bad(error.to_string()))?;
    let parts = parts.iter().map(|bytes| Part::from_bytes(bytes, &plan, design.as_ref()));
    Part::merged(parts.collect::<Result<_, _>>()?, design.as_ref())?.into_bytes()
}
