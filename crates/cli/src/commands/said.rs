//! What was typed about columns and methods, in the words of the engine.

use crate::args::{
    ColumnArgs, ConventionArg, DependentArg, MethodArgs, MissingArg, OptionArgs, SizeArgs, TaskArg, UnseenArg,
};
use dshap::density::Kernel;
use dshap::linear::{Convention, FitOptions};
use dshap::neighbours::{Metric, Scale};
use dshap_run::{
    AnyMethod, DensityChoice, Method, MethodChoice, Model, NeighbourChoice, Said, SizeChoice, Task,
};
use dshap_table::{Missing, Selection, Unseen};

/// What was said, the name of a method included.
pub(super) fn said_of(columns: &ColumnArgs, method: &MethodArgs, keep: &[String]) -> Said {
    let mut said = said(columns, method.task, &method.options, keep);
    said.choice = choice_of(method);
    said
}

/// What was said about columns and methods.
pub(super) fn said(
    columns: &ColumnArgs,
    task: Option<TaskArg>,
    options: &OptionArgs,
    keep: &[String],
) -> Said {
    let task = task.map(|task| match task {
        TaskArg::Regression => Task::Regression,
        TaskArg::Classification => Task::Classification,
        TaskArg::Density => Task::Density,
    });
    let model = Model {
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
        sizes: sizes(&options.sizes),
        fit: FitOptions {
            intercept: !options.no_intercept,
            refit_intercept: options.refit_intercept,
            allow_dependent: true,
        },
        density: DensityChoice {
            kernel: options.density.kernel.map(Kernel::from),
            bandwidth: options.density.bandwidth,
            every_row: options.density.every_row,
            ..DensityChoice::default()
        },
        neighbours: NeighbourChoice {
            metric: options.neighbours.metric.map(Metric::from),
            test: options.utility.test.clone(),
            ..NeighbourChoice::default()
        },
    };
    Said {
        model,
        choice: options_said(options),
        scale: options.density.scale.map(Scale::from),
        dependent: columns.dependent.map(|dependent| dependent == DependentArg::Drop),
    }
}

pub(super) fn missing(arg: MissingArg) -> Missing {
    match arg {
        MissingArg::Error => Missing::Error,
        MissingArg::Drop => Missing::Drop,
        MissingArg::Mean => Missing::Mean,
    }
}

pub(super) fn unseen(arg: UnseenArg) -> Unseen {
    match arg {
        UnseenArg::Error => Unseen::Error,
        UnseenArg::Zero => Unseen::Zero,
    }
}

/// What was said about the method, its name included.
pub(super) fn choice_of(args: &MethodArgs) -> MethodChoice {
    let name = args.method.and_then(|method| match method.any() {
        AnyMethod::Valuer(name) => Some(name),
        AnyMethod::Baseline(_) => None,
    });
    MethodChoice { name, ..options_said(&args.options) }
}

/// What was said about the method, whichever it is.
fn options_said(args: &OptionArgs) -> MethodChoice {
    MethodChoice {
        name: None,
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

/// The set sizes that were given.
pub(crate) fn sizes(args: &SizeArgs) -> SizeChoice {
    SizeChoice { min: args.q, max: args.m }
}
