//! Requests that nobody meant: paths, queries and bodies made of pieces of right ones. Each
//! is answered, none breaks the server, and none ends in a fault of its own.

use crate::client::{Reply, Site, send};
use crate::table;
use dshap_testkit::{Attack, fuzz};
use dshap_web::Limits;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// An operation as the server describes it.
struct Operation {
    method: String,
    path: String,
    query: Vec<String>,
    takes_body: bool,
}

/// All operations, so that a new one is attacked, too.
fn operations(site: &Site) -> Vec<Operation> {
    let description = site.get("/api/openapi.json").expect(200);
    let mut all = Vec::new();
    for (path, methods) in description["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let query = parameters.iter().filter(|parameter| parameter["in"] == "query");
            all.push(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                query: query.filter_map(|parameter| Some(parameter["name"].as_str()?.to_owned())).collect(),
                takes_body: operation.get("requestBody").is_some(),
            });
        }
    }
    assert!(all.len() > 15, "{} operations", all.len());
    all
}

/// What a hostile value may be, in a path or a query.
fn word(attack: &mut Attack, runs: &[String]) -> String {
    const WORDS: [&str; 28] = [
        "data/t.csv",
        "t.csv",
        "1",
        "0",
        "-1",
        "199",
        "200",
        "18446744073709551616",
        "1e400",
        "NaN",
        "inf",
        "value",
        "-value",
        "value:0:1",
        "value::",
        ":::",
        "y",
        "no%20such",
        "%00",
        "%ff",
        "..%2f..%2fetc",
        "csv",
        "parquet",
        "%E2%80%AE",
        "true",
        "",
        "owner",
        "a%0d%0ab",
    ];
    match attack.below(3) {
        0 if !runs.is_empty() => attack.one_of(runs).clone(),
        1 => percent(&attack.double().to_string()),
        _ => (*attack.one_of(&WORDS)).to_owned(),
    }
}

fn percent(text: &str) -> String {
    text.replace('+', "%2B")
}

fn path(attack: &mut Attack, operation: &Operation, runs: &[String]) -> String {
    let mut path = String::new();
    for piece in operation.path.split('/').skip(1) {
        let shown = match piece.starts_with('{') {
            true => word(attack, runs),
            false if attack.below(40) == 0 => word(attack, runs),
            false => piece.to_owned(),
        };
        path += "/";
        path += &shown;
    }
    let mut mark = '?';
    for name in &operation.query {
        if attack.below(2) == 0 {
            path += &format!("{mark}{name}={}", word(attack, runs));
            mark = '&';
        }
    }
    path
}

/// A request for a run, right or wrong, whole or damaged.
fn body(attack: &mut Attack) -> Vec<u8> {
    let anything = |attack: &mut Attack| match attack.below(8) {
        0 => Json::Null,
        1 => json!(attack.double()),
        2 => json!([1, "x", null]),
        3 => json!({"y": {"y": {}}}),
        4 => json!(true),
        5 => json!(-1),
        6 => json!(u64::MAX),
        _ => json!(*attack.one_of(&["y", "gaussian", "data/t.csv", "", "\u{202e}", "knn", "0.5", "all"])),
    };
    let mut options = json!({"target": "y", "exclude": ["name", "owner"]});
    for _ in 0..attack.below(4) {
        let names =
            ["target", "m", "q", "test", "by", "k", "ridge", "samples", "stderr", "exclude", "no such"];
        options[*attack.one_of(&names)] = anything(attack);
    }
    let mut request = json!({"table": "data/t.csv", "options": options});
    if attack.below(2) == 0 {
        request["method"] = json!(*attack.one_of(&["gaussian", "knn", "lower", "calibrated", "x"]));
    }
    if attack.below(4) == 0 {
        let name = *attack.one_of(&["table", "method", "valuer", "options", "more"]);
        request[name] = anything(attack);
    }
    let bytes = request.to_string().into_bytes();
    if attack.below(3) == 0 { attack.damage(&bytes) } else { bytes }
}

/// A fault of the request, a reply, or a server that is busy; never a fault of the server.
#[track_caller]
fn assert_is_answered(reply: &Reply, request: &str) {
    let is_fine = (200..500).contains(&reply.status) || reply.status == 503;
    assert!(is_fine, "{request}: {} {}", reply.status, reply.text());
    assert!(!reply.text().contains("panicked"), "{request}: {}", reply.text());
}

#[test]
fn every_request_is_answered() {
    let limits = Limits {
        upload_bytes: 1 << 20,
        runs_kept: 8,
        runs_waiting: 4,
        run_time: Duration::from_secs(5),
        memory_bytes: 256 << 20,
        ..Limits::default()
    };
    let site = Site::new(&[("t.csv", &table())], limits);
    let options = json!({"target": "y", "exclude": ["name"], "by": "owner"});
    site.run(&json!({"table": "data/t.csv", "options": options}));
    let operations = operations(&site);
    let runs = || -> Vec<String> {
        let listed = site.get("/api/runs").expect(200);
        let all = listed["runs"].as_array().expect("a list of runs");
        all.iter().filter_map(|run| Some(run["id"].as_str()?.to_owned())).collect()
    };
    let mut known = runs();
    assert_eq!(known.len(), 1);
    let mut n_ok = 0_u64;
    fuzz("web", |attack| {
        let operation = attack.one_of(&operations);
        let path = path(attack, operation, &known);
        let body = match operation.takes_body || attack.below(8) == 0 {
            true => body(attack),
            false => Vec::new(),
        };
        let content = *attack.one_of(&["application/json", "application/json", "text/plain", "x"]);
        let request = format!("{} {path} {}", operation.method, String::from_utf8_lossy(&body));
        let reply = send(site.address(), &operation.method, &path, &[("content-type", content)], &body);
        assert_is_answered(&reply, &request);
        n_ok += u64::from(reply.status < 300);
        if attack.below(16) == 0 {
            known = runs();
        }
    });
    assert!(std::env::var_os("DSHAP_FUZZ_SEED").is_some() || n_ok > 0, "no request was right");
    // It still does what it did before.
    let again =
        site.run(&json!({"table": "data/t.csv", "options": {"target": "y", "exclude": ["name", "owner"]}}));
    assert_eq!(again["status"], "done", "{again}");
}
