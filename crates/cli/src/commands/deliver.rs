//! Rows on their way out: to a file, a pipe or the terminal.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests::{self, Target};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{LONG_TABLE, grouped, render};
use dshap_catalogue::Given;
use dshap_io::Destination;
use dshap_run::{Arrange, Collected, Error, Observer, Receiver, Warning, Written, held_bytes};
use serde::Serialize;
use std::path::PathBuf;

/// How rows are delivered.
pub(crate) struct Delivery<'a> {
    /// What is being done, for errors.
    pub(crate) doing: String,
    pub(crate) speech: CommandLine,
    pub(crate) output: Option<&'a PathBuf>,
    /// The options, of which some are about the format.
    pub(crate) given: &'a Given,
    pub(crate) arrange: Arrange,
    pub(crate) run: &'a RunOptions,
    /// Other files of the command; none of them may be written to as well.
    pub(crate) others: &'a [(&'a str, Option<&'a PathBuf>)],
}

/// What ran.
pub(crate) trait Ran: Serialize {
    /// What is doubtful.
    fn warnings(&self) -> &[Warning];
    /// A few lines for people, who gave these options.
    fn describe(&self, given: &Given) -> String;
}

impl Delivery<'_> {
    /// Does the work and delivers its rows, unless they are too doubtful.
    pub(crate) fn of<R: Ran>(
        &self,
        work: impl FnOnce(&dyn Observer, &mut dyn Receiver) -> Result<R, Error> + Send,
    ) -> Result<(), Failure> {
        let Delivery { doing, speech, output, given, arrange, run, others } = self;
        let target = requests::given_target(output.map(PathBuf::as_path), given)?;
        let own = [("output", *output), ("summary", run.summary.as_ref())];
        requests::refuse_same(&[&own, *others].concat())?;
        let record = run.begin_record()?;
        let failed = |error: Error| Failure::run(doing.clone(), &error, *speech);
        let (observer, most_held) = (Progress::new(run.quiet), held_bytes(run.memory));
        in_pool(run.threads, || match target {
            Target::Written(destination, format) => {
                let mut written =
                    Written::new(destination.clone(), format, *arrange).holding_at_most(most_held);
                if run.strict && destination == Destination::Stdout {
                    written = written.held();
                }
                let ran = work(&observer, &mut written).map_err(failed)?;
                let recorded = Recorded::new(&ran, ran.warnings(), *speech);
                conclude(&recorded, record, run, doing, || {
                    written.finish().map_err(failed)?;
                    Ok(ran.describe(given))
                })
            }
            Target::Terminal => {
                let mut collected = Collected::new(*arrange, most_held);
                let ran = work(&observer, &mut collected).map_err(failed)?;
                let recorded = Recorded::new(&ran, ran.warnings(), *speech);
                conclude(&recorded, record, run, doing, || {
                    crate::print(&terminal_table(&collected, *arrange).map_err(failed)?)?;
                    Ok(ran.describe(given))
                })
            }
        })
    }
}

/// All rows if there are few; otherwise both ends of the ranking.
fn terminal_table(collected: &Collected, arrange: Arrange) -> Result<String, Error> {
    let mut rows = collected.arranged(arrange)?;
    if arrange == Arrange::ByRow && rows.num_rows() > LONG_TABLE {
        rows = collected.arranged(Arrange::Highest(None))?;
    }
    let between = |hidden: usize| {
        format!("  … {} rows between, by value; `-o FILE` or a pipe gives all …", grouped(hidden as u64))
    };
    Ok(render(&rows, between))
}
