//! `dshap experiment`.

use super::finish::in_pool;
use crate::args::{ConstantArg, ExperimentArg, ExperimentArgs, HandlingArg};
use crate::failure::Failure;
use crate::unit_bar::UnitBar;
use dshap_experiments::dataset::{Library, user_cache};
use dshap_experiments::{Experiment, Handling, Settings, ShownConstant};

pub(crate) fn run(args: &ExperimentArgs) -> Result<(), Failure> {
    let experiment = match args.name {
        ExperimentArg::Fig1 => Experiment::Fig1,
        ExperimentArg::Table1 => Experiment::Table1,
        ExperimentArg::Table2 => Experiment::Table2,
        ExperimentArg::Fig2 => Experiment::Fig2,
        ExperimentArg::Fig3 => Experiment::Fig3,
        ExperimentArg::Fig4 => Experiment::Fig4,
        ExperimentArg::Fig5 => Experiment::Fig5,
        ExperimentArg::Fig6 => Experiment::Fig6,
    };
    let handling = match args.data_handling {
        HandlingArg::Corrected => Handling::Corrected,
        HandlingArg::Paper => Handling::Paper,
    };
    let settings = Settings {
        quick: args.quick,
        seed: args.seed,
        repetitions: args.repetitions.map(usize::from),
        d_shapley: args.d_shapley.iter().find(|(panel, _)| panel.is_none()).map(|(_, n)| usize::from(*n)),
        d_shapley_of: args
            .d_shapley
            .iter()
            .filter_map(|(panel, n)| Some((panel.clone()?, usize::from(*n))))
            .collect(),
        only: args.only.clone(),
        constant: match args.constant {
            ConstantArg::Gain => ShownConstant::Gain,
            ConstantArg::Theorem => ShownConstant::Theorem,
        },
        handling,
        library: Library { folders: args.data.clone(), cache: user_cache() },
    };
    let bar = UnitBar::new(args.quiet);
    in_pool(args.threads.map(usize::from), || {
        dshap_experiments::run(experiment, &settings, &args.output, &bar)
            .map_err(|error| Failure::experiment(format!("cannot run {}", experiment.name()), &error))
    })?;
    if !args.quiet {
        let folder = args.output.display();
        let name = experiment.name();
        eprintln!("{name}: the summary is in {folder}/{name}.md, the figure in {folder}/{name}.svg");
    }
    Ok(())
}
