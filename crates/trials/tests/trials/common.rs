//! Tables in a folder, and options in few words.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_catalogue::{Given, Value, options};
use dshap_run::{Arrange, Collected, Error, Resources, Unwatched};
use dshap_testkit::Draws;
use dshap_trials::{BenchRequest, Comparison, Entrant, Evaluation, Trial, compare, evaluate, split_names};
use std::fmt::Write;
use tempfile::TempDir;

/// A folder that is removed in the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        path.display().to_string()
    }
}

/// Two features, and a target that depends on them.
pub(crate) fn numbers(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("a,b,y\n");
    for _ in 0..n {
        let [a, b] = [draws.normal(), draws.normal()];
        let _ = writeln!(csv, "{a},{b},{}", 2.0 * a - b + draws.normal());
    }
    csv
}

/// Options by name: `target=y k=3`; a switch is `on`.
pub(crate) fn given(text: &str) -> Given {
    text.split_whitespace().fold(Given::new(), |given, setting| {
        let (name, value) = setting.split_once('=').unwrap();
        let option = options::find(name).unwrap_or_else(|| panic!("no option {name}"));
        given.with(option, if value == "on" { Value::On } else { option.parse(value).unwrap() })
    })
}

/// A request with methods by name.
pub(crate) fn request(points: &str, methods: &str, given: Given) -> BenchRequest {
    BenchRequest {
        points: vec![points.into()],
        methods: split_names(methods).iter().map(|name| Entrant::parse(name).unwrap()).collect(),
        given,
        outputs: Vec::new(),
        resources: Resources::default(),
    }
}

/// Compares methods; returns their values as well.
pub(crate) fn compared(request: &BenchRequest) -> Result<(RecordBatch, Comparison), Error> {
    let mut rows = Collected::default();
    let found = compare(request, None, &Unwatched, &mut rows)?;
    Ok((rows.arranged(Arrange::ByRow)?, found))
}

/// Evaluates methods once; returns the points of their curves as well.
pub(crate) fn evaluated(request: &BenchRequest) -> Result<(RecordBatch, Evaluation), Error> {
    let mut rows = Collected::default();
    let found = evaluate(request, Trial { noise: None, repeats: 1 }, &Unwatched, &mut rows)?;
    Ok((rows.arranged(Arrange::ByRow)?, found))
}

/// A column of numbers; NaN for an empty cell.
pub(crate) fn column(rows: &RecordBatch, name: &str) -> Vec<f64> {
    let cells = rows.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let cells = cells.as_primitive::<Float64Type>();
    (0..cells.len()).map(|row| if cells.is_valid(row) { cells.value(row) } else { f64::NAN }).collect()
}
