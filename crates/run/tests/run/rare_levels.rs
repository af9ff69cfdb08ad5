//! Sets have enough rows of each category, one and zero, or a warning says what helps.

use crate::common::{Asked, Folder};
use dshap_catalogue::options::{CONVENTION, EXCLUDE, M, Q, RARE_LEVELS};
use dshap_io::Container;
use dshap_models::{RareCure, Warning};
use dshap_run::Summary;
use dshap_testkit::Draws;
use std::fmt::Write;

/// Rows with two numbers, a flag that every `every`-th row has, and a town. Row numbers in
/// `small` live in small towns, two of them in turn.
fn table(rows: std::ops::Range<usize>, every: usize, small: &[usize]) -> String {
    let mut draws = Draws::new(77);
    let mut csv = String::from("a,b,flag,town,y\n");
    for row in rows {
        let [a, b, noise] = [draws.normal(), draws.normal(), draws.normal()];
        let flag = u8::from(row % every == 0);
        let town = match small.iter().position(|&rare| rare == row) {
            Some(place) => ["Fiji", "Kiel"][place % 2],
            None => ["Bern", "Oslo"][row % 2],
        };
        let _ = writeln!(csv, "{a:.5},{b:.5},{flag},{town},{:.5}", a - b + f64::from(flag) + noise);
    }
    csv
}

fn summary(csv: &str, asked: Asked) -> Summary {
    let folder = Folder::new();
    folder.write("t.csv", csv);
    folder.value("t.csv", asked).1
}

fn rare(summary: &Summary) -> Option<(&[String], usize, RareCure)> {
    summary.warnings.iter().find_map(|warning| match warning {
        Warning::RareDummies { levels, n_rows, cure, .. } => Some((levels.as_slice(), *n_rows, *cure)),
        _ => None,
    })
}

fn asked() -> Asked {
    Asked::new("y").set(&EXCLUDE, "town")
}

#[test]
fn sets_have_five_rows_of_a_rare_flag_by_default() {
    let csv = table(0..400, 40, &[]);
    for method in ["gaussian", "calibrated", "general", "lower"] {
        let found = summary(&csv, asked().by(method));
        // 10 of 400 rows: five are among 200, which is also m/2.
        assert!(found.facts.q >= 200 && found.facts.q_default && rare(&found).is_none(), "{method}");
    }
    assert_eq!(summary(&csv, asked()).facts.q, 200);
    assert_eq!(summary(&table(0..400, 20, &[]), asked()).facts.q, 100);
    // A common flag needs no larger sets than three columns do.
    assert_eq!(summary(&table(0..400, 2, &[]), asked()).facts.q, 13);
    // Zeros may be rare, too.
    let zeros = csv.replace(",0,", ",x,").replace(",1,", ",0,").replace(",x,", ",1,");
    assert_eq!(summary(&zeros, asked()).facts.q, 200);
    // What is as printed has the set sizes of the paper.
    assert_eq!(summary(&csv, asked().set(&CONVENTION, "printed")).facts.q, 13);
}

#[test]
fn a_level_without_a_column_counts_too() {
    // `Bern` is the first level, which has no column.
    let csv =
        table(0..400, 3, &[]).replace("Bern", "x").replacen(",x,", ",Bern,", 20).replace(",x,", ",Oslo,");
    assert_eq!(summary(&csv, Asked::new("y")).facts.q, 100);
}

#[test]
fn sets_that_are_too_small_come_with_a_cure_that_helps() {
    let csv = table(0..400, 40, &[]);
    let small = summary(&csv, asked().set(&Q, 20));
    let (levels, n_rows, cure) = rare(&small).expect("10 of 400 in sets of 20");
    assert_eq!((levels, n_rows, cure), (["flag=1".to_string()].as_slice(), 10, RareCure::LargerSets(200)));
    assert!(rare(&summary(&csv, asked().set(&Q, 200))).is_none());
    // Another closed form is no cure.
    let is_not_gaussian =
        |warning: &Warning| matches!(warning, Warning::Core(dshap::Warning::NotGaussian { .. }, _));
    assert!(!small.warnings.iter().any(is_not_gaussian), "{:?}", small.warnings);
    // Methods that draw sets need no such warning.
    assert!(rare(&summary(&csv, asked().by("general").set(&Q, 20))).is_none());
}

#[test]
fn rare_levels_are_pooled_only_where_that_helps() {
    let towns = |small: &[usize]| table(0..400, 3, small);
    let one = summary(&towns(&[3]), Asked::new("y"));
    assert_eq!(rare(&one).map(|(_, n, cure)| (n, cure)), Some((1, RareCure::Drawing)));
    let two = towns(&[3, 8]);
    // Two rows in all are still too few.
    assert_eq!(rare(&summary(&two, Asked::new("y"))).map(|(_, _, cure)| cure), Some(RareCure::Drawing));
    let ten: Vec<usize> = (0..10).map(|k| 7 + 30 * k).collect();
    let csv = towns(&ten);
    let found = summary(&csv, Asked::new("y"));
    let (levels, n_rows, cure) = rare(&found).expect("five of 400 are too few");
    assert_eq!((levels.len(), n_rows, cure), (2, 5, RareCure::Pool(10)));
    let pooled = summary(&csv, Asked::new("y").set(&RARE_LEVELS, 10));
    assert!(rare(&pooled).is_none() && pooled.facts.q == 200, "{} {:?}", pooled.facts.q, pooled.warnings);
    // With another rare column, pooling would leave that.
    let both = summary(&table(0..400, 390, &ten), Asked::new("y"));
    assert_eq!(rare(&both).map(|(_, _, cure)| cure), Some(RareCure::Drawing));
    // A smaller m needs rows to be less rare.
    let small_m = summary(&csv, Asked::new("y").set(&M, 200));
    assert_eq!(rare(&small_m).map(|(_, _, cure)| cure), Some(RareCure::Drawing));
}

#[test]
fn a_changed_reference_has_its_own_default() {
    let folder = Folder::new();
    folder.write("first.csv", &table(0..400, 40, &[]));
    folder.write("more.csv", &table(0..400, 2, &[]));
    assert_eq!(folder.fit(&["first.csv"], asked(), "v.dshap").summary.facts.q, 200);
    let updated = folder.update("v.dshap", &["more.csv"], &[]).expect("columns are the same");
    // 210 of 800 rows have the flag now.
    assert_eq!(updated.summary.facts.q, 20);
    assert_eq!(folder.load("updated.dshap").facts().expect("sizes").q, 20);
    folder.fit(&["more.csv"], asked(), "w.dshap");
    let merged = folder.merge(&["v.dshap", "w.dshap"]).expect("columns are the same");
    assert_eq!(merged.summary.facts.q, 20);
}

/// As files of versions without this rule are.
#[test]
fn a_file_of_an_earlier_version_keeps_its_default() {
    let folder = Folder::new();
    folder.write("first.csv", &table(0..400, 40, &[]));
    folder.fit(&["first.csv"], asked(), "v.dshap");
    let mut container = Container::read(&folder.path("v.dshap"), "valuer", u32::MAX).expect("is whole");
    let without = container.document.replace("\"default_q\":\"enough\",", "");
    assert!(without.len() < container.document.len(), "{}", container.document);
    container.document = without;
    std::fs::write(folder.path("old.dshap"), container.to_bytes().expect("fits")).expect("is written");
    assert_eq!(folder.load("v.dshap").facts().expect("sizes").q, 200);
    assert_eq!(folder.load("old.dshap").facts().expect("sizes").q, 13);
    // A changed reference has a default of its own.
    folder.write("more.csv", &table(0..400, 2, &[]));
    let updated = folder.update("old.dshap", &["more.csv"], &[]).expect("columns are the same");
    assert_eq!(updated.summary.facts.q, 20);
}
