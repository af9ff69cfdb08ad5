//! Values of single rows, summed by owner.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::SchemaRef;
use dshap_models::Error;
use dshap_run::Receiver;
use dshap_table::spelled;
use std::collections::HashMap;

/// The values of an owner's rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowSums {
    pub(crate) n_rows: u64,
    pub(crate) sum: f64,
    pub(crate) n_below: u64,
}

/// Takes row values and adds them up by owner, in the order of the table.
#[derive(Debug, Default)]
pub(crate) struct ByOwner {
    sums: HashMap<String, RowSums>,
}

impl ByOwner {
    /// The sums of an owner.
    pub(crate) fn of(&self, owner: &str) -> RowSums {
        self.sums.get(owner).copied().unwrap_or_default()
    }
}

impl Receiver for ByOwner {
    fn begin(&mut self, _: &SchemaRef) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        // After the number of the row, the only column that is carried through names its owner.
        let (owners, values) = (rows.column(1), rows.column_by_name("value"));
        let Some(values) = values.and_then(|values| values.as_primitive_opt::<Float64Type>()) else {
            return Ok(());
        };
        for row in 0..rows.num_rows() {
            if !owners.is_valid(row) || !values.is_valid(row) {
                continue;
            }
            let value = values.value(row);
            let add = |sums: &mut RowSums| {
                sums.n_rows += 1;
                sums.sum += value;
                sums.n_below += u64::from(value < 0.0);
            };
            let text;
            let name = match owners.as_string_opt::<i32>() {
                Some(names) => names.value(row),
                None => {
                    text = array_value_to_string(owners, row).unwrap_or_default();
                    &text
                }
            };
            match self.sums.get_mut(&*spelled(name)) {
                Some(sums) => add(sums),
                None => add(self.sums.entry(spelled(name).into_owned()).or_default()),
            }
        }
        Ok(())
    }
}
