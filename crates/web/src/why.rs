//! What is found out when somebody asks: why a row is worth what it is worth, in the words of
//! `dshap explain`, and the whole page of `dshap report`.

use crate::form::Asked;
use crate::handlers::Shared;
use crate::problem::Problem;
use crate::runs::Finished;
use crate::watch::Watch;
use crate::wire::RunRequest;
use crate::work::Told;
use arrow_array::Array;
use axum::http::StatusCode;
use dshap_catalogue::Group;
use dshap_catalogue::options::{BY, REFERENCE, TARGET, WEIGHT};
use dshap_cleaning::{CleanRequest, CleanedAs};
use dshap_io::{Destination, Format};
use dshap_models::methods;
use dshap_owners::OwnersRequest;
use dshap_report::{Findings, Gathered, explains_quickly};
use dshap_run::{Arrange, Resources, ValueRequest, Written};
use std::time::Duration;

/// Rows up to which a table is worked on while somebody waits.
const MOST_ROWS: u64 = 50_000;

/// An explanation takes at most this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A report takes at most this long.
const REPORT_PATIENCE: Duration = Duration::from_secs(120);

/// The paragraphs of `dshap explain` about a row. None where the table is large or has
/// changed since the run, or where the method draws and would take its time again.
pub(crate) fn why(app: &Shared, request: &RunRequest, finished: &Finished, row: u64) -> Vec<String> {
    explained(app, request, finished, row).unwrap_or_default()
}

/// The page of `dshap report`. Where [`why`] would find nothing, the one that was made when
/// the run ended.
pub(crate) fn report(app: &Shared, request: &RunRequest, finished: &Finished) -> String {
    if let Some(page) = finished.full_report.get() {
        return page.clone();
    }
    match full_report(app, request, finished) {
        Some(page) => finished.full_report.get_or_init(|| page).clone(),
        None => finished.report.clone(),
    }
}

/// The run again, if it is quick.
fn again(app: &Shared, request: &RunRequest, finished: &Finished) -> Option<ValueRequest> {
    let method = methods::find(finished.result.summary.get("method")?.as_str()?)?;
    if !explains_quickly(&method.entry, finished.result.rows) {
        return None;
    }
    let asked = Asked::of(request, &app.store).ok()?;
    Some(ValueRequest {
        valuer: asked.valuer,
        method: asked.method,
        digests: true,
        resources: Resources { memory: Some(app.settings.limits.memory_bytes), checkpoint: None },
        ..ValueRequest::new(vec![asked.table.display().to_string()], asked.given)
    })
}

fn started(app: &Shared, most: Duration) -> Watch {
    let watch = Watch::new(app.settings.limits.run_time.min(most));
    watch.start();
    watch
}

fn full_report(app: &Shared, request: &RunRequest, finished: &Finished) -> Option<String> {
    let again = again(app, request, finished)?;
    let watch = started(app, REPORT_PATIENCE);
    let mut rows = Gathered::new(again.given.word(&BY));
    let summary = dshap_run::value(&again, &watch, &mut rows).ok()?;
    let told = Told::of(&app.store, &summary);
    // Other files mean that the page would be about another table.
    let files = serde_json::to_value(&told.summary.points).ok()?;
    if finished.result.summary.get("points") != Some(&files) {
        return None;
    }
    let findings = Findings::of(&again, &summary, &rows, &watch).ok()?;
    told.page(request, &rows, &findings).ok()
}

/// Owners given each other, as `dshap owners` values them. Computed once.
pub(crate) fn game<'a>(
    app: &Shared,
    request: &RunRequest,
    finished: &'a Finished,
) -> Result<&'a dshap_owners::Report, Problem> {
    if let Some(found) = finished.game.get() {
        return Ok(found);
    }
    let asked = Asked::of(request, &app.store)?;
    if asked.valuer.is_some() || asked.given.has(&REFERENCE) || asked.given.has(&WEIGHT) {
        return Err(Problem::bad("only rows without weights that are valued against each other have a game"));
    }
    if finished.result.rows > MOST_ROWS {
        return Err(too_large("valued given each other", "dshap owners"));
    }
    let is_of_owners = |group: Group| !matches!(group, Group::Output | Group::Run);
    let owners_request = OwnersRequest {
        rows: vec![asked.table.display().to_string()],
        method: asked.method,
        given: asked.given.only(|option| is_of_owners(option.group)),
        outputs: Vec::new(),
        resources: Resources { memory: Some(app.settings.limits.memory_bytes), checkpoint: None },
        digests: false,
    };
    let watch = started(app, REPORT_PATIENCE);
    let found = dshap_owners::owners(&owners_request, &watch, None)
        .map_err(|error| failed(app, &error, "dshap owners"))?;
    Ok(finished.game.get_or_init(|| found))
}

fn too_large(done: &str, command: &str) -> Problem {
    let most = dshap_words::grouped(MOST_ROWS);
    Problem::bad(format!("tables of more than {most} rows are not {done} here"))
        .hint(format!("run `{command}` on the command line"))
}

fn failed(app: &Shared, error: &dshap_run::Error, command: &str) -> Problem {
    match error {
        dshap_run::Error::Interrupted => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "this takes too long here")
                .hint(format!("run `{command}` on the command line"))
        }
        error => Problem::of(error).map(|text| app.store.public(text)),
    }
}

/// The table of a run after the action that `dshap clean` recommends, or with marks.
pub(crate) fn cleaned(
    app: &Shared,
    request: &RunRequest,
    finished: &Finished,
    is_marked: bool,
) -> Result<Vec<u8>, Problem> {
    let asked = Asked::of(request, &app.store)?;
    if asked.valuer.is_some() || asked.given.has(&REFERENCE) || !asked.given.has(&TARGET) {
        return Err(Problem::bad(
            "only rows that are valued against each other, for a target, can be cleaned",
        ));
    }
    if finished.result.rows > MOST_ROWS {
        return Err(too_large("cleaned", "dshap clean"));
    }
    let unwritten = |error: std::io::Error| Problem::system("cannot write the table", &error);
    let folder =
        tempfile::Builder::new().prefix(".out-").tempdir_in(app.store.scratch()).map_err(unwritten)?;
    let path = folder.path().join("table");
    let clean_request = CleanRequest {
        rows: vec![asked.table.display().to_string()],
        given: dshap_cleaning::options_of(&asked.given),
        cleaned_as: if is_marked { CleanedAs::Marked } else { CleanedAs::Cleaned },
        outputs: Vec::new(),
        resources: Resources { memory: Some(app.settings.limits.memory_bytes), checkpoint: None },
    };
    let watch = started(app, REPORT_PATIENCE);
    let write = || {
        // What spreadsheets would run as a formula gets a `'` before it.
        let mut written = Written::new(Destination::File(path.clone()), Format::SafeCsv, Arrange::ByRow);
        dshap_cleaning::clean(&clean_request, &watch, &mut written, &dshap_words::clean_reason)?;
        written.finish()
    };
    write().map_err(|error| failed(app, &error, "dshap clean"))?;
    std::fs::read(path).map_err(unwritten)
}

fn explained(app: &Shared, request: &RunRequest, finished: &Finished, row: u64) -> Option<Vec<String>> {
    let value_request = ValueRequest { digests: false, ..again(app, request, finished)? };
    let watch = started(app, PATIENCE);
    let explained = dshap_run::explain(&value_request, &[row], &watch).ok()?;
    let explained = explained.rows.first()?;
    let place = usize::try_from(row).ok()?;
    let values = finished.rows.numbers("value")?;
    let held = values.is_valid(place).then(|| values.value(place));
    // Another value means that the table is another one by now.
    (explained.value == held).then(|| dshap_words::explanation(explained))
}
