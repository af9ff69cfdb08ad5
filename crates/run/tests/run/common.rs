//! Tables in a folder, fitted and valued in few words.
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_catalogue::options::{EXCLUDE, PER_CLASS, REFERENCE, STDERR, TARGET, TASK, WEIGHT};
use dshap_catalogue::{Given, OptionEntry, Value};
use dshap_io::AtomicFile;
use dshap_run::{
    Arrange, Collected, Error, FitRequest, Fitted, FittedValuer, MergeRequest, Method, Resources, SizeChoice,
    Summary, Unwatched, UpdateRequest, ValueRequest, fit, merge, methods, update, value,
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
    pub(crate) fn fit(&self, tables: &[&str], asked: Asked, valuer: &str) -> Fitted {
        let fitted = self.try_fit(tables, asked);
        self.saved(fitted.expect("is fitted"), valuer)
    }

    pub(crate) fn try_fit(&self, tables: &[&str], asked: Asked) -> Result<Fitted, Error> {
        fit(&fit_request(tables.iter().map(|t| self.name(t)).collect(), asked), &Unwatched)
    }

    pub(crate) fn update(&self, valuer: &str, add: &[&str], forget: &[&str]) -> Result<Fitted, Error> {
        let names = |tables: &[&str]| tables.iter().map(|table| self.name(table)).collect();
        let request = UpdateRequest {
            valuer: self.path(valuer),
            add: names(add),
            forget: names(forget),
            reading: Default::default(),
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

    pub(crate) fn load(&self, valuer: &str) -> FittedValuer {
        FittedValuer::load(&self.path(valuer)).expect("is loaded")
    }

    pub(crate) fn value_by(&self, table: &str, valuer: &str, asked: Asked) -> (RecordBatch, Summary) {
        self.try_value_by(table, valuer, asked).expect("is valued")
    }

    pub(crate) fn try_value_by(
        &self,
        table: &str,
        valuer: &str,
        asked: Asked,
    ) -> Result<(RecordBatch, Summary), Error> {
        let valuer = Some(self.path(valuer));
        Self::valued(&ValueRequest { valuer, ..self.request(table, asked) })
    }

    pub(crate) fn value(&self, table: &str, asked: Asked) -> (RecordBatch, Summary) {
        self.try_value(table, asked).expect("is valued")
    }

    /// With what each class contributes.
    pub(crate) fn value_per_class(&self, table: &str, asked: Asked) -> (RecordBatch, Summary) {
        self.value(table, asked.on(&PER_CLASS))
    }

    pub(crate) fn try_value(&self, table: &str, asked: Asked) -> Result<(RecordBatch, Summary), Error> {
        Self::valued(&self.request(table, asked))
    }

    /// A request with standard errors, where the method has them.
    pub(crate) fn request(&self, table: &str, asked: Asked) -> ValueRequest {
        let Asked { method, given } = asked;
        let has_errors = method.is_none_or(|method| method.entry.takes(&STDERR, None).is_some());
        let given = if has_errors { given.with(&STDERR, Value::On) } else { given };
        ValueRequest { method, ..ValueRequest::new(vec![self.name(table)], given) }
    }

    pub(crate) fn valued(request: &ValueRequest) -> Result<(RecordBatch, Summary), Error> {
        let mut collected = Collected::default();
        let summary = value(request, &Unwatched, &mut collected)?;
        Ok((collected.arranged(Arrange::ByRow)?, summary))
    }
}

pub(crate) fn fit_request(reference: Vec<String>, asked: Asked) -> FitRequest {
    let Asked { method, given } = asked;
    FitRequest { reference, method, given, outputs: vec![], resources: Resources::default() }
}

/// What is asked of rows: a method and options, as a front end collects them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) method: Option<&'static Method>,
    pub(crate) given: Given,
}

impl Asked {
    /// Nothing but defaults: for rows that are valued by a valuer.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// A target, everything else by default.
    pub(crate) fn new(target: &str) -> Self {
        Self::nothing().set(&TARGET, target)
    }

    /// The density of all columns.
    pub(crate) fn density() -> Self {
        Self::nothing().set(&TASK, "density")
    }

    /// By a method.
    pub(crate) fn by(mut self, method: &str) -> Self {
        self.method = Some(methods::find(method).expect("a method of that name"));
        self
    }

    /// With an option, as it is typed.
    pub(crate) fn set(mut self, option: &'static OptionEntry, text: impl ToString) -> Self {
        let value = option.parse(&text.to_string()).expect("a value that the option takes");
        self.given = self.given.with(option, value);
        self
    }

    /// With a switch that is on.
    pub(crate) fn on(mut self, option: &'static OptionEntry) -> Self {
        self.given = self.given.with(option, Value::On);
        self
    }

    /// Against a reference in these files.
    pub(crate) fn against(mut self, files: &[String]) -> Self {
        self.given = self.given.with(&REFERENCE, Value::List(files.to_vec()));
        self
    }
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

pub(crate) fn asked() -> Asked {
    Asked::new("price").set(&EXCLUDE, "w")
}

pub(crate) fn weighted() -> Asked {
    Asked::new("price").set(&WEIGHT, "w")
}

pub(crate) fn column(rows: &RecordBatch, name: &str) -> Vec<f64> {
    let cells = rows.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let cells = cells.as_primitive::<Float64Type>();
    (0..cells.len()).map(|row| if cells.is_valid(row) { cells.value(row) } else { f64::NAN }).collect()
}
