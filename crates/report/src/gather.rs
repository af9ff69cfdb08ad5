//! What is kept of the rows while they go by.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::SchemaRef;
use dshap_run::{Arrange, Collected, Error, Receiver};
use dshap_table::spelled;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::HashMap;

/// Rows shown from each end of the ranking.
pub(crate) const SHOWN_ROWS: usize = 25;

/// Rows that charts are made from. Quantiles of so many rows are exact to a tenth of a
/// per cent of the rows or so, which nobody sees in a chart.
pub(crate) const SAMPLED_ROWS: usize = 50_000;

/// Values of so many rows are kept to be compared with others.
const COMPARED_ROWS: usize = 100_000;

/// Numbers that charts are made from, if the rows have them.
const CHARTED: [&str; 5] = ["value", "dist_sq", "resid_sq", "prob", "penalty"];

/// Keeps both ends of the ranking, the rows with the largest penalties, a random
/// sample for charts, and sums by owner. Memory does not grow with the number of rows,
/// only with that of owners.
#[derive(Debug)]
pub struct Gathered {
    owner_column: Option<String>,
    pub(crate) lowest: Collected,
    pub(crate) highest: Collected,
    pub(crate) penalised: Option<Collected>,
    pub(crate) sample: Sample,
    /// The values of all rows, NaN where there is none; empty if there are too many.
    pub(crate) values: Vec<f64>,
    n_rows: u64,
    pub(crate) owners: HashMap<String, OwnerSums>,
}

/// Values of one owner's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct OwnerSums {
    pub(crate) n_rows: u64,
    pub(crate) n_below_zero: u64,
    pub(crate) sum: f64,
}

impl Gathered {
    /// Sums are kept for each text of `owner_column`, if there is one.
    pub fn new(owner_column: Option<&str>) -> Self {
        Self {
            owner_column: owner_column.map(str::to_owned),
            lowest: Collected::new(Arrange::Lowest(SHOWN_ROWS), None),
            highest: Collected::new(Arrange::Highest(Some(SHOWN_ROWS)), None),
            penalised: None,
            sample: Sample::new(),
            values: Vec::new(),
            n_rows: 0,
            owners: HashMap::new(),
        }
    }

    fn add_values(&mut self, rows: &RecordBatch) {
        let is_complete = self.values.len() as u64 == self.n_rows;
        self.n_rows += rows.num_rows() as u64;
        if !is_complete || self.n_rows as usize > COMPARED_ROWS {
            self.values = Vec::new();
            return;
        }
        let values = rows.column_by_name("value").and_then(|column| column.as_primitive_opt::<Float64Type>());
        if let Some(values) = values {
            self.values.extend(values.iter().map(|value| value.unwrap_or(f64::NAN)));
        }
    }

    fn add_owners(&mut self, rows: &RecordBatch) {
        let (Some(owners), Some(values)) = (
            self.owner_column.as_deref().and_then(|name| rows.column_by_name(name)),
            rows.column_by_name("value").and_then(|column| column.as_primitive_opt::<Float64Type>()),
        ) else {
            return;
        };
        for row in (0..rows.num_rows()).filter(|&row| owners.is_valid(row) && values.is_valid(row)) {
            // Spelled as owners are spelled in the game between them.
            let text = array_value_to_string(owners, row).unwrap_or_default();
            let name = spelled(text.trim()).into_owned();
            if name.is_empty() {
                continue;
            }
            let sums = self.owners.entry(name).or_default();
            sums.n_rows += 1;
            sums.n_below_zero += u64::from(values.value(row) < 0.0);
            sums.sum += values.value(row);
        }
    }
}

impl Receiver for Gathered {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        if schema.column_with_name("penalty").is_some() {
            self.penalised = Some(Collected::new(Arrange::Penalty(Some(SHOWN_ROWS)), None));
        }
        for collected in [Some(&mut self.lowest), Some(&mut self.highest), self.penalised.as_mut()] {
            collected.map_or(Ok(()), |collected| collected.begin(schema))?;
        }
        self.sample.begin(schema);
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        self.sample.add(&rows);
        self.add_owners(&rows);
        self.add_values(&rows);
        if let Some(penalised) = &mut self.penalised {
            penalised.rows(rows.clone())?;
        }
        self.lowest.rows(rows.clone())?;
        self.highest.rows(rows)
    }
}

/// A random sample of rows that have a value: numbers for charts.
#[derive(Debug)]
pub(crate) struct Sample {
    names: Vec<&'static str>,
    columns: Vec<Vec<f64>>,
    n_seen: u64,
    draws: ChaCha8Rng,
}

impl Sample {
    fn new() -> Self {
        // A fixed seed: the same rows give the same page.
        Self { names: Vec::new(), columns: Vec::new(), n_seen: 0, draws: ChaCha8Rng::seed_from_u64(0) }
    }

    fn begin(&mut self, schema: &SchemaRef) {
        self.names = CHARTED.into_iter().filter(|name| schema.column_with_name(name).is_some()).collect();
        self.columns = vec![Vec::new(); self.names.len()];
    }

    fn add(&mut self, rows: &RecordBatch) {
        let columns: Vec<&Float64Array> = self
            .names
            .iter()
            .filter_map(|name| rows.column_by_name(name)?.as_primitive_opt::<Float64Type>())
            .collect();
        if columns.len() < self.names.len() || columns.is_empty() {
            return;
        }
        // Values come first in `CHARTED`.
        for row in (0..rows.num_rows()).filter(|&row| columns[0].is_valid(row)) {
            self.n_seen += 1;
            let cell = |column: &Float64Array| match column.is_valid(row) {
                true => column.value(row),
                false => f64::NAN,
            };
            if self.n_seen as usize <= SAMPLED_ROWS {
                self.columns.iter_mut().zip(&columns).for_each(|(kept, column)| kept.push(cell(column)));
                continue;
            }
            // Each row seen so far stays with the same probability.
            let place = (self.draws.next_u64() % self.n_seen) as usize;
            if place < SAMPLED_ROWS {
                self.columns.iter_mut().zip(&columns).for_each(|(kept, column)| kept[place] = cell(column));
            }
        }
    }

    /// Rows that have a value.
    pub(crate) fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// Whether some rows were left out.
    pub(crate) fn is_part(&self) -> bool {
        self.n_seen as usize > SAMPLED_ROWS
    }

    /// The numbers of a column, row by row; NaN where there is none.
    pub(crate) fn column(&self, name: &str) -> Option<&[f64]> {
        let place = self.names.iter().position(|known| *known == name)?;
        Some(&self.columns[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;

    fn gathered(batches: &[std::ops::Range<i64>]) -> Gathered {
        let schema: SchemaRef = Arc::new(Schema::new(vec![
            Field::new("value", DataType::Float64, true),
            Field::new("who", DataType::Utf8, true),
        ]));
        let mut gathered = Gathered::new(Some("who"));
        gathered.begin(&schema).unwrap();
        for range in batches {
            let values = Float64Array::from_iter(range.clone().map(|i| (i % 7 != 3).then_some(i as f64)));
            let names =
                StringArray::from_iter_values(range.clone().map(|i| ["a", "b"][i.rem_euclid(2) as usize]));
            let rows = RecordBatch::try_new(schema.clone(), vec![Arc::new(values), Arc::new(names)]);
            gathered.rows(rows.unwrap()).unwrap();
        }
        gathered
    }

    #[test]
    fn rows_without_a_value_are_in_no_sample_and_no_sum() {
        let gathered = gathered(&[-10..4, 4..60]);
        assert!(gathered.sample.column("value").unwrap().iter().all(|value| value.is_finite()));
        let n: u64 = gathered.owners.values().map(|sums| sums.n_rows).sum();
        assert_eq!(n, gathered.sample.n_seen);
        let below: u64 = gathered.owners.values().map(|sums| sums.n_below_zero).sum();
        assert_eq!(below, (-10..0).filter(|i| i % 7 != 3).count() as u64);
    }

    #[test]
    fn a_sample_of_many_rows_has_their_quantiles_and_the_ends_are_exact() {
        let n = 4 * SAMPLED_ROWS as i64;
        let gathered = gathered(&[0..n / 3, n / 3..n]);
        let mut sample = gathered.sample.column("value").unwrap().to_vec();
        assert_eq!(sample.len(), SAMPLED_ROWS);
        sample.sort_by(f64::total_cmp);
        // Five standard errors of the sample's median: √(1/4/50 000) of the rows.
        let median = sample[SAMPLED_ROWS / 2] / n as f64;
        assert!((median - 0.5).abs() < 5.0 * 0.5 / (SAMPLED_ROWS as f64).sqrt(), "{median}");
        let highest = gathered.highest.arranged(Arrange::Highest(Some(SHOWN_ROWS))).unwrap();
        assert_eq!(highest.num_rows(), SHOWN_ROWS);
        let top = highest.column(0).as_primitive::<Float64Type>().value(0);
        assert_eq!(top, ((n - 8)..n).filter(|i| i % 7 != 3).max().unwrap() as f64);
    }
}
