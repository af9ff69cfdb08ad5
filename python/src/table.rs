//! Features, target and weights of any kind, as a table of the engine.

use crate::arrays::Arrays;
use crate::error::{input_error, raise};
use crate::labels::{TargetKind, Words, booleans};
use crate::words::Spelling;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use dshap_io::{Numbers, Source};
use dshap_table::{Design, Kind, ReadAs, Wanted};
use numpy::{PyReadonlyArray1, PyUntypedArray};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use std::sync::Arc;

/// What the table is called in messages.
const NAME: &str = "X";

/// Rows in memory: features, then a target and weights if there are any.
#[pyclass(frozen, module = "dshap._dshap")]
pub(crate) struct Table {
    /// The columns, if all are numbers in arrays.
    numbers: Option<Arc<Arrays>>,
    names: Vec<String>,
    target: Option<String>,
    target_kind: TargetKind,
    weight: Option<String>,
    /// Features whose type says that they are categories.
    categorical: Vec<String>,
    n_rows: usize,
    source: Source,
}

#[pymethods]
impl Table {
    /// A table of numbers in arrays, each with one or two dimensions, and of `y`,
    /// if there is one, which is called `target` and whose `labels` are `numbers`,
    /// `booleans` (as doubles) or `words` (objects). `None` if their types cannot be
    /// read in place.
    #[staticmethod]
    #[pyo3(signature = (arrays, names, y=None, target=None, weights=None, labels=None))]
    fn of_arrays(
        py: Python<'_>,
        arrays: Vec<Bound<'_, PyUntypedArray>>,
        names: Vec<String>,
        y: Option<Bound<'_, PyUntypedArray>>,
        target: Option<String>,
        weights: Option<Bound<'_, PyUntypedArray>>,
        labels: Option<&str>,
    ) -> PyResult<Option<Self>> {
        use numpy::PyUntypedArrayMethods;
        let kind = TargetKind::parse(labels)?;
        let of_first = arrays.first().and_then(|array| array.shape().first().copied());
        let n_rows = y.as_ref().map(|y| y.len()).or(of_first);
        let mut numbers = Arrays::new(n_rows.unwrap_or(0));
        let mut fits = arrays.iter().all(|array| numbers.add(array));
        if let Some(y) = &y {
            fits &= match kind {
                TargetKind::Words => numbers.add_words(Words::of(y)?),
                TargetKind::Numbers | TargetKind::Booleans => numbers.add(y),
            };
            if kind == TargetKind::Booleans {
                numbers.last_is_boolean();
            }
        }
        if !fits || !weights.iter().all(|weights| numbers.add(weights)) {
            return Ok(None);
        }
        let weight = weights.map(|_| free_name("sample_weight", &names, target.as_deref()));
        let all: Vec<String> = names.iter().chain(&target).chain(&weight).cloned().collect();
        if all.len() != numbers.n_columns() {
            return Err(input_error("there is not one name for each column"));
        }
        let (n_rows, numbers) = (numbers.n_rows(), Arc::new(numbers));
        let source = Source::of_numbers(NAME, &all, numbers.clone()).map_err(|e| raise(py, &e.into()))?;
        let target_kind = kind;
        Ok(Some(Self {
            numbers: Some(numbers),
            names,
            target,
            target_kind,
            weight,
            categorical: vec![],
            n_rows,
            source,
        }))
    }

    /// A table with the columns of anything that hands out Arrow data, called
    /// `names` or as they are.
    #[staticmethod]
    #[pyo3(signature = (features, y=None, target=None, weights=None, names=None, labels=None))]
    fn of_arrow(
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        target: Option<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        names: Option<Vec<String>>,
        labels: Option<&str>,
    ) -> PyResult<Self> {
        let kind = TargetKind::parse(labels)?;
        let y = y.map(|y| target_array(y, kind)).transpose()?;
        let doubles = |weights: PyReadonlyArray1<'_, f64>| Float64Array::from(weights.as_array().to_vec());
        let weights = weights.map(|weights| Arc::new(doubles(weights)) as ArrayRef);
        let unreadable = |error: PyErr| input_error(&format!("X cannot be read as a table: {error}"));
        let reader = features.extract::<AnyRecordBatch>().map_err(unreadable)?.into_reader()?;
        let fields = named(reader.schema().fields(), names)?;
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let is_category = |field: &&FieldRef| matches!(field.data_type(), DataType::Dictionary(..));
        let categorical = fields.iter().filter(is_category).map(|f| f.name().clone()).collect();
        let weight = weights.as_ref().map(|_| free_name("sample_weight", &names, target.as_deref()));
        let expected = y.as_ref().map(|y| y.len());
        let more: Vec<(String, ArrayRef)> = [(target.clone(), y), (weight.clone(), weights)]
            .into_iter()
            .filter_map(|(name, cells)| Some((name?, cells?)))
            .collect();
        let added =
            more.iter().map(|(name, cells)| Arc::new(Field::new(name, cells.data_type().clone(), true)));
        let schema: SchemaRef =
            Arc::new(Schema::new(fields.into_iter().chain(added).collect::<Vec<FieldRef>>()));
        let mut batches = Vec::new();
        let mut start = 0;
        for batch in reader {
            let batch = batch.map_err(|error| input_error(&format!("X cannot be read: {error}")))?;
            let len = batch.num_rows();
            if let Some(n_rows) = expected.filter(|n_rows| start + len > *n_rows) {
                return Err(input_error(&format!("X has more rows than y, which has {n_rows}")));
            }
            let mut columns = batch.columns().to_vec();
            columns.extend(more.iter().map(|(_, cells)| cells.slice(start, len)));
            let options = RecordBatchOptions::new().with_row_count(Some(len));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                .map_err(|error| input_error(&format!("X cannot be read: {error}")))?;
            batches.push(batch);
            start += len;
        }
        let n_rows = start;
        if let Some(expected) = expected.filter(|expected| *expected != n_rows) {
            return Err(input_error(&format!("X has {n_rows} rows and y has {expected}")));
        }
        let source = Source::of_batches(NAME, schema, batches).map_err(|e| raise(py, &e.into()))?;
        Ok(Self { numbers: None, names, target, target_kind: kind, weight, categorical, n_rows, source })
    }

    /// Number of rows.
    pub(crate) fn __len__(&self) -> usize {
        self.n_rows
    }

    /// Names of the features.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// What the target is called, if there is one.
    #[getter(target)]
    fn target_name(&self) -> Option<String> {
        self.target.clone()
    }
}

impl Table {
    pub(crate) fn numbers(&self) -> Option<&Arc<Arrays>> {
        self.numbers.as_ref()
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Refuses text where a design has learned numbers. Text in a file may be
    /// numbers; here it is a column of another type than before.
    pub(crate) fn refuse_text(&self, design: &Design) -> PyResult<()> {
        let is_number = |wanted: &&Wanted| matches!(wanted.read_as, ReadAs::Number | ReadAs::Boolean);
        let is_text = |name: &str| self.source.schema().column(name).is_some_and(|c| c.kind == Kind::Text);
        if design.parts().target.iter().any(|target| is_number(&target)) && self.target_is_text() {
            return Err(input_error("y holds text, but held numbers when the reference was fitted"));
        }
        match design.parts().features.iter().filter(is_number).find(|wanted| is_text(&wanted.name)) {
            None => Ok(()),
            Some(Wanted { name, .. }) => Err(input_error(&format!(
                "column `{name}` of X holds text, but held numbers when the reference was fitted\n\
                 hint: give numbers, such as `X[{name:?}].astype(float)`"
            ))),
        }
    }

    /// How sentences about it are spelled.
    pub(crate) fn spelling(&self) -> Spelling<'_> {
        Spelling { target: self.target(), weight: self.weight(), in_function: false }
    }

    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Whether `y` is text.
    pub(crate) fn target_is_text(&self) -> bool {
        self.target_kind == TargetKind::Words
    }

    pub(crate) fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    pub(crate) fn names_of_features(&self) -> &[String] {
        &self.names
    }

    /// Features that are categories by their type, and those that were named.
    pub(crate) fn categorical(&self, named: &[String]) -> PyResult<Vec<String>> {
        if let Some(unknown) = named.iter().find(|name| !self.names.contains(name)) {
            return Err(input_error(&format!("`categorical` names '{unknown}', which is not a column of X")));
        }
        let mut all = self.categorical.clone();
        // Labels that are text may look like numbers; they are text all the same.
        all.extend(self.target.clone().filter(|_| self.target_is_text()));
        all.extend(named.iter().filter(|name| !self.categorical.contains(name)).cloned());
        Ok(all)
    }
}

/// A source with the rows and columns of anything that hands out Arrow data, and the types
/// of its columns.
pub(crate) fn arrow_source(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
) -> PyResult<(Source, Vec<(String, DataType)>)> {
    let unreadable = |error: PyErr| input_error(&format!("rows cannot be read as a table: {error}"));
    let reader = rows.extract::<AnyRecordBatch>().map_err(unreadable)?.into_reader()?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>();
    let batches = batches.map_err(|error| input_error(&format!("rows cannot be read: {error}")))?;
    let fields = schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone()));
    let fields = fields.collect();
    let source = Source::of_batches("rows", schema, batches).map_err(|e| raise(py, &e.into()))?;
    Ok((source, fields))
}

/// `y` as Arrow data.
fn target_array(y: &Bound<'_, PyAny>, kind: TargetKind) -> PyResult<ArrayRef> {
    if kind == TargetKind::Words {
        let words = Words::of(y)?;
        return Ok(words.array(0, words.len()));
    }
    let cells = y.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec();
    Ok(match kind {
        TargetKind::Booleans => booleans(&cells),
        _ => Arc::new(Float64Array::from(cells)),
    })
}

/// The same columns under other names, one for each.
fn named(fields: &Fields, names: Option<Vec<String>>) -> PyResult<Vec<FieldRef>> {
    let Some(names) = names else { return Ok(fields.iter().cloned().collect()) };
    if names.len() != fields.len() {
        return Err(input_error("there is not one name for each column"));
    }
    let renamed =
        fields.iter().zip(names).map(|(field, name)| Arc::new(field.as_ref().clone().with_name(name)));
    Ok(renamed.collect())
}

fn free_name(name: &str, names: &[String], target: Option<&str>) -> String {
    let mut free = name.to_owned();
    while names.contains(&free) || target == Some(free.as_str()) {
        free.push('_');
    }
    free
}
