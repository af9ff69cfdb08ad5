//! Flags that several commands have.

use super::{DensityArgs, NeighbourArgs, SecondOrderArgs, UtilityArgs};
use clap::{Args as ClapArgs, ValueEnum};
use dshap::linear::Constant;
use dshap_run::parse_constant;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
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
    /// A column with the weights of reference rows: numbers from 0 on, of which only ratios matter.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Columns to be read as categories whatever they hold.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Classification: the label that counts as 1. Default: the larger or later of the two; values
    /// do not depend on it, `prob` does.
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// Reduce the columns to the K leading principal components of the reference: for embeddings,
    /// such as the last layer of a network. Columns are centred, not scaled.
    #[arg(long, value_name = "K", value_parser = parse_size)]
    pub(crate) pca: Option<usize>,
    /// Missing cells: an error, rows left out, or the mean of the reference column. Default: error.
    #[arg(long, value_name = "HOW")]
    pub(crate) missing: Option<MissingArg>,
    /// Categories the reference does not have: an error, or 0 for every one it has. Default: error.
    #[arg(long, value_name = "HOW")]
    pub(crate) unseen: Option<UnseenArg>,
    /// Columns that are constant or depend on earlier ones: dropped, or an error. Default: drop.
    #[arg(long, value_name = "HOW")]
    pub(crate) dependent: Option<DependentArg>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// What is predicted: a number, a label, or nothing (density). Guessed from the target when
    /// absent: classification if it is text, true or false, or has two values.
    #[arg(long)]
    pub(crate) task: Option<TaskArg>,
    /// How rows are valued: exactly for Gaussian inputs, calibrated to other ones, by drawing
    /// sets (general: any inputs, with a ridge), bounded, or by the paper's Monte Carlo; by nearest
    /// neighbours (knn), also as Shapley values of a finite dataset (knn-shapley). Default: gaussian.
    /// Labels: also for a model that is refitted on each set (second-order).
    /// Densities: in closed form, or by the paper's Monte Carlo. Default: closed.
    /// Baselines, for every task, with all rows in memory: d-shapley, tmc-shapley, exact-shapley
    /// (up to 20 rows, of densities any number), loo (leave-one-out), random (docs/baselines.md).
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<MethodArg>,
    #[command(flatten)]
    pub(crate) sizes: SizeArgs,
    /// The model has no intercept: nothing is centred, and classification has no column of ones.
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Value a model that fits its intercept anew on each set, instead of taking the reference
    /// means as known.
    #[arg(long, conflicts_with = "no_intercept")]
    pub(crate) refit_intercept: bool,
    /// Ridge penalty for features as given. Regression (general, lower, upper): added to the sum of
    /// squares; a column that depends on others is left out all the same. Classification (every
    /// method): half of it times the squared coefficients is added to the log-loss of the fit.
    /// Default: 0.
    #[arg(long, value_name = "G", value_parser = parse_penalty)]
    pub(crate) ridge: Option<f64>,
    /// lower, upper: c of the eigenvalues' tail. Default: 0.5 (proved), 1 with --convention printed.
    #[arg(long, value_name = "NUMBER", value_parser = parse_positive)]
    pub(crate) bound_c: Option<f64>,
    /// lower, upper: C of the eigenvalues' edge. Default: 1.
    #[arg(long = "bound-C", value_name = "NUMBER", value_parser = parse_penalty)]
    pub(crate) bound_edge: Option<f64>,
    /// The row-independent constant: gain, theorem or full:C. Default: gain.
    #[arg(long, value_parser = parse_constant)]
    pub(crate) constant: Option<Constant>,
    /// The sum as defined, or as printed in the paper's Theorem 2 (off by one, with its constant);
    /// bounds of a classification as printed are on the authors' variables. Default: definition.
    #[arg(long)]
    pub(crate) convention: Option<ConventionArg>,
    /// algorithm-3: stop when the sum moves by less (ρ₂), 0 never; default 0.005. general: errors
    /// wanted, as a share of the spread of values; default 0.02. Printed bounds: Algorithm 4's rule, 0.005 in the paper; without it, full sums.
    /// d-shapley, tmc-shapley: stop when means move by less in a hundred iterations; default 0.05.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop: Option<f64>,
    /// algorithm-3: stop drawing when the mean moves by less (ρ₁). Default: 0.01.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop_draws: Option<f64>,
    /// algorithm-3: at most so many draws per set size (T); default 1000. general: rounds; default
    /// 4096. Density: reference rows, of more so many are drawn; default 20000. knn, knn-shapley:
    /// reference rows that are test rows, of more so many are drawn; default 10000. d-shapley,
    /// tmc-shapley: iterations; default 10000.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) samples: Option<u64>,
    /// Seed of random methods, of standard errors by drawing the reference again (second-order), and of a
    /// sample of the reference or of its test rows. Default: 0.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) second_order: SecondOrderArgs,
    #[command(flatten)]
    pub(crate) density: DensityArgs,
    #[command(flatten)]
    pub(crate) neighbours: NeighbourArgs,
    #[command(flatten)]
    pub(crate) utility: UtilityArgs,
}

/// The set sizes averaged over.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct SizeArgs {
    /// Largest set size, the row included. Default: the number of reference rows.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: Option<usize>,
    /// Smallest set whose utility counts. Default: p + max(p, 10) for p design
    /// columns, at most m, at least p + 3; of knn k + 1; of tmc-shapley, exact-shapley and loo at
    /// most half of the rows, and 1 with a ridge, which labels have.
    #[arg(long, value_parser = parse_size)]
    pub(crate) q: Option<usize>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Input columns to carry through to the output; cells of a text file stay the text they are.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Report standard errors: from the reference being a sample; of general, from the draws only;
    /// of knn and knn-shapley, from the test rows being a sample.
    #[arg(long)]
    pub(crate) stderr: bool,
    /// More than two labels: also what telling each label from the others contributes to the value
    /// (value_LABEL), and how likely it is (prob_LABEL).
    #[arg(long)]
    pub(crate) per_class: bool,
    /// Write to a file (.csv, .json, .ndjson, .parquet, .arrow, .npy), which appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output. Default: by the name of the file; a table on a terminal, CSV in a pipe.
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
    /// Order of the rows: as in the input, by value from the highest down, or by penalty from the
    /// largest down, which finds wrong labels and targets best (docs/labels.md).
    #[arg(long, default_value = "row")]
    pub(crate) sort: SortArg,
    /// Only the N rows of highest value, from the highest down; with --sort penalty those of the
    /// largest penalty.
    #[arg(long, value_name = "N", conflicts_with = "bottom")]
    pub(crate) top: Option<usize>,
    /// Only the N rows of lowest value, from the lowest up.
    #[arg(long, value_name = "N")]
    pub(crate) bottom: Option<usize>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Write what ran as JSON: p, q, m, dropped columns, warnings, version, digests of inputs.
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

/// How much memory there is.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Run")]
pub(crate) struct MemoryArgs {
    /// Most memory to use, such as 512MB or 4GiB: tables are read in smaller batches. Default: no limit.
    #[arg(long, value_name = "LIMIT", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
}

/// What is kept for the case that a run is killed.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Run")]
pub(crate) struct CheckpointArgs {
    /// Keep the state of the fit here; a run that was killed goes on from it and ends with the
    /// same bits. Removed at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often it is written, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, requires = "checkpoint", value_parser = parse_seconds)]
    pub(crate) checkpoint_every: f64,
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
    Calibrated,
    General,
    Lower,
    Upper,
    #[value(name = "algorithm-3")]
    Algorithm3,
    SecondOrder,
    Closed,
    MonteCarlo,
    Knn,
    KnnShapley,
    DShapley,
    TmcShapley,
    ExactShapley,
    Loo,
    Random,
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
    Ndjson,
    Parquet,
    Arrow,
    Npy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    Row,
    Value,
    Penalty,
}

pub(super) fn parse_size(text: &str) -> Result<usize, String> {
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

/// A number of bytes: 512MB, 4GiB, 1.5 GB, 800k.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 512MB, 4GB or 2GiB".to_string();
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let unit: f64 = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

pub(super) fn parse_penalty(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
        _ => Err("expected a number of at least 0".into()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0".into()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_bytes("512MB"), Ok(512_000_000));
        assert_eq!(parse_bytes("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(parse_bytes("800k"), Ok(800_000));
        assert_eq!(parse_bytes("4096"), Ok(4096));
        for wrong in ["", "MB", "-1GB", "1XB", "0", "1e3", "nan", "9999999999TB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
