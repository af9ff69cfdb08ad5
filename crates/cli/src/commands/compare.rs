//! `dshap compare`.

use super::deliver::{Delivery, Ran};
use super::finish::RunOptions;
use super::requests;
use crate::args::TrialArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::{aligned, counted, grouped, in_seconds, wrapped};
use dshap_catalogue::Given;
use dshap_catalogue::options::TOP;
use dshap_run::{Arrange, Warning};
use dshap_trials::{Compared, Comparison};

pub(crate) fn run(args: &TrialArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = requests::bench_request(args, &run)?;
    let top = args.given.size(&TOP);
    let delivery = Delivery {
        doing: format!("cannot compare methods on `{}`", args.points.join("`, `")),
        speech: CommandLine { several: true },
        output: args.output.as_ref(),
        given: &args.given,
        arrange: Arrange::ByRow,
        run: &run,
        others: &[],
    };
    delivery.of(|observer, receiver| dshap_trials::compare(&request, top, observer, receiver))
}

impl Ran for Comparison {
    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn describe(&self, _: &Given) -> String {
        describe(self)
    }
}

/// What ran, how long it took and how much methods agree.
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
    let seconds = |method: &Compared| format!("{} {} s", method.method, in_seconds(method.seconds));
    text += &format!("time: {}\n", found.methods.iter().map(seconds).collect::<Vec<_>>().join(", "));
    if !found.pairs.is_empty() {
        let share = |number: Option<f64>| number.map(|number| format!("{number:.3}")).unwrap_or_default();
        let header = ["", "", "Spearman", "Kendall", &format!("best {}", found.top)].map(String::from);
        let pairs = found.pairs.iter().map(|pair| {
            let (one, other) = (pair.one.clone(), pair.other.clone());
            [one, other, share(pair.spearman), share(pair.kendall), share(pair.top_overlap)]
        });
        text += &aligned(&std::iter::once(header).chain(pairs).collect::<Vec<_>>());
    }
    let verdict = dshap_words::comparison_verdict(found);
    verdict.iter().fold(text, |text, sentence| text + &wrapped(&format!("verdict: {sentence}"), 0, 80))
}
