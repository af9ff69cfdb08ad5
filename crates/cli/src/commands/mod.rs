//! One file per command: what was typed becomes what was meant, and runs.

mod demo;
mod formula;
mod pages;
mod plan;
mod value;

use crate::args::{Args, Command, FormulaCommand};
use crate::failure::Failure;

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        None => demo::run(),
        Some(Command::Value(args)) => value::run(&args),
        Some(Command::Formula(FormulaCommand::Regression(args))) => formula::regression(&args),
        Some(Command::Completions { shell }) => pages::completions(shell),
        Some(Command::Man { command }) => pages::man(command.as_deref()),
    }
}
