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
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let rankers = |panel: &Panel, r: usize| {
        let exact = (task == Task::Regression).then_some(Ranker::Ours(Method::Closed));
        let drawn = (r < settings.d_shapley(panel.name, panel.task, n)).then_some(Ranker::DShapley);
        METHODS.map(Ranker::Ours).into_iter().chain(exact).chain(drawn).collect::<Vec<_>>()
    };
    let rows = curves(&mut output, &panels, settings, watch, rankers)?;
    let curves = Curves::of(&rows);
    output.figure(&figure(&curves, &panels, task))?;
    output.summary(&summary(&curves, &panels, settings, task))
}

/// A method in the table, its name in the legend, and its colour.
type Shown = (&'static str, &'static str, Colour);

fn figure(curves: &Curves, panels: &[Panel], task: Task) -> Figure {
    let mut charts = Vec::new();
    // What each row of panels shows: its name, and methods with their colours.
    let exact: &[Shown] = &[("closed", "exact values", Colour::Blue)];
    let upper: &[Shown] = &[
        ("upper", "valid bound", Colour::Green),
        ("authors-upper", "as in the authors' program", Colour::Orange),
    ];
    let lower: &[Shown] = &[
        ("lower", "valid bound", Colour::Green),
        ("authors-lower", "as in the authors' program", Colour::Orange),
    ];
    let rows = [("exact values", exact), ("upper bound", upper), ("lower bound", lower)];
    for (title, methods) in
        rows.into_iter().filter(|(_, methods)| task == Task::Regression || methods.len() > 1)
    {
        for panel in panels {
            let mut lines: Vec<Line> = Vec::new();
            let random = ("random order", Colour::Grey, Dash::Dotted);
            lines.extend(mean_line(curves, panel, ("random", Order::Random), random));
            let drawn: Shown = ("d-shapley", "D-SHAPLEY", Colour::Vermilion);
            for (method, name, colour) in std::iter::once(&drawn).chain(methods) {
                for (order, dash) in [(Order::Largest, Dash::Solid), (Order::Smallest, Dash::Dashed)] {
                    let name = format!("{name}, {} first", order.name());
                    lines.extend(mean_line(curves, panel, (*method, order), (name.as_str(), *colour, dash)));
                }
            }
            let (x, y) = (Axis::linear("points added"), Axis::linear(utility_name(panel.task)));
            charts.push(Chart::new(format!("{}, {title}", panel.name), x, y, lines));
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
         {HOW_CLAIMS_ARE_TESTED} The curves of the paper come from its authors' program (`--convention authors`): \
         c = C = 1, {ridge}, Algorithm 4's stopping rule with ρ = 0.005. Its bounds are not those of the printed \
         theorem (docs/errata.md, entry 10). The valid bounds have c = ½, γ = 0, and count sets from the smallest size that \
         they apply to. The paper shows curves without numbers: the lower bound ranks reasonably, the upper poorly.\n\n",
        task = task.name(),
        seed = settings.seed,
    );
    for (method, title) in [
        ("closed", "Exact values (Theorem 2)"),
        ("d-shapley", "D-SHAPLEY"),
        ("authors-upper", "Upper bound, as in the authors' program"),
        ("authors-lower", "Lower bound, as in the authors' program"),
        ("upper", "Upper bound, valid"),
        ("lower", "Lower bound, valid"),
    ] {
        if let Some(table) = margins(curves, panels, method) {
            text += &format!("## {title}\n\n{table}");
        }
    }
    text
}
