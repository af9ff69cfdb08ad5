//! What can be typed.
//!
//! Flags and help of the commands that value rows come from the catalogue; the other commands have few flags,
//! which are written here.
//!
//! | file | holds |
//! |---|---|
//! | `flags.rs` | an option of the catalogue as a flag, and flags as options given |
//! | `help.rs` | the help text of an option |
//! | `verb.rs` | which command has which options, and flags beside them |
//! | `clean.rs` | `clean` |
//! | `catalogued.rs` | `look`, `value`, `explain`, `report`, `teach`, `fit`, `update`, `merge`, `evaluate`, `compare` |
//! | `tips.rs` | what was probably meant by a line that is none |
//! | `owners.rs` | `owners`, `payout`, `verify` |
//! | `experiment.rs`, `formula.rs`, `other.rs` | the other commands |

mod catalogued;
mod clean;
mod entrants;
mod experiment;
mod flags;
mod formula;
mod help;
mod other;
mod owners;
mod tips;
mod verb;

pub(crate) use catalogued::{
    ExplainArgs, FitArgs, LookArgs, MergeArgs, TeachArgs, TrialArgs, UpdateArgs, ValueArgs,
};
pub(crate) use clean::CleanArgs;
#[cfg(feature = "experiments")]
pub(crate) use experiment::{ConstantArg, ExperimentArg, HandlingArg};
pub(crate) use experiment::{DatasetArgs, ExperimentArgs};
pub(crate) use flags::long_name;
pub(crate) use formula::{
    BoundFormulaArgs, ClassificationFormulaArgs, DensityFormulaArgs, DestinationArgs, FormulaCommand,
    PairFormulaArgs, RegressionFormulaArgs, SynergyFormulaArgs, UniformArgs, WeightsFormulaArgs,
};
pub(crate) use help::{default, only_tasks, spelled};
#[cfg(feature = "serve")]
pub(crate) use other::ServeArgs;
pub(crate) use other::{InspectArgs, MethodsArgs, Other};
pub(crate) use owners::{OwnersArgs, PayoutArgs, VerifyArgs};
pub(crate) use tips::with_tip;

use crate::failure::Failure;
use crate::speech::CommandLine;
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _, Subcommand as _};
use dshap_catalogue::Given;
use dshap_catalogue::options::MEMORY;

/// The command line: all commands and their flags.
pub(crate) fn command() -> Command {
    let root = Command::new("dshap")
        .version(env!("CARGO_PKG_VERSION"))
        .about("What each row of a dataset is worth to a model, exactly")
        .long_about(
            "What each row of a dataset is worth to a model, exactly\n\n\
             Without a command: a demonstration on data that dshap makes.",
        )
        .max_term_width(100)
        .after_help(EXAMPLES)
        .subcommand(catalogued::look())
        .subcommand(catalogued::value())
        .subcommand(catalogued::explain())
        .subcommand(catalogued::report())
        .subcommand(catalogued::teach())
        .subcommand(catalogued::fit())
        .subcommand(catalogued::update())
        .subcommand(catalogued::merge())
        .subcommand(InspectArgs::augment_args(Command::new("inspect")))
        .subcommand(catalogued::evaluate())
        .subcommand(catalogued::compare())
        .subcommand(clean::clean())
        .subcommand(owners::owners())
        .subcommand(owners::payout())
        .subcommand(VerifyArgs::augment_args(Command::new("verify")))
        .subcommand(MethodsArgs::augment_args(Command::new("methods")));
    Other::augment_subcommands(root)
}

const EXAMPLES: &str = "\
Examples:
  dshap                                           a demonstration
  dshap look wine.csv --target quality            columns, types, roles and every problem
  dshap value wine.csv --target quality           value each row against the others
  dshap explain wine.csv --target quality --row 17        why is this row worth so little?
  dshap value new.csv --reference old.csv --target price -o values.csv
  dshap fit old.csv --target price -o price.dshap         fit once ...
  dshap value new.csv --valuer price.dshap                ... value anything later
  dshap evaluate wine.csv --target quality        do high values help, do low ones reveal mistakes?
  dshap clean wine.csv --target quality           which rows to drop or relabel, tested
  dshap owners rows.csv --by vendor --target y    what each vendor's rows bring, given the others
  dshap report wine.csv --target quality -o wine.html     a page to look at and to send
  dshap serve --data tables                       explore tables in a browser
  dshap methods                                   the methods and their options
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1";

/// What was typed.
#[derive(Debug)]
pub(crate) enum Typed {
    /// Nothing: the demonstration.
    Demo,
    Value(ValueArgs),
    Explain(ExplainArgs),
    Look(LookArgs),
    Report(ValueArgs),
    Teach(TeachArgs),
    Fit(FitArgs),
    Update(UpdateArgs),
    Merge(MergeArgs),
    Inspect(InspectArgs),
    Evaluate(TrialArgs),
    Compare(TrialArgs),
    Clean(CleanArgs),
    Owners(OwnersArgs),
    Payout(PayoutArgs),
    Verify(VerifyArgs),
    Methods(MethodsArgs),
    Other(Other),
}

impl Typed {
    /// What was typed, as clap understood it.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some((name, own)) = matches.subcommand() else { return Ok(Typed::Demo) };
        Ok(match name {
            "value" => Typed::Value(ValueArgs::of(own)),
            "look" => Typed::Look(LookArgs::of(own)),
            "explain" => Typed::Explain(ExplainArgs::of(own)),
            "report" => Typed::Report(ValueArgs::of(own)),
            "teach" => Typed::Teach(TeachArgs::of(own)),
            "fit" => Typed::Fit(FitArgs::of(own)),
            "update" => Typed::Update(UpdateArgs::of(own)),
            "merge" => Typed::Merge(MergeArgs::of(own)),
            "evaluate" => Typed::Evaluate(TrialArgs::of(own)),
            "compare" => Typed::Compare(TrialArgs::of(own)),
            "clean" => Typed::Clean(CleanArgs::of(own)),
            "owners" => Typed::Owners(OwnersArgs::of(own)),
            "payout" => Typed::Payout(PayoutArgs::of(own)),
            "verify" => Typed::Verify(VerifyArgs::from_arg_matches(own)?),
            "inspect" => Typed::Inspect(InspectArgs::from_arg_matches(own)?),
            "methods" => Typed::Methods(MethodsArgs::from_arg_matches(own)?),
            _ => Typed::Other(Other::from_arg_matches(matches)?),
        })
    }

    /// Whether the command ends in order by itself when it is told to end.
    pub(crate) fn handles_signals(&self) -> bool {
        matches!(self, Typed::Other(Other::Serve(_)))
    }

    /// The limit on memory, if there is one.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self {
            Typed::Other(Other::Serve(args)) => Some(args.memory),
            _ => self.given()?.count(&MEMORY),
        }
    }

    /// Options that cannot be used together, or mean nothing alone, with the catalogue's reason.
    pub(crate) fn check_pairs(&self) -> Result<(), Failure> {
        let checked = self.given().map_or(Ok(()), dshap_catalogue::check_pairs);
        checked.map_err(|misuse| Failure::usage(dshap_words::misuse(&misuse, &CommandLine::default())))
    }

    /// The options of the catalogue, where the command has any.
    fn given(&self) -> Option<&Given> {
        Some(match self {
            Typed::Value(args) | Typed::Report(args) => &args.given,
            Typed::Teach(args) => &args.value.given,
            Typed::Explain(args) => &args.value.given,
            Typed::Look(args) => &args.given,
            Typed::Fit(args) => &args.given,
            Typed::Update(args) => &args.given,
            Typed::Merge(args) => &args.given,
            Typed::Owners(args) => &args.given,
            Typed::Payout(args) => &args.given,
            Typed::Clean(args) => &args.given,
            Typed::Evaluate(args) | Typed::Compare(args) => &args.given,
            Typed::Demo | Typed::Inspect(_) | Typed::Verify(_) | Typed::Methods(_) | Typed::Other(_) => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::{Value, options};
    use dshap_models::methods::METHODS;

    fn typed(line: &str) -> Typed {
        let matches = command().try_get_matches_from(line.split_whitespace());
        matches.and_then(|matches| Typed::of(&matches)).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn the_flags_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_option_of_the_catalogue_is_a_flag_of_some_command() {
        let root = command();
        for option in options::all() {
            let name = long_name(option.name);
            let has = |command: &Command| command.get_arguments().any(|flag| flag.get_long() == Some(&name));
            assert!(root.get_subcommands().any(has), "no command has `--{name}`");
        }
    }

    #[test]
    fn the_example_of_every_method_is_a_command() {
        for method in METHODS {
            typed(&format!("dshap {}", spelled(method.entry.example)));
        }
    }

    #[test]
    fn only_what_was_typed_is_given() {
        let line = "dshap value a.csv b.csv --exclude x,y --exclude z --m 7 --shift -3 --stderr --positive -1 \
                    --reference one,two.csv --reference three.csv --bound-C 2";
        let Typed::Value(args) = typed(line) else { panic!("it is `value`") };
        assert_eq!(args.points, ["a.csv", "b.csv"]);
        let names: Vec<&str> = args.given.options().map(|option| option.name).collect();
        assert_eq!(names, ["bound_C", "exclude", "m", "positive", "reference", "shift", "stderr"]);
        assert_eq!(args.given.list(&options::EXCLUDE), ["x", "y", "z"]);
        assert_eq!(args.given.list(&options::REFERENCE), ["one,two.csv", "three.csv"]);
        assert_eq!(args.given.value(&options::SHIFT), Some(&Value::Number(-3.0)));
        assert_eq!(args.given.word(&options::POSITIVE), Some("-1"));
    }
}
