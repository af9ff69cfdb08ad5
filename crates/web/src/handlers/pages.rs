//! The pages and what they load, all part of the program; and what the server says about itself.

use super::App;
use crate::wire::Status;
use crate::{form, openapi};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value as Document;
use std::sync::LazyLock;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

const INDEX: &str = include_str!("../assets/index.html");

/// Name, type and contents of each file.
const ASSETS: &[(&str, &str, &str)] = &[
    ("style.css", CSS, include_str!("../assets/style.css")),
    ("icon.svg", SVG, include_str!("../assets/icon.svg")),
    ("app.js", JS, include_str!("../assets/app.js")),
    ("api.js", JS, include_str!("../assets/api.js")),
    ("dom.js", JS, include_str!("../assets/dom.js")),
    ("charts.js", JS, include_str!("../assets/charts.js")),
    ("grid.js", JS, include_str!("../assets/grid.js")),
    ("home.js", JS, include_str!("../assets/home.js")),
    ("table.js", JS, include_str!("../assets/table.js")),
    ("form.js", JS, include_str!("../assets/form.js")),
    ("run.js", JS, include_str!("../assets/run.js")),
    ("row.js", JS, include_str!("../assets/row.js")),
    ("compare.js", JS, include_str!("../assets/compare.js")),
    ("theory.js", JS, include_str!("../assets/theory.js")),
];

pub(crate) async fn index() -> Response {
    sent(HTML, INDEX)
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(known, _, _)| *known == name) {
        Some((_, content_type, contents)) => sent(content_type, contents),
        None => (StatusCode::NOT_FOUND, "there is no such file").into_response(),
    }
}

fn sent(content_type: &'static str, contents: &'static str) -> Response {
    let headers: [(HeaderName, &'static str); 2] =
        [(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache")];
    (headers, contents).into_response()
}

pub(crate) async fn status(State(app): State<App>) -> Json<Status> {
    let limits = app.settings.limits;
    Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        has_data: app.store.has_data(),
        keeps: app.settings.keep.is_some(),
        upload_bytes: limits.upload_bytes,
        runs_at_once: limits.runs_at_once,
        runs_waiting: limits.runs_waiting,
        run_seconds: limits.run_time.as_secs(),
        memory_bytes: limits.memory_bytes,
    })
}

pub(crate) async fn catalogue() -> Json<&'static Document> {
    static CATALOGUE: LazyLock<Document> = LazyLock::new(form::catalogue);
    Json(&CATALOGUE)
}

pub(crate) async fn description() -> Json<&'static Document> {
    static DESCRIPTION: LazyLock<Document> = LazyLock::new(openapi::description);
    Json(&DESCRIPTION)
}
