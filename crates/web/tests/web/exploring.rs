//! From a table to values, charts, rows, owners, a comparison and files.

use crate::client::{Site, send};
use crate::table;
use dshap_catalogue::options::{BY, ID, TARGET};
use dshap_catalogue::{Given, Value};
use dshap_run::{Arrange, Collected, Unwatched, ValueRequest, value};
use dshap_web::{Limits, Settings};
use serde_json::{Value as Json, json};

fn site() -> Site {
    Site::new(&[("t.csv", &table())], Limits::default())
}

fn request() -> Json {
    json!({"table": "data/t.csv", "options": {"target": "y", "by": "owner", "id": "name", "stderr": true}})
}

#[test]
fn values_are_those_of_the_engine_to_the_last_bit() {
    let site = site();
    let run = site.run(&request());
    assert_eq!(run["status"], "done", "{run}");
    let given = Given::new()
        .with(&TARGET, Value::Word("y".into()))
        .with(&BY, Value::Word("owner".into()))
        .with(&ID, Value::Word("name".into()));
    let mut rows = Collected::new(Arrange::ByRow, None);
    let points = vec![site.data().join("t.csv").display().to_string()];
    value(&ValueRequest::new(points, given), &Unwatched, &mut rows).expect("valued");
    let rows = rows.arranged(Arrange::ByRow).expect("small");
    let wanted = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Float64Type>(
        rows.column_by_name("value").expect("a column"),
    )
    .values()
    .to_vec();
    let page = site.get("/api/runs/run-1/values?limit=1000&columns=value").expect(200);
    let found: Vec<f64> = page["cells"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row[0].as_f64().expect("a number"))
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(page["matching"], 200);
    let lowest = site.get("/api/runs/run-1/values?sort=value&limit=1&columns=row&columns=name").expect(200);
    assert_eq!(lowest["cells"][0], json!([17, "row-17"]));
}

#[test]
fn a_run_tells_what_it_did() {
    let site = site();
    let run = site.run(&request());
    let result = &run["result"];
    assert_eq!((&result["rows"], &result["owner_column"]), (&json!(200), &json!("owner")));
    assert_eq!(result["summary"]["method"], "gaussian");
    assert_eq!(result["summary"]["points"][0]["name"], "data/t.csv");
    let folder = site.data().display().to_string();
    assert!(!run.to_string().contains(&folder), "the folder of the server is nobody's business");
    let command = result["command"].as_str().expect("a command");
    assert_eq!(command, "dshap value t.csv --by owner --id name --stderr --target y");
    let columns: Vec<&str> = result["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(&columns[..4], ["row", "name", "owner", "y"]);
    assert!(
        columns.contains(&"a") && columns.contains(&"penalty") && columns.contains(&"stderr"),
        "{columns:?}"
    );
    assert_eq!(site.get("/api/runs").expect(200)["runs"][0]["id"], "run-1");
}

#[test]
fn rows_are_filtered_searched_and_explained() {
    let site = site();
    site.run(&request());
    let get = |query: &str| site.get(&format!("/api/runs/run-1/values?{query}")).expect(200);
    let north = get("search=north");
    assert_eq!(north["matching"], 67);
    let below = get("range=value::0&columns=value");
    let is_below = |row: &Json| row[0].as_f64().is_some_and(|value| value <= 0.0);
    assert!(below["cells"].as_array().expect("rows").iter().all(is_below));
    let charts = site.get("/api/runs/run-1/charts?search=north").expect(200);
    assert_eq!(charts["matching"], 67);
    let sum = |name: &str| -> u64 {
        let counts = charts["histogram"][name].as_array().expect("counts");
        counts.iter().filter_map(Json::as_u64).sum()
    };
    let outside: u64 =
        charts["histogram"]["outside"].as_array().expect("two").iter().filter_map(Json::as_u64).sum();
    assert_eq!(sum("rows") + outside, 200);
    assert_eq!(charts["scatters"][0]["x"], "dist_sq");
    let row = site.get("/api/runs/run-1/rows/17").expect(200);
    let cell = |name: &str| {
        let cells = row["cells"].as_array().expect("cells").iter();
        cells.clone().find(|cell| cell["column"] == name).cloned().expect("the column")
    };
    assert_eq!(cell("penalty")["share_below"], 1.0);
    assert_eq!(cell("name")["cell"], "row-17");
    assert_eq!(row["owner"]["owner"], "south");
    // The words of `dshap explain`.
    let why = row["why"].as_array().expect("paragraphs");
    assert!(why[0].as_str().expect("words").starts_with("Row 17 has the value"), "{why:?}");
    assert!(why[1].as_str().expect("words").contains("the model of the other rows predicts"), "{why:?}");
    assert_eq!(site.get("/api/runs/run-1/rows/200").status, 404);
}

#[test]
fn owners_are_paid_and_runs_are_compared() {
    let site = site();
    site.run(&request());
    let owners = site.get("/api/runs/run-1/owners?budget=1000").expect(200);
    let paid: f64 = owners["owners"]
        .as_array()
        .expect("owners")
        .iter()
        .filter_map(|owner| owner["payout"].as_str()?.parse::<f64>().ok())
        .sum();
    assert!((paid - 1000.0).abs() < 1e-6, "{owners}");
    let options = json!({"target": "y", "exclude": ["name", "owner"]});
    let other = site.run(&json!({"table": "data/t.csv", "method": "calibrated", "options": options}));
    assert_eq!(other["status"], "done", "{other}");
    let compared = site.get("/api/runs/run-1/compare/run-2").expect(200);
    assert_eq!(compared["rows"], 200);
    assert!(compared["rank_correlation"].as_f64().expect("a number") > 0.9, "{compared}");
    assert_eq!(site.get("/api/runs/run-2/owners").status, 400);
    assert_eq!(site.get("/api/runs/run-1/compare/run-9").status, 404);
}

#[test]
fn values_and_the_report_are_files() {
    let site = site();
    site.run(&request());
    let csv = site.get("/api/runs/run-1/values/csv?search=row-17&columns=name&columns=value");
    assert_eq!(csv.header("content-disposition"), Some("attachment; filename=\"run-1.csv\""));
    let lines: Vec<String> = csv.text().lines().map(String::from).collect();
    assert_eq!(lines.len(), 12, "a header, row-17 and row-170 to row-179: {lines:?}");
    let parquet = site.get("/api/runs/run-1/values/parquet");
    assert_eq!((parquet.status, &parquet.body[..4]), (200, &b"PAR1"[..]));
    assert_eq!(site.get("/api/runs/run-1/values/exe").status, 404);
    let report = site.get("/api/runs/run-1/report");
    assert!(report.header("content-security-policy").is_some_and(|policy| policy.contains("sandbox")));
    assert!(report.text().contains("<h1>Values of t.csv</h1>") && report.body.len() < 500_000);
    assert!(report.text().contains("dshap report t.csv --by owner"), "how to repeat it");
    assert!(report.text().contains("What cleaning would do"), "the parts of `dshap report`");
    assert!(!report.text().contains(&site.data().display().to_string()));
    let saved = site.get("/api/runs/run-1/report?download");
    assert!(saved.header("content-disposition").is_some_and(|value| value.contains("run-1.html")));
}

#[test]
fn rows_are_explained_by_every_closed_form() {
    let site = site();
    let cases = [
        json!({"table": "data/t.csv", "method": "knn", "options": {"target": "y", "exclude": ["name", "owner"]}}),
        json!({"table": "data/t.csv", "options": {"task": "density", "exclude": ["name", "owner"]}}),
        json!({"table": "data/t.csv", "method": "second-order", "options": {"target": "owner", "exclude": ["name"]}}),
    ];
    for (i, request) in cases.iter().enumerate() {
        let run = site.run(request);
        assert_eq!(run["status"], "done", "{run}");
        let row = site.get(&format!("/api/runs/run-{}/rows/17", i + 1)).expect(200);
        let why = row["why"].as_array().expect("paragraphs");
        assert!(
            why.first().and_then(Json::as_str).is_some_and(|words| words.starts_with("Row 17 ")),
            "{row}"
        );
    }
}

#[test]
fn the_form_has_the_headings_of_the_catalogue() {
    let catalogue = site().get("/api/catalogue").expect(200);
    let groups = catalogue["groups"].as_array().expect("a list");
    assert!(
        groups.contains(&json!({"name": "second-order", "heading": "Refitted classifiers (second-order)"}))
    );
    for option in catalogue["options"].as_array().expect("a list") {
        assert!(groups.iter().any(|group| group["name"] == option["group"]), "{option}");
        assert!(!option["help"].as_str().expect("words").contains("repeat for"), "{option}");
    }
}

#[test]
fn an_upload_is_looked_at_valued_and_removed() {
    let site = site();
    let entry = site.upload("my%20rows.csv", table().as_bytes()).expect(201);
    assert_eq!(entry["name"], "uploads/my rows.csv");
    let view = site.get("/api/tables/uploads/my%20rows.csv").expect(200);
    assert_eq!((&view["rows_seen"], &view["is_whole"]), (&json!(200), &json!(true)));
    assert_eq!(view["columns"][5]["task"], "regression");
    let options = json!({"target": "y", "exclude": ["name"]});
    let run = site.run(&json!({"table": "uploads/my rows.csv", "options": options}));
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(site.delete("/api/tables/uploads/my%20rows.csv").status, 204);
    assert_eq!(site.get("/api/tables/uploads/my%20rows.csv").status, 404);
    assert_eq!(site.delete("/api/tables/data/t.csv").status, 403);
    assert_eq!(site.get("/api/runs/run-1/values").status, 200, "values stay");
    assert_eq!(site.delete("/api/runs/run-1").status, 204);
    assert_eq!(site.get("/api/runs/run-1").status, 404);
}

#[test]
fn what_is_wrong_with_a_table_is_told_in_words() {
    let rows: String = (0..20).map(|i| format!("{i},{}\n", i * i % 7)).collect();
    let site = Site::new(&[("bad.csv", &format!("a,y\n{rows}oops,3\n"))], Limits::default());
    let run = site.run(&json!({"table": "data/bad.csv", "options": {"target": "y"}}));
    assert_eq!(run["status"], "failed");
    let problem = run["problem"].to_string();
    assert!(problem.contains("data/bad.csv") && problem.contains("`oops`"), "{problem}");
    assert!(!problem.contains(&site.data().display().to_string()) && !problem.contains("--"), "{problem}");
}

#[test]
fn nothing_stays_unless_it_is_kept() {
    let keep = tempfile::tempdir().expect("a folder");
    let settings = || Settings { port: 0, keep: Some(keep.path().to_owned()), ..Settings::default() };
    let first = Site::of(settings());
    first.upload("t.csv", table().as_bytes()).expect(201);
    first.run(&json!({"table": "uploads/t.csv", "options": {"target": "y", "exclude": ["name"]}}));
    let values = first.get("/api/runs/run-1/values?limit=1000").text();
    drop(first);
    let second = Site::of(settings());
    assert_eq!(second.get("/api/runs/run-1/values?limit=1000").text(), values);
    assert_eq!(second.get("/api/tables").expect(200)["tables"][0]["name"], "uploads/t.csv");
    let next =
        second.run(&json!({"table": "uploads/t.csv", "options": {"target": "y", "exclude": ["name"]}}));
    assert_eq!(next["id"], "run-2");
    second.delete("/api/runs/run-1");
    assert!(!keep.path().join("runs/run-1").exists());
}

#[test]
fn pages_and_their_parts_are_served() {
    let site = site();
    let index = site.get("/");
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let page = index.text();
    let names = page.split("/assets/").skip(1).filter_map(|rest| rest.split('"').next());
    for name in names.chain(["run.js", "theory.js", "grid.js"]) {
        let asset = site.get(&format!("/assets/{name}"));
        assert!(asset.status == 200 && !asset.body.is_empty(), "{name}");
        // Pages without a network name no other address, but for the name of SVG itself.
        let text = asset.text().replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("//cdn"), "{name}");
    }
    assert_eq!(site.get("/assets/../lib.rs").status, 404);
    let catalogue = site.get("/api/catalogue").expect(200);
    let methods = catalogue["methods"].as_array().expect("methods");
    assert_eq!(methods.len(), dshap_models::methods::METHODS.len());
    let options = catalogue["options"].as_array().expect("options");
    assert!(options.iter().all(|option| option["name"] != "checkpoint" && option["name"] != "threads"));
    let description = site.get("/api/openapi.json").expect(200);
    assert!(description["paths"]["/api/valuers/{name}/value"]["post"].is_object());
    let theory = site.get("/api/theory?p=10&m=500&q=50&sigma2=1&d2=12&e2=2&sizes=true").expect(200);
    assert_eq!(theory["by_distance"].as_array().map(Vec::len), Some(5));
}

#[test]
fn sixty_four_clients_are_served_at_once() {
    let limits = Limits { runs_waiting: 100, runs_kept: 100, ..Limits::default() };
    let site = Site::new(&[("t.csv", &table())], limits);
    let address = site.address();
    let body = json!({"table": "data/t.csv", "options": {"target": "y", "exclude": ["name"]}}).to_string();
    let clients: Vec<_> = (0..64)
        .map(|_| {
            let body = body.clone();
            std::thread::spawn(move || {
                let headers = [("content-type", "application/json")];
                let started = send(address, "POST", "/api/runs", &headers, body.as_bytes()).expect(202);
                let theory = send(address, "GET", "/api/theory?p=20&m=1000", &[], b"");
                let tables = send(address, "GET", "/api/tables/data/t.csv", &[], b"");
                (started["id"].as_str().expect("an id").to_owned(), theory.status, tables.status)
            })
        })
        .collect();
    let ids: Vec<String> = clients
        .into_iter()
        .map(|client| {
            let (id, theory, table) = client.join().expect("no client fails");
            assert_eq!((theory, table), (200, 200));
            id
        })
        .collect();
    let mut pages: Vec<String> = Vec::new();
    for id in &ids {
        assert_eq!(site.settled(id)["status"], "done");
        pages.push(site.get(&format!("/api/runs/{id}/values?limit=1000")).text());
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "the same request has the same values");
    let mut different = ids.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 64);
}

#[test]
fn several_problems_are_a_list() {
    let messy = "day,a,y\n2024-01-01,1,2\n2024-01-02,,3\n2024-01-03,2,5\n2024-01-04,4,4\n";
    let site = Site::new(&[("messy.csv", messy)], Limits::default());
    let run = site.run(&json!({"table": "data/messy.csv", "options": {"target": "y"}}));
    assert_eq!(
        (&run["status"], &run["problem"]["error"]),
        (&json!("failed"), &json!("there are 2 problems"))
    );
    let problems = run["problem"]["problems"].as_array().expect("a list");
    assert_eq!(problems.len(), 2, "{run}");
    let folder = site.data().display().to_string();
    assert!(problems[1].as_str().expect("words").contains("`missing` = `drop`"), "{run}");
    assert!(!run.to_string().contains(&folder), "{run}");
}

#[test]
fn the_cleaned_table_can_be_taken_along() {
    let site = site();
    site.run(&request());
    let text = |path: &str| {
        let reply = site.get(path);
        assert_eq!(reply.status, 200, "{path}");
        String::from_utf8(reply.body.clone()).expect("text")
    };
    let cleaned = text("/api/runs/run-1/cleaned");
    let marked = text("/api/runs/run-1/cleaned?mark");
    let first = |text: &str| text.lines().next().expect("a header").to_owned();
    // The columns of the table; names and owners are no features, and stay.
    assert_eq!(first(&cleaned), first(&table()));
    assert_eq!(first(&marked), first(&table()) + ",suspect,score,reason,expected");
    assert_eq!(marked.lines().count(), 201);
    assert!(
        marked.lines().nth(18).is_some_and(|row| row.contains("row-17") && row.contains(",true,")),
        "{marked}"
    );
    assert_eq!(site.get("/api/runs/run-1/cleaned?shrink").status, 400);
    assert_eq!(site.get("/api/runs/run-9/cleaned").status, 404);
    let density = site
        .run(&json!({"table": "data/t.csv", "options": {"task": "density", "exclude": ["name", "owner"]}}));
    assert_eq!(density["status"], "done", "{density}");
    assert_eq!(site.get("/api/runs/run-2/cleaned").status, 400);
}

#[test]
fn owners_are_valued_given_each_other_and_paid_for_it() {
    // Owner `c` has copies of the rows of `a`, with a blank after its name.
    let mut text = String::from("x,z,y,owner\n");
    for i in 0..120_u32 {
        let noise =
            |k: u32| f64::from(((i % 40) * 7919 + (i / 40 % 2) * 31 + k * 104_729) % 1009) / 1009.0 - 0.5;
        let (x, z) = (noise(1), noise(2));
        let owner = ["a", "b", "c "][i as usize / 40];
        let _ = std::fmt::Write::write_fmt(
            &mut text,
            format_args!("{x},{z},{},{owner}\n", 2.0 * x - z + 0.3 * noise(3)),
        );
    }
    let site = Site::new(&[("o.csv", &text)], Limits::default());
    let run = site.run(&json!({"table": "data/o.csv", "options": {"target": "y", "by": "owner"}}));
    assert_eq!(run["status"], "done", "{run}");
    let plain = site.get("/api/runs/run-1/owners").expect(200);
    assert_eq!((&plain["count"], &plain["game"]), (&json!(3), &Json::Null));
    let found = site.get("/api/runs/run-1/owners?game=true&budget=100").expect(200);
    let owner = |name: &str| {
        let owners = found["owners"].as_array().expect("owners").iter();
        owners.clone().find(|owner| owner["owner"] == name).cloned().expect("an owner")
    };
    let number = |name: &str, cell: &str| owner(name)[cell].as_f64().expect("a number");
    assert_eq!((owner("a")["duplicates"].clone(), owner("b")["duplicates"].clone()), (json!(40), json!(0)));
    let sum = number("a", "shapley") + number("b", "shapley") + number("c", "shapley");
    assert!((sum - found["game"]["total"].as_f64().expect("a total")).abs() < 1e-9);
    assert_eq!(
        found["game"]["substitutes"][0]["interaction"].as_f64().map(|number| number < 0.0),
        Some(true)
    );
    let paid: f64 = ["a", "b", "c"]
        .map(|name| owner(name)["payout"].as_str().expect("text").parse::<f64>().expect("a number"))
        .iter()
        .sum();
    assert!((paid - 100.0).abs() < 1e-9);
    assert!(number("b", "payout_stderr") > 0.0 && found["game"]["ranking_survives"].is_number());
    assert_eq!(site.get("/api/runs/run-1/owners?prize=1").status, 400);
}
