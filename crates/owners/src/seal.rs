//! Digests of results: whether somebody changed a file after dshap wrote it.

use serde::Serialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Where an object has its digest.
const DIGEST: &str = "digest";

/// An object with the digest of all the rest as its last field.
#[derive(Serialize)]
struct Sealed<'a, T> {
    #[serde(flatten)]
    thing: &'a T,
    digest: String,
}

/// SHA-256 of a result without its digest, in hexadecimal. Order and blanks do not matter.
pub(crate) fn digest_of(thing: &Json) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(thing.to_string()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// As JSON, with its digest.
pub(crate) fn sealed(thing: &impl Serialize) -> String {
    let bare = serde_json::to_value(thing).expect("a result has nothing JSON cannot hold");
    let sealed = Sealed { thing, digest: digest_of(&bare) };
    serde_json::to_string_pretty(&sealed).expect("a result has nothing JSON cannot hold") + "\n"
}

/// Whether an object is as it was written; none if it has no digest.
pub(crate) fn is_intact(object: &Json) -> Option<bool> {
    let mut bare = object.clone();
    let digest = bare.as_object_mut()?.remove(DIGEST)?;
    Some(digest.as_str() == Some(digest_of(&bare).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Thing {
        value: f64,
        name: &'static str,
    }

    #[test]
    fn a_change_breaks_the_seal_and_other_blanks_do_not() {
        let text = sealed(&Thing { value: 0.1 + 0.2, name: "a" });
        assert!(text.starts_with("{\n  \"value\": 0.30000000000000004,\n  \"name\""), "{text}");
        let read = |text: &str| serde_json::from_str::<Json>(text).expect("JSON");
        assert_eq!(is_intact(&read(&text)), Some(true));
        assert_eq!(is_intact(&read(&text.replace('\n', " "))), Some(true));
        assert_eq!(is_intact(&read(&text.replace("0004", "0001"))), Some(false));
        assert_eq!(is_intact(&read("{\"value\": 1}")), None);
    }
}
