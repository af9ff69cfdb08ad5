//! Bytes from an address or a file, and the text within them.

use crate::Error;
use std::io::{Cursor, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// No dataset here is larger than this.
const MOST_BYTES: u64 = 256 << 20;

/// Servers of universities can be slow, but not silent.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that sends less for longer than its patience is given up, too.
const LEAST_BYTES_PER_SECOND: f64 = 1024.0;

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// The file that an address means, if it is not on the web.
pub(super) fn local(address: &str) -> Option<&Path> {
    let is_web = address.starts_with("http://") || address.starts_with("https://");
    (!is_web).then(|| Path::new(address.strip_prefix("file://").unwrap_or(address)))
}

/// The bytes at an address, or in a file. A server that sends nothing for `patience`
/// is given up.
pub(super) fn fetch(address: &str, patience: Duration) -> Result<Vec<u8>, Error> {
    let because = |reason: String| Error::Download { address: address.into(), reason };
    if let Some(path) = local(address) {
        return read(path).map_err(|error| {
            because(match error.kind() {
                _ if address.contains("://") => "only http://, https:// and files can be read".into(),
                ErrorKind::NotFound => "there is no such file".into(),
                ErrorKind::IsADirectory => "it is a folder".into(),
                _ => error.to_string(),
            })
        });
    }
    let failed = |error: ureq::Error| because(error.to_string());
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .user_agent(concat!("dshap/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let answer = agent.get(address).call().map_err(failed)?;
    let mut body = answer.into_body().into_with_config().limit(MOST_BYTES).reader();
    // A read that hangs cannot be stopped, only abandoned. So a thread reads, and
    // this one waits for each chunk.
    let (send, receive) = std::sync::mpsc::sync_channel(4);
    std::thread::spawn(move || {
        loop {
            let mut chunk = vec![0; CHUNK];
            let read = body.read(&mut chunk).map(|n| {
                chunk.truncate(n);
                chunk
            });
            let is_last = read.as_ref().map_or(true, |chunk| chunk.is_empty());
            if send.send(read).is_err() || is_last {
                return;
            }
        }
    });
    let mut bytes = Vec::new();
    let began = Instant::now();
    loop {
        match receive.recv_timeout(patience) {
            Ok(Ok(chunk)) if chunk.is_empty() => return Ok(bytes),
            Ok(Ok(chunk)) => {
                bytes.extend(chunk);
                let seconds = began.elapsed().as_secs_f64();
                if began.elapsed() > patience && (bytes.len() as f64) < seconds * LEAST_BYTES_PER_SECOND {
                    return Err(because(format!("only {} bytes arrived in {seconds:.1} s", bytes.len())));
                }
            }
            Ok(Err(error)) => return Err(because(error.to_string())),
            Err(_) => {
                let n = bytes.len();
                return Err(because(format!(
                    "nothing arrived for {} s after {n} bytes",
                    patience.as_secs_f64()
                )));
            }
        }
    }
}

/// The bytes of a file, which may be a device that never ends.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("it is longer than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The text of a download, or of a member if it is an archive.
pub(super) fn text(bytes: Vec<u8>, member: &str) -> Result<String, String> {
    let bytes = if bytes.starts_with(b"PK\x03\x04") { unpacked(&bytes, member)? } else { bytes };
    String::from_utf8(bytes).map_err(|error| format!("byte {} is not text", error.utf8_error().valid_up_to()))
}

fn unpacked(bytes: &[u8], member: &str) -> Result<Vec<u8>, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    // Members may be in a folder of the archive.
    let mut names = archive.file_names().filter_map(|name| name.ok().map(String::from));
    let found = names.find(|name| name.rsplit('/').next() == Some(member));
    drop(names);
    let name = found.ok_or_else(|| format!("the archive has no `{member}`"))?;
    let file = archive.by_name(&name).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut out).map_err(|error| error.to_string())?;
    if read as u64 > MOST_BYTES {
        return Err(format!("`{member}` is larger than any dataset here"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_server_that_drips_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = connection.read(&mut [0; 1024]).unwrap();
            connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").unwrap();
            // Until the other side has gone away.
            while connection.write_all(b"a").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let began = Instant::now();
        let refused = fetch(&address, Duration::from_millis(300)).unwrap_err();
        assert!(refused.to_string().contains(" bytes arrived in 0."), "{refused}");
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let refused = fetch("/dev/zero", Duration::from_secs(1)).unwrap_err();
        assert!(refused.to_string().contains("it is longer than 256 MiB"), "{refused}");
    }

    #[test]
    fn a_server_that_falls_silent_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = connection.read(&mut request).unwrap();
            connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc").unwrap();
            connection
        });
        let began = std::time::Instant::now();
        let refused = fetch(&address, Duration::from_millis(300)).unwrap_err();
        assert!(refused.to_string().contains("nothing arrived for 0.3 s after 3 bytes"), "{refused}");
        assert!(began.elapsed() < Duration::from_secs(30));
        drop(server.join());
    }
}
