//! A whole table in memory: rows as numbers, and what is carried beside them.

use crate::design::{LearnedDesign, Learning};
use crate::memory::Budget;
use crate::points::Points;
use crate::settings;
use crate::table::Table;
use arrow_array::ArrayRef;
use arrow_schema::Field;
use dshap_catalogue::{Given, Task};
use dshap_io::Source;
use dshap_models::{Error, HeldRows, Method, Observer, Reference, Stage};
use dshap_table::Design;
use faer::Mat;

/// All rows of a table.
pub struct HeldTable {
    /// How columns became numbers.
    pub design: Design,
    /// What is predicted.
    pub task: Task,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// The rows without a missing cell.
    pub rows: HeldRows,
    /// Rows read.
    pub n_rows: u64,
    /// Columns carried through.
    pub carried: Vec<Field>,
    /// The batches without their numbers.
    pub places: Vec<HeldPlace>,
}

/// A batch without its numbers.
pub struct HeldPlace {
    /// The first row of the table that it has.
    pub first_row: u64,
    /// Its rows.
    pub n_rows: usize,
    /// Columns carried through.
    pub carried: Vec<ArrayRef>,
    /// Rows that have numbers, where some do not.
    pub remaining: Option<Vec<usize>>,
    /// How many rows have numbers.
    pub n_usable: usize,
}

impl HeldTable {
    /// Reads a table, whose columns become numbers as `method` needs them.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn read(
        source: &Source,
        method: &'static Method,
        given: &Given,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let budget = Budget::new(memory);
        // Options of single methods are checked for each method apart.
        let own = given.only(|option| !option.is_of_methods() || method.entry.takes(option, None).is_some());
        let learned = Learning { source, given: &own, method, budget, observer }.design()?;
        let LearnedDesign { design, task, task_guessed, .. } = learned;
        let points = Points::new(source, &design, &settings::selection(given), false)?;
        let carried = points.carried_fields()?;
        let (mut places, mut batches) = (Vec::new(), Vec::new());
        let n_rows = points.each(points.scan_options(budget)?, observer, |waiting| {
            let place = waiting.place;
            places.push(HeldPlace {
                first_row: place.first_row,
                n_rows: place.n_rows,
                carried: place.carried,
                remaining: place.remaining,
                n_usable: waiting.encoded.y.len(),
            });
            batches.push(waiting.encoded);
            Ok(Mat::new())
        })?;
        let rows = HeldRows::join(batches, &design)?;
        if rows.n_rows() == 0 {
            return Err(Error::NothingLeft);
        }
        Ok(Self { design, task, task_guessed, rows, n_rows, carried, places })
    }

    /// Reads test rows with the design of this table.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn read_tests(
        &self,
        source: &Source,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<HeldRows, Error> {
        let table = Table {
            source,
            design: &self.design,
            is_reference: false,
            budget: Budget::new(memory),
            observer,
        };
        table.hold(Stage::Read).map(|(rows, _)| rows)
    }

    /// The numbers of those rows of the table that are among `rows`.
    pub fn usable_rows(&self) -> Vec<usize> {
        let of_place = |place: &HeldPlace| {
            let first = place.first_row as usize;
            let rows = place.remaining.clone().unwrap_or_else(|| (0..place.n_rows).collect());
            rows.into_iter().map(move |row| first + row)
        };
        self.places.iter().flat_map(of_place).collect()
    }
}
