//! What was meant: flags that belong together, checked.

use crate::args::{
    CheckpointArgs, ColumnArgs, ConventionArg, DependentArg, FitArgs, FormatArg, MemoryArgs, MethodArg,
    MethodArgs, MissingArg, OutputArgs, SetArgs, SizeArgs, SortArg, TaskArg, UnseenArg, ValueArgs,
};
use crate::failure::Failure;
use dshap::density::{Kernel, Scaling};
use dshap::linear::{Convention, FitOptions};
use dshap::neighbours::{Metric, Scale};
use dshap_io::{Destination, Format};
use dshap_run::{
    Against, Arrange, CheckpointFile, DensityChoice, FitRequest, Method, MethodChoice, MethodName, Model,
    NeighbourChoice, Overrides, Resources, SetsRequest, SizeChoice, Task, ValueRequest,
};
use dshap_table::{Missing, Selection, Unseen};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The request behind `dshap value`.
pub(crate) fn value_request(args: &ValueArgs) -> Result<ValueRequest, Failure> {
    let ValueArgs { points, reference, valuer, columns, method, sets, output, checkpoint, memory, run } =
        args;
    let tests = &method.utility.test;
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
                sizes: sizes(&method.sizes),
            };
            Against::Valuer { file: file.clone(), overrides }
        }
        (Some(files), None) => Against::Reference {
            files: files.clone(),
            model: with_sets(model(columns, method, &output.keep)?),
        },
        (None, None) => Against::Themselves(with_sets(model(columns, method, &output.keep)?)),
    };
    let outputs = outputs([output.output.as_ref(), run.summary.as_ref(), checkpoint.checkpoint.as_ref()]);
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
    let all_inputs: Vec<&String> = reference.iter().chain(&method.utility.test).collect();
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
        ("--kernel", method.density.kernel.is_some()),
        ("--bandwidth", method.density.bandwidth.is_some()),
        ("--scale", method.density.scale.is_some()),
        ("--every-row", method.density.every_row),
        ("--metric", method.neighbours.metric.is_some()),
        ("--test", !method.utility.test.is_empty()),
        ("--utility", method.utility.utility.is_some()),
        ("--spread", method.second_order.spread.is_some()),
        ("--small-ridge", method.second_order.small_ridge.is_some()),
        ("--shift", method.second_order.shift.is_some()),
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

fn model(columns: &ColumnArgs, method: &MethodArgs, keep: &[String]) -> Result<Model, Failure> {
    refuse_baselines(method)?;
    let plain = plain_model(columns, method, keep);
    let (task, mut density) = (plain.task, plain.density);
    let mut choice = choice_of(method);
    let mut neighbours = plain.neighbours.clone();
    if matches!(method.method, Some(MethodArg::Knn | MethodArg::KnnShapley)) {
        // Here they say how neighbours are found, and samples are test rows.
        density.scaling = None;
        neighbours.scale = method.density.scale.map(Scale::from);
        neighbours.samples = choice.samples.take().map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
        neighbours.seed = choice.seed;
        refuse_dependent(columns)?;
    } else if task == Some(Task::Density) {
        // Here samples are reference rows, whatever the method.
        density.samples = choice.samples.take().map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
        density.seed = choice.seed;
        choice.name = choice.name.or(Some(MethodName::Closed));
        refuse_dependent(columns)?;
    }
    let (method_said, ridge) = match task {
        Some(Task::Regression | Task::Density) => (choice.settle().map_err(Failure::usage)?, None),
        // The task may turn out to be classification, where every fit takes a ridge.
        _ => choice.settle_beside_ridge().map_err(Failure::usage)?,
    };
    Ok(Model { method: method_said.unwrap_or_default(), ridge, density, neighbours, ..plain })
}

/// Baselines are no models that could be fitted, and measure sets in ways of their own.
fn refuse_baselines(method: &MethodArgs) -> Result<(), Failure> {
    if let Some(baseline) = method.method.and_then(MethodArg::baseline) {
        return Err(Failure::usage(format!(
            "`--method {}` has no valuer that could be saved: every value is about the rows at hand; use \
             `dshap value`",
            baseline.word()
        )));
    }
    let is_neighbours = matches!(method.method, Some(MethodArg::Knn | MethodArg::KnnShapley));
    let of_baselines = "`d-shapley`, `tmc-shapley`, `exact-shapley` and `loo`";
    if !method.utility.test.is_empty() && !is_neighbours {
        let what = format!("`--test` goes with `--method knn`, `knn-shapley`, {of_baselines} only");
        return Err(Failure::usage(what));
    }
    if method.utility.utility.is_some() && method.method != Some(MethodArg::SecondOrder) {
        let what = format!("`--utility` goes with `--method second-order`, {of_baselines} only");
        return Err(Failure::usage(what));
    }
    Ok(())
}

/// What was said about columns and the fit, whatever the method.
pub(crate) fn plain_model(columns: &ColumnArgs, method: &MethodArgs, keep: &[String]) -> Model {
    let task = method.task.map(|task| match task {
        TaskArg::Regression => Task::Regression,
        TaskArg::Classification => Task::Classification,
        TaskArg::Density => Task::Density,
    });
    Model {
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
        method: Method::default(),
        ridge: None,
        positive: columns.positive.clone(),
        n_components: columns.pca,
        sizes: sizes(&method.sizes),
        fit: FitOptions {
            intercept: !method.no_intercept,
            refit_intercept: method.refit_intercept,
            allow_dependent: columns.dependent != Some(DependentArg::Error),
        },
        density: DensityChoice {
            kernel: method.density.kernel.map(Kernel::from),
            bandwidth: method.density.bandwidth,
            scaling: method.density.scale.map(Scaling::from),
            every_row: method.density.every_row,
            ..DensityChoice::default()
        },
        neighbours: NeighbourChoice {
            metric: method.neighbours.metric.map(Metric::from),
            test: method.utility.test.clone(),
            ..NeighbourChoice::default()
        },
    }
}

/// Neither way of treating dependent columns says anything about distances.
fn refuse_dependent(columns: &ColumnArgs) -> Result<(), Failure> {
    match columns.dependent {
        None => Ok(()),
        Some(_) => Err(Failure::usage(
            "`--dependent` goes neither with `--task density` nor with nearest neighbours: only constant columns \
             are left out, and `--strict` makes that an error",
        )),
    }
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

/// What was said about the method.
fn choice_of(args: &MethodArgs) -> MethodChoice {
    MethodChoice {
        name: args.method.and_then(|name| match name {
            MethodArg::Gaussian => Some(MethodName::Gaussian),
            MethodArg::Calibrated => Some(MethodName::Calibrated),
            MethodArg::General => Some(MethodName::General),
            MethodArg::Lower => Some(MethodName::Lower),
            MethodArg::Upper => Some(MethodName::Upper),
            MethodArg::Algorithm3 => Some(MethodName::Algorithm3),
            MethodArg::SecondOrder => Some(MethodName::SecondOrder),
            MethodArg::Closed => Some(MethodName::Closed),
            MethodArg::MonteCarlo => Some(MethodName::MonteCarlo),
            MethodArg::Knn => Some(MethodName::Knn),
            MethodArg::KnnShapley => Some(MethodName::KnnShapley),
            // Baselines have no valuer and a command file of their own.
            MethodArg::DShapley
            | MethodArg::TmcShapley
            | MethodArg::ExactShapley
            | MethodArg::Loo
            | MethodArg::Random => None,
        }),
        ridge: args.ridge,
        bound_c: args.bound_c,
        bound_edge: args.bound_edge,
        constant: args.constant,
        convention: args.convention.map(|convention| match convention {
            ConventionArg::Definition => Convention::Definition,
            ConventionArg::Printed => Convention::Printed,
        }),
        stop: args.stop,
        stop_draws: args.stop_draws,
        samples: args.samples,
        seed: args.seed,
        refit_intercept: args.refit_intercept,
        k: args.neighbours.k,
        second_order: args.second_order.said(args.utility.utility),
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
