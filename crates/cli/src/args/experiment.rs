//! Flags of `dshap experiment` and `dshap dataset`.

#![cfg_attr(
    not(feature = "experiments"),
    allow(dead_code, reason = "a program without experiments only parses them")
)]

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

/// Run an experiment of the paper.
///
/// Writes a table with the rows of every repetition (CSV), a figure (SVG and
/// PNG), a summary that sets the paper's numbers beside those found (Markdown) and
/// a record of the settings (JSON). If it is killed, run it again: repetitions in
/// the table are kept. Apart from times, results depend only on the seed and the
/// data.
///
/// fig1: time against m; table1: time on twelve datasets; table2: these datasets; fig2: point addition on
/// these datasets; fig3: synergy; fig4: value against distance; fig5, fig6: point
/// addition by bounds, for regression and for classification.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  dshap experiment fig4 -o results
  dshap experiment fig2 --quick --only gaussian-r,gaussian-c -o quick
  dshap experiment fig2 --data datasets --d-shapley 50,mnist=2 -o results
  dshap experiment fig2 --data datasets --data-handling paper -o as-in-paper")]
pub(crate) struct ExperimentArgs {
    /// The experiment.
    #[arg(value_name = "NAME")]
    pub(crate) name: ExperimentArg,
    /// The folder for its files; created if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// A version that takes about a minute: fewer repetitions, smaller sizes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folders with tables such as abalone.csv; repeat for several. Tables downloaded by `dshap dataset` are
    /// found without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Vec<PathBuf>,
    /// Tables to use for `australian` and `diabetes`: as their sources describe them, or as the paper's code
    /// read them.
    #[arg(long, value_name = "WHICH", default_value = "corrected")]
    pub(crate) data_handling: HandlingArg,
    /// Panels to show, such as abalone,airfoil. Default: all.
    #[arg(long, value_name = "PANELS", value_delimiter = ',')]
    pub(crate) only: Option<Vec<String>>,
    /// Number of repetitions. Default: that of the paper, or a few with `--quick`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) repetitions: Option<u16>,
    /// Repetitions that include D-SHAPLEY, such as 10 or 50,mnist=2; 0 leaves it out. Default: all in fig1,
    /// fig2, fig5 and fig6, one in table1; with `--quick` only where least squares are updated rather than fitted.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_share)]
    pub(crate) d_shapley: Vec<(Option<String>, u16)>,
    /// The constant that fig4 shows: `gain`, the drop in squared error, or that of Theorem 2.
    #[arg(long, value_name = "WHICH", default_value = "gain")]
    pub(crate) constant: ConstantArg,
    /// Seed of everything that is drawn.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads. Default: all. Only times depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print only errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentArg {
    Fig1,
    Table1,
    Table2,
    Fig2,
    Fig3,
    Fig4,
    Fig5,
    Fig6,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConstantArg {
    Gain,
    Theorem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HandlingArg {
    Corrected,
    Paper,
}

/// Make or download a dataset of the paper.
///
/// Made sets are drawn from a seed. Others are downloaded from their public
/// sources, turned into one table with the column `target` last, checked by a
/// digest of the numbers, and kept in the user's cache folder, where
/// `dshap experiment` finds them. Features of images (mnist, fashion-mnist,
/// cifar10) are not published and cannot be downloaded.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  dshap dataset --list
  dshap dataset gaussian-r --rows 10000 --seed 7 -o gaussian-r.csv
  dshap dataset abalone -o abalone.csv
  dshap dataset abalone --from abalone.zip")]
pub(crate) struct DatasetArgs {
    /// The dataset.
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub(crate) name: Option<String>,
    /// Write to a .csv, .json, .ndjson, .parquet, .arrow or .npy file. Default: CSV on standard output.
    #[arg(short, long, value_name = "FILE", conflicts_with = "list")]
    pub(crate) output: Option<PathBuf>,
    /// List all datasets.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Take the source from this address or file instead of the public address: as published, zipped or not,
    /// or a table that this command made from it.
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,
    /// Use the table even if its digest is not the expected one; it is not cached.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Rows of a made dataset. Default: 2000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) rows: Option<u32>,
    /// Features of a made dataset. Default: 10 (gaussian-r), 3 (gaussian-c).
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) features: Option<u32>,
    /// The seed of a made dataset. Default: 0.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// `N`, or `PANEL=N`.
fn parse_share(text: &str) -> Result<(Option<String>, u16), String> {
    let (panel, count) = match text.split_once('=') {
        Some((panel, count)) => (Some(panel.to_string()), count),
        None => (None, text),
    };
    let count = count.parse().map_err(|_| format!("`{count}` is not a number of repetitions"))?;
    Ok((panel, count))
}
