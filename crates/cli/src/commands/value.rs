//! `dshap value`.

use super::deliver::{Delivery, Ran};
use super::explain;
use super::finish::RunOptions;
use super::requests;
use super::shell::flags_of_cleaning;
use crate::args::ValueArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::significant;
use dshap_catalogue::Given;
use dshap_catalogue::options::{CHECKPOINT, EXPLAIN};
use dshap_run::{StandingOut, Summary, Warning};
use dshap_words::in_shell;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = requests::value_request(args, &run)?;
    // A row that is no number is noticed before the work.
    explain::rows_of(args.given.list(&EXPLAIN))?;
    let checkpoint = args.given.word(&CHECKPOINT).map(PathBuf::from);
    let delivery = Delivery {
        doing: format!("cannot value `{}`", args.points.join("`, `")),
        speech: CommandLine::default(),
        output: args.output.as_ref(),
        given: &args.given,
        arrange: requests::arrange(&args.given)?,
        run: &run,
        others: &[("checkpoint", checkpoint.as_ref()), ("valuer", args.valuer.as_ref())],
    };
    delivery.of(|observer, receiver| {
        // A checkpoint that cannot be written is noticed before the work.
        checkpoint.as_ref().map(|path| dshap_io::AtomicFile::create(path)).transpose()?;
        dshap_run::value(&request, observer, receiver)
    })?;
    if let Some(text) = explain::beside_values(args, &run)? {
        // The values are out; a closed standard error does not change that.
        let _ = std::io::stderr().write_all(format!("\n{text}").as_bytes());
    }
    Ok(())
}

impl Ran for Summary {
    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn describe(&self, given: &Given) -> String {
        dshap_words::run_words::describe(self) + low_values(self) + &sparkline(self) + &next(self, given)
    }
}

/// What low values are not, for methods whose lowest values mislead.
fn low_values(summary: &Summary) -> &'static str {
    match summary.facts.second_order {
        Some(_) => {
            "low values are not wrong labels; to find those, use `--method gaussian --sort penalty` or \
             `--method knn`\n"
        }
        None => "",
    }
}

/// The command that tests whether rows should change, if there is one for these. It reads the table in the same way.
fn next(summary: &Summary, given: &Given) -> String {
    match (&summary.standing_out, &summary.facts.target, summary.points.as_slice()) {
        (Some(StandingOut { n_rows: 1.., .. }), Some(_), [table]) if table.name != "-" => format!(
            "next: `dshap clean {}{}` tests whether fewer or corrected rows make a better model\n",
            in_shell(&table.name),
            flags_of_cleaning(given)
        ),
        _ => String::new(),
    }
}

/// The distribution of the values in a line, on a terminal.
fn sparkline(summary: &Summary) -> String {
    let Some(bins) = summary.values.histogram.filter(|_| std::io::stderr().is_terminal()) else {
        return String::new();
    };
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = bins.iter().copied().max().unwrap_or(0).max(1);
    // Even a single row is seen.
    let bar =
        |count: &u64| if *count == 0 { ' ' } else { BARS[((count * 8).div_ceil(most) as usize - 1).min(7)] };
    let (lowest, highest) = (summary.values.lowest.unwrap_or(0.0), summary.values.highest.unwrap_or(0.0));
    let bars: String = bins.iter().map(bar).collect();
    format!("{} {bars} {}\n", significant(lowest), significant(highest))
}
