//! The commands whose flags come from the catalogue: `value`, `report`, `teach`, `fit`, `update`,
//! `merge`, `evaluate` and `compare`.

use super::flags::given;
use super::verb::{Verb, saved_valuer};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use dshap_catalogue::options::TOP;
use dshap_catalogue::{Given, Kind};
use dshap_models::Method;
use dshap_trials::Entrant;
use std::path::PathBuf;

/// What was typed after `dshap value`.
#[derive(Debug)]
pub(crate) struct ValueArgs {
    pub(crate) points: Vec<String>,
    pub(crate) valuer: Option<PathBuf>,
    pub(crate) method: Option<&'static Method>,
    pub(crate) output: Option<PathBuf>,
    /// All options, those of the output and of the run too.
    pub(crate) given: Given,
}

/// What was typed after `dshap teach`.
#[derive(Debug)]
pub(crate) struct TeachArgs {
    /// The rows, and how they are valued.
    pub(crate) value: ValueArgs,
    /// Files with the cases.
    pub(crate) cases: Vec<String>,
}

/// What was typed after `dshap explain`.
#[derive(Debug)]
pub(crate) struct ExplainArgs {
    pub(crate) value: ValueArgs,
    pub(crate) rows: Vec<u64>,
    pub(crate) json: bool,
}

/// What was typed after `dshap look`.
#[derive(Debug)]
pub(crate) struct LookArgs {
    pub(crate) files: Vec<String>,
    pub(crate) json: bool,
    pub(crate) given: Given,
}

/// What was typed after `dshap fit`.
#[derive(Debug)]
pub(crate) struct FitArgs {
    pub(crate) reference: Vec<String>,
    pub(crate) method: Option<&'static Method>,
    pub(crate) output: PathBuf,
    pub(crate) given: Given,
}

/// What was typed after `dshap update`.
#[derive(Debug)]
pub(crate) struct UpdateArgs {
    pub(crate) valuer: PathBuf,
    pub(crate) add: Vec<String>,
    pub(crate) forget: Vec<String>,
    pub(crate) output: PathBuf,
    pub(crate) given: Given,
}

/// What was typed after `dshap merge`.
#[derive(Debug)]
pub(crate) struct MergeArgs {
    pub(crate) valuers: Vec<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) given: Given,
}

/// What was typed after `dshap evaluate` or `dshap compare`.
#[derive(Debug)]
pub(crate) struct TrialArgs {
    pub(crate) points: Vec<String>,
    pub(crate) methods: Vec<Entrant>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) given: Given,
}

impl ValueArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            points: texts(matches, "points"),
            valuer: matches.get_one("valuer").cloned(),
            method: matches.get_one("method").copied(),
            output: matches.try_get_one("output").ok().flatten().cloned(),
            given: given(matches),
        }
    }
}

impl TeachArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        let value = ValueArgs {
            points: texts(matches, "points"),
            valuer: None,
            method: matches.get_one("method").copied(),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        };
        Self { value, cases: texts(matches, "case") }
    }
}

impl ExplainArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            value: ValueArgs::of(matches),
            rows: matches.get_many("row").into_iter().flatten().copied().collect(),
            json: matches.get_one::<String>("as").is_some_and(|format| format == "json"),
        }
    }
}

impl LookArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self { files: texts(matches, "points"), json: matches.get_flag("json"), given: given(matches) }
    }
}

impl FitArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            reference: texts(matches, "rows"),
            method: matches.get_one("method").copied(),
            output: required(matches, "output"),
            given: given(matches),
        }
    }
}

impl UpdateArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            valuer: required(matches, "valuer"),
            add: texts(matches, "add"),
            forget: texts(matches, "forget"),
            output: required(matches, "output"),
            given: given(matches),
        }
    }
}

impl MergeArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            valuers: matches.get_many("valuers").into_iter().flatten().cloned().collect(),
            output: required(matches, "output"),
            given: given(matches),
        }
    }
}

impl TrialArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            points: texts(matches, "points"),
            methods: matches
                .get_many::<Vec<Entrant>>("methods")
                .into_iter()
                .flatten()
                .flatten()
                .cloned()
                .collect(),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        }
    }
}

pub(super) fn texts(matches: &ArgMatches, id: &str) -> Vec<String> {
    matches.get_many(id).into_iter().flatten().cloned().collect()
}

pub(super) fn required(matches: &ArgMatches, id: &str) -> PathBuf {
    matches.get_one::<PathBuf>(id).expect("clap requires it").clone()
}

/// Files as arguments.
pub(super) fn files(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).value_name(name).num_args(1..).value_hint(ValueHint::FilePath).help(help)
}

pub(super) fn value() -> Command {
    Command::new("value")
        .about("Value the rows of a table")
        .long_about(VALUE)
        .allow_negative_numbers(true)
        .arg(files("points", "POINTS", "Files with the rows to value; `-` is standard input").required(true))
        .args(Verb::Value.flags())
        .after_help(VALUE_EXAMPLES)
        .after_long_help(format!("{VALUE_EXAMPLES}\n{MORE_VALUE_EXAMPLES}"))
}

const VALUE: &str = "\
Value the rows of a table

The value of a row is the expected gain in the quality of a model when the row joins a random set of other rows. \
A positive value means the row is expected to help. The values of a table do not add up to its utility.

Without `--reference` or `--valuer`, each row is valued against all others. With `--reference`, rows are valued \
against the rows of those files, and with `--valuer` by what `dshap fit` saved.

The target decides what is modelled: labels (text, booleans or two values) are classified, other numbers are \
predicted by regression. `--task density` needs no target: it values rows for a density estimate. `--method` \
decides how rows are valued; `dshap methods` lists the methods, and `dshap methods NAME` describes one.

To find wrong labels, sort by penalty (`--sort penalty --top 50`), not by value: a row with a wrong label may \
still be worth something for its position. With `--method knn`, the value itself finds them (`--bottom 50`).

Files are CSV (also .gz, .zst), Parquet, Arrow IPC, NDJSON or NPY. Several files or a pattern are one table; `-` \
is standard input.";

const VALUE_EXAMPLES: &str = "\
Examples:
  dshap value wine.csv --target quality --bottom 20 --keep alcohol,pH
  dshap value new.csv --reference 'old/*.parquet' --target price -o values.parquet
  dshap value new.csv --valuer price.dshap --stderr -o values.arrow";

const MORE_VALUE_EXAMPLES: &str = "  \
  dshap value patients.csv --target diabetic --positive yes --sort penalty --top 20
  dshap value patients.csv --target diabetic --method second-order --utility accuracy
  dshap value embeddings.parquet --target animal --pca 32 --per-class -o values.parquet
  dshap value cells.csv --task density --bandwidth scott --stderr -o values.csv
  dshap value cells.csv --task density --sets patient
  dshap value iris.csv --target species --method knn --k 3 --bottom 10
  dshap value new.csv --reference old.csv --test held-out.csv --target price --method knn --stderr
  dshap value wine.csv --target quality --method d-shapley --test held-out.csv --stderr
  zcat big.csv.gz | dshap value - --target y --stderr > values.csv";

pub(super) fn explain() -> Command {
    Command::new("explain")
        .about("Say why a row is worth what it is worth")
        .long_about(EXPLAIN_ROWS)
        .allow_negative_numbers(true)
        .arg(files("points", "TABLE", "Files with the rows; `-` is standard input").required(true))
        .arg(
            Arg::new("row")
                .long("row")
                .value_name("N,M")
                .value_parser(value_parser!(u64))
                .value_delimiter(',')
                .action(ArgAction::Append)
                .required(true)
                .help("The rows, counted from 0 as in the column `row` of values"),
        )
        .arg(
            Arg::new("as")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["text", "json"])
                .default_value("text")
                .help("Sentences, or everything as JSON"),
        )
        .args(Verb::Explain.flags())
        .after_help(
            "\
Examples:
  dshap explain wine.csv --target quality --row 17
  dshap explain patients.csv --target diabetic --row 3,17 --format json
  dshap explain new.csv --valuer price.dshap --row 0",
        )
}

const EXPLAIN_ROWS: &str = "\
Say why a row is worth what it is worth

For each row: its value and where that stands among all, its target and what the model of the other rows predicts, \
what its position could bring and what its error costs, the features that make it unusual, the rows most like it, \
and the value it would have with the predicted target or label.

A feature contributes to the squared distance of a row from the mean; the columns of a category count together. A \
contribution is negative if the feature makes the others less surprising.

Rows are valued as by `dshap value`, with the same options.";

pub(super) fn look() -> Command {
    Command::new("look")
        .about("Look at a table: columns, types, roles, and every problem with the option that solves it")
        .long_about(
            "\
Look at a table: columns, types, roles, and every problem with the option that solves it

The whole table is read once. Nothing is fitted. The options about columns are those of `dshap value`, so that a \
command can be tried before it is run.",
        )
        .arg(files("points", "TABLE", "Files with the rows; `-` is standard input").required(true))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print everything as JSON"))
        .args(Verb::Look.flags())
        .after_help(
            "\
Examples:
  dshap look flights.csv
  dshap look flights.csv --target delay --dates parts --missing mean
  dshap look flights.csv --target delay --json | jq '.problems[].solution'",
        )
}

pub(super) fn report() -> Command {
    Command::new("report")
        .about("Value the rows of a table and write one page to read, send or print")
        .long_about(REPORT)
        .allow_negative_numbers(true)
        .arg(files("points", "POINTS", "Files with the rows to value; `-` is standard input").required(true))
        .arg(saved_valuer("The page, such as report.html; it appears whole or not at all"))
        .args(Verb::Report.flags())
        .after_help(
            "\
Examples:
  dshap report wine.csv --target quality -o wine.html
  dshap report rows.csv --target price --by vendor --keep sku -o vendors.html
  dshap report new.csv --valuer price.dshap -o new.html",
        )
}

const REPORT: &str = "\
Value the rows of a table and write one page to read, send or print

The page has the distribution of values, the rows that stand out, what values depend on, sums by owner (`--by`), \
warnings, and the command that makes it again. It is one HTML file without links to other addresses. It embeds \
bins, quantiles and a few dozen rows, so it stays small for any number of rows.

Rows are valued as by `dshap value`, with the same options.";

pub(super) fn teach() -> Command {
    Command::new("teach")
        .about("Show which rows teach the predictions of given cases")
        .long_about(TEACH)
        .allow_negative_numbers(true)
        .arg(files("points", "TABLE", "Files with the rows that teach; `-` is standard input").required(true))
        .arg(
            Arg::new("case")
                .long("case")
                .value_name("FILE")
                .action(ArgAction::Append)
                .value_hint(ValueHint::FilePath)
                .required(true)
                .help("Rows whose predictions are taught, with or without targets; repeat for several files"),
        )
        .args(Verb::Teach.flags())
        .after_help(
            "\
Examples:
  dshap teach wine.csv --target quality --case tonight.csv --top 5
  dshap teach old.csv --target price --case complaints.csv --bottom 3 --keep sku -o misleading.csv",
        )
}

const TEACH: &str = "\
Show which rows teach the predictions of given cases

For each case, every row is valued for that prediction alone: the expected drop in its squared error when the row \
joins a random set of others. The output has the number of the case, then the columns of `dshap value`, case by case. \
`--top N` keeps the N most valuable rows of each case, `--bottom N` the most harmful.

A case without a target counts what rows teach if the model is right there. A case with its target also shows which \
rows pull the prediction towards the target or away from it.

The table is read once for the fit and once for each case.";

pub(super) fn fit() -> Command {
    Command::new("fit")
        .about("Fit a reference and save the valuer")
        .long_about(FIT)
        .allow_negative_numbers(true)
        .arg(files("rows", "REFERENCE", "Files with the reference; `-` is standard input").required(true))
        .arg(saved_valuer("The valuer, such as NAME.dshap; it appears whole or not at all"))
        .args(Verb::Fit.flags())
        .after_help(
            "\
Examples:
  dshap fit old.csv --target price -o price.dshap
  dshap fit 'parts/*.parquet' --target y --weight w --memory 1GB -o y.dshap
  dshap fit old.csv --target species --method knn --test held-out.csv -o species.dshap
  dshap fit huge.csv --target y --checkpoint huge.state -o huge.dshap    killed? run it again",
        )
}

const FIT: &str = "\
Fit a reference and save the valuer

A valuer values any row later, seen or unseen, without the reference. The file holds how columns become numbers, \
the fit, and where the rows came from.

A valuer stores no rows, with these exceptions: classification stores about a thousand, at least 64 of each \
label, for standard errors; a density stores its rows, up to `--samples`; `general` and `knn` store all \
reference rows, and `knn` its test rows too. `dshap inspect` shows how large that is.

`dshap methods` lists the methods whose valuers can be saved, updated and merged.";

pub(super) fn update() -> Command {
    Command::new("update")
        .about("Add rows to the reference of a saved valuer, or remove rows")
        .long_about(
            "\
Add rows to the reference of a saved valuer, or remove rows

The old rows are not needed. m and q follow the number of rows unless they were given.

Rows are removed by subtracting what they added. If most of a column's variation goes with them, digits are \
lost; dshap says how many are left.",
        )
        .arg(
            Arg::new("valuer")
                .value_name("VALUER")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .required(true)
                .help("The valuer"),
        )
        .arg(files("add", "MORE", "Files with rows to add").required_unless_present("forget"))
        .arg(
            Arg::new("forget")
                .long("forget")
                .value_name("FILE")
                .action(ArgAction::Append)
                .value_hint(ValueHint::FilePath)
                .help("Files with rows to remove; repeat for several files"),
        )
        .arg(saved_valuer("The new valuer; it may replace the old one"))
        .args(Verb::Update.flags())
        .after_help(
            "\
Examples:
  dshap update price.dshap today.csv -o price.dshap
  dshap update price.dshap --forget withdrawn.csv -o price.dshap
  dshap update price.dshap corrected.csv --forget wrong.csv -o new.dshap",
        )
}

pub(super) fn merge() -> Command {
    Command::new("merge")
        .about("Combine valuers whose references have no row in common")
        .long_about(
            "\
Combine valuers whose references have no row in common

The result is the fit of all rows together, up to rounding. It knows the text levels of every part. m and q \
follow the number of rows unless they were given.",
        )
        .arg(
            Arg::new("valuers")
                .value_name("VALUER")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .num_args(2..)
                .required(true)
                .help("The valuers"),
        )
        .arg(saved_valuer("The new valuer"))
        .args(Verb::Merge.flags())
        .after_help("Example:\n  dshap merge north.dshap south.dshap -o all.dshap")
}

pub(super) fn evaluate() -> Command {
    Command::new("evaluate")
        .about("Try methods on your own table: do high values help, do low ones reveal mistakes?")
        .long_about(EVALUATE)
        .allow_negative_numbers(true)
        .arg(files("points", "POINTS", "Files with the rows; `-` is standard input").required(true))
        .args(Verb::Evaluate.flags())
        .after_help(
            "\
Examples:
  dshap evaluate wine.csv --target quality
  dshap evaluate patients.csv --target diabetic --methods gaussian,d-shapley,loo --noise 0.15
  dshap evaluate iris.csv --target species --methods gaussian,knn,knn-shapley --k 3 --ridge 1
  dshap evaluate wine.csv --target quality --repeats 20 --figure wine.svg -o wine-curves.csv",
        )
}

const EVALUATE: &str = "\
Try methods on your own table: do high values help, do low ones reveal mistakes?

Point addition starts from a model of a random half of the rows and adds the others, highest value first or \
lowest first. Point removal starts from a model of all rows and removes them in the same orders.

For detection, a share of the targets is made wrong: a label becomes another one, a number is swapped for that \
of another row. The rows are valued again and inspected lowest value first, or largest penalty first. Random \
orders are always among the methods.

Utility is measured on test rows that no model was fitted to: `--test FILE`, or else one row in five. Where a \
method itself values rows by test rows (baselines do, and `knn` with `--test`), half of them are for that and \
the other half for the curves, so no method is judged on rows it has used.

Of more than 10 000 rows, a random 10 000 are tried. Curves of large logistic models have fewer points and fewer \
random orders, down to 20 and 3. At the end, a verdict says which method to use, whether acting on it helps, and how \
sure that is.

The output has one row for each point of each curve: experiment, method, order, n_rows (added, removed or \
inspected), utility, relative (to the utility of all rows) and found (the share of wrong rows). A one-line summary \
per method is printed on the terminal, or on standard error if the curves go elsewhere.";

pub(super) fn compare() -> Command {
    let best = ValueParser::from(|text: &str| {
        let least_one = Kind::Count { least: 1, most: u64::MAX };
        least_one.parse(text).ok_or_else(|| format!("expected {}", least_one.expected()))
    });
    let top = |flag: Arg| {
        flag.value_parser(best)
            .help("Number of rows counted as best, for how much methods agree on them")
            .long_help(
                "Number of rows counted as best, for how much methods agree on them\n\nDefault: a tenth",
            )
    };
    Command::new("compare")
        .about("Value rows by several methods side by side and show how much the methods agree")
        .long_about(
            "\
Value rows by several methods side by side and show how much the methods agree

The output has one row per input row and one column per method. For each pair of methods, Spearman's and \
Kendall's correlations and the share of best rows they have in common are printed, and for each method its time; \
`--summary` has these numbers too.",
        )
        .allow_negative_numbers(true)
        .arg(files("points", "POINTS", "Files with the rows; `-` is standard input").required(true))
        .args(Verb::Compare.flags())
        .mut_arg(TOP.name, top)
        .after_help(
            "\
Examples:
  dshap compare wine.csv --target quality --methods gaussian,calibrated,general
  dshap compare wine.csv --target quality --methods gaussian,d-shapley,loo -o values.csv
  dshap compare cells.csv --task density --methods closed,d-shapley --test held-out.csv",
        )
}
