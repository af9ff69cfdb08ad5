//! Flags that several commands have.

use super::method::parse_size;
use clap::{Args as ClapArgs, ValueEnum};
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
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Input columns to carry through to the output; cells of a text file stay the text they are.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Report standard errors: from the reference being a sample; of general, from the draws only;
    /// of knn and knn-shapley, from the test rows being a sample. Of second-order each row is also
    /// valued by a hundred drawn references, which takes several times as long (docs/refitted.md).
    #[arg(long)]
    pub(crate) stderr: bool,
    /// More than two labels: also what telling each label from the others contributes to the value
    /// (value_LABEL), and how likely it is (prob_LABEL); of one softmax model, only how likely.
    #[arg(long)]
    pub(crate) per_class: bool,
    #[command(flatten)]
    pub(crate) destination: DestinationArgs,
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

/// Where rows go.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct DestinationArgs {
    /// Write to a file (.csv, .json, .ndjson, .parquet, .arrow, .npy), which appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output. Default: by the name of the file; a table on a terminal, CSV in a pipe.
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Write what ran as JSON: what was found and by which settings, warnings, version; where values or a
    /// valuer are written, dropped columns and digests of inputs too.
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
