//! Errors as replies.

use crate::speech::Form;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Problem {
    /// The HTTP status.
    pub(crate) status: u16,
    /// One sentence.
    pub(crate) error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) hint: Option<String>,
    /// Each of several things that are wrong, with what to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) problems: Vec<String>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status: status.as_u16(), error: error.into(), hint: None, problems: Vec::new() }
    }

    /// The same, with every text as `change` writes it.
    pub(crate) fn map(self, change: impl Fn(&str) -> String) -> Self {
        Self {
            error: change(&self.error),
            hint: self.hint.as_deref().map(&change),
            problems: self.problems.iter().map(|problem| change(problem)).collect(),
            ..self
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Something in the request makes no sense.
    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is nothing of that name.
    pub(crate) fn missing(what: &str, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what} `{name}`"))
    }

    /// The disk or the system refused something.
    pub(crate) fn system(doing: &str, error: &std::io::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{doing}: {error}"))
    }

    /// dshap itself failed.
    pub(crate) fn own_fault() -> Self {
        let error = "dshap itself failed; the terminal where it runs shows where";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// What the engine reports.
    pub(crate) fn of(error: &dshap_run::Error) -> Self {
        if let dshap_run::Error::Several(errors) = error {
            let problems = errors.iter().map(|one| dshap_words::error_with_hint(one, &Form)).collect();
            let error = format!("there are {} problems", errors.len());
            return Self { problems, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, error) };
        }
        let hint = dshap_words::hint(error, &Form);
        Self { hint, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, dshap_words::error(error, &Form)) }
    }
}

impl From<dshap_run::Error> for Problem {
    fn from(error: dshap_run::Error) -> Self {
        Problem::of(&error)
    }
}

impl From<dshap_io::Error> for Problem {
    fn from(error: dshap_io::Error) -> Self {
        Problem::of(&error.into())
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Problem::new(rejection.status(), rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self)).into_response()
    }
}
