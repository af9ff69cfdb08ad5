//! `compare`: values by several methods side by side.

use super::bench::{Bench, BenchRequest};
use crate::Error;
use crate::observer::Observer;
use crate::output::{NOTE, free_name, notes};
use crate::receiver::Receiver;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dshap::Note;
use dshap_evaluate::{kendall, overlap, spearman};
use serde::Serialize;
use std::sync::Arc;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of dshap.
    pub version: &'static str,
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// Rows valued by every method.
    pub n_valued: usize,
    /// Rows that utility is measured on.
    pub n_test: usize,
    /// Where those come from: `test` or `points`; `none` where no method measures.
    pub test_from: &'static str,
    /// Rows that count as the best.
    pub top: usize,
    /// The methods.
    pub methods: Vec<Compared>,
    /// How much each two of them agree.
    pub pairs: Vec<Pair>,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// A method of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub method: &'static str,
    /// How long it took.
    pub seconds: f64,
}

/// How much two methods agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// One.
    pub one: &'static str,
    /// Another.
    pub other: &'static str,
    /// Spearman's correlation, unless one side is all the same.
    pub spearman: Option<f64>,
    /// Kendall's.
    pub kendall: Option<f64>,
    /// Share of the best rows of one among the best of the other.
    pub top_overlap: Option<f64>,
}

/// Values the rows of a request by every method; a row for each goes to
/// `receiver`, a column for each method and a note where there is no value.
/// `top`: how many rows count as the best; a tenth by default.
///
/// # Errors
///
/// [`Error`], with nothing written that was not completed.
pub fn compare(
    request: &BenchRequest,
    top: Option<usize>,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Comparison, Error> {
    let bench = Bench::read(request, request.methods.clone(), false, observer)?;
    let n_points = bench.points.rows.n_rows();
    let n_players = bench.parts.players.n_rows();
    if let Some(top) = top.filter(|top| *top > n_players) {
        let what = format!("`--top {top}` is more than there are rows to be valued: {n_players}");
        return Err(Error::Misplaced { what });
    }
    let mut warnings: Vec<String> = bench.doubts_of_brier().into_iter().collect();
    warnings.extend(bench.doubts_of_missing("has no value"));
    if bench.parts.test_from == "points" {
        let n_test = bench.parts.test.n_rows();
        let (measure, have) = if n_test == 1 { ("measures", "has") } else { ("measure", "have") };
        warnings.push(format!(
            "{n_test} of the rows {measure} what sets of the others are worth and {have} no value; \
             `--test FILE` gives rows for that"
        ));
    }
    let (mut methods, mut columns) = (Vec::new(), Vec::new());
    for (number, method) in bench.methods.iter().enumerate() {
        let timed = bench.values(number, None, request.said.seed(), observer)?;
        warnings.extend(timed.warnings.iter().map(|words| format!("{}: {words}", method.word())));
        methods.push(Compared { method: method.word(), seconds: timed.seconds });
        columns.push(match &bench.parts.numbers {
            None => timed.value,
            Some(numbers) => {
                let mut all = vec![f64::NAN; n_points];
                numbers.iter().zip(&timed.value).for_each(|(&row, &value)| all[row] = value);
                all
            }
        });
    }
    let n_valued = (0..n_points).filter(|&row| columns.iter().all(|column| !column[row].is_nan())).count();
    let top = top.unwrap_or_else(|| n_valued.div_ceil(10)).max(1);
    let mut pairs = Vec::new();
    for i in 0..columns.len() {
        for j in i + 1..columns.len() {
            let (one, other): (&[f64], &[f64]) = (&columns[i], &columns[j]);
            pairs.push(Pair {
                one: methods[i].method,
                other: methods[j].method,
                spearman: spearman(one, other),
                kendall: kendall(one, other),
                top_overlap: overlap(one, other, top),
            });
        }
    }
    hand_over(&bench, &methods, &columns, receiver)?;
    Ok(Comparison {
        version: env!("CARGO_PKG_VERSION"),
        task: bench.task.name(),
        task_guessed: bench.task_guessed,
        n_valued,
        n_test: bench.parts.test.n_rows(),
        test_from: bench.parts.test_from,
        top,
        methods,
        pairs,
        warnings,
    })
}

fn hand_over(
    bench: &Bench,
    methods: &[Compared],
    columns: &[Vec<f64>],
    receiver: &mut dyn Receiver,
) -> Result<(), Error> {
    let is_own =
        |name: &str| name == "row" || name == NOTE || methods.iter().any(|method| method.method == name);
    let carried = &bench.points.carried;
    let mut fields = vec![Field::new("row", DataType::UInt64, false)];
    for field in carried {
        fields.push(field.clone().with_name(free_name(field.name(), carried, is_own)));
    }
    fields.extend(methods.iter().map(|method| Field::new(method.method, DataType::Float64, true)));
    fields.push(Field::new(NOTE, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields));
    receiver.begin(&schema)?;
    let is_test =
        |row: usize| bench.parts.numbers.as_ref().is_some_and(|valued| valued.binary_search(&row).is_err());
    let mut start = 0;
    for place in bench.points.places() {
        let rows = place.first_row..place.first_row + place.n_rows as u64;
        let mut cells: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(rows))];
        cells.extend(place.carried.iter().cloned());
        for column in columns {
            let known = |value: f64| (!value.is_nan()).then_some(value);
            let mut all = vec![None; place.n_rows];
            for (i, &value) in column[start..start + place.n_usable].iter().enumerate() {
                all[place.remaining.as_ref().map_or(i, |rows| rows[i])] = known(value);
            }
            cells.push(Arc::new(Float64Array::from(all)));
        }
        let tests: Vec<(usize, Note)> =
            (0..place.n_usable).filter(|i| is_test(start + i)).map(|i| (i, Note::TestRow)).collect();
        cells.push(Arc::new(notes(&tests, place.n_rows, place.remaining.as_deref())));
        start += place.n_usable;
        receiver
            .rows(RecordBatch::try_new(schema.clone(), cells).expect("columns were built to the schema"))?;
    }
    Ok(())
}
