//! What was meant: flags that belong together, checked.

use crate::args::{
    CheckpointArgs, ColumnArgs, ConventionArg, DependentArg, FitArgs, FormatArg, MemoryArgs, MethodArg,
    MethodArgs, MissingArg, OutputArgs, SizeArgs, SortArg, TaskArg, UnseenArg, ValueArgs,
};
use crate::failure::Failure;
use dshap::linear::{Algorithm3, Bound, Constant, Convention, FitOptions, GeneralOptions, Side};
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
    let ValueArgs { points, reference, valuer, columns, method, output, checkpoint, memory, run } = args;
    let all_inputs: Vec<&String> = points.iter().chain(reference.iter().flatten()).collect();
    refuse_second_standard_input(&all_inputs)?;
    let chosen = method_of(method)?;
    if let (true, Some(method @ (Method::Algorithm3(_) | Method::Bound(_)))) = (output.stderr, chosen) {
        return Err(Failure::usage(format!("`--stderr` does not go with `--method {}`", method.name())));
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
        resources: resources(memory, checkpoint, &all_inputs)?,
    })
}

/// The request behind `dshap fit`.
pub(crate) fn fit_request(args: &FitArgs) -> Result<FitRequest, Failure> {
    let FitArgs { reference, output, columns, method, checkpoint, memory, run } = args;
    let all_inputs: Vec<&String> = reference.iter().collect();
    refuse_second_standard_input(&all_inputs)?;
    Ok(FitRequest {
        reference: reference.clone(),
        model: model(columns, method, &[])?,
        outputs: outputs([Some(output), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]),
        resources: resources(memory, checkpoint, &all_inputs)?,
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
        let twin = paths[..i].iter().find(|(_, other)| match (path, other) {
            (Some(path), Some(other)) => is_same_file(path, other),
            _ => false,
        });
        if let Some((other, _)) = twin {
            return Err(Failure::usage(format!("the {other} and the {what} cannot be the same file")));
        }
    }
    Ok(())
}

/// Whether two paths lead to one file, which need not exist yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| match path.canonicalize() {
        Ok(place) => Some(place),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        }
    };
    // Devices such as /dev/null may be written to twice.
    let is_device = one.exists() && !one.is_file();
    !is_device && (one == other || place(one).is_some() && place(one) == place(other))
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
        ("--refit-intercept", method.refit_intercept),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("`{flag}` is fixed by the valuer; leave it out with `--valuer`")));
    }
    if checkpoint.checkpoint.is_some() {
        return Err(Failure::usage("`--checkpoint` is for fits, and a valuer is fitted already"));
    }
    Ok(())
}

fn resources(memory: &MemoryArgs, args: &CheckpointArgs, inputs: &[&String]) -> Result<Resources, Failure> {
    let checkpoint = args.checkpoint.as_ref().map(|path| CheckpointFile {
        path: path.clone(),
        every: Duration::from_secs_f64(args.checkpoint_every),
    });
    if checkpoint.is_some() && inputs.iter().any(|name| *name == "-") {
        return Err(Failure::usage("`--checkpoint` needs files that can be read again, not standard input"));
    }
    Ok(Resources { memory: memory.memory, checkpoint })
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
            refit_intercept: method.refit_intercept,
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
    let name = args.method.unwrap_or(MethodArg::Gaussian);
    let bounds = matches!(name, MethodArg::Lower | MethodArg::Upper);
    let printed = args.convention == Some(ConventionArg::Printed);
    let general = name == MethodArg::General;
    if args.ridge.is_some() && !bounds && !general {
        return Err(Failure::usage(
            "the closed form has no ridge; `--ridge` goes with `--method general`, `lower` and `upper`",
        ));
    }
    let own = |flag: &'static str, given: bool, goes: bool, with: &'static str| {
        (given && !goes).then(|| Failure::usage(format!("`{flag}` goes with {with} only")))
    };
    let algorithm = name == MethodArg::Algorithm3;
    let misplaced = [
        own("--bound-c", args.bound_c.is_some(), bounds, "`--method lower` and `--method upper`"),
        own("--bound-C", args.bound_edge.is_some(), bounds, "`--method lower` and `--method upper`"),
        own(
            "--stop",
            args.stop.is_some(),
            algorithm || general || bounds && printed,
            "`--method algorithm-3`, `general` and printed bounds",
        ),
        own("--stop-draws", args.stop_draws.is_some(), algorithm, "`--method algorithm-3`"),
        own("--samples", args.samples.is_some(), algorithm || general, "`algorithm-3` and `general`"),
        own("--constant", args.constant.is_some(), name == MethodArg::Gaussian, "`--method gaussian`"),
        own(
            "--convention",
            args.convention.is_some(),
            bounds || name == MethodArg::Gaussian,
            "`gaussian`, `lower` and `upper`",
        ),
        own("--refit-intercept", args.refit_intercept, !bounds, "`gaussian`, `calibrated` and `general`"),
    ];
    if let Some(failure) = misplaced.into_iter().flatten().next() {
        return Err(failure);
    }
    let convention = if printed { Convention::Printed } else { Convention::Definition };
    match name {
        MethodArg::Gaussian => {
            if printed && !matches!(args.constant, None | Some(Constant::Theorem)) {
                return Err(Failure::usage(
                    "`--convention printed` is Theorem 2 as printed, whose constant is `theorem`; leave `--constant` out",
                ));
            }
            // A seed does no harm to a method that draws nothing.
            let is_said = args.method.is_some() || args.constant.is_some() || args.convention.is_some();
            Ok(is_said.then(|| Method::Gaussian { constant: args.constant.unwrap_or_default(), convention }))
        }
        MethodArg::Calibrated => Ok(Some(Method::Calibrated)),
        MethodArg::General => {
            let default = GeneralOptions::default();
            let max_rounds = args.samples.map_or(default.max_rounds, |rounds| rounds as usize);
            Ok(Some(Method::General(GeneralOptions {
                ridge: args.ridge.unwrap_or(default.ridge),
                tolerance: args.stop.unwrap_or(default.tolerance),
                min_rounds: default.min_rounds.min(max_rounds),
                max_rounds,
                seed: args.seed.unwrap_or(default.seed),
            })))
        }
        MethodArg::Lower | MethodArg::Upper => {
            let side = if name == MethodArg::Lower { Side::Lower } else { Side::Upper };
            let default = Bound::new(side, convention);
            Ok(Some(Method::Bound(Bound {
                tail: args.bound_c.unwrap_or(default.tail),
                edge: args.bound_edge.unwrap_or(default.edge),
                ridge: args.ridge.unwrap_or(default.ridge),
                stop: args.stop,
                ..default
            })))
        }
        MethodArg::Algorithm3 => {
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
