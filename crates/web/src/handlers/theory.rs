//! Curves of Theorem 2.

use crate::problem::Problem;
use crate::theory::Sliders;
use crate::wire::TheoryView;
use axum::Json;
use axum::extract::RawQuery;

pub(crate) async fn curves(RawQuery(query): RawQuery) -> Result<Json<TheoryView>, Problem> {
    Sliders::parse(&query.unwrap_or_default())?.curves().map(Json)
}
