//! Writes the polluted files of the tests, and how they are read.
//!
//! ```text
//! cargo run --release -p dshap-io --example polluted -- FOLDER
//! ```
//!
//! `FOLDER/meant.json` holds, for each file, the table that is meant and how dshap reads
//! it, to compare other readers with (`./bench files`).

#[path = "../tests/io/judge.rs"]
mod judge;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder")?);
    std::fs::create_dir_all(&folder)?;
    let mut list = Vec::new();
    for polluted in dshap_testkit::polluted() {
        let path = folder.join(format!("{}.csv", polluted.name));
        std::fs::write(&path, &polluted.bytes)?;
        let (outcome, words) = judge::judge(&path.display().to_string(), &polluted);
        list.push(serde_json::json!({
            "name": polluted.name,
            "names": polluted.meant.names,
            "rows": polluted.meant.rows,
            "dshap": format!("{outcome:?}"),
            "words": words,
        }));
    }
    std::fs::write(folder.join("meant.json"), serde_json::to_vec(&list)?)?;
    Ok(())
}
