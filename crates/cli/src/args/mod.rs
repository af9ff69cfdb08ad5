//! What can be typed.

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use dshap::linear::Constant;
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
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Value the rows of a table.
    Value(Box<ValueArgs>),
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
/// Without `--reference`, the points are their own reference and each row is
/// valued against all others (leave-one-out, in closed form). The value of a
/// row is the expected drop in squared prediction error when it joins a random
/// set of other rows, summed over set sizes q−1 … m−1 and divided by m.
/// Positive: the row is expected to help. Values of the rows of a table do not
/// add up to its utility.
///
/// Files are CSV (also .gz, .zst) or Parquet; several files or a pattern are
/// one table; `-` is standard input.
#[derive(Debug, ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  dshap value wine.csv --target quality
  dshap value wine.csv --target quality --bottom 20 --keep alcohol,pH
  dshap value new.csv --reference 'old/*.parquet' --target price --id sku -o values.parquet
  zcat big.csv.gz | dshap value - --target y --stderr > values.csv"
)]
pub(crate) struct ValueArgs {
    /// Files with the rows to be valued; `-` is standard input.
    #[arg(required = true, value_name = "POINTS")]
    pub(crate) points: Vec<String>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Columns")]
pub(crate) struct TableArgs {
    /// Rows that stand for the distribution of the data; repeat for several files.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) reference: Option<Vec<String>>,
    /// The column to predict.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// The features, separated by commas. Default: all columns without another part.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) features: Option<Vec<String>>,
    /// Columns that are not features.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// A column that names the rows; carried through, not a feature.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// A column that names the owner or group of a row; carried through, not a feature.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Input columns to carry through to the output; cells of a CSV file stay the text they are.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Columns to be read as categories whatever they hold.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Missing cells: an error, rows left out, or the mean of the reference column.
    #[arg(long, value_name = "HOW", default_value = "error")]
    pub(crate) missing: MissingArg,
    /// Categories the reference does not have: an error, or like its first one.
    #[arg(long, value_name = "HOW", default_value = "error")]
    pub(crate) unseen: UnseenArg,
    /// Columns that are constant or depend on earlier ones: dropped, or an error.
    #[arg(long, value_name = "HOW", default_value = "drop")]
    pub(crate) dependent: DependentArg,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// What is predicted; guessed from the target when absent.
    #[arg(long)]
    pub(crate) task: Option<TaskArg>,
    /// How rows are valued: exactly, or by the paper's Monte Carlo.
    #[arg(long, value_name = "NAME", default_value = "gaussian")]
    pub(crate) method: MethodArg,
    /// Largest set size, the row included. Default: the number of reference rows.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: Option<usize>,
    /// Smallest set whose utility counts. Default: p + max(p, 10) for p design
    /// columns, at most m, at least p + 3.
    #[arg(long, value_parser = parse_size)]
    pub(crate) q: Option<usize>,
    /// The model has no intercept: nothing is centred.
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// The row-independent constant: gain, theorem or full:C. Default: gain.
    #[arg(long, value_parser = parse_constant)]
    pub(crate) constant: Option<Constant>,
    /// The sum as defined, or as printed in the paper's Theorem 2 (off by one, with its constant).
    /// Default: definition.
    #[arg(long)]
    pub(crate) convention: Option<ConventionArg>,
    /// Report standard errors (from the reference being a sample).
    #[arg(long)]
    pub(crate) stderr: bool,
    /// algorithm-3: stop when the sum moves by less (ρ₂). 0 never stops early. Default: 0.005.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop: Option<f64>,
    /// algorithm-3: stop drawing when the mean moves by less (ρ₁). Default: 0.01.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop_draws: Option<f64>,
    /// algorithm-3: at most so many draws per set size (T). Default: 1000.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) samples: Option<u64>,
    /// Seed of random methods. Default: 0.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write to a file (.csv, .json, .parquet), which appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output. Default: by the name of the file; a table on a terminal, CSV in a pipe.
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
    /// Order of the rows: as in the input, or by value from the highest down.
    #[arg(long, default_value = "row")]
    pub(crate) sort: SortArg,
    /// Only the N rows of highest value, from the highest down.
    #[arg(long, value_name = "N", conflicts_with = "bottom")]
    pub(crate) top: Option<usize>,
    /// Only the N rows of lowest value, from the lowest up.
    #[arg(long, value_name = "N")]
    pub(crate) bottom: Option<usize>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Write what ran as JSON: p, q, m, dropped columns, warnings, version, digests of the inputs.
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Warnings are errors: nothing is written.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Number of threads. Default: all. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Say nothing but warnings and errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FormulaCommand {
    /// Theorem 2: the value of a row from its distance and its residual.
    #[command(after_help = "\
Prints gain, simple (Theorem 2's constant), full (given C) and printed (the sum as
printed, off by one); a form that does not exist for these sizes is empty.

Examples:
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1
  dshap formula regression --cases cases.csv     columns p,q,m,d2,e2,sigma2 and C_lin if wanted")]
    Regression(RegressionFormulaArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RegressionFormulaArgs {
    /// A table of cases with columns p, q, m, d2, e2, sigma2 and optionally C_lin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["p", "q", "m", "d2", "e2", "sigma2", "c_lin"])]
    pub(crate) cases: Option<String>,
    /// Design columns.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) p: Option<f64>,
    /// Smallest set whose utility counts.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) q: Option<f64>,
    /// Largest set size, the row included.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) m: Option<f64>,
    /// Squared Mahalanobis distance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) d2: Option<f64>,
    /// Squared residual.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) e2: Option<f64>,
    /// Noise variance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) sigma2: Option<f64>,
    /// C of the full value.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) c_lin: Option<f64>,
    /// Write to a file (.csv, .json, .parquet).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output.
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    Regression,
    Classification,
    Density,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    Gaussian,
    #[value(name = "algorithm-3")]
    Algorithm3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConventionArg {
    Definition,
    Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissingArg {
    Error,
    Drop,
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnseenArg {
    Error,
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DependentArg {
    Drop,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    Csv,
    Json,
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    Row,
    Value,
}

fn parse_constant(text: &str) -> Result<Constant, String> {
    match text {
        "gain" => Ok(Constant::Gain),
        "theorem" => Ok(Constant::Theorem),
        _ => match text.strip_prefix("full:").map(str::parse::<f64>) {
            Some(Ok(c)) if c.is_finite() => Ok(Constant::Full(c)),
            _ => Err("expected gain, theorem or full:C with a number C, such as full:2.5".into()),
        },
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        // Beyond this, sums of set sizes no longer fit the numbers they are counted with.
        Ok(size) if (1..=1_000_000_000_000_000).contains(&size) => Ok(size),
        _ => Err("expected a whole number from 1 to 1000000000000000".into()),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rho) if (0.0..1.0).contains(&rho) => Ok(rho),
        _ => Err("expected a number from 0 to below 1".into()),
    }
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
