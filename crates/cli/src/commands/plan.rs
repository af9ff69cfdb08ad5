//! What was meant: flags that belong together, checked.

use crate::args::{
    ConventionArg, DependentArg, FormatArg, MethodArg, MethodArgs, MissingArg, OutputArgs, SortArg,
    TableArgs, TaskArg, UnseenArg, ValueArgs,
};
use crate::failure::Failure;
use dshap::linear::{Algorithm3, Constant, Convention};
use dshap_io::{Destination, Format};
use dshap_run::{Arrange, Method, Task, ValueRequest};
use dshap_table::{Missing, Selection, Unseen};
use std::io::IsTerminal;
use std::path::Path;

/// The request behind `dshap value`.
pub(crate) fn request(args: &ValueArgs) -> Result<ValueRequest, Failure> {
    let ValueArgs { points, table, method, run, .. } = args;
    let n_standard_inputs =
        points.iter().chain(table.reference.iter().flatten()).filter(|name| *name == "-").count();
    if n_standard_inputs > 1 {
        return Err(Failure::usage("standard input `-` can be read only once"));
    }
    let task = match method.task {
        None => None,
        Some(TaskArg::Regression) => Some(Task::Regression),
        Some(TaskArg::Classification | TaskArg::Density) => {
            return Err(Failure::usage("this version of dshap values regression only; `--task regression`"));
        }
    };
    Ok(ValueRequest {
        points: points.clone(),
        reference: table.reference.clone(),
        selection: selection(table),
        missing: match table.missing {
            MissingArg::Error => Missing::Error,
            MissingArg::Drop => Missing::Drop,
            MissingArg::Mean => Missing::Mean,
        },
        unseen: match table.unseen {
            UnseenArg::Error => Unseen::Error,
            UnseenArg::Zero => Unseen::Zero,
        },
        task,
        method: method_of(method)?,
        max_size: method.m,
        min_size: method.q,
        intercept: !method.no_intercept,
        allow_dependent: table.dependent == DependentArg::Drop,
        std_error: method.stderr,
        digests: run.summary.is_some(),
        outputs: args.output.output.iter().chain(&run.summary).cloned().collect(),
    })
}

fn selection(table: &TableArgs) -> Selection {
    Selection {
        target: table.target.clone(),
        features: table.features.clone(),
        exclude: table.exclude.clone(),
        id: table.id.clone(),
        by: table.by.clone(),
        keep: table.keep.clone(),
        categorical: table.categorical.clone(),
    }
}

fn method_of(args: &MethodArgs) -> Result<Method, Failure> {
    match args.method {
        MethodArg::Gaussian => {
            // A seed does no harm to a method that draws nothing.
            let given = [
                ("--stop", args.stop.is_some()),
                ("--stop-draws", args.stop_draws.is_some()),
                ("--samples", args.samples.is_some()),
            ];
            if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
                return Err(Failure::usage(format!("`{flag}` goes with `--method algorithm-3` only")));
            }
            let convention = match args.convention.unwrap_or(ConventionArg::Definition) {
                ConventionArg::Definition => Convention::Definition,
                ConventionArg::Printed => Convention::Printed,
            };
            if convention == Convention::Printed && !matches!(args.constant, None | Some(Constant::Theorem)) {
                return Err(Failure::usage(
                    "`--convention printed` is Theorem 2 as printed, whose constant is `theorem`; leave `--constant` out",
                ));
            }
            Ok(Method::Gaussian { constant: args.constant.unwrap_or_default(), convention })
        }
        MethodArg::Algorithm3 => {
            let unfit = [
                ("--constant", args.constant.is_some()),
                ("--convention", args.convention.is_some()),
                ("--stderr", args.stderr),
            ];
            if let Some((flag, _)) = unfit.iter().find(|(_, given)| *given) {
                return Err(Failure::usage(format!("`{flag}` does not go with `--method algorithm-3`")));
            }
            let default = Algorithm3::default();
            Ok(Method::Algorithm3(Algorithm3 {
                inner_tolerance: args.stop_draws.unwrap_or(default.inner_tolerance),
                outer_tolerance: args.stop.unwrap_or(default.outer_tolerance),
                max_draws: args.samples.map_or(default.max_draws, |draws| draws as usize),
                seed: args.seed.unwrap_or(default.seed),
            }))
        }
    }
}

/// Where the output goes.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A table for the eyes.
    Terminal,
    /// Data.
    Written(Destination, Format),
}

/// Settles destination and format.
pub(crate) fn target(output: Option<&Path>, format: Option<FormatArg>) -> Result<Target, Failure> {
    let format = format.map(|format| match format {
        FormatArg::Csv => Format::Csv,
        FormatArg::Json => Format::Json,
        FormatArg::Parquet => Format::Parquet,
    });
    let terminal = std::io::stdout().is_terminal();
    match (output.filter(|path| *path != Path::new("-")), format) {
        (Some(path), Some(format)) => Ok(Target::Written(Destination::File(path.into()), format)),
        (Some(path), None) => {
            let format = Format::from_extension(path).map_err(|error| {
                Failure::usage(format!("{error}; name it .csv, .json or .parquet, or give `--format`"))
            })?;
            Ok(Target::Written(Destination::File(path.into()), format))
        }
        (None, Some(Format::Parquet)) if terminal => {
            Err(Failure::usage("Parquet is not written to a terminal; give `-o FILE`"))
        }
        (None, Some(format)) => Ok(Target::Written(Destination::Stdout, format)),
        (None, None) if terminal => Ok(Target::Terminal),
        (None, None) => Ok(Target::Written(Destination::Stdout, Format::Csv)),
    }
}

/// Settles the order of rows.
pub(crate) fn arrange(output: &OutputArgs) -> Arrange {
    match (output.top, output.bottom, output.sort) {
        (Some(n), _, _) => Arrange::Highest(Some(n)),
        (None, Some(n), _) => Arrange::Lowest(n),
        (None, None, SortArg::Value) => Arrange::Highest(None),
        (None, None, SortArg::Row) => Arrange::ByRow,
    }
}
