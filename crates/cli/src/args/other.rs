//! Commands with few flags.

use super::verb::method_names;
use super::{DatasetArgs, ExperimentArgs, FormulaCommand};
use clap::{Args, Subcommand};
use clap_complete::Shell;
use dshap_models::Method;
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

// A comment on a variant would hide the longer one of its struct.
#[derive(Debug, Subcommand)]
pub(crate) enum Other {
    Experiment(ExperimentArgs),
    Dataset(DatasetArgs),
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
