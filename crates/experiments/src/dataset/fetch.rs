//! Bytes from an address or a file, and the text within them.

use crate::Error;
use std::io::{Cursor, Read};
use std::path::Path;
use std::time::Duration;

/// No dataset here is larger; what is, is not it.
const MOST_BYTES: u64 = 256 << 20;

/// Servers of universities can be slow, but not silent.
const PATIENCE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(600);

/// The bytes at an address, or in a file.
pub(super) fn fetch(address: &str) -> Result<Vec<u8>, Error> {
    if !address.starts_with("http://") && !address.starts_with("https://") {
        let path = Path::new(address.strip_prefix("file://").unwrap_or(address));
        return std::fs::read(path).map_err(Error::file(path));
    }
    let failed = |error: ureq::Error| Error::Download { address: address.into(), reason: error.to_string() };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_global(Some(LONGEST))
        .user_agent(concat!("dshap/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut answer = agent.get(address).call().map_err(failed)?;
    answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(failed)
}

/// The text of a download: itself, or that of a member of an archive.
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
