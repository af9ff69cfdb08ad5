//! One file per command: makes a request from what was typed and carries it out.

mod clean;
mod compare;
#[cfg(feature = "experiments")]
mod dataset;
mod deliver;
mod demo;
mod evaluate;
#[cfg(feature = "experiments")]
mod experiment;
mod explain;
mod finish;
mod fit;
mod formula;
mod inspect;
mod look;
mod methods;
mod owners;
mod pages;
mod payout;
mod report;
mod requests;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod teach;
mod value;

use crate::args::{FormulaCommand, Other, Typed};
use crate::failure::Failure;

pub(crate) fn run(typed: Typed) -> Result<(), Failure> {
    match typed {
        Typed::Demo => demo::run(),
        Typed::Value(args) => value::run(&args),
        Typed::Look(args) => look::run(&args),
        Typed::Explain(args) => explain::run(&args),
        Typed::Report(args) => report::run(&args),
        Typed::Teach(args) => teach::run(&args),
        Typed::Fit(args) => fit::fit(&args),
        Typed::Update(args) => fit::update(&args),
        Typed::Merge(args) => fit::merge(&args),
        Typed::Inspect(args) => inspect::run(&args),
        Typed::Evaluate(args) => evaluate::run(&args),
        Typed::Compare(args) => compare::run(&args),
        Typed::Clean(args) => clean::run(&args),
        Typed::Owners(args) => owners::run(&args),
        Typed::Payout(args) => payout::payout(&args),
        Typed::Verify(args) => payout::verify(&args),
        Typed::Methods(args) => methods::run(&args),
        #[cfg(feature = "experiments")]
        Typed::Other(Other::Experiment(args)) => experiment::run(&args),
        #[cfg(feature = "experiments")]
        Typed::Other(Other::Dataset(args)) => dataset::run(&args),
        #[cfg(not(feature = "experiments"))]
        Typed::Other(Other::Experiment(_) | Other::Dataset(_)) => Err(Failure::Usage {
            message: "this build of dshap has no experiments and no datasets".into(),
            hint: Some(
                "build it with `cargo run --release --features full -- experiment`, or install the Python package".into(),
            ),
        }),
        #[cfg(feature = "serve")]
        Typed::Other(Other::Serve(args)) => serve::run(&args),
        #[cfg(not(feature = "serve"))]
        Typed::Other(Other::Serve(_)) => Err(Failure::Usage {
            message: "this build of dshap has no web application".into(),
            hint: Some(
                "build it with `cargo run --release --features full -- serve`, or install the Python package".into(),
            ),
        }),
        Typed::Other(Other::Formula(FormulaCommand::Regression(args))) => formula::regression(&args),
        Typed::Other(Other::Formula(FormulaCommand::Classification(args))) => formula::classification(&args),
        Typed::Other(Other::Formula(FormulaCommand::Bounds(args))) => formula::bounds(&args),
        Typed::Other(Other::Formula(FormulaCommand::Density(args))) => formula::density(&args),
        Typed::Other(Other::Formula(FormulaCommand::Weights(args))) => formula::weights(&args),
        Typed::Other(Other::Formula(FormulaCommand::Pair(args))) => formula::pair(&args),
        Typed::Other(Other::Formula(FormulaCommand::Synergy(args))) => formula::synergy(&args),
        Typed::Other(Other::Completions { shell }) => pages::completions(shell),
        Typed::Other(Other::Man { command }) => pages::man(command.as_deref()),
    }
}
