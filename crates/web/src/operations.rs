//! Every path once: its handler, its types, its description.

use crate::handlers::{App, pages, rows, runs, tables, theory, valuers};
use crate::problem::Problem;
use crate::wire::{
    ChartsView, ComparisonView, FileEntry, OwnersView, RowView, RowsPage, RunList, RunRequest, RunView,
    Status, TableList, TableView, TheoryView, ValueReply, ValueRequest, ValuerList, ValuerView,
};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, delete, get, post};
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Bytes of a body in JSON.
const LARGEST_JSON: usize = 16 << 20;

/// The schema of a type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One thing that can be asked.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    /// As the description has it.
    pub(crate) path: &'static str,
    /// As the router has it, if that differs.
    route: Option<&'static str>,
    pub(crate) summary: &'static str,
    /// Parameters of the query: name, type, meaning.
    pub(crate) query: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) body: Option<SchemaOf>,
    pub(crate) reply: Reply,
    handler: fn() -> MethodRouter<App>,
}

/// What an operation replies.
pub(crate) enum Reply {
    Json(u16, SchemaOf),
    Nothing,
    /// A file of this type.
    File(&'static str),
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Any JSON.
fn anything(_: &mut SchemaGenerator) -> Schema {
    Schema::default()
}

impl Operation {
    const fn new(
        method: &'static str,
        path: &'static str,
        summary: &'static str,
        reply: Reply,
        handler: fn() -> MethodRouter<App>,
    ) -> Self {
        Self { method, path, route: None, summary, query: &[], body: None, reply, handler }
    }

    const fn at(self, route: &'static str) -> Self {
        Self { route: Some(route), ..self }
    }

    const fn query(self, query: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    const fn body(self, body: SchemaOf) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// Which rows.
const ROWS: &[(&str, &str, &str)] = &[
    ("range", "string", "column:least:most; a limit may be left out; may be given several times"),
    ("search", "string", "text that a cell of the row holds, or the number of the row"),
    ("sort", "string", "a column; with - before it from high to low"),
    ("columns", "string", "a column that is wanted; may be given several times"),
    ("offset", "integer", "the first row, counted from 0"),
    ("limit", "integer", "rows of a page, at most 1000"),
];

const SLIDERS: &[(&str, &str, &str)] = &[
    ("p", "integer", "columns of the design, at most 1000"),
    ("q", "integer", "the smallest set; p + max(p, 10) without it"),
    ("m", "integer", "the largest set"),
    ("sigma2", "number", "noise variance"),
    ("d2", "number", "squared distance of the row"),
    ("e2", "number", "squared residual of the row"),
    ("sizes", "boolean", "whether the curve against m is wanted, which takes longer than the others"),
];

/// All that can be asked in JSON.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation::new(
        "get",
        "/api/status",
        "The server and its limits",
        Reply::Json(200, schema::<Status>),
        || get(pages::status),
    ),
    Operation::new(
        "get",
        "/api/catalogue",
        "Methods and options, as `dshap methods --json` has them",
        Reply::Json(200, anything),
        || get(pages::catalogue),
    ),
    Operation::new("get", "/api/openapi.json", "This description", Reply::Json(200, anything), || {
        get(pages::description)
    }),
    Operation::new(
        "get",
        "/api/tables",
        "Tables that can be valued",
        Reply::Json(200, schema::<TableList>),
        || get(tables::list),
    ),
    Operation::new(
        "post",
        "/api/tables",
        "Upload a table or a valuer",
        Reply::Json(201, schema::<FileEntry>),
        || post(tables::upload).layer(DefaultBodyLimit::disable()),
    )
    .query(&[("name", "string", "the name of the file")]),
    Operation::new(
        "get",
        "/api/tables/{name}",
        "The columns of a table",
        Reply::Json(200, schema::<TableView>),
        || get(tables::view),
    )
    .at("/api/tables/{*name}"),
    Operation::new("delete", "/api/tables/{name}", "Remove an upload", Reply::Nothing, || {
        delete(tables::remove)
    })
    .at("/api/tables/{*name}"),
    Operation::new("get", "/api/runs", "All runs, newest first", Reply::Json(200, schema::<RunList>), || {
        get(runs::list)
    }),
    Operation::new("post", "/api/runs", "Start a run", Reply::Json(202, schema::<RunView>), || {
        post(runs::start)
    })
    .body(schema::<RunRequest>),
    Operation::new(
        "get",
        "/api/runs/{id}",
        "A run and how far it is",
        Reply::Json(200, schema::<RunView>),
        || get(runs::view),
    ),
    Operation::new("delete", "/api/runs/{id}", "Stop a run and forget it", Reply::Nothing, || {
        delete(runs::remove)
    }),
    Operation::new(
        "post",
        "/api/runs/{id}/cancel",
        "Stop a run",
        Reply::Json(200, schema::<RunView>),
        || post(runs::cancel),
    ),
    Operation::new(
        "get",
        "/api/runs/{id}/values",
        "Values, a page at a time",
        Reply::Json(200, schema::<RowsPage>),
        || get(rows::page),
    )
    .query(ROWS),
    Operation::new(
        "get",
        "/api/runs/{id}/values/{format}",
        "Values as a file: csv, ndjson, parquet or arrow",
        Reply::File("application/octet-stream"),
        || get(rows::values),
    )
    .query(ROWS),
    Operation::new(
        "get",
        "/api/runs/{id}/charts",
        "Rows in bins",
        Reply::Json(200, schema::<ChartsView>),
        || get(rows::charted),
    )
    .query(ROWS),
    Operation::new(
        "get",
        "/api/runs/{id}/rows/{row}",
        "One row",
        Reply::Json(200, schema::<RowView>),
        || get(rows::one),
    ),
    Operation::new(
        "get",
        "/api/runs/{id}/owners",
        "Sums by owner, and owners given each other",
        Reply::Json(200, schema::<OwnersView>),
        || get(rows::owned),
    )
    .query(&[
        ("budget", "number", "an amount that is divided by these sums, or by the game"),
        ("game", "boolean", "whether owners are valued given each other, as by `dshap owners`"),
    ]),
    Operation::new(
        "get",
        "/api/runs/{id}/report",
        "The page of `dshap report`",
        Reply::File("text/html"),
        || get(rows::report),
    ),
    Operation::new(
        "get",
        "/api/runs/{id}/cleaned",
        "The table as `dshap clean` writes it: after the recommended action",
        Reply::File("text/csv"),
        || get(rows::cleaned),
    )
    .query(&[("mark", "boolean", "all rows instead, with marks for suspicious ones")]),
    Operation::new(
        "get",
        "/api/runs/{id}/compare/{other}",
        "Two runs on the same table",
        Reply::Json(200, schema::<ComparisonView>),
        || get(runs::compared),
    ),
    Operation::new("get", "/api/valuers", "Saved valuers", Reply::Json(200, schema::<ValuerList>), || {
        get(valuers::list)
    }),
    Operation::new(
        "get",
        "/api/valuers/{name}",
        "A saved valuer",
        Reply::Json(200, schema::<ValuerView>),
        || get(valuers::view),
    )
    .at("/api/valuers/{*name}"),
    Operation::new(
        "post",
        "/api/valuers/{name}/value",
        "Value new rows with a saved valuer",
        Reply::Json(200, schema::<ValueReply>),
        || post(valuers::value),
    )
    .at("/api/valuers/{*name}")
    .body(schema::<ValueRequest>),
    Operation::new(
        "get",
        "/api/theory",
        "Curves of Theorem 2",
        Reply::Json(200, schema::<TheoryView>),
        || get(theory::curves),
    )
    .query(SLIDERS),
];

/// The router of all operations and pages.
pub(crate) fn router() -> Router<App> {
    let pages = Router::new().route("/", get(pages::index)).route("/assets/{name}", get(pages::asset));
    let all = OPERATIONS.iter().fold(pages, |router, operation| {
        router.route(operation.route.unwrap_or(operation.path), (operation.handler)())
    });
    let missing = || async { Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address") };
    let other =
        || async { Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not take this method") };
    all.fallback(missing).method_not_allowed_fallback(other).layer(DefaultBodyLimit::max(LARGEST_JSON))
}
