//! `dshap compare`.

use super::evaluate::request;
use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use super::value::terminal_table;
use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{grouped, significant};
use dshap_io::Destination;
use dshap_run::{Arrange, Collected, Comparison, Written, held_bytes};

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let CompareArgs { bench, top } = args;
    let request = request(bench, None)?;
    let target = plan::target(bench.output.as_deref(), bench.format)?;
    let doing = format!("cannot compare methods on `{}`", bench.points.join("`, `"));
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    plan::refuse_same(&[("output", bench.output.as_ref()), ("summary", bench.run.summary.as_ref())])?;
    let record = bench.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    let observer = Progress::new(bench.run.quiet);
    let most_held = held_bytes(bench.memory.memory);
    in_pool(bench.run.threads, || match target {
        Target::Written(destination, format) => {
            let mut written = Written::new(destination.clone(), format, Arrange::ByRow);
            if bench.run.strict && destination == Destination::Stdout {
                written = written.held();
            }
            let found = dshap_run::compare(&request, *top, &observer, &mut written).map_err(failed)?;
            let saying = Saying { record: &found, warnings: &found.warnings, text: describe(&found) };
            conclude(saying, record, &bench.run, &doing, || written.finish().map_err(failed))
        }
        Target::Terminal => {
            let mut collected = Collected::new(Arrange::ByRow, most_held);
            let found = dshap_run::compare(&request, *top, &observer, &mut collected).map_err(failed)?;
            let saying = Saying { record: &found, warnings: &found.warnings, text: describe(&found) };
            let show = || crate::print(&terminal_table(&collected, Arrange::ByRow).map_err(failed)?);
            conclude(saying, record, &bench.run, &doing, show)
        }
    })
}

/// What ran, how long it took and how much it agrees.
fn describe(found: &Comparison) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let from = if found.test_from == "test" { "test rows" } else { "of the rows" };
    let mut text = format!(
        "{}{guessed}: {} rows valued by {} methods; baselines measure utility on {} {from}\n",
        found.task,
        grouped(found.n_valued as u64),
        found.methods.len(),
        grouped(found.n_test as u64)
    );
    let seconds =
        |method: &dshap_run::Compared| format!("{} {} s", method.method, significant(method.seconds));
    text += &format!("time: {}\n", found.methods.iter().map(seconds).collect::<Vec<_>>().join(", "));
    if !found.pairs.is_empty() {
        let share = |number: Option<f64>| number.map(|number| format!("{number:.3}")).unwrap_or_default();
        let header = ["", "", "Spearman", "Kendall", &format!("best {}", found.top)].map(String::from);
        let pairs = found.pairs.iter().map(|pair| {
            let [one, other] = [pair.one, pair.other].map(String::from);
            [one, other, share(pair.spearman), share(pair.kendall), share(pair.top_overlap)]
        });
        text += &aligned(&std::iter::once(header).chain(pairs).collect::<Vec<_>>());
    }
    text
}

/// Cells in columns, the first to the left and the others to the right.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}
