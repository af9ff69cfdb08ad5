//! `dshap evaluate`.

use super::baseline::{choice, refuse_closed_forms};
use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use crate::args::{BenchArgs, EvaluateArgs, MethodArg, TaskArg};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{grouped, significant};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use dshap_evaluate::{Line, Panel, figure};
use dshap_io::AtomicFile;
use dshap_run::{
    AnyMethod, Arrange, Baseline, BenchRequest, Collected, Evaluation, MethodName, Receiver, Resources,
    Trial, Written,
};
use std::io::Write as _;

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let EvaluateArgs { bench, noise, repeats, figure, .. } = args;
    let request = request(bench, figure.as_ref())?;
    let trial = Trial { noise: *noise, repeats: *repeats };
    let target = plan::target(bench.output.as_deref(), bench.format)?;
    let doing = format!("cannot evaluate methods on `{}`", bench.points.join("`, `"));
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    let written = [
        ("output", bench.output.as_ref()),
        ("summary", bench.run.summary.as_ref()),
        ("figure", figure.as_ref()),
    ];
    plan::refuse_same(&written)?;
    let record = bench.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    let drawing = figure
        .as_ref()
        .map(|path| AtomicFile::create(path).map_err(|error| failed(error.into())))
        .transpose()?;
    let observer = Progress::new(bench.run.quiet);
    in_pool(bench.run.threads, || {
        let mut curves = Collected::new(Arrange::ByRow, None);
        let found = dshap_run::evaluate(&request, trial, &observer, &mut curves).map_err(failed)?;
        let rows = curves.arranged(Arrange::ByRow).map_err(failed)?;
        let saying = Saying { record: &found, warnings: &found.warnings, text: describe(&found) };
        conclude(saying, record, &bench.run, &doing, || {
            if let Some(mut file) = drawing {
                let svg = drawn(&rows, &found);
                file.write_all(svg.as_bytes()).map_err(Failure::output)?;
                file.commit().map_err(|error| failed(error.into()))?;
            }
            match target {
                Target::Terminal => crate::print(&table(&found)),
                Target::Written(destination, format) => {
                    let mut written = Written::new(destination, format, Arrange::ByRow);
                    written.begin(&rows.schema()).map_err(failed)?;
                    written.rows(rows).map_err(failed)?;
                    written.finish().map_err(failed)
                }
            }
        })
    })
}

/// What was typed, as a request for several methods.
pub(super) fn request(
    args: &BenchArgs,
    figure: Option<&std::path::PathBuf>,
) -> Result<BenchRequest, Failure> {
    if args.method.method.is_some() {
        return Err(Failure::usage("say `--methods A,B` for several methods, instead of `--method`"));
    }
    refuse_closed_forms(&args.method, "each of several methods")?;
    let inputs: Vec<&String> = args.points.iter().chain(&args.method.utility.test).collect();
    plan::refuse_second_standard_input(&inputs)?;
    Ok(BenchRequest {
        points: args.points.clone(),
        test: args.method.utility.test.clone(),
        model: plan::plain_model(&args.columns, &args.method, &args.keep),
        methods: methods(args)?,
        options: choice(&args.method, Baseline::Random),
        outputs: plan::outputs([args.output.as_ref(), args.run.summary.as_ref(), figure]),
        resources: Resources { memory: args.memory.memory, checkpoint: None },
    })
}

fn methods(args: &BenchArgs) -> Result<Vec<AnyMethod>, Failure> {
    if args.methods.is_empty() {
        let closed = match args.method.task {
            Some(TaskArg::Density) => MethodName::Closed,
            _ => MethodName::Gaussian,
        };
        return Ok(vec![AnyMethod::Valuer(closed), AnyMethod::Baseline(Baseline::LeaveOneOut)]);
    }
    let mut methods = Vec::new();
    for word in &args.methods {
        let Some(method) = AnyMethod::parse(word) else {
            let known: Vec<String> = <MethodArg as clap::ValueEnum>::value_variants()
                .iter()
                .filter_map(clap::ValueEnum::to_possible_value)
                .map(|value| format!("`{}`", value.get_name()))
                .collect();
            return Err(Failure::usage(format!(
                "there is no method `{word}`; there are {}",
                known.join(", ")
            )));
        };
        if methods.contains(&method) {
            return Err(Failure::usage(format!("`--methods` names `{word}` twice")));
        }
        methods.push(method);
    }
    Ok(methods)
}

/// One line for each method.
fn table(found: &Evaluation) -> String {
    let share = |share: f64| if share.is_finite() { format!("{:.3}", share) } else { String::new() };
    let optional = |number: Option<f64>| number.map(share).unwrap_or_default();
    let header = [
        "method",
        "add high",
        "add low",
        "remove high",
        "remove low",
        "AUC",
        "F1",
        "AUC by penalty",
        "seconds",
    ];
    let lines = found.methods.iter().map(|method| {
        [
            method.method.to_string(),
            share(method.addition_high),
            share(method.addition_low),
            share(method.removal_high),
            share(method.removal_low),
            optional(method.auc),
            optional(method.f1),
            optional(method.penalty_auc),
            significant(method.seconds),
        ]
    });
    let rows: Vec<[String; 9]> = std::iter::once(header.map(String::from)).chain(lines).collect();
    super::compare::aligned(&rows)
}

/// What ran, in a few lines.
fn describe(found: &Evaluation) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let from = if found.test_from == "test" { "test rows" } else { "of the rows" };
    let mut text = format!(
        "{}{guessed}: {} rows valued, utility {} on {} {from}; all rows are worth {}\n",
        found.task,
        grouped(found.n_rows as u64),
        found.utility,
        grouped(found.n_test as u64),
        significant(found.utility_of_all)
    );
    if let Some(noise) = found.noise {
        text += &format!("{:.0} % of the targets were made wrong, to be detected", 100.0 * noise);
        text += &match found.repeats {
            1 => "; once, which leaves much to chance (`--repeats 20`)\n".to_string(),
            n => format!("; {n} times\n"),
        };
    }
    text + "addition and removal: mean utility along the curve, as a share of that of all rows; a good method is \
            high for `add high` and `remove low`, low for the other two\n"
}

/// The curves, a panel for each experiment.
fn drawn(rows: &RecordBatch, found: &Evaluation) -> String {
    let text = |name: &str| rows.column_by_name(name).map(|column| column.as_string::<i32>().clone());
    let numbers =
        |name: &str| rows.column_by_name(name).map(|column| column.as_primitive::<Float64Type>().clone());
    let n_rows = rows.column_by_name("n_rows").map(|column| column.as_primitive::<UInt64Type>().clone());
    let (Some(experiment), Some(method), Some(order), Some(n_rows), Some(relative), Some(share)) =
        (text("experiment"), text("method"), text("order"), n_rows, numbers("relative"), numbers("found"))
    else {
        return figure(&[]);
    };
    let colour = |name: &str| found.methods.iter().position(|method| method.method == name).unwrap_or(0);
    let panels = [
        ("addition", "Point addition", "rows added", "utility, of that of all rows"),
        ("removal", "Point removal", "rows removed", "utility, of that of all rows"),
        ("detection", "Detection of wrong targets", "rows looked at", "wrong rows found"),
    ];
    let panels: Vec<Panel> = panels
        .into_iter()
        .filter_map(|(name, title, x, y)| {
            let mut lines: Vec<Line> = Vec::new();
            for row in (0..rows.num_rows()).filter(|&row| experiment.value(row) == name) {
                let values = if name == "detection" { &share } else { &relative };
                let called = format!("{}, {}", method.value(row), order.value(row));
                if lines.last().is_none_or(|line| line.name != called) {
                    let dashed = matches!(order.value(row), "low" | "penalty");
                    let colour = colour(method.value(row));
                    lines.push(Line { name: called, points: Vec::new(), dashed, colour });
                }
                if let (Some(line), true) = (lines.last_mut(), values.is_valid(row)) {
                    line.points.push((n_rows.value(row) as f64, values.value(row)));
                }
            }
            let [title, x, y] = [title, x, y].map(String::from);
            (!lines.is_empty()).then_some(Panel { title, x, y, lines })
        })
        .collect();
    figure(&panels)
}
