//! New rows, valued by a saved valuer.

use crate::client::Site;
use crate::table;
use dshap_catalogue::options::{EXCLUDE, TARGET};
use dshap_catalogue::{Given, Value};
use dshap_io::AtomicFile;
use dshap_run::{FitRequest, Resources, Unwatched, fit};
use dshap_web::Limits;
use serde_json::{Value as Json, json};

/// A site with a valuer of its table, fitted to these columns.
fn site(exclude: &[&str]) -> Site {
    let site = Site::new(&[("t.csv", &table())], Limits::default());
    let given = Given::new()
        .with(&TARGET, Value::Word("y".into()))
        .with(&EXCLUDE, Value::List(exclude.iter().map(|name| (*name).into()).collect()));
    let request = FitRequest {
        reference: vec![site.data().join("t.csv").display().to_string()],
        method: None,
        given,
        outputs: Vec::new(),
        resources: Resources::default(),
    };
    let fitted = fit(&request, &Unwatched).expect("fitted");
    let file = AtomicFile::create(&site.data().join("price.dshap")).expect("a file");
    fitted.valuer.save(file).expect("saved");
    site
}

fn values(reply: &Json) -> Vec<f64> {
    reply["value"].as_array().expect("values").iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn rows_have_the_values_that_a_run_gives_them() {
    let site = site(&["name", "owner"]);
    assert_eq!(site.get("/api/valuers").expect(200)["valuers"][0]["name"], "data/price.dshap");
    let view = site.get("/api/valuers/data/price.dshap").expect(200);
    assert_eq!(view["columns"], json!(["a", "b", "c", "y"]));
    let rows: Vec<Json> =
        (0..40).map(|i| json!({"a": 0.01 * f64::from(i), "b": 0.3, "c": -0.2, "y": 1.0})).collect();
    let path = "/api/valuers/data/price.dshap/value";
    let all = site.post(path, &json!({"rows": rows, "parts": true, "stderr": true})).expect(200);
    let one_by_one: Vec<f64> =
        rows.iter().map(|row| values(&site.post(path, &json!({"rows": [row]})).expect(200))[0]).collect();
    assert_eq!(values(&all), one_by_one);
    assert_eq!(all["stderr"].as_array().map(Vec::len), Some(40));
    assert!(all["parts"].as_array().expect("parts").iter().any(|part| part["name"] == "penalty"));
    let mut csv = String::from("a,b,c,y\n");
    for row in &rows {
        csv += &format!("{},{},{},{}\n", row["a"], row["b"], row["c"], row["y"]);
    }
    site.upload("new.csv", csv.as_bytes()).expect(201);
    let run = site.run(&json!({"table": "uploads/new.csv", "valuer": "data/price.dshap"}));
    assert_eq!(run["status"], "done", "{run}");
    let page = site.get(&format!("/api/runs/{}/values?columns=value", run["id"].as_str().expect("an id")));
    let cells = page.expect(200)["cells"].clone();
    let by_run: Vec<f64> = cells.as_array().expect("rows").iter().filter_map(|row| row[0].as_f64()).collect();
    assert_eq!(by_run, one_by_one);
}

#[test]
fn text_takes_the_long_way_to_the_same_kind_of_answer() {
    let site = site(&["name"]);
    let path = "/api/valuers/data/price.dshap/value";
    let row = |owner: &str| json!({"owner": owner, "a": 0.1, "b": 0.2, "c": 0.3, "y": 1.0});
    let reply = site.post(path, &json!({"rows": [row("north"), row("south")]})).expect(200);
    assert_eq!(values(&reply).len(), 2);
    let unknown = site.post(path, &json!({"rows": [row("east")]}));
    assert_eq!(unknown.status, 422);
    assert!(unknown.text().contains("east"), "{}", unknown.text());
}

#[test]
fn rows_that_cannot_be_valued_are_refused_with_words() {
    let site = site(&["name", "owner"]);
    let path = "/api/valuers/data/price.dshap/value";
    for (body, status) in [
        (json!({"rows": []}), 400),
        (json!({"rows": [{"a": 1, "b": 2, "y": 3}]}), 400),
        (json!({"rows": [{"a": [1], "b": 2, "c": 3, "y": 3}]}), 400),
        (json!({"rows": [{"a": "x", "b": 2, "c": 3, "y": 3}]}), 422),
        (json!({"rows": 7}), 422),
        (json!({"else": []}), 422),
    ] {
        let reply = site.post(path, &body);
        assert_eq!(reply.status, status, "{body}: {}", reply.text());
    }
    let many: Vec<Json> = (0..10_001).map(|_| json!({"a": 1, "b": 2, "c": 3, "y": 4})).collect();
    assert_eq!(site.post(path, &json!({"rows": many})).status, 400);
    assert_eq!(site.post("/api/valuers/data/none.dshap/value", &json!({"rows": [{"a": 1}]})).status, 404);
    assert_eq!(site.post("/api/valuers/data/t.csv/value", &json!({"rows": [{"a": 1}]})).status, 404);
    assert_eq!(site.post("/api/valuers/data/price.dshap", &json!({"rows": [{"a": 1}]})).status, 404);
}

#[test]
fn a_valuer_that_changed_is_read_again() {
    let site = site(&["name", "owner"]);
    let path = "/api/valuers/data/price.dshap/value";
    let body = json!({"rows": [{"a": 0.1, "b": 0.2, "c": 0.3, "y": 1.0}]});
    let before = values(&site.post(path, &body).expect(200));
    std::fs::write(site.data().join("price.dshap"), b"damaged").expect("written");
    assert_eq!(site.post(path, &body).status, 422);
    assert_eq!(before.len(), 1);
}
