//! What ran, for people and for the record.

use serde::Serialize;

/// What ran and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of dshap.
    pub version: &'static str,
    /// `regression`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// The method.
    pub method: &'static str,
    /// The constant added: `gain`, `theorem` or `full:C`; absent for methods without one.
    pub constant: Option<String>,
    /// `definition` or `printed`.
    pub convention: &'static str,
    /// Seed of random methods.
    pub seed: Option<u64>,
    /// The target.
    pub target: String,
    /// Raw feature columns.
    pub features: Vec<String>,
    /// Whether features and target are centred by the reference means.
    pub intercept: bool,
    /// `p`, the columns of the design.
    pub p: usize,
    /// `q`, the smallest set whose utility counts.
    pub q: usize,
    /// Whether `q` was chosen by default.
    pub q_default: bool,
    /// `m`, the largest set size.
    pub m: usize,
    /// Whether `m` was chosen by default.
    pub m_default: bool,
    /// Usable reference rows.
    pub n_reference: usize,
    /// Rows valued, those left out included.
    pub n_points: u64,
    /// Whether each row was valued against the others of its own table.
    pub leave_one_out: bool,
    /// How often the reference was read.
    pub reference_passes: usize,
    /// `σ²`.
    pub noise_var: f64,
    /// Columns left out of the design because they are constant or dependent.
    pub dropped_columns: Vec<String>,
    /// How the values are spread.
    pub values: Spread,
    /// Everything doubtful.
    pub warnings: Vec<String>,
    /// The files read, with digests if asked for.
    pub points: Vec<InputFile>,
    /// The reference files; absent when points are their own reference.
    pub reference: Option<Vec<InputFile>>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputFile {
    /// As the user named it.
    pub name: String,
    /// Its size on disk, if digests were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// SHA-256 in hexadecimal, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Rows with a value.
    pub n_valued: u64,
    /// Rows without one.
    pub n_without: u64,
    /// Rows with a negative value.
    pub n_negative: u64,
    /// The lowest value.
    pub lowest: Option<f64>,
    /// The highest value.
    pub highest: Option<f64>,
    /// The sum of the values.
    pub total: f64,
}

impl Spread {
    pub(crate) fn new() -> Self {
        Self { n_valued: 0, n_without: 0, n_negative: 0, lowest: None, highest: None, total: 0.0 }
    }

    pub(crate) fn add(&mut self, n_rows: usize, values: &[f64]) {
        let before = self.n_valued;
        for &value in values.iter().filter(|value| !value.is_nan()) {
            self.n_valued += 1;
            self.n_negative += u64::from(value < 0.0);
            self.lowest = Some(self.lowest.map_or(value, |lowest| lowest.min(value)));
            self.highest = Some(self.highest.map_or(value, |highest| highest.max(value)));
            self.total += value;
        }
        self.n_without += n_rows as u64 - (self.n_valued - before);
    }
}
