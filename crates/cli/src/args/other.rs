//! Commands with few flags.

use super::verb::method_names;
use super::{DatasetArgs, ExperimentArgs, FormulaCommand};
use clap::{Args, Subcommand};
use clap_complete::Shell;
use dshap_catalogue::{Kind, Value};
use dshap_models::Method;
use std::net::IpAddr;
use std::path::PathBuf;

/// Show what a saved valuer holds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dshap inspect price.dshap
  dshap inspect price.dshap --json | jq .noise_var")]
pub(crate) struct InspectArgs {
    /// The valuer
    #[arg(value_name = "VALUER")]
    pub(crate) valuer: PathBuf,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the methods, or describe one with its options and an example
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dshap methods
  dshap methods knn
  dshap methods --json | jq '.methods[].name'")]
pub(crate) struct MethodsArgs {
    /// A method
    #[arg(value_name = "NAME", value_parser = method_names(), hide_possible_values = true)]
    pub(crate) name: Option<&'static Method>,
    /// Print the entries as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Explore tables and their values in a browser
///
/// Everything stays on this computer: the server answers only programs that run here, and nothing is kept after it
/// ends unless `--keep` says where.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dshap serve                                     then open http://127.0.0.1:8787/
  dshap serve --data tables --keep results
  curl http://127.0.0.1:8787/api/openapi.json     the same as JSON")]
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "a program without the application only parses them")
)]
pub(crate) struct ServeArgs {
    /// A folder whose tables and valuers can be used; nothing outside it can
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The port; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8787)]
    pub(crate) port: u16,
    /// The address to listen on; one that other computers can reach needs a token, which is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Keep uploads and results in this folder; they are there again the next time
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Most bytes of one upload; all uploads together may take four times as much
    #[arg(long, value_name = "LIMIT", default_value = "1GB", value_parser = bytes)]
    pub(crate) max_upload: u64,
    /// Number of runs at the same time; others wait
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) max_runs: u16,
    /// Most seconds of one run
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_seconds: u64,
    /// Most memory of one run, and of the rows of all finished runs
    #[arg(long, value_name = "LIMIT", default_value = "4GB", value_parser = bytes)]
    pub(crate) memory: u64,
}

/// A number of bytes as people write it.
fn bytes(text: &str) -> Result<u64, String> {
    match Kind::Bytes.parse(text) {
        Some(Value::Count(bytes)) => Ok(bytes),
        _ => Err(format!("expected {}", Kind::Bytes.expected())),
    }
}

// A comment on a variant would hide the longer one of its struct.
#[derive(Debug, Subcommand)]
pub(crate) enum Other {
    Experiment(ExperimentArgs),
    Dataset(DatasetArgs),
    Serve(ServeArgs),
    /// Evaluate a closed form for given numbers
    #[command(subcommand)]
    Formula(FormulaCommand),
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  dshap completions bash > ~/.local/share/bash-completion/completions/dshap"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of dshap or of a command
    #[command(after_help = "Examples:\n  dshap man | man -l -\n  dshap man value > dshap-value.1")]
    Man {
        /// A command, such as `value`
        command: Option<String>,
    },
}
