//! `dshap value` by a baseline.

use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use super::value::terminal_table;
use crate::args::{MethodArgs, UtilityArg, ValueArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{grouped, significant};
use dshap_io::Destination;
use dshap_run::{Baseline, BaselineChoice, BaselineRequest, BaselineSummary, Collected, Written, held_bytes};

pub(crate) fn run(args: &ValueArgs, baseline: Baseline) -> Result<(), Failure> {
    let request = request(args, baseline)?;
    let target = plan::target(args.output.output.as_deref(), args.output.format)?;
    let arrange = plan::arrange(&args.output)?;
    let doing = format!("cannot value `{}`", args.points.join("`, `"));
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    let observer = Progress::new(args.run.quiet);
    plan::refuse_same(&[("output", args.output.output.as_ref()), ("summary", args.run.summary.as_ref())])?;
    let record = args.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    let most_held = held_bytes(args.memory.memory);
    in_pool(args.run.threads, || match target {
        Target::Written(destination, format) => {
            let mut written = Written::new(destination.clone(), format, arrange).holding_at_most(most_held);
            if args.run.strict && destination == Destination::Stdout {
                written = written.held();
            }
            let summary = dshap_run::value_by_baseline(&request, &observer, &mut written).map_err(failed)?;
            let saying = Saying { record: &summary, warnings: &summary.warnings, text: describe(&summary) };
            conclude(saying, record, &args.run, &doing, || written.finish().map_err(failed))
        }
        Target::Terminal => {
            let mut collected = Collected::new(arrange, most_held);
            let summary =
                dshap_run::value_by_baseline(&request, &observer, &mut collected).map_err(failed)?;
            let saying = Saying { record: &summary, warnings: &summary.warnings, text: describe(&summary) };
            let show = || crate::print(&terminal_table(&collected, arrange).map_err(failed)?);
            conclude(saying, record, &args.run, &doing, show)
        }
    })
}

fn request(args: &ValueArgs, baseline: Baseline) -> Result<BaselineRequest, Failure> {
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
    refuse_closed_forms(method, name)?;
    let inputs: Vec<&String> =
        points.iter().chain(reference.iter().flatten()).chain(&method.utility.test).collect();
    plan::refuse_second_standard_input(&inputs)?;
    Ok(BaselineRequest {
        points: points.clone(),
        reference: reference.clone(),
        test: method.utility.test.clone(),
        model: plan::plain_model(columns, method, &output.keep),
        choice: choice(method, baseline),
        std_error: output.stderr,
        digests: run.summary.is_some(),
        outputs: plan::outputs([output.output.as_ref(), run.summary.as_ref()]),
        resources: plan::resources(memory, checkpoint, &inputs)?,
    })
}

/// Options that only closed forms have.
pub(crate) fn refuse_closed_forms(method: &MethodArgs, name: &str) -> Result<(), Failure> {
    let said = [
        ("--constant", method.constant.is_some()),
        ("--convention", method.convention.is_some()),
        ("--bound-c", method.bound_c.is_some()),
        ("--bound-C", method.bound_edge.is_some()),
        ("--stop-draws", method.stop_draws.is_some()),
        ("--utility brier", method.utility.utility == Some(UtilityArg::Brier)),
        ("--k", method.neighbours.k.is_some()),
        ("--metric", method.neighbours.metric.is_some()),
        ("--spread", method.second_order.spread.is_some()),
        ("--small-ridge", method.second_order.small_ridge.is_some()),
        ("--shift", method.second_order.shift.is_some()),
    ];
    match said.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::usage(format!("`{flag}` does not go with `--method {name}`"))),
        None => Ok(()),
    }
}

/// What was said about the baseline.
pub(crate) fn choice(method: &MethodArgs, baseline: Baseline) -> BaselineChoice {
    BaselineChoice {
        utility: method.utility.utility.and_then(UtilityArg::of_baselines),
        ridge: method.ridge,
        samples: method.samples.map(|samples| usize::try_from(samples).unwrap_or(usize::MAX)),
        stop: method.stop,
        seed: method.seed.unwrap_or(0),
        ..BaselineChoice::new(baseline)
    }
}

/// What ran, in a few lines.
fn describe(summary: &BaselineSummary) -> String {
    let guessed = if summary.task_guessed { " (guessed)" } else { "" };
    let target = summary.target.as_ref().map(|target| format!(" of `{target}`")).unwrap_or_default();
    let n_points = grouped(summary.n_points);
    let n_reference = grouped(summary.n_reference as u64);
    let how = match (summary.own_reference, summary.method) {
        (false, _) => format!("{n_points} rows valued against a reference of {n_reference}"),
        (true, "d-shapley") => format!("{n_points} rows, each valued against the others"),
        (true, _) => format!("{n_points} rows, valued as one dataset"),
    };
    let mut text = format!("{}{guessed}{target}, method {}: {how}\n", summary.task, summary.method);
    if summary.method == "random" {
        return text;
    }
    let n_test = grouped(summary.n_test as u64);
    let from = match summary.test_from {
        "test" => "test rows".to_string(),
        from => format!("of the {from}"),
    };
    let ridge = summary.ridge.filter(|ridge| *ridge > 0.0).map(|ridge| format!(", ridge {ridge}"));
    text += &format!(
        "utility {} on {n_test} {from}; p = {}, q = {}, m = {}{}\n",
        summary.utility,
        summary.p,
        summary.q,
        summary.m,
        ridge.unwrap_or_default()
    );
    if let Some(iterations) = summary.iterations {
        let share = summary.evaluated_share.filter(|share| *share < 1.0);
        let cut = share.map(|share| format!(", {:.0} % of their steps before truncation", 100.0 * share));
        text += &format!("{} iterations{}\n", grouped(iterations as u64), cut.unwrap_or_default());
    }
    if let (Some(lowest), Some(highest)) = (summary.values.lowest, summary.values.highest) {
        text += &format!("values from {} to {}", significant(lowest), significant(highest));
        if matches!(summary.method, "tmc-shapley" | "exact-shapley") {
            text += &format!("; they add up to {}", significant(summary.values.total));
        }
        text.push('\n');
    }
    text
}
