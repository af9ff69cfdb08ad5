//! Finished runs in a folder, so that the next server has them again.

use crate::held::HeldRows;
use crate::problem::Problem;
use crate::runs::{Finished, number_of};
use crate::wire::{ResultView, RunRequest};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use dshap_io::{AtomicFile, Format, ScanOptions, Sink, Source};
use dshap_table::{ReadAs, Wanted};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

/// What is known about a run beside its rows.
#[derive(Serialize, Deserialize)]
struct Document {
    request: RunRequest,
    result: ResultView,
    seconds: f64,
    n_carried: usize,
}

const DOCUMENT: &str = "run.json";
const VALUES: &str = "values.parquet";
const REPORT: &str = "report.html";

/// Writes a run; the document comes last, so a folder with one is complete.
///
/// The user named none of these files, so links are replaced and not followed.
pub(crate) fn save(folder: &Path, request: &RunRequest, finished: &Finished) -> Result<(), String> {
    let failed = |error: dshap_io::Error| Problem::from(error).error;
    if std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
        return Err(format!("`{}` is a link", folder.display()));
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let rows = finished.rows.all();
    let values = AtomicFile::in_place_of(&folder.join(VALUES)).map_err(failed)?;
    let mut sink = Sink::to_file(values, Format::Parquet, rows.schema()).map_err(failed)?;
    sink.write(rows).and_then(|()| sink.finish()).map_err(failed)?;
    let write = |name: &str, text: &str| {
        let mut file = AtomicFile::in_place_of(&folder.join(name)).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
        file.commit().map_err(failed)
    };
    write(REPORT, &finished.report)?;
    let document = Document {
        request: request.clone(),
        result: finished.result.clone(),
        seconds: finished.seconds,
        n_carried: finished.rows.n_carried(),
    };
    write(DOCUMENT, &serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?)
}

/// Removes a run.
pub(crate) fn remove(folder: &Path) {
    for name in [DOCUMENT, VALUES, REPORT] {
        // What is not there need not be removed.
        let _ = std::fs::remove_file(folder.join(name));
    }
    let _ = std::fs::remove_dir(folder);
}

/// All complete runs of a folder; others are left alone.
pub(crate) fn load_all(folder: &Path) -> Vec<(u64, RunRequest, Finished)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let load = |entry: std::fs::DirEntry| {
        let number = number_of(entry.file_name().to_str()?).ok()?;
        match load(&entry.path()) {
            Ok((request, finished)) => Some((number, request, finished)),
            Err(reason) => {
                eprintln!("warning: `{}` cannot be read: {reason}", entry.path().display());
                None
            }
        }
    };
    entries.filter_map(load).collect()
}

fn load(folder: &Path) -> Result<(RunRequest, Finished), String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let document: Document = serde_json::from_str(&read(DOCUMENT)?).map_err(|error| error.to_string())?;
    let failed = |error: dshap_io::Error| Problem::from(error).error;
    let source = Source::open(&[folder.join(VALUES).display().to_string()]).map_err(failed)?;
    let names = source.schema().names().map(String::from);
    let wanted: Vec<Wanted> = names.map(|name| Wanted { name, read_as: ReadAs::AsIs }).collect();
    let schema = source.arrow_schema(&wanted).map_err(failed)?;
    let is_known =
        |data_type: &DataType| matches!(data_type, DataType::UInt64 | DataType::Float64 | DataType::Utf8);
    if !schema.fields().iter().all(|field| is_known(field.data_type())) {
        return Err("its values have other types than those that were written".into());
    }
    let scan = source.scan(&wanted, ScanOptions::default()).map_err(failed)?;
    let batches = scan.map(|batch| batch.map(|batch| batch.rows)).collect::<Result<Vec<_>, _>>();
    let rows = concat_batches(&schema, &batches.map_err(failed)?).map_err(|error| error.to_string())?;
    let finished = Finished {
        result: document.result,
        rows: HeldRows::new(rows, document.n_carried),
        report: read(REPORT)?,
        full_report: OnceLock::new(),
        game: OnceLock::new(),
        seconds: document.seconds,
    };
    Ok((document.request, finished))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::held;
    use crate::query::Query;

    #[test]
    fn a_run_is_the_same_after_it_was_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = held();
        let result = ResultView {
            rows: 3,
            columns: rows.columns(),
            owner_column: Some("who".into()),
            described: vec!["a line".into()],
            warnings: Vec::new(),
            command: "dshap value x.csv".into(),
            summary: serde_json::json!({"m": 3}),
        };
        let request = RunRequest {
            table: "data/x.csv".into(),
            method: None,
            valuer: None,
            options: serde_json::Map::new(),
        };
        let finished = Finished {
            result,
            rows,
            report: "<p>".into(),
            full_report: OnceLock::new(),
            game: OnceLock::new(),
            seconds: 1.5,
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            let path = |name: &str| folder.path().join(name);
            std::fs::write(path("thesis.txt"), "the only copy").expect("written");
            std::fs::create_dir(path("run-7")).expect("a folder");
            for name in [DOCUMENT, VALUES, REPORT] {
                symlink("../thesis.txt", path("run-7").join(name)).expect("links");
            }
            std::fs::create_dir(path("elsewhere")).expect("a folder");
            symlink("elsewhere", path("run-9")).expect("links");
            let refused = save(&path("run-9"), &request, &finished).expect_err("a link");
            assert!(refused.ends_with("is a link"), "{refused}");
            assert_eq!(std::fs::read_dir(path("elsewhere")).expect("is there").count(), 0);
            std::fs::remove_file(path("run-9")).expect("removed");
        }
        save(&folder.path().join("run-7"), &request, &finished).expect("written");
        #[cfg(unix)]
        {
            let thesis = std::fs::read_to_string(folder.path().join("thesis.txt")).expect("is there");
            assert_eq!(thesis, "the only copy");
        }
        std::fs::create_dir(folder.path().join("run-8")).expect("an incomplete run");
        let loaded = load_all(folder.path());
        let [(7, same_request, again)] = loaded.as_slice() else { panic!("one run: {}", loaded.len()) };
        assert_eq!((same_request, &again.result, again.seconds), (&request, &finished.result, 1.5));
        let query = Query::default();
        let cells = |finished: &Finished| finished.rows.page(&query, 0, 9).expect("all columns").cells;
        assert_eq!(cells(again), cells(&finished));
        remove(&folder.path().join("run-7"));
        assert!(!folder.path().join("run-7").exists());
    }
}
