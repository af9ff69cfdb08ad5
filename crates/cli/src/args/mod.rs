//! What can be typed.

mod density;
mod evaluate;
mod experiment;
mod formula;
mod method;
mod neighbours;
mod second_order;
mod shared;
mod utility;

use density::DensityArgs;
pub(crate) use density::SetArgs;
pub(crate) use evaluate::{BenchArgs, CompareArgs, EvaluateArgs};
pub(crate) use experiment::{DatasetArgs, ExperimentArg, ExperimentArgs, HandlingArg};
pub(crate) use formula::{
    BoundFormulaArgs, ClassificationFormulaArgs, DensityFormulaArgs, FormulaCommand, RegressionFormulaArgs,
    SynergyFormulaArgs,
};
pub(crate) use method::{ConventionArg, MethodArg, MethodArgs, OptionArgs, SizeArgs, TaskArg};
use neighbours::NeighbourArgs;
use second_order::SecondOrderArgs;
pub(crate) use shared::{
    CheckpointArgs, ColumnArgs, DependentArg, DestinationArgs, FormatArg, MemoryArgs, MissingArg, OutputArgs,
    RunArgs, SortArg, UnseenArg,
};
use utility::{UtilityArg, UtilityArgs};

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// What each row of a dataset is worth to a model, exactly.
///
/// Without a command: a demonstration on data made for the purpose.
#[derive(Debug, Parser)]
#[command(
    name = "dshap",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  dshap                                           a demonstration
  dshap value wine.csv --target quality           value each row against the others
  dshap value new.csv --reference old.csv --target price -o values.csv
  dshap fit old.csv --target price -o price.dshap         fit once ...
  dshap value new.csv --valuer price.dshap                ... value anything later
  dshap evaluate wine.csv --target quality        do high values help, do low ones point at mistakes
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// The limit on memory, if there is one.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self.command.as_ref()? {
            Command::Value(args) => args.memory.memory,
            Command::Fit(args) => args.memory.memory,
            Command::Update(args) => args.memory.memory,
            Command::Evaluate(args) => args.bench.memory.memory,
            Command::Compare(args) => args.bench.memory.memory,
            _ => None,
        }
    }
}

// A comment on a variant would hide the longer one of its struct.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Value(Box<ValueArgs>),
    Fit(Box<FitArgs>),
    Update(UpdateArgs),
    Merge(MergeArgs),
    Inspect(InspectArgs),
    Evaluate(Box<EvaluateArgs>),
    Compare(Box<CompareArgs>),
    Experiment(ExperimentArgs),
    Dataset(DatasetArgs),
    /// Evaluate a closed form for given numbers.
    #[command(subcommand)]
    Formula(FormulaCommand),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  dshap completions bash > ~/.local/share/bash-completion/completions/dshap"
    )]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or one of a command.
    #[command(after_help = "Examples:\n  dshap man | man -l -\n  dshap man value > dshap-value.1")]
    Man {
        /// A command, such as `value`.
        command: Option<String>,
    },
}

/// Value the rows of a table.
///
/// Without `--reference` or `--valuer`, the points are their own reference and
/// each row is valued against all others (leave-one-out, in closed form). The
/// value of a row is the expected drop in squared prediction error when it joins
/// a random set of other rows, summed over set sizes q−1 … m−1 and divided by m.
/// Positive: the row is expected to help. Values of the rows of a table do not
/// add up to its utility.
///
/// Where the target holds labels (text, true and false, two values, or with
/// `--task classification`) it is the same gain for the least-squares problem
/// that stands in for a logistic model: coefficients and weights are those of
/// the whole reference. It is not the gain of a model fitted anew on each set:
/// that is `--method second-order`, under log-loss, accuracy or the Brier score,
/// where rows that contradict their label can be worth much (docs/refitted.md).
/// More than two labels are told apart one from the others, and values summed.
///
/// With `--task density` nothing is predicted: the value of a row is the expected
/// drop in integrated squared error of a kernel density estimate, over sets of
/// every size, up to a constant that all rows share. Rows are worth more where
/// others are near; the sign of a value has no meaning.
///
/// With `--method knn` the model is the k nearest rows of a set, for labels (any
/// number of them) or numbers: the value of a row is the expected gain in the share
/// of neighbours with the right label, or the drop in squared error, over test rows.
/// It needs no model to fit, and bends with any boundary. `--method knn-shapley` are
/// the Shapley values of the table itself, for comparison.
///
/// To find wrong labels, sort by penalty (`--sort penalty --top 50`), not by
/// value: a row far inside its class has a large penalty if its label is wrong,
/// but its position may be worth something all the same. Of `knn` the value itself
/// finds them (`--bottom 50`).
///
/// Files are CSV (also .gz, .zst), Parquet, Arrow IPC, NDJSON or NPY; several
/// files or a pattern are one table; `-` is standard input.
#[derive(Debug, ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  dshap value wine.csv --target quality
  dshap value wine.csv --target quality --bottom 20 --keep alcohol,pH
  dshap value new.csv --reference 'old/*.parquet' --target price --id sku -o values.parquet
  dshap value new.csv --valuer price.dshap --m 5000 --stderr -o values.arrow
  dshap value patients.csv --target diabetic --positive yes --sort penalty --top 20
  dshap value patients.csv --target diabetic --method second-order --utility accuracy
  dshap value embeddings.parquet --target animal --pca 32 --per-class -o values.parquet
  dshap value cells.csv --task density --bandwidth scott --stderr -o values.csv
  dshap value cells.csv --task density --sets patient
  dshap value iris.csv --target species --method knn --k 3 --bottom 10
  dshap value new.csv --reference old.csv --test held-out.csv --target price --method knn --stderr
  dshap value wine.csv --target quality --method d-shapley --test held-out.csv --stderr
  zcat big.csv.gz | dshap value - --target y --stderr > values.csv"
)]
pub(crate) struct ValueArgs {
    /// Files with the rows to be valued; `-` is standard input.
    #[arg(required = true, value_name = "POINTS")]
    pub(crate) points: Vec<String>,
    /// Rows that stand for the distribution of the data; repeat for several files.
    #[arg(long, value_name = "FILE", action = ArgAction::Append, conflicts_with = "valuer")]
    pub(crate) reference: Option<Vec<String>>,
    /// A valuer saved by `dshap fit`; m, q and the method may be said anew.
    #[arg(long, value_name = "FILE")]
    pub(crate) valuer: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) sets: SetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Fit a reference and save the valuer.
///
/// The file holds how columns become numbers, the fit, the moments from which it
/// can be updated or merged, and where the rows came from; not the rows. With it
/// any row is valued later, seen or unseen, without the reference. A valuer of
/// a classification cannot be updated or merged, and carries about a thousand of
/// its rows (64 of each label at least), from which standard errors are computed. One of a density carries its
/// rows, up to `--samples` of them; one of nearest neighbours all reference rows and
/// the test rows.
#[derive(Debug, ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  dshap fit old.csv --target price -o price.dshap
  dshap fit 'parts/*.parquet' --target y --weight w --memory 1GB -o y.dshap
  dshap fit old.csv --target species --method knn --test held-out.csv -o species.dshap
  dshap fit huge.csv --target y --checkpoint huge.state -o huge.dshap    killed? run it again"
)]
pub(crate) struct FitArgs {
    /// Files with the reference; `-` is standard input.
    #[arg(required = true, value_name = "REFERENCE")]
    pub(crate) reference: Vec<String>,
    /// The valuer, such as NAME.dshap; it appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Add rows to the reference of a saved valuer, or take rows away.
///
/// The old rows are not needed. m and q follow the number of rows unless they
/// were given. Rows are taken away by subtracting what they added; if most of a
/// column's variation goes with them, digits are lost, and how many are left is
/// said.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  dshap update price.dshap today.csv -o price.dshap
  dshap update price.dshap --forget withdrawn.csv -o price.dshap
  dshap update price.dshap corrected.csv --forget wrong.csv -o new.dshap")]
pub(crate) struct UpdateArgs {
    /// The valuer.
    #[arg(value_name = "VALUER")]
    pub(crate) valuer: PathBuf,
    /// Files with rows to be added.
    #[arg(value_name = "MORE", required_unless_present = "forget")]
    pub(crate) add: Vec<String>,
    /// Files with rows to be taken away; repeat for several.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) forget: Vec<String>,
    /// The new valuer; may be the old one.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Make one valuer of several whose references have no row in common.
///
/// The result is the fit of all rows together, up to rounding. Text levels that
/// only one part has are known to the whole. m and q follow the number of rows
/// unless they were given.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Example:
  dshap merge north.dshap south.dshap -o all.dshap")]
pub(crate) struct MergeArgs {
    /// The valuers.
    #[arg(value_name = "VALUER", required = true, num_args = 2..)]
    pub(crate) valuers: Vec<PathBuf>,
    /// The new valuer.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Show what a saved valuer holds.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  dshap inspect price.dshap
  dshap inspect price.dshap --json | jq .noise_var")]
pub(crate) struct InspectArgs {
    /// The valuer.
    #[arg(value_name = "VALUER")]
    pub(crate) valuer: PathBuf,
    /// As JSON, with everything.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_are_consistent() {
        Args::command().debug_assert();
    }
}
