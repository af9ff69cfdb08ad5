//! The rows of a run, held to be looked at.

use crate::problem::Problem;
use crate::query::{Query, Range, Sort};
use crate::wire::{OutputColumn, RowCell, RowsPage};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use dshap_report::Gathered;
use dshap_run::{Error, Receiver};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::sync::{Arc, Mutex, PoisonError};

/// Orders of rows that are remembered, so that the next page needs no sorting.
const REMEMBERED: usize = 6;

/// Longest text of a cell on a page, in characters.
const LONGEST_TEXT: usize = 200;

/// More rows than this cannot be numbered by 32 bits.
const MOST_ROWS: usize = u32::MAX as usize;

/// Takes the rows of a run: all of them for the table, and what a report needs.
pub(crate) struct Holding {
    gathered: Gathered,
    n_asked: usize,
    n_carried: usize,
    numbers: Vec<bool>,
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    n_rows: usize,
    n_bytes: u64,
    most_bytes: u64,
}

impl Holding {
    /// The first `n_asked` of the `n_carried` columns after the row number also go into
    /// the report; `numbers` tells which of them hold numbers.
    pub(crate) fn new(
        by: Option<&str>,
        n_asked: usize,
        n_carried: usize,
        numbers: Vec<bool>,
        most_bytes: u64,
    ) -> Self {
        Self {
            gathered: Gathered::new(by),
            n_asked,
            n_carried,
            numbers,
            schema: None,
            batches: Vec::new(),
            n_rows: 0,
            n_bytes: 0,
            most_bytes,
        }
    }

    /// The columns of the report: without those that only came along.
    fn reported(&self, n_columns: usize) -> Vec<usize> {
        (0..n_columns).filter(|&j| j <= self.n_asked || j > self.n_carried).collect()
    }

    /// Text that holds numbers becomes numbers, everything that is neither becomes text.
    fn plain(&self, j: usize, column: &ArrayRef) -> ArrayRef {
        let is_carried = (1..=self.n_carried).contains(&j);
        let holds_numbers = is_carried && self.numbers.get(j - 1).copied().unwrap_or(false);
        let wanted = match column.data_type() {
            _ if holds_numbers => DataType::Float64,
            DataType::UInt64 if j == 0 => return Arc::clone(column),
            data_type if data_type.is_numeric() => DataType::Float64,
            _ => DataType::Utf8,
        };
        if *column.data_type() == wanted {
            return Arc::clone(column);
        }
        arrow_cast::cast(column, &wanted).unwrap_or_else(|_| as_text(column))
    }

    /// All rows in one table, and what a report needs.
    pub(crate) fn finish(self) -> Result<(HeldRows, Gathered), Error> {
        let schema = self.schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        let rows = concat_batches(&schema, &self.batches).map_err(|_| Error::TooMuchText)?;
        Ok((HeldRows::new(rows, self.n_carried), self.gathered))
    }
}

/// Cells as people would write them, for types without a conversion of their own.
fn as_text(column: &ArrayRef) -> ArrayRef {
    let cell = |row| column.is_valid(row).then(|| array_value_to_string(column, row).unwrap_or_default());
    Arc::new((0..column.len()).map(cell).collect::<StringArray>())
}

impl Receiver for Holding {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        let reported = schema.project(&self.reported(schema.fields().len()));
        self.gathered.begin(&Arc::new(reported.expect("the columns are among those of the schema")))
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        let reported = rows.project(&self.reported(rows.num_columns()));
        self.gathered.rows(reported.expect("the columns are among those of the rows"))?;
        let columns: Vec<ArrayRef> =
            rows.columns().iter().enumerate().map(|(j, column)| self.plain(j, column)).collect();
        let schema = self.schema.get_or_insert_with(|| {
            let names = rows.schema();
            let fields = names.fields().iter().zip(&columns);
            let field = |(field, column): (&Arc<Field>, &ArrayRef)| {
                Field::new(field.name(), column.data_type().clone(), true)
            };
            Arc::new(Schema::new(fields.map(field).collect::<Vec<_>>()))
        });
        let plain = RecordBatch::try_new(Arc::clone(schema), columns).map_err(|_| Error::TooMuchText)?;
        self.n_rows += plain.num_rows();
        self.n_bytes += plain.get_array_memory_size() as u64;
        self.batches.push(plain);
        match self.n_bytes > self.most_bytes || self.n_rows > MOST_ROWS {
            true => Err(Error::TooMuchHeld { n_rows: self.n_rows }),
            false => Ok(()),
        }
    }
}

/// All rows of a run: the row number, carried columns, then what was computed. Cells are
/// numbers or text.
#[derive(Debug)]
pub(crate) struct HeldRows {
    rows: RecordBatch,
    n_carried: usize,
    /// Orders asked for lately, the last one at the end.
    orders: Mutex<Vec<(Query, Arc<Vec<u32>>)>>,
}

impl HeldRows {
    pub(crate) fn new(rows: RecordBatch, n_carried: usize) -> Self {
        Self { rows, n_carried, orders: Mutex::new(Vec::new()) }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.num_rows()
    }

    pub(crate) fn n_carried(&self) -> usize {
        self.n_carried
    }

    pub(crate) fn n_bytes(&self) -> u64 {
        self.rows.get_array_memory_size() as u64
    }

    /// All rows, in the order of the table.
    pub(crate) fn all(&self) -> &RecordBatch {
        &self.rows
    }

    pub(crate) fn columns(&self) -> Vec<OutputColumn> {
        let schema = self.rows.schema();
        let column = |(j, field): (usize, &Arc<Field>)| OutputColumn {
            name: field.name().clone(),
            is_number: field.data_type().is_numeric(),
            is_computed: j == 0 || j > self.n_carried,
        };
        schema.fields().iter().enumerate().map(column).collect()
    }

    /// A column of numbers.
    pub(crate) fn numbers(&self, name: &str) -> Option<&Float64Array> {
        self.rows.column_by_name(name)?.as_primitive_opt::<Float64Type>()
    }

    /// A column of text.
    pub(crate) fn texts(&self, name: &str) -> Option<&StringArray> {
        self.rows.column_by_name(name)?.as_string_opt::<i32>()
    }

    /// Any column as text, cell by cell.
    pub(crate) fn text(&self, name: &str, row: usize) -> Option<String> {
        let column = self.rows.column_by_name(name)?;
        column.is_valid(row).then(|| array_value_to_string(column, row).unwrap_or_default())
    }

    /// The rows that match, in the order asked for.
    pub(crate) fn ordered(&self, query: &Query) -> Result<Arc<Vec<u32>>, Problem> {
        let lock = || self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = lock().iter().find(|(known, _)| known == query) {
            return Ok(Arc::clone(rows));
        }
        let mut rows = self.matching(query)?;
        if let Some(sort) = &query.sort {
            self.sort(&mut rows, sort)?;
        }
        let rows = Arc::new(rows);
        let mut orders = lock();
        if orders.len() >= REMEMBERED {
            orders.remove(0);
        }
        orders.push((query.clone(), Arc::clone(&rows)));
        Ok(rows)
    }

    /// The rows within all ranges that hold the text looked for, in the order of the table.
    fn matching(&self, query: &Query) -> Result<Vec<u32>, Problem> {
        let ranges = query
            .ranges
            .iter()
            .map(|range| self.numbers(&range.column).map(|cells| (range, cells)).ok_or(&range.column))
            .collect::<Result<Vec<(&Range, &Float64Array)>, &String>>()
            .map_err(|column| Problem::bad(format!("there is no column of numbers called `{column}`")))?;
        let wanted = query.search.to_lowercase();
        let texts: Vec<&StringArray> =
            self.rows.columns().iter().filter_map(|column| column.as_string_opt::<i32>()).collect();
        let found = |row: usize| {
            let has = |cells: &&StringArray| {
                cells.is_valid(row) && cells.value(row).to_lowercase().contains(&wanted)
            };
            wanted.is_empty() || row.to_string() == wanted || texts.iter().any(has)
        };
        let is_within = |row: usize| {
            ranges.iter().all(|(range, cells)| cells.is_valid(row) && range.contains(cells.value(row)))
        };
        let n_rows = self.n_rows() as u32;
        Ok((0..n_rows)
            .into_par_iter()
            .filter(|&row| is_within(row as usize) && found(row as usize))
            .collect())
    }

    /// Sorts rows by a column. Rows without a cell come last, equal cells in the order of
    /// the table.
    fn sort(&self, rows: &mut [u32], sort: &Sort) -> Result<(), Problem> {
        if sort.column == "row" {
            if sort.falling {
                rows.reverse();
            }
            return Ok(());
        }
        if let Some(cells) = self.numbers(&sort.column) {
            let sign = if sort.falling { -1.0 } else { 1.0 };
            let key = |row: u32| match cells.is_valid(row as usize) {
                true => sign * cells.value(row as usize),
                false => f64::NAN,
            };
            rows.par_sort_by(|&one, &other| {
                let (a, b) = (key(one), key(other));
                a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(&b))
            });
            return Ok(());
        }
        let cells = self
            .texts(&sort.column)
            .ok_or_else(|| Problem::bad(format!("there is no column called `{}`", sort.column)))?;
        rows.par_sort_by(|&one, &other| {
            let (one, other) = (one as usize, other as usize);
            let is_empty = cells.is_null(one).cmp(&cells.is_null(other));
            let by_text = cells.value(one).cmp(cells.value(other));
            is_empty.then(if sort.falling { by_text.reverse() } else { by_text })
        });
        Ok(())
    }

    /// Some of the rows that match.
    pub(crate) fn page(&self, query: &Query, offset: usize, limit: usize) -> Result<RowsPage, Problem> {
        let rows = self.ordered(query)?;
        let shown = &rows[offset.min(rows.len())..offset.saturating_add(limit).min(rows.len())];
        let schema = self.rows.schema();
        let all = || schema.fields().iter().map(|field| field.name().clone()).collect();
        let names: Vec<String> = query.columns.clone().unwrap_or_else(all);
        let columns = names
            .iter()
            .map(|name| self.rows.column_by_name(name).ok_or_else(|| Problem::missing("column", name)))
            .collect::<Result<Vec<&ArrayRef>, Problem>>()?;
        let cells = shown
            .iter()
            .map(|&row| columns.iter().map(|column| cell(column, row as usize)).collect())
            .collect();
        Ok(RowsPage {
            rows: self.n_rows() as u64,
            matching: rows.len() as u64,
            offset: offset as u64,
            columns: names,
            cells,
        })
    }

    /// The rows that match, as a table.
    pub(crate) fn table(&self, query: &Query) -> Result<RecordBatch, Problem> {
        let mut rows = self.rows.clone();
        if let Some(names) = &query.columns {
            let schema = rows.schema();
            let place = |name: &String| schema.index_of(name).map_err(|_| Problem::missing("column", name));
            let places = names.iter().map(place).collect::<Result<Vec<usize>, Problem>>()?;
            rows = rows.project(&places).map_err(|_| Problem::own_fault())?;
        }
        if query.is_everything() {
            return Ok(rows);
        }
        let order = UInt32Array::from(self.ordered(query)?.as_ref().clone());
        take_record_batch(&rows, &order).map_err(|_| Problem::of(&Error::TooMuchText))
    }

    /// The cells of one row, and where its numbers stand among all rows.
    pub(crate) fn row(&self, row: usize) -> Option<Vec<RowCell>> {
        if row >= self.n_rows() {
            return None;
        }
        let cells = self.columns().into_iter().zip(self.rows.columns()).skip(1);
        Some(
            cells
                .map(|(described, column)| RowCell {
                    share_below: share_below(column, row),
                    cell: cell(column, row),
                    column: described.name,
                    is_computed: described.is_computed,
                })
                .collect(),
        )
    }
}

/// Share of the rows that have a lower number than this row.
fn share_below(column: &ArrayRef, row: usize) -> Option<f64> {
    let cells = column.as_primitive_opt::<Float64Type>()?;
    let own = cells.is_valid(row).then(|| cells.value(row))?;
    let n_lower = cells.iter().flatten().filter(|&cell| cell < own).count();
    let n_others = (cells.len() - cells.null_count()).checked_sub(1).filter(|&n| n > 0)?;
    Some(n_lower as f64 / n_others as f64)
}

/// A cell as JSON.
fn cell(column: &ArrayRef, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
        return Json::from(numbers.value(row));
    }
    match column.as_string_opt::<i32>() {
        Some(texts) => match texts.value(row) {
            text if text.chars().count() > LONGEST_TEXT => {
                Json::from(text.chars().take(LONGEST_TEXT - 1).chain(['…']).collect::<String>())
            }
            text => Json::from(text),
        },
        None => Json::from(row as u64),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use arrow_array::UInt64Array;

    /// Three rows: a name, a value, a penalty.
    pub(crate) fn held() -> HeldRows {
        let rows = RecordBatch::try_from_iter_with_nullable([
            ("row", Arc::new(UInt64Array::from(vec![0, 1, 2])) as ArrayRef, false),
            ("who", Arc::new(StringArray::from(vec![Some("Ann"), Some("bob"), None])), true),
            ("value", Arc::new(Float64Array::from(vec![Some(2.0), None, Some(-1.0)])), true),
            ("penalty", Arc::new(Float64Array::from(vec![0.5, 0.1, 0.5])), true),
        ]);
        HeldRows::new(rows.expect("the columns are as long"), 1)
    }

    fn order(text: &str) -> Result<Vec<u32>, u16> {
        let query = Query::parse(text).expect("it can be read");
        held().ordered(&query).map(|rows| rows.as_ref().clone()).map_err(|problem| problem.status)
    }

    #[test]
    fn rows_are_sorted_with_empty_cells_last_and_ties_in_order() {
        assert_eq!(order(""), Ok(vec![0, 1, 2]));
        assert_eq!(order("sort=value"), Ok(vec![2, 0, 1]));
        assert_eq!(order("sort=-value"), Ok(vec![0, 2, 1]));
        assert_eq!(order("sort=-penalty"), Ok(vec![0, 2, 1]));
        assert_eq!(order("sort=who"), Ok(vec![0, 1, 2]));
        assert_eq!(order("sort=-who"), Ok(vec![1, 0, 2]));
        assert_eq!(order("sort=-row"), Ok(vec![2, 1, 0]));
        assert_eq!(order("sort=nothing"), Err(400));
    }

    #[test]
    fn rows_are_found_by_ranges_text_and_number() {
        assert_eq!(order("range=value:0:"), Ok(vec![0]));
        assert_eq!(order("range=value::0&range=penalty:0.2:1"), Ok(vec![2]));
        assert_eq!(order("search=BO"), Ok(vec![1]));
        assert_eq!(order("search=2"), Ok(vec![2]));
        assert_eq!(order("search=zzz"), Ok(vec![]));
        assert_eq!(order("range=who:0:1"), Err(400));
    }

    #[test]
    fn a_page_and_a_row_show_cells_as_they_are() {
        let held = held();
        let query = Query::parse("sort=value&columns=who&columns=value").expect("it can be read");
        let page = held.page(&query, 1, 5).expect("columns exist");
        assert_eq!((page.rows, page.matching, page.offset), (3, 3, 1));
        assert_eq!(
            page.cells,
            [vec![Json::from("Ann"), Json::from(2.0)], vec![Json::from("bob"), Json::Null]]
        );
        assert_eq!(held.page(&query, 99, 5).expect("columns exist").cells.len(), 0);
        let row = held.row(0).expect("there is such a row");
        assert_eq!((row[1].share_below, row[2].share_below), (Some(1.0), Some(0.5)));
        assert!(held.row(3).is_none());
    }
}
