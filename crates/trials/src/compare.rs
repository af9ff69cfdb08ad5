//! `compare`: values by several methods side by side.

use crate::bench::{Bench, BenchRequest, seed_in};
use crate::measures::{kendall, overlap, spearman};
use crate::steps::Steps;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dshap::Note;
use dshap_models::{Error, Observer, RowRole, Warning};
use dshap_run::{NOTE, Receiver, free_name, note_column};
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
    /// Where those come from: `test` or `points`; `none` if no method measures.
    pub test_from: &'static str,
    /// Number of rows counted as best.
    pub top: usize,
    /// The methods.
    pub methods: Vec<Compared>,
    /// How much each two of them agree.
    pub pairs: Vec<Pair>,
    /// What is doubtful.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A method of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub method: String,
    /// How long it took.
    pub seconds: f64,
}

/// How much two methods agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The name of one method.
    pub one: String,
    /// The name of the other.
    pub other: String,
    /// Spearman's correlation; absent if one side is all the same.
    pub spearman: Option<f64>,
    /// Kendall's correlation; absent if one side is all the same.
    pub kendall: Option<f64>,
    /// Share of the best rows of one that are among the best of the other.
    pub top_overlap: Option<f64>,
}

/// Values the rows of a request by every method. One row per input row goes to
/// `receiver`: a column for each method, and a note if there is no value. `top` is
/// the number of rows counted as best; a tenth by default.
///
/// # Errors
///
/// [`Error`]; an output that was not completed is not written.
pub fn compare(
    request: &BenchRequest,
    top: Option<usize>,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Comparison, Error> {
    let bench = Bench::read(request, request.methods.clone(), false, observer)?;
    let n_points = bench.table.rows.n_rows();
    let n_players = bench.parts.players.n_rows();
    if let Some(top) = top.filter(|top| *top > n_players) {
        return Err(Error::TopTooLarge { top, n_rows: n_players });
    }
    let mut warnings: Vec<Warning> = bench.brier_warning().into_iter().collect();
    warnings.extend(bench.missing_warning(RowRole::Point));
    if bench.parts.are_kept_back() {
        warnings.push(Warning::RowsMeasure { n_rows: bench.parts.test.n_rows() });
    }
    let (mut methods, mut columns) = (Vec::new(), Vec::new());
    let steps = Steps::new(observer, bench.methods.len() as u64);
    for (number, entrant) in bench.methods.iter().enumerate() {
        steps.of_method(entrant);
        let timed = bench.values(number, None, seed_in(&request.given), &steps)?;
        steps.done();
        warnings.extend(timed.warnings);
        methods.push(Compared { method: entrant.name.clone(), seconds: timed.seconds });
        columns.push(by_point(&bench, timed.value));
    }
    steps.finished();
    let n_valued = (0..n_points).filter(|&row| columns.iter().all(|column| !column[row].is_nan())).count();
    let top = top.unwrap_or_else(|| n_valued.div_ceil(10)).max(1);
    let pairs = pairs(&methods, &columns, top);
    hand_over(&bench, &methods, &columns, receiver)?;
    Ok(Comparison {
        version: env!("CARGO_PKG_VERSION"),
        task: bench.table.task.name(),
        task_guessed: bench.table.task_guessed,
        n_valued,
        n_test: bench.parts.test.n_rows(),
        test_from: bench.parts.test_from,
        top,
        methods,
        pairs,
        warnings,
    })
}

/// Values of players by the number of the point; rows that measure utility have none.
fn by_point(bench: &Bench, value: Vec<f64>) -> Vec<f64> {
    let Some(numbers) = &bench.parts.numbers else { return value };
    let mut all = vec![f64::NAN; bench.table.rows.n_rows()];
    numbers.iter().zip(&value).for_each(|(&row, &value)| all[row] = value);
    all
}

/// How much any two methods agree, where `top` rows count as best.
fn pairs(methods: &[Compared], columns: &[Vec<f64>], top: usize) -> Vec<Pair> {
    let all = (0..columns.len()).flat_map(|i| (i + 1..columns.len()).map(move |j| (i, j)));
    let pair = |(i, j): (usize, usize)| {
        let (one, other): (&[f64], &[f64]) = (&columns[i], &columns[j]);
        Pair {
            one: methods[i].method.clone(),
            other: methods[j].method.clone(),
            spearman: spearman(one, other),
            kendall: kendall(one, other),
            top_overlap: overlap(one, other, top),
        }
    };
    all.map(pair).collect()
}

/// Hands values over, batch by batch as the rows were read.
fn hand_over(
    bench: &Bench,
    methods: &[Compared],
    columns: &[Vec<f64>],
    receiver: &mut dyn Receiver,
) -> Result<(), Error> {
    let is_own =
        |name: &str| name == "row" || name == NOTE || methods.iter().any(|method| method.method == name);
    let carried = &bench.table.carried;
    let mut fields = vec![Field::new("row", DataType::UInt64, false)];
    for field in carried {
        fields.push(field.clone().with_name(free_name(field.name(), carried, is_own)));
    }
    fields.extend(methods.iter().map(|method| Field::new(&method.method, DataType::Float64, true)));
    fields.push(Field::new(NOTE, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields));
    receiver.begin(&schema)?;
    let is_test =
        |row: usize| bench.parts.numbers.as_ref().is_some_and(|valued| valued.binary_search(&row).is_err());
    let mut start = 0;
    for place in &bench.table.places {
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
        cells.push(Arc::new(note_column(&tests, place.n_rows, place.remaining.as_deref())));
        start += place.n_usable;
        receiver
            .rows(RecordBatch::try_new(schema.clone(), cells).expect("columns were built to the schema"))?;
    }
    Ok(())
}
