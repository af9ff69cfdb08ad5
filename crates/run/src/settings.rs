//! Options about files and columns, in the types of `dshap-io` and `dshap-table`.

use dshap_catalogue::options::{
    BY, CATEGORICAL, DATES, DECIMAL, EXCLUDE, FEATURES, ID, KEEP, MISSING, NO_HEADER, SETS, TARGET, TASK,
    UNSEEN, WEIGHT,
};
use dshap_catalogue::{Given, Task};
use dshap_io::ReadOptions;
use dshap_table::{DatesAs, Missing, Selection, Unseen};

/// Which column plays which role. A column that names sets is one that names
/// owners: it is not a feature.
pub(crate) fn selection(given: &Given) -> Selection {
    let word = |option| given.word(option).map(String::from);
    Selection {
        target: word(&TARGET),
        features: given.has(&FEATURES).then(|| given.list(&FEATURES).to_vec()),
        exclude: given.list(&EXCLUDE).to_vec(),
        id: word(&ID),
        by: word(&BY).or(word(&SETS)),
        by_is_name: false,
        keep: given.list(&KEEP).to_vec(),
        categorical: given.list(&CATEGORICAL).to_vec(),
        weight: word(&WEIGHT),
        dates: given.word(&DATES).map(|word| match word {
            "parts" => DatesAs::Parts,
            _ => DatesAs::Days,
        }),
    }
}

/// What to do with missing cells, if given.
pub(crate) fn missing(given: &Given) -> Option<Missing> {
    given.word(&MISSING).map(|word| match word {
        "drop" => Missing::Drop,
        "mean" => Missing::Mean,
        _ => Missing::Error,
    })
}

/// What to do with levels that the reference does not have, if given.
pub(crate) fn unseen(given: &Given) -> Option<Unseen> {
    given.word(&UNSEEN).map(|word| match word {
        "zero" => Unseen::Zero,
        _ => Unseen::Error,
    })
}

/// How text files are written.
pub fn reading(given: &Given) -> ReadOptions {
    ReadOptions { no_header: given.has(&NO_HEADER), decimal_comma: given.is(&DECIMAL, ",") }
}

/// The task, if given.
pub(crate) fn task(given: &Given) -> Option<Task> {
    given.word(&TASK).and_then(Task::parse)
}
