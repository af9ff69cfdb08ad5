//! Values of single rows, summed by owner.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_schema::SchemaRef;
use dshap::owners::Repeats;
use dshap_models::Error;
use dshap_run::Receiver;
use std::collections::HashMap;

/// The values of an owner's rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSums {
    pub(crate) n_rows: u64,
    pub(crate) sum: f64,
    pub(crate) n_below: u64,
    /// Sums for each of several `m`.
    pub(crate) at_sizes: Vec<f64>,
}

/// The values of all rows, by owner.
pub(crate) type SumsByOwner = HashMap<String, RowSums>;

/// Rows that count once: their owners share what they are worth.
#[derive(Debug)]
pub(crate) struct Sharing<'a> {
    once: &'a Repeats,
    names: &'a [String],
    /// How many rows were left out so far.
    n_later: usize,
    /// The number of the next row in its table.
    next: u64,
}

impl<'a> Sharing<'a> {
    pub(crate) fn new(once: &'a Repeats, names: &'a [String]) -> Self {
        Self { once, names, n_later: 0, next: 0 }
    }

    /// The owners of the next row that was not left out, if it occurs more than once.
    fn next_holders(&mut self) -> Option<&'a [usize]> {
        while self.once.later().get(self.n_later) == Some(&self.next) {
            (self.n_later, self.next) = (self.n_later + 1, self.next + 1);
        }
        let row = self.next;
        self.next += 1;
        self.once.holders_of(row).map(|kind| self.once.holders()[kind].as_slice())
    }
}

/// Takes row values and adds them up by owner, in the order of the table.
#[derive(Debug, Default)]
pub(crate) struct ByOwner<'a> {
    /// Columns with the values for several `m`, if there are any.
    columns: Vec<String>,
    sharing: Option<Sharing<'a>>,
    sums: SumsByOwner,
}

/// The value of a row, and of that row for several `m`.
struct Worth {
    value: f64,
    at_sizes: Vec<f64>,
}

impl<'a> ByOwner<'a> {
    /// Takes values for several `m`, or for none in particular. Rows that occur more than
    /// once come once if they are shared.
    pub(crate) fn new(sizes: &[u64], sharing: Option<Sharing<'a>>) -> Self {
        let columns = sizes.iter().map(|m| format!("value_m{m}")).collect();
        Self { columns, sharing, sums: HashMap::new() }
    }

    /// The sums of all owners.
    pub(crate) fn found(self) -> SumsByOwner {
        self.sums
    }

    /// Adds a share of the value of a row to the sums of an owner.
    fn add(&mut self, name: &str, share: f64, worth: &Worth) {
        let add = |sums: &mut RowSums| {
            sums.n_rows += 1;
            sums.sum += share * worth.value;
            sums.n_below += u64::from(worth.value < 0.0);
            sums.at_sizes.resize(worth.at_sizes.len(), 0.0);
            sums.at_sizes.iter_mut().zip(&worth.at_sizes).for_each(|(sum, value)| *sum += share * value);
        };
        match self.sums.get_mut(name) {
            Some(sums) => add(sums),
            None => add(self.sums.entry(name.into()).or_default()),
        }
    }
}

impl Receiver for ByOwner<'_> {
    fn begin(&mut self, _: &SchemaRef) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        // After the number of the row, the only column that is carried through names its owner,
        // spelled as in the game.
        let owners = rows.column(1).as_string::<i32>();
        let values = rows.column_by_name("value");
        let Some(values) = values.and_then(|values| values.as_primitive_opt::<Float64Type>()) else {
            return Ok(());
        };
        let named = |name: &String| {
            rows.column_by_name(name).and_then(|cells| cells.as_primitive_opt::<Float64Type>())
        };
        let more: Vec<&Float64Array> = self.columns.iter().filter_map(named).collect();
        for row in 0..rows.num_rows() {
            let holders = self.sharing.as_mut().and_then(Sharing::next_holders);
            if !owners.is_valid(row) || !values.is_valid(row) {
                continue;
            }
            let cell = |cells: &&Float64Array| if cells.is_valid(row) { cells.value(row) } else { f64::NAN };
            let worth = Worth { value: values.value(row), at_sizes: more.iter().map(cell).collect() };
            let names = self.sharing.as_ref().map(|sharing| sharing.names).unwrap_or_default();
            match holders {
                None => self.add(owners.value(row), 1.0, &worth),
                Some(holders) => {
                    let share = 1.0 / holders.len() as f64;
                    holders.iter().for_each(|&holder| self.add(&names[holder], share, &worth));
                }
            }
        }
        Ok(())
    }
}
