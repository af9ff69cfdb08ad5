//! What is written, and how a run goes.

use crate::option::{Group, OptionEntry, Scope};
use crate::value::{Kind, SIZE, Word};

const OUTPUT: OptionEntry = OptionEntry {
    name: "",
    placeholder: "FILE",
    takes: Kind::File,
    group: Group::Output,
    help: "",
    details: "",
    default: "",
    daily: false,
    scope: Scope::Always,
};

const SWITCH: OptionEntry = OptionEntry { placeholder: "", takes: Kind::Switch, ..OUTPUT };

const RUN: OptionEntry = OptionEntry { group: Group::Run, ..OUTPUT };

/// Columns carried through.
pub static KEEP: OptionEntry = OptionEntry {
    name: "keep",
    placeholder: "A,B",
    takes: Kind::Names,
    help: "Input columns to carry through to the output",
    daily: true,
    ..OUTPUT
};

/// Standard errors.
pub static STDERR: OptionEntry =
    OptionEntry { name: "stderr", help: "Add standard errors", daily: true, scope: Scope::Method, ..SWITCH };

/// Values by class.
pub static PER_CLASS: OptionEntry = OptionEntry {
    name: "per_class",
    help: "With more than two labels: add what each label contributes, and its probability",
    details: "Columns value_LABEL and prob_LABEL; one softmax model has probabilities only.",
    scope: Scope::Method,
    ..SWITCH
};

/// The order of rows.
pub static SORT: OptionEntry = OptionEntry {
    name: "sort",
    placeholder: "ORDER",
    takes: Kind::Choice {
        words: &[
            Word { word: "row", means: "as in the input" },
            Word { word: "value", means: "highest value first" },
            Word { word: "penalty", means: "largest penalty first; finds wrong labels and targets best" },
        ],
    },
    help: "Order of the rows",
    default: "row",
    ..OUTPUT
};

/// The highest.
pub static TOP: OptionEntry = OptionEntry {
    name: "top",
    placeholder: "N",
    takes: Kind::Count { least: 0, most: u64::MAX },
    help: "Only the N rows of highest value, highest first; with {sort=penalty} of largest penalty",
    daily: true,
    ..OUTPUT
};

/// The lowest.
pub static BOTTOM: OptionEntry = OptionEntry {
    name: "bottom",
    placeholder: "N",
    takes: Kind::Count { least: 0, most: u64::MAX },
    help: "Only the N rows of lowest value, lowest first",
    daily: true,
    ..OUTPUT
};

/// Rows to explain.
pub static EXPLAIN: OptionEntry = OptionEntry {
    name: "explain",
    placeholder: "N,M",
    takes: Kind::Names,
    help: "Also explain the values of rows N and M, counted from 0, in sentences",
    details: "The sentences go to standard error. `dshap explain` prints nothing else, also as JSON.",
    daily: true,
    ..OUTPUT
};

/// The format.
pub static FORMAT: OptionEntry = OptionEntry {
    name: "format",
    placeholder: "FORMAT",
    takes: Kind::Choice {
        words: &[
            Word { word: "csv", means: "comma-separated values" },
            Word { word: "json", means: "one JSON array" },
            Word { word: "ndjson", means: "one JSON object per line" },
            Word { word: "parquet", means: "Apache Parquet" },
            Word { word: "arrow", means: "Arrow IPC" },
            Word { word: "npy", means: "NumPy" },
        ],
    },
    help: "Format of the output",
    default: "by the name of the file; a table on a terminal, CSV in a pipe",
    ..OUTPUT
};

/// Cells that spreadsheets would run.
pub static CSV_SAFE: OptionEntry = OptionEntry {
    name: "csv_safe",
    help: "Put ' before text cells of CSV output that a spreadsheet would run as a formula",
    details: "These are cells and column names that begin with =, +, - or @, except numbers, or with a tab or a line \
              end. Programs that read the file find the ' in the text. Other formats need no such care.",
    ..SWITCH
};

/// Marks instead of a cleaned table.
pub static MARK: OptionEntry = OptionEntry {
    name: "mark",
    help: "Write all rows with columns that mark suspicious ones, not the cleaned table",
    details: "Columns: suspect, score, reason, and suggested_label, or expected for numbers. A row is suspect if its \
              target contradicts what other rows say, whatever is recommended.",
    daily: true,
    ..SWITCH
};

/// A share of targets made wrong.
pub static NOISE: OptionEntry = OptionEntry {
    name: "noise",
    placeholder: "SHARE",
    takes: Kind::Number { least: 0.0, above: true, below: 1.0 },
    group: Group::Trial,
    help: "Share of the targets that are made wrong, to be detected",
    default: "0.1",
    ..OUTPUT
};

/// Repetitions.
pub static REPEATS: OptionEntry = OptionEntry {
    name: "repeats",
    placeholder: "N",
    takes: SIZE,
    group: Group::Trial,
    help: "Number of repetitions, each with other halves and other wrong targets; curves are means",
    default: "1",
    ..OUTPUT
};

/// A figure.
pub static FIGURE: OptionEntry =
    OptionEntry { name: "figure", help: "Draw the curves, as SVG or PNG by the name of the file", ..OUTPUT };

/// What ran.
pub static SUMMARY: OptionEntry = OptionEntry {
    name: "summary",
    help: "Write what ran as JSON: settings, results, warnings, version, digests of inputs",
    ..RUN
};

/// Warnings are errors.
pub static STRICT: OptionEntry = OptionEntry {
    name: "strict",
    help: "Treat warnings as errors: nothing is written",
    group: Group::Run,
    ..SWITCH
};

/// Threads.
pub static THREADS: OptionEntry = OptionEntry {
    name: "threads",
    placeholder: "N",
    takes: Kind::Count { least: 1, most: 1024 },
    help: "Number of threads; the result does not depend on it",
    default: "all",
    ..RUN
};

/// Memory.
pub static MEMORY: OptionEntry = OptionEntry {
    name: "memory",
    placeholder: "LIMIT",
    takes: Kind::Bytes,
    help: "Most memory to use, such as 512MB or 4GiB: tables are read in smaller batches",
    default: "no limit",
    ..RUN
};

/// The state of a fit.
pub static CHECKPOINT: OptionEntry = OptionEntry {
    name: "checkpoint",
    help: "Keep the state of the fit here: a run that was killed resumes from it, with the same bits",
    details: "For regression. The file is removed at the end.",
    scope: Scope::MethodFit,
    ..RUN
};

/// How often it is written.
pub static CHECKPOINT_EVERY: OptionEntry = OptionEntry {
    name: "checkpoint_every",
    placeholder: "SECONDS",
    takes: Kind::Number { least: 0.0, above: false, below: 1e9 },
    help: "How often the {checkpoint} is written, in seconds",
    default: "30",
    ..RUN
};

/// Silence.
pub static QUIET: OptionEntry =
    OptionEntry { name: "quiet", help: "Print only warnings and errors", group: Group::Run, ..SWITCH };

pub(super) const ALL: &[&OptionEntry] = &[
    &NOISE,
    &REPEATS,
    &KEEP,
    &STDERR,
    &PER_CLASS,
    &SORT,
    &TOP,
    &BOTTOM,
    &MARK,
    &EXPLAIN,
    &FORMAT,
    &CSV_SAFE,
    &FIGURE,
    &SUMMARY,
    &STRICT,
    &THREADS,
    &MEMORY,
    &CHECKPOINT,
    &CHECKPOINT_EVERY,
    &QUIET,
];
