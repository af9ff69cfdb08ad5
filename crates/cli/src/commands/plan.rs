//! What was meant: flags that belong together, checked.

use super::said::{choice_of, missing, said, said_of, sizes, unseen};
use crate::args::{
    BenchArgs, CheckpointArgs, ColumnArgs, DestinationArgs, FitArgs, FormatArg, MemoryArgs, MethodArg,
    MethodArgs, OutputArgs, SetArgs, SortArg, TaskArg, ValueArgs,
};
use crate::failure::Failure;
use dshap_io::{Destination, Format};
use dshap_run::{
    Against, AnyMethod, Arrange, Baseline, BaselineRequest, BenchRequest, CheckpointFile, FitRequest,
    MethodName, Model, Overrides, Resources, SetsRequest, ValueRequest,
};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The request behind `dshap value`.
pub(crate) fn value_request(args: &ValueArgs) -> Result<ValueRequest, Failure> {
    let ValueArgs { points, reference, valuer, columns, method, sets, output, checkpoint, memory, run } =
        args;
    let tests = &method.options.utility.test;
    let all_inputs: Vec<&String> = points.iter().chain(reference.iter().flatten()).chain(tests).collect();
    refuse_second_standard_input(&all_inputs)?;
    let has_no_errors = matches!(
        method.method,
        Some(MethodArg::Algorithm3 | MethodArg::Lower | MethodArg::Upper | MethodArg::MonteCarlo)
    );
    if let (true, true, Some(name)) = (output.stderr, has_no_errors, choice_of(method).name) {
        return Err(Failure::usage(format!("`--stderr` does not go with `--method {}`", name.word())));
    }
    let with_sets = |mut model: Model| {
        model.selection.by = model.selection.by.or(sets.sets.clone());
        model
    };
    let against = match (reference, valuer) {
        (_, Some(file)) => {
            refuse_what_the_valuer_fixes(columns, method, checkpoint)?;
            let overrides = Overrides {
                id: columns.id.clone(),
                by: columns.by.clone().or(sets.sets.clone()),
                keep: output.keep.clone(),
                missing: columns.missing.map(missing),
                unseen: columns.unseen.map(unseen),
                method: choice_of(method),
                sizes: sizes(&method.options.sizes),
            };
            Against::Valuer { file: file.clone(), overrides }
        }
        (Some(files), None) => Against::Reference {
            files: files.clone(),
            model: with_sets(model(columns, method, &output.keep)?),
        },
        (None, None) => Against::Themselves(with_sets(model(columns, method, &output.keep)?)),
    };
    let outputs =
        outputs([output.destination.output.as_ref(), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]);
    Ok(ValueRequest {
        points: points.clone(),
        against,
        std_error: output.stderr,
        per_class: output.per_class,
        sets: sets_request(sets)?,
        digests: run.summary.is_some(),
        outputs,
        resources: resources(memory, checkpoint, &all_inputs)?,
    })
}

/// The sets that are to be valued, if any are.
fn sets_request(args: &SetArgs) -> Result<Option<SetsRequest>, Failure> {
    let synergy = match args.synergy.as_deref() {
        None => None,
        Some([first, second]) if first != second => Some((first.clone(), second.clone())),
        Some(_) => {
            return Err(Failure::usage("`--synergy` takes two different sets, such as `--synergy a,b`"));
        }
    };
    Ok(args.sets.clone().map(|column| SetsRequest { column, synergy }))
}

/// The request behind `dshap fit`.
pub(crate) fn fit_request(args: &FitArgs) -> Result<FitRequest, Failure> {
    let FitArgs { reference, output, columns, method, checkpoint, memory, run } = args;
    let all_inputs: Vec<&String> = reference.iter().chain(&method.options.utility.test).collect();
    refuse_second_standard_input(&all_inputs)?;
    Ok(FitRequest {
        reference: reference.clone(),
        model: model(columns, method, &[])?,
        outputs: outputs([Some(output), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]),
        resources: resources(memory, checkpoint, &all_inputs)?,
    })
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

pub(crate) fn refuse_second_standard_input(inputs: &[&String]) -> Result<(), Failure> {
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
        ("--positive", columns.positive.is_some()),
        ("--pca", columns.pca.is_some()),
        ("--dependent", columns.dependent.is_some()),
        ("--task", method.task.is_some()),
        ("--kernel", method.options.density.kernel.is_some()),
        ("--bandwidth", method.options.density.bandwidth.is_some()),
        ("--scale", method.options.density.scale.is_some()),
        ("--every-row", method.options.density.every_row),
        ("--metric", method.options.neighbours.metric.is_some()),
        ("--test", !method.options.utility.test.is_empty()),
        ("--utility", method.options.utility.utility.is_some()),
        ("--spread", method.options.second_order.spread.is_some()),
        ("--small-ridge", method.options.second_order.small_ridge.is_some()),
        ("--shift", method.options.second_order.shift.is_some()),
        ("--no-intercept", method.options.no_intercept),
        ("--refit-intercept", method.options.refit_intercept),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("`{flag}` is fixed by the valuer; leave it out with `--valuer`")));
    }
    if checkpoint.checkpoint.is_some() {
        return Err(Failure::usage("`--checkpoint` is for fits, and a valuer is fitted already"));
    }
    Ok(())
}

pub(crate) fn resources(
    memory: &MemoryArgs,
    args: &CheckpointArgs,
    inputs: &[&String],
) -> Result<Resources, Failure> {
    let checkpoint = args.checkpoint.as_ref().map(|path| CheckpointFile {
        path: path.clone(),
        every: Duration::from_secs_f64(args.checkpoint_every),
    });
    if checkpoint.is_some() && inputs.iter().any(|name| *name == "-") {
        return Err(Failure::usage("`--checkpoint` needs files that can be read again, not standard input"));
    }
    Ok(Resources { memory: memory.memory, checkpoint })
}

/// The request behind `dshap value` by a baseline.
pub(crate) fn baseline_request(args: &ValueArgs, baseline: Baseline) -> Result<BaselineRequest, Failure> {
    let ValueArgs { points, reference, valuer, columns, method, sets, output, checkpoint, memory, run } =
        args;
    let name = baseline.word();
    let refused = [
        ("--valuer", valuer.is_some(), "it has no valuer: every value is about the rows at hand"),
        ("--sets", sets.sets.is_some(), "it values rows"),
        ("--per-class", output.per_class, "its value is that of all labels together"),
        ("--checkpoint", checkpoint.checkpoint.is_some(), "all rows are in memory"),
        ("--stderr", output.stderr && !baseline.draws(), "nothing is drawn, so there is no error of draws"),
    ];
    if let Some((flag, _, why)) = refused.into_iter().find(|(_, given, _)| *given) {
        return Err(Failure::usage(format!("`{flag}` does not go with `--method {name}`: {why}")));
    }
    let said = said_of(columns, method, &output.keep);
    let test = said.model.neighbours.test.clone();
    let inputs: Vec<&String> = points.iter().chain(reference.iter().flatten()).chain(&test).collect();
    refuse_second_standard_input(&inputs)?;
    let resources = resources(memory, checkpoint, &inputs)?;
    let (model, choice) = said.baseline(baseline).map_err(Failure::usage)?;
    Ok(BaselineRequest {
        points: points.clone(),
        reference: reference.clone(),
        test,
        model,
        choice,
        std_error: output.stderr,
        digests: run.summary.is_some(),
        outputs: outputs([output.destination.output.as_ref(), run.summary.as_ref()]),
        resources,
    })
}

/// The request behind `dshap evaluate` and `dshap compare`.
pub(crate) fn bench_request(
    args: &BenchArgs,
    keep: &[String],
    figure: Option<&PathBuf>,
) -> Result<BenchRequest, Failure> {
    let BenchArgs { points, methods, task, columns, options, destination, memory, run } = args;
    let inputs: Vec<&String> = points.iter().chain(&options.utility.test).collect();
    refuse_second_standard_input(&inputs)?;
    let mut chosen: Vec<AnyMethod> = Vec::new();
    for method in methods.iter().map(|method| method.any()) {
        if chosen.contains(&method) {
            return Err(Failure::usage(format!("`--methods` names `{}` twice", method.word())));
        }
        chosen.push(method);
    }
    if chosen.is_empty() {
        let closed = match task {
            Some(TaskArg::Density) => MethodName::Closed,
            _ => MethodName::Gaussian,
        };
        chosen = vec![AnyMethod::Valuer(closed), AnyMethod::Baseline(Baseline::LeaveOneOut)];
    }
    Ok(BenchRequest {
        points: points.clone(),
        said: said(columns, *task, options, keep),
        methods: chosen,
        outputs: outputs([destination.output.as_ref(), run.summary.as_ref(), figure]),
        resources: Resources { memory: memory.memory, checkpoint: None },
    })
}

fn model(columns: &ColumnArgs, method: &MethodArgs, keep: &[String]) -> Result<Model, Failure> {
    if let Some(AnyMethod::Baseline(baseline)) = method.method.map(MethodArg::any) {
        return Err(Failure::usage(format!(
            "`--method {}` has no valuer that could be saved: every value is about the rows at hand; use \
             `dshap value`",
            baseline.word()
        )));
    }
    said_of(columns, method, keep).model().map_err(Failure::usage)
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
pub(crate) fn target(args: &DestinationArgs) -> Result<Target, Failure> {
    let output = args.output.as_deref();
    let format = args.format.map(|format| match format {
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
pub(crate) fn arrange(output: &OutputArgs) -> Result<Arrange, Failure> {
    Ok(match (output.top, output.bottom, output.sort) {
        (_, Some(_), SortArg::Penalty) => {
            return Err(Failure::usage(
                "`--bottom` is for values; `--sort penalty --top N` gives the rows of the largest penalty",
            ));
        }
        (limit, None, SortArg::Penalty) => Arrange::Penalty(limit),
        (Some(n), _, _) => Arrange::Highest(Some(n)),
        (None, Some(n), _) => Arrange::Lowest(n),
        (None, None, SortArg::Value) => Arrange::Highest(None),
        (None, None, SortArg::Row) => Arrange::ByRow,
    })
}
