//! What goes over the wire. Types of the engine never double as JSON, except for the
//! summary of a run, which is that of `dshap value --summary`.

use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The server: its version and what it allows.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    pub(crate) version: &'static str,
    /// Whether there is a folder with tables.
    pub(crate) has_data: bool,
    /// Whether uploads and results stay after the server ends.
    pub(crate) keeps: bool,
    /// Bytes of one upload.
    pub(crate) upload_bytes: u64,
    /// Runs at the same time.
    pub(crate) runs_at_once: usize,
    /// Runs that may wait.
    pub(crate) runs_waiting: usize,
    /// Seconds of one run.
    pub(crate) run_seconds: u64,
    /// Bytes of memory of one run.
    pub(crate) memory_bytes: u64,
}

/// Tables that can be valued.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TableList {
    pub(crate) tables: Vec<FileEntry>,
    /// Whether the folder has more tables than are listed.
    pub(crate) is_cut: bool,
}

/// Saved valuers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValuerList {
    pub(crate) valuers: Vec<FileEntry>,
}

/// A file that can be used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FileEntry {
    /// Its name: `data/…` in the folder of the server, `uploads/…` if it was uploaded.
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// A table at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TableView {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Rows that were looked at, from the first on.
    pub(crate) rows_seen: u64,
    /// Whether these are all rows.
    pub(crate) is_whole: bool,
    pub(crate) columns: Vec<ColumnView>,
    /// What is odd about the file.
    pub(crate) problems: Vec<String>,
    /// The first rows as text, column by column as above.
    pub(crate) first_rows: Vec<Vec<Option<String>>>,
}

/// A column at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ColumnView {
    pub(crate) name: String,
    /// `number`, `text`, `boolean`, `date`, `duration` or another type.
    pub(crate) kind: String,
    /// Rows without a cell, among those looked at.
    pub(crate) missing: u64,
    /// Different cells among those looked at; absent if there are more than a thousand.
    pub(crate) different: Option<usize>,
    pub(crate) least: Option<f64>,
    pub(crate) most: Option<f64>,
    pub(crate) mean: Option<f64>,
    /// Some of its cells.
    pub(crate) examples: Vec<String>,
    /// The task, if this column is predicted.
    pub(crate) task: Option<&'static str>,
    /// The option that sets the column aside, if it can hardly be a feature: `id` or `exclude`.
    pub(crate) suggested: Option<&'static str>,
    /// What is odd about the column.
    pub(crate) problems: Vec<String>,
}

/// What to value, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// The name of a table.
    pub(crate) table: String,
    /// The method; without it, the usual one for the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    /// The name of a saved valuer, instead of a method and a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valuer: Option<String>,
    /// Options of the catalogue by name, such as `{"target": "price", "m": 1000, "stderr": true}`.
    /// `reference` and `test` take names of tables.
    #[serde(default)]
    pub(crate) options: Map<String, Json>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunStatus {
    Waiting,
    Running,
    Done,
    Failed,
    Cancelled,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Progress {
    /// What is going on, such as `fitting`.
    pub(crate) stage: &'static str,
    /// Share of the current pass that is done, if that is known.
    pub(crate) share: Option<f64>,
    /// Rows of the current pass that are done.
    pub(crate) rows: u64,
}

/// A run, wherever it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RunView {
    pub(crate) id: String,
    pub(crate) request: RunRequest,
    pub(crate) status: RunStatus,
    /// Seconds it has run, or ran.
    pub(crate) seconds: f64,
    /// While it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Progress>,
    /// If it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Problem>,
    /// Once it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<ResultView>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResultView {
    /// Rows of the output.
    pub(crate) rows: u64,
    /// Its columns.
    pub(crate) columns: Vec<OutputColumn>,
    /// The column that names owners.
    pub(crate) owner_column: Option<String>,
    /// What ran, in lines for people.
    pub(crate) described: Vec<String>,
    /// What is doubtful, in sentences.
    pub(crate) warnings: Vec<String>,
    /// The command that computes the same values.
    pub(crate) command: String,
    /// What `dshap value --summary` writes.
    pub(crate) summary: Json,
}

/// A column of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputColumn {
    pub(crate) name: String,
    /// Whether its cells are numbers.
    pub(crate) is_number: bool,
    /// Whether dshap computed it; other columns come from the table.
    pub(crate) is_computed: bool,
}

/// All runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunList {
    pub(crate) runs: Vec<RunView>,
}

/// Some rows of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RowsPage {
    /// Rows of the run.
    pub(crate) rows: u64,
    /// Rows that match the ranges and the search.
    pub(crate) matching: u64,
    /// The first of these rows, counted from 0 in the order asked for.
    pub(crate) offset: u64,
    /// Names of columns.
    pub(crate) columns: Vec<String>,
    /// Cells: numbers, text or null.
    pub(crate) cells: Vec<Vec<Json>>,
}

/// Charts of the rows of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChartsView {
    /// Rows that match the ranges and the search.
    pub(crate) matching: u64,
    /// How values are spread; absent if there are too few.
    pub(crate) histogram: Option<HistogramView>,
    /// Value against other numbers.
    pub(crate) scatters: Vec<ScatterView>,
}

/// How a number is spread.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HistogramView {
    pub(crate) column: String,
    /// Where the first bin begins.
    pub(crate) least: f64,
    /// Where the last bin ends.
    pub(crate) most: f64,
    /// All rows, bin by bin.
    pub(crate) rows: Vec<u64>,
    /// Rows that match, bin by bin.
    pub(crate) matching: Vec<u64>,
    /// All rows below the first bin, and above the last.
    pub(crate) outside: [u64; 2],
}

/// One number against another, in cells of a grid.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScatterView {
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) x_range: [f64; 2],
    pub(crate) y_range: [f64; 2],
    /// Cells of the grid, across and up.
    pub(crate) size: [usize; 2],
    /// Across, up, rows that match.
    pub(crate) cells: Vec<[u32; 3]>,
    /// Rows that match but lie outside the grid.
    pub(crate) outside: u64,
}

/// One row.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RowView {
    pub(crate) row: u64,
    pub(crate) cells: Vec<RowCell>,
    /// The paragraphs of `dshap explain`. Empty where explaining the row would take long, or the table has changed.
    pub(crate) why: Vec<String>,
    /// Its owner, if rows have owners.
    pub(crate) owner: Option<OwnerView>,
}

/// One cell of a row.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RowCell {
    pub(crate) column: String,
    pub(crate) is_computed: bool,
    /// A number, text or null.
    pub(crate) cell: Json,
    /// Share of rows with a lower number in this column.
    pub(crate) share_below: Option<f64>,
}

/// Owners of rows, and a budget divided between them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnersView {
    pub(crate) column: String,
    pub(crate) owners: Vec<OwnerView>,
    /// How many owners there are; at most 1000 are listed.
    pub(crate) count: usize,
    /// How owners were valued given each other, if that was asked for.
    pub(crate) game: Option<GameView>,
}

/// The game between owners.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GameView {
    /// What all owners bring together: the sum of their values.
    pub(crate) total: f64,
    /// How many rows measure that.
    pub(crate) test_rows: u64,
    /// Pairs that bring less together than apart, the strongest first.
    pub(crate) substitutes: Vec<PairView>,
    /// What is doubtful.
    pub(crate) warnings: Vec<String>,
    /// Share of draws in which the ranking of the owners survives, if a budget was divided.
    pub(crate) ranking_survives: Option<f64>,
}

/// Two owners.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PairView {
    pub(crate) a: String,
    pub(crate) b: String,
    /// Below 0: substitutes.
    pub(crate) interaction: f64,
}

/// The rows of one owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OwnerView {
    pub(crate) owner: String,
    pub(crate) rows: u64,
    /// Sum of the values of its rows.
    pub(crate) sum: f64,
    /// Rows with a value below 0.
    pub(crate) below_zero: u64,
    /// Its value given the others, and the standard error of that.
    pub(crate) shapley: Option<f64>,
    pub(crate) stderr: Option<f64>,
    /// Its rows that another owner has too.
    pub(crate) duplicates: Option<u64>,
    /// What it is paid out of the budget, in plain digits.
    pub(crate) payout: Option<String>,
    /// The standard error of that.
    pub(crate) payout_stderr: Option<f64>,
}

/// Two runs on tables with as many rows.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ComparisonView {
    /// Rows with a value in both.
    pub(crate) rows: u64,
    /// Pearson's correlation of the values.
    pub(crate) correlation: Option<f64>,
    /// Spearman's correlation: that of the ranks.
    pub(crate) rank_correlation: Option<f64>,
    /// Of the lowest 5 % of the rows in one run, the share that the other has there as well.
    pub(crate) shared_lowest: f64,
    /// The same for the highest 5 %.
    pub(crate) shared_highest: f64,
    /// Share of all rows below, by rank: the first run across, the second up.
    pub(crate) ranks: ScatterView,
    /// The rows whose ranks differ most.
    pub(crate) differing: Vec<DifferingRow>,
}

/// A row that two runs rank differently.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DifferingRow {
    pub(crate) row: u64,
    pub(crate) values: [f64; 2],
    /// Share of rows with a lower value, in each run.
    pub(crate) shares_below: [f64; 2],
}

/// A saved valuer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValuerView {
    pub(crate) name: String,
    /// Columns that rows need.
    pub(crate) columns: Vec<String>,
    /// What `dshap inspect --json` prints.
    pub(crate) inspection: Json,
}

/// Rows to be valued by a saved valuer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueRequest {
    /// Rows as objects, such as `[{"age": 31, "city": "Rome", "price": 12.5}]`. At most 10 000.
    pub(crate) rows: Vec<Map<String, Json>>,
    /// Whether standard errors are wanted.
    #[serde(default)]
    pub(crate) stderr: bool,
    /// Whether the parts of the values are wanted.
    #[serde(default)]
    pub(crate) parts: bool,
}

/// Values of rows, in their order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValueReply {
    /// null where a row has no value.
    pub(crate) value: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<PartReply>,
    /// Why rows have no value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<NoteReply>,
    /// What is doubtful, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// One part of the values.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PartReply {
    pub(crate) name: String,
    pub(crate) numbers: Vec<Option<f64>>,
}

/// Why a row has no value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoteReply {
    pub(crate) row: usize,
    pub(crate) note: String,
}

/// Theorem 2 for given numbers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TheoryView {
    pub(crate) p: usize,
    pub(crate) q: usize,
    pub(crate) m: usize,
    /// The value at the distance and the residual asked for, and its two parts.
    pub(crate) value: f64,
    pub(crate) potential: f64,
    pub(crate) penalty: f64,
    /// The squared residual at which the value is 0, if there is one.
    pub(crate) break_even: Option<f64>,
    /// Value against squared distance, for several squared residuals: Figure 4.
    pub(crate) by_distance: Vec<Curve>,
    /// Value against squared residual, at the distance asked for.
    pub(crate) by_residual: Curve,
    /// Value against m, if `sizes` was asked for.
    pub(crate) by_size: Option<Curve>,
}

/// A curve.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Curve {
    /// What is fixed along it.
    pub(crate) at: f64,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
}
