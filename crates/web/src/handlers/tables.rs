//! Tables: listed, looked at, uploaded, removed.

use super::{App, beside};
use crate::look;
use crate::problem::Problem;
use crate::store::What;
use crate::wire::{FileEntry, TableList, TableView};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;

pub(crate) async fn list(State(app): State<App>) -> Result<Json<TableList>, Problem> {
    beside(move || {
        let (tables, is_cut) = app.store.list(What::Table);
        Ok(Json(TableList { tables, is_cut }))
    })
    .await
}

pub(crate) async fn view(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<TableView>, Problem> {
    beside(move || {
        let path = app.store.find(What::Table, &name)?;
        look::look(&app.store, &name, &path)
            .map(Json)
            .map_err(|problem| problem.map(|text| app.store.public(text)))
    })
    .await
}

/// Takes the bytes of a file as they come. The name stands in the address: `?name=wine.csv`.
pub(crate) async fn upload(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    mut body: Body,
) -> Result<(StatusCode, Json<FileEntry>), Problem> {
    // A form of another site cannot send this type without being asked first.
    if headers.get(CONTENT_TYPE).is_none_or(|kind| kind != "application/octet-stream") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "an upload has the content type `application/octet-stream`",
        ));
    }
    let query = query.unwrap_or_default();
    let mut names = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "name");
    let (_, name) = names.next().ok_or_else(|| Problem::bad("the upload has no `name`"))?;
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let mut upload = app.store.begin_upload(&name, length)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::bad("the upload broke off"))?;
        if let Some(bytes) = frame.data_ref() {
            upload.write(bytes)?;
        }
    }
    Ok((StatusCode::CREATED, Json(upload.finish()?)))
}

pub(crate) async fn remove(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode, Problem> {
    app.store.remove(&name)?;
    Ok(StatusCode::NO_CONTENT)
}
