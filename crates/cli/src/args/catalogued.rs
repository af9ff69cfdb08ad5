//! The commands whose flags come from the catalogue: `value`, `report`, `fit`, `update`, `merge`, `evaluate`
//! and `compare`.

use super::flags::given;
use super::verb::{Verb, saved_valuer};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use dshap_catalogue::options::TOP;
use dshap_catalogue::{Given, Kind};
use dshap_models::Method;
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
    pub(crate) methods: Vec<&'static Method>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) given: Given,
}

impl ValueArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            points: texts(matches, "points"),
            valuer: matches.get_one("valuer").cloned(),
            method: matches.get_one("method").copied(),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        }
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
            methods: matches.get_many("methods").into_iter().flatten().copied().collect(),
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
of another row. The rows are valued again and inspected lowest value first, or largest penalty first. Ten random \
orders are always among the methods.

Utility is measured on test rows that no model was fitted to: `--test FILE`, or else one row in five. Where a \
method itself values rows by test rows (baselines do, and `knn` with `--test`), half of them are for that and \
the other half for the curves, so no method is judged on rows it has used.

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
