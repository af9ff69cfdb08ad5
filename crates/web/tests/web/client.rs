//! A client that sends what it is told, right or wrong.

use dshap_web::{Limits, Server, Settings};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The JSON of a reply that must have this status.
    pub(crate) fn expect(&self, status: u16) -> Json {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() { Json::Null } else { self.json() }
    }
}

/// A server with its client.
pub(crate) struct Site {
    pub(crate) server: Server,
    _data: Option<tempfile::TempDir>,
}

impl Site {
    /// A server on a free port, with a folder of tables.
    pub(crate) fn new(tables: &[(&str, &str)], limits: Limits) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        for (name, text) in tables {
            std::fs::write(data.path().join(name), text).expect("written");
        }
        let settings =
            Settings { port: 0, data: Some(data.path().to_owned()), limits, ..Settings::default() };
        let server = Server::start(settings).unwrap_or_else(|error| panic!("{error:?}"));
        Self { server, _data: Some(data) }
    }

    pub(crate) fn of(settings: Settings) -> Self {
        let server = Server::start(settings).unwrap_or_else(|error| panic!("{error:?}"));
        Self { server, _data: None }
    }

    pub(crate) fn data(&self) -> &std::path::Path {
        self._data.as_ref().expect("there is a folder").path()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.server.address().port()))
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        send(self.address(), "GET", path, &[], b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        send(self.address(), "DELETE", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Json) -> Reply {
        let headers = [("content-type", "application/json")];
        send(self.address(), "POST", path, &headers, body.to_string().as_bytes())
    }

    pub(crate) fn upload(&self, name: &str, bytes: &[u8]) -> Reply {
        let headers = [("content-type", "application/octet-stream")];
        send(self.address(), "POST", &format!("/api/tables?name={name}"), &headers, bytes)
    }

    /// Starts a run and waits until it is over.
    pub(crate) fn run(&self, request: &Json) -> Json {
        let started = self.post("/api/runs", request).expect(202);
        let id = started["id"].as_str().expect("an id").to_owned();
        self.settled(&id)
    }

    /// Waits until a run is over.
    pub(crate) fn settled(&self, id: &str) -> Json {
        let start = Instant::now();
        loop {
            let run = self.get(&format!("/api/runs/{id}")).expect(200);
            if !matches!(run["status"].as_str(), Some("waiting" | "running")) {
                return run;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{run}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Sends a request and reads the whole reply.
pub(crate) fn send(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text += &format!("host: {to}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n", body.len());
    raw(to, &[text.as_bytes(), body].concat())
}

/// Sends bytes as they are.
pub(crate) fn raw(to: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(to).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    // A server that refuses a large body may close before all of it was sent.
    let _ = stream.write_all(bytes);
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    parse(&reply)
}

fn parse(reply: &[u8]) -> Reply {
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no reply: {}", String::from_utf8_lossy(reply)));
    let head = String::from_utf8_lossy(&reply[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.into(), value.into())))
        .collect();
    let mut reply = Reply { status, headers, body: reply[end + 4..].to_vec() };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = unchunked(&reply.body);
    }
    reply
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).expect("a size");
        whole.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[(end + 4 + size).min(bytes.len())..];
        if size == 0 {
            break;
        }
    }
    whole
}
