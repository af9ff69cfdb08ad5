//! Tables in a folder, fitted and valued in few words.
#![allow(dead_code, reason = "each test binary uses some of it")]

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_io::AtomicFile;
use dshap_run::{
    Against, Arrange, Collected, Error, FitRequest, Fitted, MergeRequest, Model, Overrides, Resources,
    SavedValuer, SizeChoice, Summary, Unwatched, UpdateRequest, ValueRequest, fit, merge, update, value,
};
use dshap_testkit::Draws;
use std::fmt::Write;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the folder is ours");
        self.name(name)
    }

    /// Fits tables and saves the valuer.
    pub(crate) fn fit(&self, tables: &[&str], model: Model, valuer: &str) -> Fitted {
        let fitted = fit(&fit_request(tables.iter().map(|t| self.name(t)).collect(), model), &Unwatched);
        self.saved(fitted.expect("is fitted"), valuer)
    }

    pub(crate) fn update(&self, valuer: &str, add: &[&str], forget: &[&str]) -> Result<Fitted, Error> {
        let names = |tables: &[&str]| tables.iter().map(|table| self.name(table)).collect();
        let request = UpdateRequest {
            valuer: self.path(valuer),
            add: names(add),
            forget: names(forget),
            sizes: SizeChoice::default(),
            outputs: vec![],
            resources: Resources::default(),
        };
        Ok(self.saved(update(&request, &Unwatched)?, "updated.dshap"))
    }

    pub(crate) fn merge(&self, valuers: &[&str]) -> Result<Fitted, Error> {
        let request = MergeRequest {
            valuers: valuers.iter().map(|name| self.path(name)).collect(),
            sizes: SizeChoice::default(),
        };
        Ok(self.saved(merge(&request)?, "merged.dshap"))
    }

    fn saved(&self, fitted: Fitted, valuer: &str) -> Fitted {
        let file = AtomicFile::create(&self.path(valuer)).expect("can be written");
        fitted.valuer.save(file).expect("is saved");
        fitted
    }

    pub(crate) fn load(&self, valuer: &str) -> SavedValuer {
        SavedValuer::load(&self.path(valuer)).expect("is loaded")
    }

    pub(crate) fn value_by(&self, table: &str, valuer: &str, overrides: Overrides) -> (RecordBatch, Summary) {
        let against = Against::Valuer { file: self.path(valuer), overrides };
        self.value(table, against)
    }

    pub(crate) fn value(&self, table: &str, against: Against) -> (RecordBatch, Summary) {
        self.try_value(table, against).expect("is valued")
    }

    /// With what each class contributes.
    pub(crate) fn value_per_class(&self, table: &str, against: Against) -> (RecordBatch, Summary) {
        let request = ValueRequest { per_class: true, ..self.request(table, against) };
        Self::valued(&request).expect("is valued")
    }

    pub(crate) fn try_value(&self, table: &str, against: Against) -> Result<(RecordBatch, Summary), Error> {
        Self::valued(&self.request(table, against))
    }

    fn request(&self, table: &str, against: Against) -> ValueRequest {
        ValueRequest { against, std_error: true, ..ValueRequest::new(vec![self.name(table)], "") }
    }

    fn valued(request: &ValueRequest) -> Result<(RecordBatch, Summary), Error> {
        let mut collected = Collected::default();
        let summary = value(request, &Unwatched, &mut collected)?;
        Ok((collected.arranged(Arrange::ByRow)?, summary))
    }
}

pub(crate) fn fit_request(reference: Vec<String>, model: Model) -> FitRequest {
    FitRequest { reference, model, outputs: vec![], resources: Resources::default() }
}

/// A number, a text and a weight, and a target that depends on them.
pub(crate) struct Table {
    rows: Vec<String>,
}

pub(crate) const HEADER: &str = "size,city,w,price\n";

impl Table {
    /// `n` rows with some of the cities.
    pub(crate) fn new(seed: u64, n: usize, cities: &[&str]) -> Self {
        let mut draws = Draws::new(seed);
        let rows = (0..n)
            .map(|_| {
                let size = 50.0 + 10.0 * draws.normal();
                let city = cities[(draws.uniform() * cities.len() as f64) as usize];
                let weight = 0.5 + 2.0 * draws.uniform();
                let price = 3.0 * size + 5.0 * city.len() as f64 + 8.0 * draws.normal();
                format!("{size},{city},{weight},{price}\n")
            })
            .collect();
        Self { rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn csv(&self) -> String {
        self.part(0, self.rows.len())
    }

    pub(crate) fn part(&self, from: usize, to: usize) -> String {
        HEADER.to_string() + &self.rows[from..to].concat()
    }

    pub(crate) fn without(&self, from: usize, to: usize) -> String {
        HEADER.to_string() + &self.rows[..from].concat() + &self.rows[to..].concat()
    }

    /// With some cells of a column emptied.
    pub(crate) fn with_gaps(mut self, every: usize) -> Self {
        for row in self.rows.iter_mut().step_by(every) {
            let rest = row.split_once(',').expect("a row has commas").1.to_string();
            row.clear();
            let _ = write!(row, ",{rest}");
        }
        self
    }
}

pub(crate) fn model() -> Model {
    let mut model = Model::new("price");
    model.selection.exclude = vec!["w".into()];
    model
}

pub(crate) fn weighted() -> Model {
    let mut model = Model::new("price");
    model.selection.weight = Some("w".into());
    model
}

pub(crate) fn column(rows: &RecordBatch, name: &str) -> Vec<f64> {
    let cells = rows.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let cells = cells.as_primitive::<Float64Type>();
    (0..cells.len()).map(|row| if cells.is_valid(row) { cells.value(row) } else { f64::NAN }).collect()
}
