//! Saved valuers: listed, looked at, used.

use super::{App, beside};
use crate::problem::Problem;
use crate::store::What;
use crate::wire::{ValueReply, ValueRequest, ValuerList, ValuerView};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};

/// Up to this many rows are valued where the request is.
const FEW_ROWS: usize = 16;

pub(crate) async fn list(State(app): State<App>) -> Result<Json<ValuerList>, Problem> {
    beside(move || Ok(Json(ValuerList { valuers: app.store.list(What::Valuer).0 }))).await
}

pub(crate) async fn view(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<ValuerView>, Problem> {
    beside(move || app.valuers.view(&app.store, &name, app.settings.limits).map(Json)).await
}

/// Values rows; the address is `/api/valuers/NAME/value`.
pub(crate) async fn value(
    State(app): State<App>,
    Path(path): Path<String>,
    body: Result<Json<ValueRequest>, JsonRejection>,
) -> Result<Json<ValueReply>, Problem> {
    let name = path.strip_suffix("/value").ok_or_else(|| Problem::missing("valuer", &path))?.to_owned();
    let Json(request) = body?;
    // Handing a row over to another thread takes longer than valuing it.
    if request.rows.len() <= FEW_ROWS
        && let Some(valuer) = app.valuers.quick(&app.store, &name)
    {
        return valuer.value(&request).map(Json);
    }
    beside(move || {
        let valuer = app.valuers.find(&app.store, &name, app.settings.limits)?;
        valuer.value(&request).map(Json)
    })
    .await
}
