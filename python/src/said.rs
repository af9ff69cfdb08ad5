//! What is said to baselines and to trials of values, as keywords of functions.

use crate::density;
use crate::error::input_error;
use crate::params::Reader;
use crate::table::Table;
use dshap::density::Kernel;
use dshap::linear::FitOptions;
use dshap::neighbours::Scale;
use dshap_run::{DensityChoice, MethodChoice, Model, Said, SecondOrderSaid, SizeChoice, Task, UTILITIES};
use dshap_table::{Missing, Selection, Unseen};
use pyo3::prelude::*;

/// How columns are made comparable, by the words for it.
const SCALES: [(&str, Scale); 2] = [("std", Scale::Standard), ("none", Scale::AsGiven)];

/// What an object with the keywords for attributes says about the rows of `table`;
/// a keyword that is None was not said.
pub(crate) fn said(options: &Bound<'_, PyAny>, table: &Table, categorical: &[String]) -> PyResult<Said> {
    let read = Reader { estimator: options };
    let tasks = [Task::Regression, Task::Classification, Task::Density].map(|task| (task.name(), task));
    let fit = FitOptions {
        intercept: read.get("intercept", "True or False")?,
        refit_intercept: read.get("refit_intercept", "True or False")?,
        allow_dependent: true,
    };
    if fit.refit_intercept && !fit.intercept {
        return Err(input_error("`--refit-intercept` needs an intercept; leave `intercept=False` out"));
    }
    let model = Model {
        selection: Selection {
            target: table.target().map(String::from),
            categorical: table.categorical(categorical)?,
            ..Selection::default()
        },
        missing: read.word(
            "missing",
            &[("error", Missing::Error), ("drop", Missing::Drop), ("mean", Missing::Mean)],
        )?,
        unseen: read.word("unseen", &[("error", Unseen::Error), ("zero", Unseen::Zero)])?,
        task: read.word_or_none("task", &tasks)?.or(table.target().is_none().then_some(Task::Density)),
        sizes: SizeChoice { min: read.size("q")?, max: read.size("m")? },
        fit,
        density: DensityChoice {
            kernel: read.word_or_none("kernel", &Kernel::ALL.map(|kernel| (kernel.name(), kernel)))?,
            bandwidth: match options.getattr("bandwidth")?.is_none() {
                true => None,
                false => Some(density::bandwidth(&read)?),
            },
            ..DensityChoice::default()
        },
        ..Model::new("")
    };
    let choice = MethodChoice {
        ridge: read.number("ridge")?,
        stop: read.number("stop")?,
        samples: read.size("samples")?.map(|samples| samples as u64),
        seed: Some(read.get("seed", "a whole number from 0 on")?),
        second_order: SecondOrderSaid {
            utility: read.word_or_none("utility", &UTILITIES)?,
            ..SecondOrderSaid::default()
        },
        ..MethodChoice::default()
    };
    let scale = read.word_or_none("scale", &SCALES)?;
    let dependent = Some(read.word("dependent", &[("drop", true), ("error", false)])?).filter(|drop| !drop);
    Ok(Said { model, choice, scale, dependent })
}
