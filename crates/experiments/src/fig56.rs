//! Figures 5 and 6: point addition by the bounds of Theorem 3, for regression and
//! for classification.

use crate::addition::{Curves, HOW_CLAIMS_ARE_TESTED, Order, Ranker};
use crate::data::{Panel, Task};
use crate::fig2::{QUICK_REPETITIONS, REPETITIONS, curves, margins, mean_line, means, utility_name, wanted};
use crate::markdown::repetitions;
use crate::output::Output;
use crate::settings::{Experiment, Settings};
use crate::valuing::Method;
use crate::{Error, Watch};
use dshap::linear::{Convention, Side};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel as Chart};
use std::path::Path;

const METHODS: [Method; 4] = [
    Method::Bound(Side::Upper, Convention::Authors),
    Method::Bound(Side::Lower, Convention::Authors),
    Method::Bound(Side::Upper, Convention::Definition),
    Method::Bound(Side::Lower, Convention::Definition),
];

/// Point addition by bounds.
pub(crate) fn run(
    experiment: Experiment,
    settings: &Settings,
    folder: &Path,
    watch: &dyn Watch,
) -> Result<(), Error> {
    let task = if experiment == Experiment::Fig5 { Task::Regression } else { Task::Classification };
    let panels = wanted(experiment, settings, |panel| panel.task == task)?;
    let mut output = Output::open(folder, experiment, settings, &panels)?;
    let rows = curves(&mut output, &panels, settings, watch, |_, _| METHODS.map(Ranker::Ours).to_vec())?;
    let curves = Curves::of(&rows);
    output.figure(&figure(&curves, &panels, task))?;
    output.summary(&summary(&curves, &panels, settings, task))
}

fn figure(curves: &Curves, panels: &[Panel], task: Task) -> Figure {
    let mut charts = Vec::new();
    for (side, printed, valid) in [("upper", "printed-upper", "upper"), ("lower", "printed-lower", "lower")] {
        for panel in panels {
            let line = |which, style| mean_line(curves, panel, which, style);
            let lines: Vec<Line> = [
                line(("random", Order::Random), ("random order", Colour::Grey, Dash::Dotted)),
                line((valid, Order::Largest), ("valid bound, largest first", Colour::Green, Dash::Solid)),
                line((valid, Order::Smallest), ("valid bound, smallest first", Colour::Green, Dash::Dashed)),
                line(
                    (printed, Order::Largest),
                    ("as printed, largest first", Colour::Vermilion, Dash::Solid),
                ),
                line(
                    (printed, Order::Smallest),
                    ("as printed, smallest first", Colour::Vermilion, Dash::Dashed),
                ),
            ]
            .into_iter()
            .flatten()
            .collect();
            let (x, y) = (Axis::linear("points added"), Axis::linear(utility_name(panel.task)));
            charts.push(Chart::new(format!("{}, {side} bound", panel.name), x, y, lines));
        }
    }
    let title = format!("Point addition by bounds, {}: {}", task.name(), means(curves, panels));
    Figure::new(title, panels.len(), charts)
}

fn summary(curves: &Curves, panels: &[Panel], settings: &Settings, task: Task) -> String {
    let n = repetitions(settings.repetitions(QUICK_REPETITIONS, REPETITIONS));
    let (number, ridge) = if task == Task::Regression { (5, "γ = 1/200") } else { (6, "γ = 0") };
    let mut text = format!(
        "# Figure {number}: point addition by bounds, {task}\n\n\
         {n}, seed {seed}. As in Figure 2, with the bounds of Theorem 3 instead of values. \
         {HOW_CLAIMS_ARE_TESTED} \"As printed\" is what the paper shows, as its authors' program computes it (`--convention authors`): c = C = 1, {ridge}, \
         Algorithm 4's stopping rule with ρ = 0.005. The valid bounds have c = ½, γ = 0, and count sets from the smallest size that \
         they apply to. The paper shows curves without numbers: the lower bound ranks reasonably, the upper poorly.\n\n",
        task = task.name(),
        seed = settings.seed,
    );
    for (method, title) in [
        ("printed-upper", "Upper bound as printed"),
        ("printed-lower", "Lower bound as printed"),
        ("upper", "Upper bound, valid"),
        ("lower", "Lower bound, valid"),
    ] {
        if let Some(table) = margins(curves, panels, method) {
            text += &format!("## {title}\n\n{table}");
        }
    }
    text
}
