//! `teach`: which rows teach the predictions of given cases.
//!
//! A case is a test row of its own, so each case has its own values of all rows. Rows are
//! fitted once and read again for each case.

use crate::at::require_test_columns;
use crate::inputs;
use crate::memory::Budget;
use crate::output::free_name;
use crate::prepare::{Against, Prepared};
use crate::receiver::{Arrange, Collected, Receiver};
use crate::request::ValueRequest;
use crate::summary::Summary;
use crate::table::Table;
use crate::value::Job;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap_catalogue::Value;
use dshap_catalogue::options::{STDERR, TEST};
use dshap_io::Source;
use dshap_models::{
    Error, Extras, Facts, FittedValuer, HeldReference, HeldRows, InputFile, Observer, Quiet, Reference,
    Stage, Unwatched, Warning,
};
use dshap_table::{Design, Missing};
use serde::Serialize;
use std::sync::Arc;

/// Rows that teach, and the cases they teach.
#[derive(Debug, Clone)]
pub struct TeachRequest {
    /// The rows, and how they are valued; without test rows.
    pub value: ValueRequest,
    /// Files with the cases.
    pub cases: Vec<String>,
    /// The order of the rows of each case, and how many.
    pub arrange: Arrange,
}

/// What ran.
#[derive(Debug, Clone, Serialize)]
pub struct TeachSummary {
    /// What is known about the fit; its `tests` are the last case.
    #[serde(flatten)]
    pub facts: Facts,
    /// Rows that were valued.
    pub n_points: u64,
    /// Cases.
    pub n_cases: usize,
    /// Whether the cases have targets.
    pub cases_have_targets: bool,
    /// What is doubtful.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The files of the rows.
    pub points: Vec<InputFile>,
    /// The files of the cases.
    pub cases: Vec<InputFile>,
}

/// Values all rows for each case: one table, case by case.
///
/// # Errors
///
/// [`Error`].
pub fn teach(
    request: &TeachRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<TeachSummary, Error> {
    // A case is a test row, so what does not go with test rows does not go with cases.
    let given = request.value.given.clone().with(&TEST, Value::List(Vec::new()));
    let value = ValueRequest { given, ..request.value.clone() };
    let points = inputs::open_given(&value.points, &value.given, &value.outputs)?;
    let source = inputs::open_given(&request.cases, &value.given, &value.outputs)?;
    let mut prepared = Prepared::of(&value, &points, observer)?;
    let fitted = prepared.valuer.clone();
    let (design, cases) = read_cases(&fitted, &source, &value, observer)?;
    let mut summary: Option<Summary> = None;
    let mut schema: Option<SchemaRef> = None;
    for case in 0..cases.n_rows() {
        let row = cases.select_rows(&[case]);
        let tests = HeldReference { rows: &row, design: &design, observer: &Unwatched };
        prepared.valuer = fitted.clone().with_tests(&tests)?;
        let job = Job {
            prepared: &prepared,
            points: &points,
            in_reference: matches!(prepared.against, Against::Themselves),
            extras: Extras { std_error: value.given.has(&STDERR), by_class: false },
            judges: false,
            digests: value.digests,
            resources: &value.resources,
            observer: &Quiet(observer),
        };
        let mut collected = Collected::new(request.arrange, None);
        let ran = job.value(&mut collected)?;
        summary.get_or_insert(ran);
        let rows = collected.arranged(request.arrange)?;
        if schema.is_none() {
            let numbered = with_case(&rows.schema());
            receiver.begin(&numbered)?;
            schema = Some(numbered);
        }
        let numbered = schema.clone().expect("it was settled by the first case");
        receiver.rows(of_case(case, &rows, numbered))?;
    }
    let Some(first) = summary else { return Err(Error::core(dshap::Error::NoTestRows, &design)) };
    Ok(TeachSummary {
        facts: first.facts,
        n_points: first.n_points,
        n_cases: cases.n_rows(),
        cases_have_targets: design.target().is_some(),
        warnings: first.warnings,
        points: first.points,
        cases: InputFile::of(&source, value.digests)?,
    })
}

/// The cases, and how they became numbers. Without the column of the target they are inputs
/// only. Each has its number, so none is left out for a missing cell.
fn read_cases(
    fitted: &FittedValuer,
    source: &Source,
    value: &ValueRequest,
    observer: &dyn Observer,
) -> Result<(Design, HeldRows), Error> {
    let design = &fitted.design;
    let has_target = design.target().is_some_and(|target| source.schema().column(target).is_some());
    let design = if has_target { design.clone() } else { design.without_target() };
    let design = match design.parts().missing {
        Missing::Drop => design.with_policies(Some(Missing::Error), None, |column| fitted.model.mean(column)),
        _ => design,
    };
    require_test_columns(source, &design.wanted())?;
    let budget = Budget::new(value.resources.memory);
    let table = Table { source, design: &design, is_reference: false, budget, observer };
    let (rows, _) = table.hold(Stage::Read)?;
    Ok((design, rows))
}

/// The columns, behind one with the number of the case.
fn with_case(schema: &Schema) -> SchemaRef {
    let own: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
    let name = free_name("case", &own, |name| schema.column_with_name(name).is_some());
    let mut fields = vec![Field::new(name, DataType::UInt64, false)];
    fields.extend(own);
    Arc::new(Schema::new(fields))
}

fn of_case(case: usize, rows: &RecordBatch, schema: SchemaRef) -> RecordBatch {
    let number: ArrayRef = Arc::new(UInt64Array::from(vec![case as u64; rows.num_rows()]));
    let columns = std::iter::once(number).chain(rows.columns().iter().cloned()).collect();
    RecordBatch::try_new(schema, columns).expect("every case has the columns of the first")
}
