//! Owners of rows, and what they are paid.

use super::{BANDWIDTH, BY, FORMAT, KERNEL, RIDGE, SAMPLES, SCALE, SEED, STOP, TEST, UTILITY};
use crate::option::{Group, OptionEntry, Scope};
use crate::value::{Kind, SIZE, Word};

const OWNERS: OptionEntry = OptionEntry {
    name: "",
    placeholder: "FILE",
    takes: Kind::File,
    group: Group::Owners,
    help: "",
    details: "",
    default: "",
    daily: true,
    scope: Scope::Always,
};

const PAYOUT: OptionEntry = OptionEntry {
    placeholder: "AMOUNT",
    takes: Kind::Number { least: 0.0, above: false, below: f64::INFINITY },
    group: Group::Payout,
    ..OWNERS
};

/// The buyer's rows.
pub static OWN: OptionEntry = OptionEntry {
    name: "own",
    takes: Kind::Files,
    help: "Rows that the buyer has already",
    details: "Every coalition trains on them too, and each owner gets one more column: what it brings to a buyer \
              who has only these rows. Without {test}, they are also the rows that measure, by cross-fitting.",
    ..OWNERS
};

/// What is done with rows that occur more than once.
pub static DUPLICATES: OptionEntry = OptionEntry {
    name: "duplicates",
    placeholder: "HOW",
    takes: Kind::Choice {
        words: &[
            Word { word: "each", means: "each copy counts as a row" },
            Word {
                word: "once",
                means: "a row counts once in a coalition, whoever has it and however often",
            },
        ],
    },
    help: "What to do with rows that occur more than once",
    details: "Rows are the same if the first ten digits of all numbers are; with {near}, near rows are the same, too. The \
              owners who have a row share its value equally in their row sums.",
    default: "each",
    ..OWNERS
};

/// Rows that are nearly the same.
pub static NEAR: OptionEntry = OptionEntry {
    name: "near",
    placeholder: "DISTANCE",
    takes: Kind::Number { least: 0.0, above: true, below: f64::INFINITY },
    help: "Also count rows that are nearly the same as another row",
    details: "Two rows are near if features and target differ by at most this many standard deviations: the root of \
              the mean squared difference over columns. With {duplicates=once} they count once, also rows that are linked \
              by others in between. All rows are held in memory.",
    daily: false,
    ..OWNERS
};

/// No row values.
pub static GAME_ONLY: OptionEntry = OptionEntry {
    name: "game_only",
    placeholder: "",
    takes: Kind::Switch,
    help: "Only the game between owners: no row values, no search for duplicates",
    daily: false,
    ..OWNERS
};

/// Contributions to test rows.
pub static EXPLAIN_TEST: OptionEntry = OptionEntry {
    name: "explain_test",
    help: "Write what each owner brings to each test row, as a table",
    details: "With {segment}, means over the test rows of each segment.",
    ..OWNERS
};

/// A column of test rows.
pub static SEGMENT: OptionEntry = OptionEntry {
    name: "segment",
    placeholder: "COLUMN",
    takes: Kind::Text,
    help: "A column of the test rows: {explain_test} has one row for each of its values and each owner",
    daily: false,
    ..OWNERS
};

/// A receipt.
pub static MANIFEST: OptionEntry = OptionEntry {
    name: "manifest",
    help: "Write a receipt as JSON: digests of inputs, options, version, seed, results",
    details: "`dshap verify` computes everything again and says what differs.",
    ..OWNERS
};

/// What is divided.
pub static BUDGET: OptionEntry = OptionEntry {
    name: "budget",
    takes: Kind::Number { least: 0.0, above: true, below: f64::INFINITY },
    help: "The amount to divide",
    ..PAYOUT
};

/// The smallest amount.
pub static UNIT: OptionEntry = OptionEntry {
    name: "unit",
    takes: Kind::Number { least: 0.0, above: true, below: f64::INFINITY },
    help: "The smallest amount that can be paid; payouts are whole numbers of units",
    default: "0.01",
    ..PAYOUT
};

/// What is paid for.
pub static BASIS: OptionEntry = OptionEntry {
    name: "basis",
    placeholder: "WHAT",
    takes: Kind::Choice {
        words: &[
            Word { word: "shapley", means: "the value in the game between owners" },
            Word { word: "given-own", means: "what an owner adds to the rows the buyer has" },
            Word { word: "rows", means: "the sum of the values of its rows" },
        ],
    },
    help: "What owners are paid for",
    default: "shapley; rows for a table of row values",
    ..PAYOUT
};

/// Negative values.
pub static NEGATIVE: OptionEntry = OptionEntry {
    name: "negative",
    placeholder: "HOW",
    takes: Kind::Choice {
        words: &[
            Word { word: "clip", means: "an owner of negative value receives nothing" },
            Word { word: "keep", means: "an owner of negative value pays" },
        ],
    },
    help: "What happens to owners of negative value",
    default: "clip",
    ..PAYOUT
};

/// The least.
pub static FLOOR: OptionEntry =
    OptionEntry { name: "floor", help: "The least that each owner receives", default: "nothing", ..PAYOUT };

/// The most.
pub static CAP: OptionEntry =
    OptionEntry { name: "cap", help: "The most that each owner receives", default: "no limit", ..PAYOUT };

/// Rows needed.
pub static MIN_ROWS: OptionEntry = OptionEntry {
    name: "min_rows",
    placeholder: "N",
    takes: SIZE,
    help: "Owners with fewer rows receive nothing, not even the {floor}",
    default: "1",
    ..PAYOUT
};

pub(super) const ALL: &[&OptionEntry] = &[
    &OWN,
    &DUPLICATES,
    &NEAR,
    &GAME_ONLY,
    &EXPLAIN_TEST,
    &SEGMENT,
    &MANIFEST,
    &BUDGET,
    &UNIT,
    &BASIS,
    &NEGATIVE,
    &FLOOR,
    &CAP,
    &MIN_ROWS,
];

/// What an option of other commands means for owners, where it is not what it means for methods.
#[derive(Debug, Clone, Copy)]
pub struct ForOwners {
    /// The option.
    pub option: &'static OptionEntry,
    /// One line that stands alone.
    pub help: &'static str,
    /// What else there is to know.
    pub details: &'static str,
    /// The default in words.
    pub default: &'static str,
    /// A word of a choice that means something else.
    pub word: Option<Word>,
}

const PLAIN: ForOwners = ForOwners { option: &BY, help: "", details: "", default: "", word: None };

/// What options mean for owners.
pub static FOR_OWNERS: &[ForOwners] = &[
    ForOwners {
        option: &BY,
        help: "The column that names the owner of a row: a vendor, a patient, a site",
        ..PLAIN
    },
    ForOwners {
        option: &TEST,
        help: "Rows that measure what coalitions of owners are worth; repeat for several files",
        details: "They need the columns of the model. Without them, the rows of {own} measure by cross-fitting, and \
                  without those the rows of the owners.",
        ..PLAIN
    },
    ForOwners {
        option: &RIDGE,
        help: "Ridge penalty of every coalition's model; the intercept is not penalised",
        details: "Regression and classification have one, so that a coalition with fewer rows than columns has a model, \
                  too. Values of single rows have that of their method.",
        default: "chosen by five-fold error of all rows",
        ..PLAIN
    },
    ForOwners {
        option: &STOP,
        help: "With more than 16 owners: standard errors wanted, as a share of the spread of the values",
        default: "0.05",
        ..PLAIN
    },
    ForOwners {
        option: &SAMPLES,
        help: "With more than 16 owners: the most rounds of random orders",
        details: "A round gives one contribution of every owner. There are at least two rounds for each range of places: \
                  1, 2, 3 to 4, 5 to 8 and so on.",
        default: "20000",
        ..PLAIN
    },
    ForOwners {
        option: &SEED,
        help: "Seed of random orders, and of what row values draw",
        default: "0",
        ..PLAIN
    },
    ForOwners {
        option: &UTILITY,
        help: "How the classifier of a coalition is judged on the test rows",
        default: "log-loss",
        ..PLAIN
    },
    ForOwners { option: &KERNEL, help: KERNEL.help, default: "gaussian", ..PLAIN },
    ForOwners {
        option: &BANDWIDTH,
        help: BANDWIDTH.help,
        details: BANDWIDTH.details,
        default: "auto",
        ..PLAIN
    },
    ForOwners { option: &SCALE, help: SCALE.help, default: "std", ..PLAIN },
    ForOwners {
        option: &FORMAT,
        help: FORMAT.help,
        default: FORMAT.default,
        word: Some(Word { word: "json", means: "one JSON object with everything, interactions included" }),
        ..PLAIN
    },
];
