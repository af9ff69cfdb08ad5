//! Values of single rows, summed by owner.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_schema::SchemaRef;
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

/// Takes row values and adds them up by owner, in the order of the table.
#[derive(Debug, Default)]
pub(crate) struct ByOwner {
    /// Columns with the values for several `m`, if there are any.
    columns: Vec<String>,
    sums: HashMap<String, RowSums>,
}

impl ByOwner {
    /// Takes values for several `m`, or for none in particular.
    pub(crate) fn for_sizes(sizes: &[u64]) -> Self {
        Self { columns: sizes.iter().map(|m| format!("value_m{m}")).collect(), sums: HashMap::new() }
    }

    /// The sums of an owner.
    pub(crate) fn of(&self, owner: &str) -> RowSums {
        self.sums.get(owner).cloned().unwrap_or_default()
    }
}

impl Receiver for ByOwner {
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
            if !owners.is_valid(row) || !values.is_valid(row) {
                continue;
            }
            let value = values.value(row);
            let add = |sums: &mut RowSums| {
                sums.n_rows += 1;
                sums.sum += value;
                sums.n_below += u64::from(value < 0.0);
                sums.at_sizes.resize(more.len(), 0.0);
                for (sum, cells) in sums.at_sizes.iter_mut().zip(&more) {
                    *sum += if cells.is_valid(row) { cells.value(row) } else { f64::NAN };
                }
            };
            let name = owners.value(row);
            match self.sums.get_mut(name) {
                Some(sums) => add(sums),
                None => add(self.sums.entry(name.into()).or_default()),
            }
        }
        Ok(())
    }
}
