//! Flags of `dshap evaluate` and `dshap compare`.

use super::method::parse_size;
use super::{ColumnArgs, DestinationArgs, MemoryArgs, MethodArg, OptionArgs, RunArgs, TaskArg};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// What both commands have.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchArgs {
    /// Files with the rows; `-` is standard input.
    #[arg(required = true, value_name = "POINTS")]
    pub(crate) points: Vec<String>,
    /// The methods, separated by commas: any that `dshap value` has. Default: gaussian,loo;
    /// closed,loo for densities. An option is for those of them that know it; what it is to each,
    /// `dshap value --help` says.
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Method")]
    pub(crate) methods: Vec<MethodArg>,
    /// What is predicted: a number, a label, or nothing (density). Guessed from the target when
    /// absent.
    #[arg(long, help_heading = "Method")]
    pub(crate) task: Option<TaskArg>,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) destination: DestinationArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Try methods on a table of one's own: do high values help, do low ones point at mistakes.
///
/// Point addition: a model of half of the rows, chosen at random, to which the
/// others are added from the highest value down, or from the lowest up. Point
/// removal: a model of all rows, from which they are taken away in the same
/// orders. Detection: a share of the targets is made wrong (a label becomes
/// another, a number becomes a different one of another row), rows are valued
/// anew, and the lowest values, or the largest penalties, are looked at first.
/// Random orders are always among the methods, ten of them.
///
/// What a model is worth is measured on test rows that have no part in it:
/// `--test FILE`, or else one row in five. Where methods value rows by test rows
/// themselves (baselines do, and with `--test` neighbours), half of them are for
/// that and the other half for the curves, so that no method is judged on rows
/// that it has looked at.
///
/// The output is one row for each point of each curve: experiment, method, order,
/// n_rows (added, removed or looked at), utility, relative (to that of all rows)
/// and found (the share of wrong rows). One line for each method is for the eyes: on
/// a terminal, or on standard error where the curves go elsewhere.
#[derive(Debug, ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  dshap evaluate wine.csv --target quality
  dshap evaluate patients.csv --target diabetic --methods gaussian,d-shapley,loo --noise 0.15
  dshap evaluate iris.csv --target species --methods gaussian,knn,knn-shapley --k 3 --ridge 1
  dshap evaluate wine.csv --target quality --repeats 20 --figure wine.svg -o wine-curves.csv"
)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) bench: BenchArgs,
    /// Share of the targets that are made wrong, to be detected. Default: 0.1; a density has no targets.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Trial")]
    pub(crate) noise: Option<f64>,
    /// Repeat with other halves and other wrong targets; curves are means, and how much single runs
    /// differ is in the table and in `--summary`.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_size, help_heading = "Trial")]
    pub(crate) repeats: usize,
    /// Draw the curves, as SVG or PNG by the name of the file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) figure: Option<PathBuf>,
}

/// Value rows by several methods, side by side, and say how much they agree.
///
/// The output has a row for each row and a column for each method. How much each
/// two methods agree (Spearman's and Kendall's correlations, and the share of the
/// best rows that they have in common) and how long each took is said beside it,
/// and is in `--summary`.
#[derive(Debug, ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  dshap compare wine.csv --target quality --methods gaussian,calibrated,general
  dshap compare wine.csv --target quality --methods gaussian,d-shapley,tmc-shapley --samples 2000 -o values.csv
  dshap compare cells.csv --task density --methods closed,d-shapley --test held-out.csv"
)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) bench: BenchArgs,
    /// Input columns to carry through to the output.
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Output")]
    pub(crate) keep: Vec<String>,
    /// So many rows of highest value count as the best. Default: a tenth.
    #[arg(long, value_name = "N", value_parser = parse_size, help_heading = "Output")]
    pub(crate) top: Option<usize>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number between 0 and 1".into()),
    }
}
