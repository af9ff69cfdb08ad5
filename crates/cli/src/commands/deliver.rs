//! Rows on their way out: to a file, a pipe or the terminal.

use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use crate::args::{DestinationArgs, RunArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{LONG_TABLE, grouped, render};
use dshap_io::Destination;
use dshap_run::{Arrange, Collected, Error, Observer, Receiver, Written, held_bytes};
use serde::Serialize;
use std::path::PathBuf;

/// How rows are delivered.
pub(crate) struct Delivery<'a> {
    /// What is being done, for errors.
    pub(crate) doing: String,
    pub(crate) destination: &'a DestinationArgs,
    pub(crate) arrange: Arrange,
    pub(crate) run: &'a RunArgs,
    /// The limit on memory, if there is one.
    pub(crate) memory: Option<u64>,
    /// Other files of the command, none of which may be one that is written.
    pub(crate) others: &'a [(&'a str, Option<&'a PathBuf>)],
}

/// What ran.
pub(crate) trait Ran: Serialize {
    /// Doubts.
    fn warnings(&self) -> &[String];
    /// A few lines for the eyes.
    fn describe(&self) -> String;
}

impl Delivery<'_> {
    /// Does the work, and delivers its rows unless they are too doubtful.
    pub(crate) fn of<R: Ran>(
        &self,
        work: impl FnOnce(&dyn Observer, &mut dyn Receiver) -> Result<R, Error> + Send,
    ) -> Result<(), Failure> {
        let Delivery { doing, destination, arrange, run, memory, others } = self;
        let target = plan::target(destination)?;
        let own = [("output", destination.output.as_ref()), ("summary", run.summary.as_ref())];
        plan::refuse_same(&[&own, *others].concat())?;
        // Before the work, so that a folder that cannot be written to is known early.
        let record = run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
        let failed = |error: Error| Failure::run(doing.clone(), &error);
        let (observer, most_held) = (Progress::new(run.quiet), held_bytes(*memory));
        in_pool(run.threads, || match target {
            Target::Written(destination, format) => {
                let mut written =
                    Written::new(destination.clone(), format, *arrange).holding_at_most(most_held);
                if run.strict && destination == Destination::Stdout {
                    written = written.held();
                }
                let ran = work(&observer, &mut written).map_err(failed)?;
                conclude(Saying::of(&ran), record, run, doing, || written.finish().map_err(failed))
            }
            Target::Terminal => {
                let mut collected = Collected::new(*arrange, most_held);
                let ran = work(&observer, &mut collected).map_err(failed)?;
                let show = || crate::print(&terminal_table(&collected, *arrange).map_err(failed)?);
                conclude(Saying::of(&ran), record, run, doing, show)
            }
        })
    }
}

impl<'a, R: Ran> Saying<'a, R> {
    /// What is to be said of it.
    pub(crate) fn of(ran: &'a R) -> Self {
        Saying { record: ran, warnings: ran.warnings(), text: ran.describe() }
    }
}

/// All rows if there are few; else both ends of the ranking.
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
