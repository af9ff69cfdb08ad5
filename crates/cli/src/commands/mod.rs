//! One file per command: what was typed becomes what was meant, and runs.

mod baseline;
mod compare;
mod dataset;
mod deliver;
mod demo;
mod evaluate;
mod experiment;
mod finish;
mod fit;
mod formula;
mod inspect;
mod pages;
mod plan;
mod said;
mod value;

use crate::args::{Args, Command, FormulaCommand};
use crate::failure::Failure;

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        None => demo::run(),
        Some(Command::Value(args)) => value::run(&args),
        Some(Command::Fit(args)) => fit::fit(&args),
        Some(Command::Update(args)) => fit::update(&args),
        Some(Command::Merge(args)) => fit::merge(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Experiment(args)) => experiment::run(&args),
        Some(Command::Dataset(args)) => dataset::run(&args),
        Some(Command::Evaluate(args)) => evaluate::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Formula(FormulaCommand::Regression(args))) => formula::regression(&args),
        Some(Command::Formula(FormulaCommand::Classification(args))) => formula::classification(&args),
        Some(Command::Formula(FormulaCommand::Bounds(args))) => formula::bounds(&args),
        Some(Command::Formula(FormulaCommand::Density(args))) => formula::density(&args),
        Some(Command::Formula(FormulaCommand::Synergy(args))) => formula::synergy(&args),
        Some(Command::Completions { shell }) => pages::completions(shell),
        Some(Command::Man { command }) => pages::man(command.as_deref()),
    }
}
