//! Answers, one file for each kind of thing.

pub(crate) mod pages;
pub(crate) mod rows;
pub(crate) mod runs;
pub(crate) mod tables;
pub(crate) mod theory;
pub(crate) mod valuers;

use crate::problem::Problem;
use crate::runs::Runs;
use crate::settings::Settings;
use crate::store::Store;
use crate::valuers::Valuers;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// What all answers share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<Store>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) valuers: Valuers,
}

/// The same, as handlers take it.
pub(crate) type App = Arc<Shared>;

/// Work that would keep other clients waiting, beside them.
pub(crate) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    // A panic ends up here as well, and not in the server.
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Problem::own_fault()))
}

/// Bytes that a browser saves as a file.
pub(crate) fn download(name: &str, content_type: &'static str, bytes: Vec<u8>) -> Response {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-()".contains(c);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let disposition = format!("attachment; filename=\"{name}\"");
    let disposition = HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, bytes).into_response()
}
