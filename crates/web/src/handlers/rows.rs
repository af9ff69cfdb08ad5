//! The rows of a run: pages, charts, single rows, owners, files.

use super::{App, beside, download};
use crate::charts::charts;
use crate::owners;
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::Finished;
use crate::why;
use crate::wire::{ChartsView, OwnersView, RowView, RowsPage};
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use dshap_io::{Destination, Format, Sink};
use std::sync::Arc;

/// Rows of a page, unless said otherwise.
const USUAL_PAGE: usize = 100;

/// The most rows of a page.
const LARGEST_PAGE: usize = 1000;

/// A report has its style and its script inside it, and nothing else.
const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; \
                             script-src 'unsafe-inline'; frame-ancestors 'none'";

pub(crate) async fn page(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<RowsPage>, Problem> {
    let (finished, query) = asked(&app, &id, query)?;
    let limit = query.limit.unwrap_or(USUAL_PAGE);
    if limit > LARGEST_PAGE {
        return Err(Problem::bad(format!("a page has at most {LARGEST_PAGE} rows, not {limit}")));
    }
    beside(move || {
        let rows = Query { columns: query.columns.clone(), ..query.rows_only() };
        finished.rows.page(&rows, query.offset, limit).map(Json)
    })
    .await
}

pub(crate) async fn charted(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<ChartsView>, Problem> {
    let (finished, query) = asked(&app, &id, query)?;
    beside(move || {
        let matching = finished.rows.ordered(&Query { sort: None, ..query.rows_only() })?;
        Ok(Json(charts(&finished.rows, &matching)))
    })
    .await
}

pub(crate) async fn one(
    State(app): State<App>,
    Path((id, row)): Path<(String, u64)>,
) -> Result<Json<RowView>, Problem> {
    let finished = app.runs.finished(&id)?;
    let request = app.runs.request(&id)?;
    beside(move || {
        let missing = || Problem::missing("row", &row.to_string());
        let place = usize::try_from(row).map_err(|_| missing())?;
        let cells = finished.rows.row(place).ok_or_else(missing)?;
        let column = finished.result.owner_column.as_deref();
        let owner = column.and_then(|column| owners::owner_of(&finished.rows, column, place));
        let why = why::why(&app, &request, &finished, row);
        Ok(Json(RowView { row, cells, why, owner }))
    })
    .await
}

pub(crate) async fn owned(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<OwnersView>, Problem> {
    let finished = app.runs.finished(&id)?;
    let request = app.runs.request(&id)?;
    let (mut budget, mut has_game) = (None, false);
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let wrong = || Problem::bad(format!("`{name}` cannot be `{value}`"));
        match &*name {
            "budget" => budget = Some(value.parse::<f64>().map_err(|_| wrong())?),
            "game" => has_game = value.parse().map_err(|_| wrong())?,
            _ => return Err(Problem::bad(format!("there is no parameter `{name}`"))),
        }
    }
    beside(move || match &finished.result.owner_column {
        Some(column) => {
            let game = has_game.then(|| why::game(&app, &request, &finished)).transpose()?;
            owners::owners(&finished.rows, column, budget, game).map(Json)
        }
        None => Err(Problem::bad("the rows of this run have no owners").hint("choose a column with `by`")),
    })
    .await
}

/// All rows, or those that match, as a file.
pub(crate) async fn values(
    State(app): State<App>,
    Path((id, format)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let (finished, query) = asked(&app, &id, query)?;
    let (written_as, content_type) = match format.as_str() {
        // What spreadsheets would run as a formula gets a `'` before it.
        "csv" => (Format::SafeCsv, "text/csv; charset=utf-8"),
        "ndjson" => (Format::Ndjson, "application/x-ndjson"),
        "parquet" => (Format::Parquet, "application/vnd.apache.parquet"),
        "arrow" => (Format::Arrow, "application/vnd.apache.arrow.file"),
        _ => {
            return Err(Problem::missing("format", &format).hint("choose csv, ndjson, parquet or arrow"));
        }
    };
    let bytes = beside(move || {
        let table = finished.rows.table(&query)?;
        let failed = |error: std::io::Error| Problem::system("cannot write the values", &error);
        let folder =
            tempfile::Builder::new().prefix(".out-").tempdir_in(app.store.scratch()).map_err(failed)?;
        let path = folder.path().join("values");
        let mut sink = Sink::create(&Destination::File(path.clone()), written_as, table.schema())?;
        sink.write(&table)?;
        sink.finish()?;
        std::fs::read(path).map_err(failed)
    })
    .await?;
    Ok(download(&format!("{id}.{format}"), content_type, bytes))
}

/// The page of `dshap report`, to be looked at or, with `?download`, saved.
pub(crate) async fn report(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let finished = app.runs.finished(&id)?;
    let request = app.runs.request(&id)?;
    let page = beside(move || Ok(why::report(&app, &request, &finished))).await?;
    match query.as_deref() {
        Some("download") => {
            Ok(download(&format!("{id}.html"), "text/html; charset=utf-8", page.into_bytes()))
        }
        _ => Ok(([(CONTENT_SECURITY_POLICY, REPORT_POLICY)], Html(page)).into_response()),
    }
}

/// The table of a run as `dshap clean` writes it.
pub(crate) async fn cleaned(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let finished = app.runs.finished(&id)?;
    let request = app.runs.request(&id)?;
    let (is_marked, name) = match query.as_deref() {
        None | Some("" | "mark=false") => (false, "cleaned"),
        Some("mark" | "mark=true") => (true, "marked"),
        Some(other) => return Err(Problem::bad(format!("there is no parameter `{other}`"))),
    };
    let bytes = beside(move || why::cleaned(&app, &request, &finished, is_marked)).await?;
    Ok(download(&format!("{id}-{name}.csv"), "text/csv; charset=utf-8", bytes))
}

fn asked(app: &App, id: &str, query: Option<String>) -> Result<(Arc<Finished>, Query), Problem> {
    Ok((app.runs.finished(id)?, Query::parse(&query.unwrap_or_default())?))
}
