//! What the server refuses.

use crate::client::{Site, raw, send};
use crate::table;
use dshap_web::{Limits, Settings};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

fn site() -> Site {
    Site::new(&[("t.csv", &table())], Limits::default())
}

/// A run that takes minutes.
fn long_run() -> serde_json::Value {
    let options = json!({
        "target": "y", "exclude": ["name", "owner"], "samples": 100_000_000, "stop": 0, "m": 100
    });
    json!({"table": "data/t.csv", "method": "d-shapley", "options": options})
}

#[test]
fn no_address_leaves_the_folders() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret.csv"), "a,y\n1,2\n").expect("written");
    let site = site();
    let secret = outside.path().join("secret.csv").display().to_string();
    for name in [
        "data/../../../../etc/passwd",
        "data/%2e%2e/%2e%2e/etc/passwd",
        "data/..%2f..%2fetc%2fpasswd",
        "data/%2fetc%2fpasswd",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "data/....//etc/passwd",
        "data/t.csv%00.csv",
        &format!("data/{secret}"),
        &secret,
    ] {
        let reply = site.get(&format!("/api/tables/{name}"));
        assert!(matches!(reply.status, 400 | 404), "{name}: {}", reply.status);
        assert!(!reply.text().contains("root:"), "{name}");
    }
    for name in ["data/../secret.csv", "../secret.csv", &secret, "-", "/dev/stdin", "data/*.csv"] {
        let body = json!({"table": name, "options": {"target": "y"}});
        assert_eq!(site.post("/api/runs", &body).status, 404, "{name}");
        let body = json!({"table": "data/t.csv", "options": {"target": "y", "reference": [name]}});
        assert_eq!(site.post("/api/runs", &body).status, 404, "{name}");
        let body = json!({"table": "data/t.csv", "valuer": name});
        assert_eq!(site.post("/api/runs", &body).status, 404, "{name}");
    }
    assert_eq!(site.upload("..%2F..%2Fx.csv", b"a\n1\n").expect(201)["name"], "uploads/x.csv");
    assert_eq!(site.delete("/api/tables/uploads/..%2F..%2Fx.csv").status, 404);
}

#[test]
fn another_host_or_origin_is_refused() {
    let site = site();
    let address = site.address();
    let status = |headers: &[(&str, &str)]| send(address, "GET", "/api/status", headers, b"").status;
    let own = address.to_string();
    assert_eq!(status(&[("host", &own)]), 200);
    assert_eq!(status(&[("host", "evil.example")]), 421);
    assert_eq!(status(&[("host", "")]), 421);
    assert_eq!(status(&[("host", &own), ("origin", "http://evil.example")]), 403);
    assert_eq!(status(&[("host", &own), ("origin", &format!("http://{own}"))]), 200);
    assert_eq!(status(&[("host", &own), ("sec-fetch-site", "cross-site")]), 403);
    let page = send(address, "GET", "/", &[("host", "evil.example")], b"");
    assert_eq!(page.status, 421, "pages are refused as well");
    let without = raw(address, b"GET /api/status HTTP/1.1\r\nconnection: close\r\n\r\n");
    assert!(matches!(without.status, 400 | 421), "{}", without.status);
}

#[test]
fn other_addresses_need_the_token() {
    let settings = Settings { port: 0, address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), ..Settings::default() };
    let site = Site::of(settings);
    let address = site.address();
    let token = site.server.token().expect("it has one").to_owned();
    assert!(site.server.url().ends_with(&format!("?token={token}")));
    for path in ["/", "/api/status", "/assets/app.js", "/api/openapi.json"] {
        assert_eq!(send(address, "GET", path, &[], b"").status, 401, "{path}");
    }
    let bearer = format!("Bearer {token}");
    assert_eq!(send(address, "GET", "/api/status", &[("authorization", &bearer)], b"").status, 200);
    assert_eq!(send(address, "GET", "/api/status", &[("authorization", "Bearer 0")], b"").status, 401);
    assert_eq!(send(address, "GET", &format!("/api/status?token={token}"), &[], b"").status, 401);
    let first = send(address, "GET", &format!("/?token={token}"), &[], b"");
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap_or_default();
    assert_eq!(send(address, "GET", "/", &[("cookie", cookie)], b"").status, 200);
    assert_eq!(send(address, "GET", "/?token=wrong", &[], b"").status, 401);
}

#[test]
fn every_reply_has_the_headers_that_protect_it() {
    let site = site();
    for path in ["/", "/assets/app.js", "/api/status", "/nothing", "/api/runs/run-1"] {
        let reply = site.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn bodies_that_make_no_sense_are_refused_with_words() {
    let site = site();
    let address = site.address();
    let json_type = [("content-type", "application/json")];
    let runs = |headers: &[(&str, &str)], body: &[u8]| send(address, "POST", "/api/runs", headers, body);
    for (headers, body, status) in [
        (&json_type[..], &b"{"[..], 400),
        (&json_type, b"", 400),
        (&json_type, b"[]", 422),
        (&json_type, b"{}", 422),
        (&json_type, br#"{"table": 7}"#, 422),
        (&json_type, br#"{"table": "data/t.csv", "else": 1}"#, 422),
        (&json_type, br#"{"table": "data/t.csv", "method": "magic"}"#, 404),
        (&json_type, br#"{"table": "data/t.csv", "options": {"summary": "/tmp/x"}}"#, 400),
        (&json_type, br#"{"table": "data/t.csv", "options": {"m": "many"}}"#, 400),
        (&[], br#"{"table": "data/t.csv"}"#, 415),
        (&[("content-type", "text/plain")], br#"{"table": "data/t.csv"}"#, 415),
    ] {
        let reply = runs(headers, body);
        assert_eq!(reply.status, status, "{} {}", String::from_utf8_lossy(body), reply.text());
        assert!(!reply.json()["error"].as_str().unwrap_or_default().is_empty());
    }
    let large = vec![b' '; 17 << 20];
    assert_eq!(runs(&json_type, &large).status, 413);
    assert_eq!(site.get("/api/nothing").status, 404);
    assert_eq!(send(address, "PUT", "/api/runs", &json_type, b"{}").status, 405);
    assert_eq!(site.get("/api/runs/run-1").status, 404);
    for query in ["limit=1001", "offset=x", "range=value", "nothing=1"] {
        site.run(&json!({"table": "data/t.csv", "options": {"target": "y", "exclude": ["name"]}}));
        assert_eq!(site.get(&format!("/api/runs/run-1/values?{query}")).status, 400, "{query}");
    }
    assert_eq!(site.get("/api/status").status, 200, "the server goes on");
}

#[test]
fn uploads_are_limited() {
    let site = Site::new(&[], Limits { upload_bytes: 1000, ..Limits::default() });
    let address = site.address();
    assert_eq!(site.upload("a.csv", &[b'x'; 1001]).status, 413);
    // The length is not told beforehand.
    let mut chunked = format!(
        "POST /api/tables?name=a.csv HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/octet-stream\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..3 {
        chunked.extend(b"1f4\r\n");
        chunked.extend([b'x'; 500]);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    assert_eq!(raw(address, &chunked).status, 413);
    assert_eq!(site.upload("a.exe", b"x").status, 415);
    assert_eq!(site.upload("", b"x").status, 400);
    let plain = [("content-type", "text/plain")];
    assert_eq!(send(address, "POST", "/api/tables?name=a.csv", &plain, b"a\n1\n").status, 415);
    assert_eq!(site.get("/api/tables").expect(200)["tables"], json!([]), "nothing is left of them");
    assert_eq!(site.upload("a.csv", b"a,y\n1,2\n").status, 201);
}

#[test]
fn a_run_is_cancelled_and_others_wait_their_turn() {
    let limits = Limits { runs_at_once: 1, runs_waiting: 1, ..Limits::default() };
    let site = Site::new(&[("t.csv", &table())], limits);
    let first = site.post("/api/runs", &long_run()).expect(202);
    let id = first["id"].as_str().expect("an id");
    while site.get(&format!("/api/runs/{id}")).expect(200)["status"] == "waiting" {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(site.get(&format!("/api/runs/{id}/values")).status, 409);
    let second = site
        .post("/api/runs", &json!({"table": "data/t.csv", "options": {"target": "y", "exclude": ["name"]}}));
    let second = second.expect(202)["id"].as_str().expect("an id").to_owned();
    let third = site.post("/api/runs", &long_run());
    assert_eq!(third.status, 429);
    assert!(third.json()["hint"].is_string());
    site.post(&format!("/api/runs/{id}/cancel"), &json!({})).expect(200);
    assert_eq!(site.settled(id)["status"], "cancelled");
    assert_eq!(site.settled(&second)["status"], "done");
}

#[test]
fn a_run_that_takes_too_long_is_stopped() {
    let limits = Limits { run_time: Duration::from_millis(300), ..Limits::default() };
    let site = Site::new(&[("t.csv", &table())], limits);
    let run = site.run(&long_run());
    assert_eq!((&run["status"], &run["problem"]["status"]), (&json!("failed"), &json!(408)), "{run}");
}

#[test]
fn a_run_keeps_to_its_memory() {
    let limits = Limits { memory_bytes: 1 << 20, ..Limits::default() };
    let site = Site::new(&[("t.csv", &table())], limits);
    let run = site.run(&json!({"table": "data/t.csv", "options": {"target": "y", "exclude": ["name"]}}));
    assert_eq!(run["status"], "failed");
    assert!(run["problem"]["error"].as_str().is_some_and(|error| error.contains("memory")), "{run}");
}
