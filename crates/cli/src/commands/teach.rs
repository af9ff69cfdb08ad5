//! `dshap teach`.

use super::deliver::{Delivery, Ran};
use super::finish::RunOptions;
use super::requests;
use crate::args::TeachArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::counted;
use dshap_catalogue::Given;
use dshap_run::{Arrange, TeachRequest, TeachSummary, Warning};
use dshap_words::run_words::{of_target, sizes};

pub(crate) fn run(args: &TeachArgs) -> Result<(), Failure> {
    let TeachArgs { value, cases } = args;
    let run = RunOptions::of(&value.given);
    requests::refuse_second_standard_input(&[value.points.as_slice(), cases.as_slice()].concat())?;
    let request = TeachRequest {
        value: requests::value_request(value, &run)?,
        cases: cases.clone(),
        arrange: requests::arrange(&value.given)?,
    };
    let delivery = Delivery {
        doing: format!("cannot teach by `{}`", value.points.join("`, `")),
        speech: CommandLine::default(),
        output: value.output.as_ref(),
        given: &value.given,
        // The rows of each case are arranged already.
        arrange: Arrange::ByRow,
        run: &run,
        others: &[],
    };
    delivery.of(|observer, receiver| dshap_run::teach(&request, observer, receiver))
}

impl Ran for TeachSummary {
    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn describe(&self, _: &Given) -> String {
        let facts = &self.facts;
        let without = if self.cases_have_targets { "" } else { " without targets" };
        format!(
            "{}{}, method {}: what each of {} teaches about {}{without}\n{}\n",
            facts.task,
            of_target(facts),
            facts.method,
            counted(self.n_points, "row"),
            counted(self.n_cases as u64, "case"),
            sizes(facts)
        )
    }
}
