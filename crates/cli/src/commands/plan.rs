//! What was meant: flags that belong together, checked.

use crate::args::{
    CheckpointArgs, ColumnArgs, ConventionArg, DependentArg, FitArgs, FormatArg, MethodArg, MethodArgs,
    MissingArg, OutputArgs, RunArgs, SizeArgs, SortArg, TaskArg, UnseenArg, ValueArgs,
};
use crate::failure::Failure;
use dshap::linear::{Algorithm3, Constant, Convention, FitOptions};
use dshap_io::{Destination, Format};
use dshap_run::{
    Against, Arrange, CheckpointFile, FitRequest, Method, Model, Overrides, Resources, SizeChoice, Task,
    ValueRequest,
};
use dshap_table::{Missing, Selection, Unseen};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The request behind `dshap value`.
pub(crate) fn value_request(args: &ValueArgs) -> Result<ValueRequest, Failure> {
    let ValueArgs { points, reference, valuer, columns, method, output, checkpoint, run } = args;
    let all_inputs: Vec<&String> = points.iter().chain(reference.iter().flatten()).collect();
    refuse_second_standard_input(&all_inputs)?;
    let chosen = method_of(method)?;
    if output.stderr && matches!(chosen, Some(Method::Algorithm3(_))) {
        return Err(Failure::usage("`--stderr` does not go with `--method algorithm-3`"));
    }
    let against = match (reference, valuer) {
        (_, Some(file)) => {
            refuse_what_the_valuer_fixes(columns, method, checkpoint)?;
            let overrides = Overrides {
                id: columns.id.clone(),
                by: columns.by.clone(),
                keep: output.keep.clone(),
                missing: columns.missing.map(missing),
                unseen: columns.unseen.map(unseen),
                method: chosen,
                sizes: sizes(&method.sizes),
            };
            Against::Valuer { file: file.clone(), overrides }
        }
        (Some(files), None) => {
            Against::Reference { files: files.clone(), model: model(columns, method, &output.keep)? }
        }
        (None, None) => Against::Themselves(model(columns, method, &output.keep)?),
    };
    let outputs = outputs([output.output.as_ref(), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]);
    Ok(ValueRequest {
        points: points.clone(),
        against,
        std_error: output.stderr,
        digests: run.summary.is_some(),
        outputs,
        resources: resources(run, checkpoint, &all_inputs)?,
    })
}

/// The request behind `dshap fit`.
pub(crate) fn fit_request(args: &FitArgs) -> Result<FitRequest, Failure> {
    let FitArgs { reference, output, columns, method, checkpoint, run } = args;
    let all_inputs: Vec<&String> = reference.iter().collect();
    refuse_second_standard_input(&all_inputs)?;
    Ok(FitRequest {
        reference: reference.clone(),
        model: model(columns, method, &[])?,
        outputs: outputs([Some(output), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]),
        resources: resources(run, checkpoint, &all_inputs)?,
    })
}

/// The set sizes that were given.
pub(crate) fn sizes(args: &SizeArgs) -> SizeChoice {
    SizeChoice { min: args.q, max: args.m }
}

/// Files that will be written.
pub(crate) fn outputs<const N: usize>(paths: [Option<&PathBuf>; N]) -> Vec<PathBuf> {
    paths.into_iter().flatten().cloned().collect()
}

/// No two of these can be the same file.
pub(crate) fn refuse_same(paths: &[(&str, Option<&PathBuf>)]) -> Result<(), Failure> {
    for (i, (what, path)) in paths.iter().enumerate() {
        let twin = paths[..i].iter().find(|(_, other)| path.is_some() && other == path);
        if let Some((other, _)) = twin {
            return Err(Failure::usage(format!("the {other} and the {what} cannot be the same file")));
        }
    }
    Ok(())
}

fn refuse_second_standard_input(inputs: &[&String]) -> Result<(), Failure> {
    match inputs.iter().filter(|name| **name == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::usage("standard input `-` can be read only once")),
    }
}

fn refuse_what_the_valuer_fixes(
    columns: &ColumnArgs,
    method: &MethodArgs,
    checkpoint: &CheckpointArgs,
) -> Result<(), Failure> {
    let given = [
        ("--target", columns.target.is_some()),
        ("--features", columns.features.is_some()),
        ("--exclude", !columns.exclude.is_empty()),
        ("--categorical", !columns.categorical.is_empty()),
        ("--weight", columns.weight.is_some()),
        ("--dependent", columns.dependent.is_some()),
        ("--task", method.task.is_some()),
        ("--no-intercept", method.no_intercept),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("`{flag}` is fixed by the valuer; leave it out with `--valuer`")));
    }
    if checkpoint.checkpoint.is_some() {
        return Err(Failure::usage("`--checkpoint` is for fits, and a valuer is fitted already"));
    }
    Ok(())
}

fn resources(run: &RunArgs, args: &CheckpointArgs, inputs: &[&String]) -> Result<Resources, Failure> {
    let checkpoint = args.checkpoint.as_ref().map(|path| CheckpointFile {
        path: path.clone(),
        every: Duration::from_secs_f64(args.checkpoint_every),
    });
    if checkpoint.is_some() && inputs.iter().any(|name| *name == "-") {
        return Err(Failure::usage("`--checkpoint` needs files that can be read again, not standard input"));
    }
    Ok(Resources { memory: run.memory, checkpoint })
}

fn model(columns: &ColumnArgs, method: &MethodArgs, keep: &[String]) -> Result<Model, Failure> {
    let task = match method.task {
        None => None,
        Some(TaskArg::Regression) => Some(Task::Regression),
        Some(TaskArg::Classification | TaskArg::Density) => {
            return Err(Failure::usage("this version of dshap values regression only; `--task regression`"));
        }
    };
    Ok(Model {
        selection: Selection {
            target: columns.target.clone(),
            features: columns.features.clone(),
            exclude: columns.exclude.clone(),
            id: columns.id.clone(),
            by: columns.by.clone(),
            keep: keep.to_vec(),
            categorical: columns.categorical.clone(),
            weight: columns.weight.clone(),
        },
        missing: columns.missing.map(missing).unwrap_or_default(),
        unseen: columns.unseen.map(unseen).unwrap_or_default(),
        task,
        method: method_of(method)?.unwrap_or_default(),
        sizes: sizes(&method.sizes),
        fit: FitOptions {
            intercept: !method.no_intercept,
            allow_dependent: columns.dependent != Some(DependentArg::Error),
        },
    })
}

fn missing(arg: MissingArg) -> Missing {
    match arg {
        MissingArg::Error => Missing::Error,
        MissingArg::Drop => Missing::Drop,
        MissingArg::Mean => Missing::Mean,
    }
}

fn unseen(arg: UnseenArg) -> Unseen {
    match arg {
        UnseenArg::Error => Unseen::Error,
        UnseenArg::Zero => Unseen::Zero,
    }
}

/// The method, if anything was said about it.
fn method_of(args: &MethodArgs) -> Result<Option<Method>, Failure> {
    match args.method {
        Some(MethodArg::Gaussian) | None => {
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
            let is_said = args.method.is_some() || args.constant.is_some() || args.convention.is_some();
            Ok(is_said.then(|| Method::Gaussian { constant: args.constant.unwrap_or_default(), convention }))
        }
        Some(MethodArg::Algorithm3) => {
            let unfit =
                [("--constant", args.constant.is_some()), ("--convention", args.convention.is_some())];
            if let Some((flag, _)) = unfit.iter().find(|(_, given)| *given) {
                return Err(Failure::usage(format!("`{flag}` does not go with `--method algorithm-3`")));
            }
            let default = Algorithm3::default();
            Ok(Some(Method::Algorithm3(Algorithm3 {
                inner_tolerance: args.stop_draws.unwrap_or(default.inner_tolerance),
                outer_tolerance: args.stop.unwrap_or(default.outer_tolerance),
                max_draws: args.samples.map_or(default.max_draws, |draws| draws as usize),
                seed: args.seed.unwrap_or(default.seed),
            })))
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
        FormatArg::Ndjson => Format::Ndjson,
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Arrow => Format::Arrow,
        FormatArg::Npy => Format::Npy,
    });
    let terminal = std::io::stdout().is_terminal();
    match (output.filter(|path| *path != Path::new("-")), format) {
        (Some(path), Some(format)) => Ok(Target::Written(Destination::File(path.into()), format)),
        (Some(path), None) => {
            let format = Format::from_extension(path).map_err(|error| {
                Failure::usage(format!(
                    "{error}; name it .csv, .json, .ndjson, .parquet, .arrow or .npy, or give `--format`"
                ))
            })?;
            Ok(Target::Written(Destination::File(path.into()), format))
        }
        (None, Some(Format::Parquet | Format::Arrow | Format::Npy)) if terminal => {
            Err(Failure::usage("a binary format is not written to a terminal; give `-o FILE`"))
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
