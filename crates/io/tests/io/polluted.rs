//! Hundreds of files with one thing wrong: none is read wrongly in silence.

use std::collections::BTreeMap;

use crate::common::{file, folder};
use crate::judge::{Outcome, judge};
use dshap_testkit::Polluted;

#[test]
fn no_polluted_file_is_read_wrongly_in_silence() {
    let files = dshap_testkit::polluted();
    let counts = counts(&files);
    println!("{counts:?} of {}", files.len());
    // Fewer means that a way of writing tables is no longer understood.
    assert!(counts["Right"] >= N_RIGHT, "{counts:?} of {}", files.len());
}

/// Also where the pollution comes after all that is looked at when a file is opened.
#[test]
fn no_file_polluted_late_is_read_wrongly_in_silence() {
    let files = dshap_testkit::polluted_late();
    let counts = counts(&files);
    println!("{counts:?} of {}", files.len());
    assert!(counts["Right"] >= 1 && counts["Warned"] >= 6, "{counts:?} of {}", files.len());
}

/// How often each outcome occurs, none of which is wrong.
fn counts(files: &[Polluted]) -> BTreeMap<String, usize> {
    let folder = folder();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for polluted in files {
        let path = file(&folder, &format!("{}.csv", polluted.name), &polluted.bytes);
        let (outcome, words) = judge(&path, polluted);
        *counts.entry(format!("{outcome:?}")).or_default() += 1;
        if std::env::var_os("DSHAP_SHOW").is_some() {
            println!("{outcome:?} {} {words}", polluted.name);
        }
        if outcome == Outcome::Wrong {
            wrong.push(format!("{}: {words}", polluted.name));
        }
    }
    assert!(wrong.is_empty(), "{counts:?}, wrong:\n{}", wrong.join("\n"));
    counts
}

/// Files that are read as they were meant.
const N_RIGHT: usize = 175;
