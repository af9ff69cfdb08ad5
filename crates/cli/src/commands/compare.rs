//! `dshap compare`.

use super::deliver::{Delivery, Ran};
use super::plan;
use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::table::{counted, grouped, in_seconds};
use dshap_run::{Arrange, Comparison};

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let CompareArgs { bench, keep, top } = args;
    let request = plan::bench_request(bench, keep, None)?;
    let delivery = Delivery {
        doing: format!("cannot compare methods on `{}`", bench.points.join("`, `")),
        destination: &bench.destination,
        arrange: Arrange::ByRow,
        run: &bench.run,
        memory: bench.memory.memory,
        others: &[],
    };
    let compared = delivery.of(|observer, receiver| dshap_run::compare(&request, *top, observer, receiver));
    compared.map_err(Failure::of_several_methods)
}

impl Ran for Comparison {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn describe(&self) -> String {
        describe(self)
    }
}

/// What ran, how long it took and how much it agrees.
fn describe(found: &Comparison) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let n_test = found.n_test as u64;
    let measured = match found.test_from {
        "none" => String::new(),
        "test" => format!("; utility is measured on {}", counted(n_test, "test row")),
        _ => format!("; baselines measure utility on {} of the rows", grouped(n_test)),
    };
    let n_rows = counted(found.n_valued as u64, "row");
    let n_methods = counted(found.methods.len() as u64, "method");
    let mut text = format!("{}{guessed}: {n_rows} valued by {n_methods}{measured}\n", found.task);
    let seconds =
        |method: &dshap_run::Compared| format!("{} {} s", method.method, in_seconds(method.seconds));
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
