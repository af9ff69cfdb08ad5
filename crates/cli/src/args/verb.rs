//! Which command has which options of the catalogue.

use super::entrants::Entrants;
use super::flags::{flag, for_owners};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ValueHint, value_parser};
use dshap_catalogue::options::{
    BANDWIDTH, BOTTOM, BY, CHECKPOINT, CHECKPOINT_EVERY, CSV_SAFE, DECIMAL, DEPENDENT, FIGURE, FORMAT, ID, K,
    KEEP, KERNEL, LISTS, M, MANIFEST, MARK, MEMORY, METRIC, NO_HEADER, PCA, POPULATION, POSITIVE, Q,
    REFERENCE, REPEATS, RIDGE, SAMPLES, SCALE, SEED, SETS, SORT, STDERR, STOP, SUMMARY, SYNERGY, TASK, TEST,
    TOP, UNSEEN, UTILITY, WEIGHT,
};
use dshap_catalogue::{Group, OptionEntry, options};
use dshap_models::{Method, methods};
use std::path::PathBuf;

/// A command whose flags come from the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Value,
    Explain,
    Look,
    Report,
    Teach,
    Fit,
    Update,
    Merge,
    Evaluate,
    Compare,
    Clean,
    Owners,
    Payout,
}

impl Verb {
    /// Whether the command has a use for an option.
    fn has(self, option: &OptionEntry) -> bool {
        let is = |options: &[&OptionEntry]| options.iter().any(|other| other.name == option.name);
        let is_checkpoint = is(&[&CHECKPOINT, &CHECKPOINT_EVERY]);
        let reads = is(&[&NO_HEADER, &DECIMAL]);
        if is(&[&LISTS]) {
            // They stand in the file of a valuer.
            return self == Verb::Fit;
        }
        match (self, option.group) {
            (Verb::Owners, Group::Rows) => is(&[&TEST]) || reads,
            (Verb::Owners, Group::Columns) => !is(&[&ID, &WEIGHT]),
            (Verb::Owners, Group::Owners) => true,
            (Verb::Owners, Group::Output) => is(&[&FORMAT, &CSV_SAFE]),
            (Verb::Owners, Group::Run) => !is_checkpoint && !is(&[&SUMMARY]),
            (Verb::Owners, _) => is(&[
                &TASK, &M, &Q, &RIDGE, &STOP, &SAMPLES, &SEED, &UTILITY, &KERNEL, &BANDWIDTH, &SCALE, &K,
                &METRIC,
            ]),
            (Verb::Payout, Group::Payout) => true,
            (Verb::Payout, Group::Run) => !is_checkpoint && !is(&[&SUMMARY, &MEMORY]),
            (Verb::Payout, _) => is(&[&BY, &SEED, &MANIFEST, &FORMAT, &CSV_SAFE]),
            (_, Group::Owners | Group::Payout) => false,

            (Verb::Clean, Group::Rows) => reads,
            (Verb::Clean, Group::Columns) => !is(&[&ID, &BY, &WEIGHT]),
            (Verb::Clean, Group::Output) => is(&[&MARK, &FORMAT, &CSV_SAFE]),
            (Verb::Clean, Group::Run) => !is_checkpoint,
            (Verb::Clean, _) => is(&[&TASK, &POSITIVE, &SEED, &REPEATS]),
            // Marks are for suspicious rows.
            _ if is(&[&MARK]) => false,

            (Verb::Look, Group::Rows) => reads,
            (Verb::Look, Group::Columns) => !is(&[&POSITIVE, &PCA, &UNSEEN, &DEPENDENT]),
            (Verb::Look, _) => is(&[&TASK]),
            (Verb::Value | Verb::Explain | Verb::Report, Group::Trial) => false,
            (Verb::Explain, Group::Output) => is(&[&STDERR]),
            (Verb::Explain, _) => !is_checkpoint && !is(&[&SETS, &SYNERGY, &BY, &ID]),
            // A page shows rows and has its own order.
            (Verb::Report, Group::Output) => is(&[&KEEP, &STDERR]),
            (Verb::Teach, Group::Trial | Group::Density | Group::Neighbours | Group::SecondOrder) => false,
            (Verb::Teach, Group::Rows) => is(&[&REFERENCE]) || reads,
            (Verb::Teach, Group::Output) => {
                is(&[&FORMAT, &CSV_SAFE, &KEEP, &TOP, &BOTTOM, &SORT, &STDERR, &BY, &ID])
            }
            (Verb::Teach, _) => !is_checkpoint,
            (Verb::Report, _) => !is_checkpoint && !is(&[&FIGURE, &SETS, &SYNERGY]),
            (Verb::Value, _) => !is(&[&FIGURE]),

            (Verb::Update | Verb::Merge, Group::Run) => {
                let is_memory = self == Verb::Merge && is(&[&MEMORY]);
                !(is_checkpoint || is_memory)
            }
            (Verb::Update, Group::Rows) => reads,
            (Verb::Update | Verb::Merge, _) => is(&[&M, &Q]),

            // Rows of the reference are arguments.
            (Verb::Fit, Group::Rows) => is(&[&TEST, &POPULATION]) || reads,
            (_, Group::Rows) => is(&[&TEST]) || reads,
            (_, Group::Density) => !is(&[&SETS, &SYNERGY]),
            (Verb::Fit, Group::Trial | Group::Output) => false,
            (Verb::Fit, _) => true,

            (_, Group::Run) => !is_checkpoint,
            (Verb::Evaluate, Group::Output) => is(&[&FORMAT, &CSV_SAFE, &FIGURE]),
            (Verb::Evaluate, _) => true,
            (Verb::Compare, Group::Output) => is(&[&FORMAT, &CSV_SAFE, &KEEP, &TOP]),
            (Verb::Compare, group) => group != Group::Trial,
        }
    }

    /// Whether short help lists an option.
    fn lists(self, option: &OptionEntry) -> bool {
        match self {
            Verb::Update | Verb::Merge | Verb::Payout => true,
            Verb::Owners if [BY.name, RIDGE.name, TEST.name].contains(&option.name) => true,
            Verb::Clean if option.name == MARK.name => true,
            Verb::Evaluate if option.group == Group::Trial || option.name == FIGURE.name => true,
            _ => option.daily,
        }
    }

    /// All flags of the command, in the order of help.
    pub(super) fn flags(self) -> Vec<Arg> {
        let mut flags = Vec::new();
        for option in options::all().filter(|option| self.has(option)) {
            flags.extend(self.own_flag_before(option));
            let mut flag = flag(option).hide_short_help(!self.lists(option));
            if option.name == M.name && !matches!(self, Verb::Value | Verb::Owners) {
                flag = flag.value_parser(ValueParser::from(|text: &str| Q.parse(text)));
            }
            let own = options::FOR_OWNERS.iter().find(|of| of.option.name == option.name);
            if let Some(of) = own.filter(|_| self == Verb::Owners) {
                flag = for_owners(flag, of);
            }
            flags.push(flag);
        }
        flags
    }

    /// The flag of the method. There is no game between owners for a baseline.
    fn method(self) -> Arg {
        method(|method| self != Verb::Owners || method.baseline().is_none())
    }

    /// The flag that the catalogue has no entry for and that stands before an option.
    fn own_flag_before(self, option: &OptionEntry) -> Option<Arg> {
        match self {
            Verb::Value | Verb::Explain | Verb::Report if option.name == TEST.name => Some(valuer()),
            Verb::Value | Verb::Explain | Verb::Report | Verb::Teach | Verb::Fit | Verb::Owners
                if option.name == TASK.name =>
            {
                Some(self.method())
            }
            Verb::Evaluate | Verb::Compare if option.name == TASK.name => Some(several_methods()),
            Verb::Value | Verb::Teach | Verb::Compare if option.name == KEEP.name => Some(output()),
            Verb::Evaluate | Verb::Clean | Verb::Owners | Verb::Payout if option.name == FORMAT.name => {
                Some(output())
            }
            _ => None,
        }
    }
}

fn valuer() -> Arg {
    Arg::new("valuer")
        .long("valuer")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .conflicts_with(REFERENCE.name)
        .help("A valuer saved by `dshap fit`")
        .long_help(
            "A valuer saved by `dshap fit`\n\n\
             m, q and the method can be overridden; columns and the fit are those of the valuer.",
        )
        .help_heading(Group::Rows.heading())
}

fn method(has: impl Fn(&Method) -> bool) -> Arg {
    Arg::new("method")
        .long("method")
        .value_name("NAME")
        .value_parser(method_names())
        .hide_possible_values(true)
        .help("How rows are valued; `dshap methods` lists all")
        .long_help(format!(
            "How rows are valued; `dshap methods NAME` describes a method and its options\n\n{}\n\n\
             Default: gaussian; closed with --task density",
            summaries(has)
        ))
        .help_heading(Group::Method.heading())
}

fn several_methods() -> Arg {
    Arg::new("methods")
        .long("methods")
        .value_name("A,B")
        .value_parser(Entrants)
        .action(ArgAction::Append)
        .hide_possible_values(true)
        .help("The methods, separated by commas; `dshap methods` lists all")
        .long_help(format!(
            "The methods, separated by commas; `dshap methods NAME` describes a method and its options\n\n\
             Each method gets the options that it takes. A semivalue behind a colon is for that method alone, so that \
             one trial can hold several: gaussian,gaussian:banzhaf,knn:beta:16,1\n\n{}\n\n\
             Default: gaussian,knn; closed,monte-carlo with --task density",
            summaries(|_| true)
        ))
        .help_heading(Group::Method.heading())
}

fn output() -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("Write to a .csv, .json, .ndjson, .parquet, .arrow or .npy file")
        .long_help(
            "Write to a .csv, .json, .ndjson, .parquet, .arrow or .npy file\n\n\
             The file appears whole or not at all.",
        )
        .help_heading(Group::Output.heading())
}

/// The valuer that a command saves.
pub(super) fn saved_valuer(help: &'static str) -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .required(true)
        .help(help)
}

/// Names of methods; a name that is none suggests the closest.
pub(super) fn method_names() -> impl TypedValueParser<Value = &'static Method> {
    let names =
        methods::METHODS.iter().map(|method| PossibleValue::new(method.name()).help(method.entry.summary));
    PossibleValuesParser::new(names)
        .map(|name| methods::find(&name).expect("clap lets only names of methods through"))
}

/// A line for each of some methods.
fn summaries(has: impl Fn(&Method) -> bool) -> String {
    let line = |method: &&Method| format!("{:<14} {}", method.name(), method.entry.summary);
    methods::METHODS.iter().filter(|method| has(method)).map(line).collect::<Vec<_>>().join("\n")
}
