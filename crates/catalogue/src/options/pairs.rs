//! Options that do not go together, or only together, whatever the method.

use super::{BOTTOM, BY, CHECKPOINT, CHECKPOINT_EVERY, ID, KEEP, SETS, STDERR, SYNERGY, TOP};
use crate::option::OptionEntry;

/// Two options of which one says something about the other.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The option to leave out first.
    pub option: &'static OptionEntry,
    /// The other one.
    pub other: &'static OptionEntry,
    /// Why.
    pub why: &'static str,
}

/// Why columns of single rows cannot be carried through where sets are valued.
const SETS_ARE_ROWS: &str = "the output has one row per set, not one per point";

/// Options that cannot be given together.
pub static APART: &[Pair] = &[
    Pair { option: &BOTTOM, other: &TOP, why: "each says which rows are kept" },
    Pair { option: &STDERR, other: &SYNERGY, why: "synergies have no standard errors" },
    Pair { option: &BY, other: &SETS, why: SETS_ARE_ROWS },
    Pair { option: &ID, other: &SETS, why: SETS_ARE_ROWS },
    Pair { option: &KEEP, other: &SETS, why: SETS_ARE_ROWS },
];

/// Options that mean nothing without the other.
pub static TOGETHER: &[Pair] = &[
    Pair {
        option: &SYNERGY,
        other: &SETS,
        why: "it compares two of the sets that {sets} names; give {sets} too",
    },
    Pair {
        option: &CHECKPOINT_EVERY,
        other: &CHECKPOINT,
        why: "it says how often {checkpoint} is written; give {checkpoint} too",
    },
];
