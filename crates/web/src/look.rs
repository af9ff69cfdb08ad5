//! The columns of a table and what stands in the way of using them, as `dshap look` finds it.

use crate::problem::Problem;
use crate::speech::Form;
use crate::store::Store;
use crate::wire::{ColumnView, TableView};
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::array_value_to_string;
use dshap_catalogue::Given;
use dshap_io::{ScanOptions, Source};
use dshap_run::{ColumnLook, ColumnRole, Error, Look};
use dshap_table::{Kind, RawColumn, ReadAs, Wanted};
use std::path::Path;

/// Rows that are looked at. More would make the page wait.
const LOOKED_AT: u64 = 1_000_000;

/// Rows that are shown.
const SHOWN_ROWS: usize = 8;

/// Fewer texts that all differ may be labels.
const FEWEST_NAMES: u64 = 20;

/// Longest cell that is shown, in characters.
const LONGEST: usize = 60;

/// Looks at a table.
pub(crate) fn look(store: &Store, name: &str, path: &Path) -> Result<TableView, Problem> {
    let source = Source::open(&[path.display().to_string()])?;
    let look = dshap_run::look_first(&source, &Given::new(), LOOKED_AT)?;
    let notes = look.warnings.iter().map(|warning| store.public(&dshap_words::warning(warning, &Form)));
    let columns = look.columns.iter().zip(&source.schema().columns);
    let mut columns: Vec<ColumnView> =
        columns.map(|(column, raw)| view(store, &look, column, &raw.kind)).collect();
    // One column names the rows; others like it are left out.
    for column in columns.iter_mut().filter(|column| column.suggested == Some("id")).skip(1) {
        column.suggested = Some("exclude");
    }
    Ok(TableView {
        name: name.into(),
        bytes: source.n_bytes(),
        rows_seen: look.n_rows,
        is_whole: look.is_whole,
        columns,
        problems: notes.collect(),
        first_rows: first_rows(&source)?,
    })
}

/// The first rows as text.
fn first_rows(source: &Source) -> Result<Vec<Vec<Option<String>>>, Problem> {
    let wanted: Vec<Wanted> = source.schema().columns.iter().map(wanted).collect();
    let options = ScanOptions { limit_rows: Some(SHOWN_ROWS as u64), ..ScanOptions::default() };
    let mut first_rows = Vec::new();
    for batch in source.scan(&wanted, options)? {
        let rows = batch?.rows;
        let of_row = |row: usize| rows.columns().iter().map(|column| text(column, row)).collect();
        first_rows.extend((0..rows.num_rows()).map(of_row));
    }
    Ok(first_rows)
}

fn wanted(column: &RawColumn) -> Wanted {
    let read_as = match column.kind {
        Kind::Number => ReadAs::Number,
        Kind::Boolean => ReadAs::Boolean,
        Kind::Text => ReadAs::Text,
        _ => ReadAs::AsIs,
    };
    Wanted { name: column.name.clone(), read_as }
}

/// A cell as text, shortened.
fn text(column: &ArrayRef, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    let text = array_value_to_string(column, row).unwrap_or_default();
    // Whole numbers are read as doubles; nobody wrote the `.0`.
    let text = text.strip_suffix(".0").map(String::from).unwrap_or(text);
    Some(shortened(&text))
}

fn shortened(text: &str) -> String {
    match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text.into(),
    }
}

/// A column as `dshap look` has it, with the role that a form suggests.
fn view(store: &Store, look: &Look, column: &ColumnLook, kind: &Kind) -> ColumnView {
    let problems = || look.problems.iter().filter(|problem| problem.column.as_ref() == Some(&column.name));
    let different = (!column.more_different).then_some(column.n_different);
    let task = match kind {
        Kind::Text | Kind::Boolean if different.is_some_and(|n| n > 1) => Some("classification"),
        Kind::Number if different == Some(2) => Some("classification"),
        Kind::Number if different != Some(1) => Some("regression"),
        _ => None,
    };
    let n_cells = look.n_rows - column.n_missing.min(look.n_rows);
    let names_rows = different.is_some_and(|n| n as u64 == n_cells) && n_cells > FEWEST_NAMES;
    let is_no_feature = problems().any(|problem| {
        use dshap_table::Error as E;
        let Error::Table { error, .. } = &problem.error else { return false };
        matches!(error, E::UnusableKind { .. } | E::TooManyLevels { .. })
    });
    ColumnView {
        name: column.name.clone(),
        kind: column.kind.clone(),
        missing: column.n_missing,
        different,
        least: column.range.map(|(least, _)| least),
        most: column.range.map(|(_, most)| most),
        mean: column.mean,
        suggested: match kind {
            Kind::Text if names_rows => Some("id"),
            _ if is_no_feature || column.role == ColumnRole::Unused => Some("exclude"),
            _ => None,
        },
        task,
        problems: problems()
            .map(|found| store.public(&dshap_words::error_with_hint(&found.error, &Form)))
            .collect(),
        examples: column.examples.iter().map(|cell| shortened(cell)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use dshap_run::Problem as Found;

    fn looked_at(text: &str) -> TableView {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).expect("written");
        let store = Store::open(&Settings::default()).expect("a temporary folder");
        look(&store, "data/t.csv", &path).expect("a table")
    }

    #[test]
    fn columns_are_counted_and_their_oddities_named() {
        let mut text = String::from("id,x,flat,label,y\n");
        for i in 0..40 {
            let x = if i % 4 == 0 { String::new() } else { i.to_string() };
            text += &format!("name-{i},{x},7,{},{}\n", if i % 2 == 0 { "a" } else { "b" }, i % 5);
        }
        let view = looked_at(&text);
        assert_eq!((view.rows_seen, view.is_whole, view.first_rows.len()), (40, true, 8));
        let [id, x, flat, label, y] = view.columns.as_slice() else { panic!("five columns") };
        assert_eq!((id.suggested, x.suggested), (Some("id"), None));
        assert_eq!((x.missing, x.least, x.most), (10, Some(1.0), Some(39.0)));
        assert!(x.problems[0].contains("10") && x.problems[0].contains("`missing`"), "{:?}", x.problems);
        assert_eq!(flat.task, None);
        assert_eq!((label.task, label.different), (Some("classification"), Some(2)));
        assert_eq!((y.task, y.mean), (Some("regression"), Some(2.0)));
        assert_eq!(y.examples, ["0", "1", "2"]);
    }

    #[test]
    fn the_page_says_what_look_says() {
        let mut text = String::from("id,day,x,y\n");
        for i in 0..12_000 {
            // What is wrong lies beyond the first ten thousand rows.
            let x = if i == 11_000 { String::new() } else { (i % 17).to_string() };
            text += &format!("name-{i},2026-01-{:02},{x},{}\n", i % 28 + 1, i % 5);
        }
        let view = looked_at(&text);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv").display().to_string();
        std::fs::write(&path, &text).expect("written");
        let look = dshap_run::look(&[path], &Given::new()).expect("a table");
        assert_eq!((view.rows_seen, view.is_whole), (look.n_rows, true));
        for (column, looked) in view.columns.iter().zip(&look.columns) {
            assert_eq!((column.missing, column.mean), (looked.n_missing, looked.mean), "{}", column.name);
            let is_of = |problem: &&Found| problem.column.as_ref() == Some(&column.name);
            assert_eq!(column.problems.len(), look.problems.iter().filter(is_of).count(), "{}", column.name);
        }
        let suggested: Vec<_> = view.columns.iter().map(|column| column.suggested).collect();
        assert_eq!(suggested, [Some("exclude"), Some("exclude"), None, None]);
        assert_eq!(view.columns[2].missing, 1);
    }
}
