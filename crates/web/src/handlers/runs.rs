//! Runs: started, watched, cancelled, removed, compared.

use super::{App, beside};
use crate::compare::compare;
use crate::form::Asked;
use crate::problem::Problem;
use crate::wire::{ComparisonView, RunList, RunRequest, RunView};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;

pub(crate) async fn list(State(app): State<App>) -> Json<RunList> {
    Json(RunList { runs: app.runs.list() })
}

pub(crate) async fn start(
    State(app): State<App>,
    body: Result<Json<RunRequest>, JsonRejection>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let Json(request) = body?;
    // What can be refused at once is.
    Asked::of(&request, &app.store)?;
    Ok((StatusCode::ACCEPTED, Json(app.runs.submit(request)?)))
}

pub(crate) async fn view(State(app): State<App>, Path(id): Path<String>) -> Result<Json<RunView>, Problem> {
    app.runs.view(&id).map(Json)
}

pub(crate) async fn cancel(State(app): State<App>, Path(id): Path<String>) -> Result<Json<RunView>, Problem> {
    app.runs.cancel(&id).map(Json)
}

pub(crate) async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    beside(move || app.runs.remove(&id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn compared(
    State(app): State<App>,
    Path((one, other)): Path<(String, String)>,
) -> Result<Json<ComparisonView>, Problem> {
    let (one, other) = (app.runs.finished(&one)?, app.runs.finished(&other)?);
    beside(move || compare(&one.rows, &other.rows).map(Json)).await
}
