//! What can be typed after `owners`, `payout` and `verify`.

use super::catalogued::{files, texts};
use super::flags::given;
use super::verb::Verb;
use clap::{Arg, ArgMatches, Args, Command};
use dshap_catalogue::Given;
use dshap_catalogue::options::{BUDGET, BY};
use dshap_models::Method;
use std::path::PathBuf;

/// What was typed after `dshap owners`.
#[derive(Debug)]
pub(crate) struct OwnersArgs {
    pub(crate) rows: Vec<String>,
    pub(crate) method: Option<&'static Method>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) given: Given,
}

/// What was typed after `dshap payout`.
#[derive(Debug)]
pub(crate) struct PayoutArgs {
    pub(crate) table: Vec<String>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) given: Given,
}

/// Compute a payout, or the values of owners, again and say what differs
///
/// A manifest is a receipt: it has the digests of the inputs, the options, the seed and the results. Everything is
/// computed again from the inputs, which must be where they were. The exit code is 1 if anything differs.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dshap verify receipt.json")]
pub(crate) struct VerifyArgs {
    /// The receipt, written with `--manifest`
    #[arg(value_name = "MANIFEST")]
    pub(crate) manifest: PathBuf,
}

impl OwnersArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            rows: texts(matches, "rows"),
            method: matches.get_one("method").copied(),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        }
    }
}

impl PayoutArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            table: texts(matches, "table"),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        }
    }
}

pub(super) fn owners() -> Command {
    Command::new("owners")
        .about("What each owner's rows bring, given the others and what you have")
        .long_about(OWNERS)
        .allow_negative_numbers(true)
        .arg(files("rows", "TABLE", "Files with the rows of all owners, or a valuer fitted with `--by`; `-` is standard input").required(true))
        .args(Verb::Owners.flags())
        .after_help(
            "\
Examples:
  dshap owners rows.csv --by vendor --target price --test held-out.csv
  dshap owners rows.csv --by vendor --target price --own mine.csv
  dshap owners rows.csv --by vendor --target price --duplicates once -o owners.json
  dshap fit rows.csv --by vendor --target price -o vendors.dshap
  dshap owners vendors.dshap --test new.csv
  dshap owners rows.csv --by site --target price --test new.csv --explain-test who-helps.csv --segment region",
        )
}

const OWNERS: &str = "\
What each owner's rows bring, given the others and what you have

Owners are players of a game. A coalition of owners trains a model on the rows of its members, and is worth minus \
the loss of that model on test rows. The Shapley value of an owner is its mean contribution over all orders in \
which owners may join. The values add up to what all owners bring together. Owners with the same rows share their \
credit; sums of row values do not show that.

Test rows are those of `--test`. Without it, the rows of `--own` are predicted by cross-fitting in five folds, and \
without those the rows of the owners themselves.

Up to 16 owners, all coalitions are tried. With more, owners join in random orders until standard errors are below \
`--stop` (0.05) of the spread of the owners' values.

The output has one row per owner: owner, rows, row_sum with row_sum_stderr and row_mean (values of its rows; copies \
add up unless they count once), below_zero (share of its rows), joint (regression: the value of all its rows together; \
copies do not add up), shapley, stderr, given_own and given_own_stderr (with `--own`), duplicates (rows that other \
owners have too), near and near_repeated (with `--near`: rows nearly the same as those of others, or as earlier ones of \
its own) and repeated (rows it has more than once). As JSON it is an object that also has the interactions of owners.";

pub(super) fn payout() -> Command {
    Command::new("payout")
        .about("Divide a budget between owners, to the last unit")
        .long_about(PAYOUT)
        .arg(files("table", "TABLE", "Output of `dshap owners`, or of `dshap value --by`").required(true))
        .args(Verb::Payout.flags())
        .mut_arg(BUDGET.name, |flag: Arg| flag.required(true))
        .mut_arg(BY.name, |flag: Arg| flag.help("The column of owners in a table of row values"))
        .after_help(
            "\
Examples:
  dshap payout owners.json --budget 100000 --manifest receipt.json -o payout.csv
  dshap payout owners.csv --budget 100000 --unit 1 --floor 500 --min-rows 20
  dshap payout values.csv --by vendor --budget 100000",
        )
}

const PAYOUT: &str = "\
Divide a budget between owners, to the last unit

Each owner receives a share in proportion to its value. Payouts are whole numbers of units and add up to the \
budget: shares are rounded down, and the units left over go to the largest remainders. Equal values may differ by \
one unit; then a hash of `--seed` and the name decides, so neither the order of owners nor their names help.

The table is the output of `dshap owners`, or row values written by `dshap value --by`, which are summed. Standard \
errors of payouts come from a thousand draws of the owners' values about those found. A table written as JSON also \
has how errors of owners go together; otherwise they are taken as independent.";
