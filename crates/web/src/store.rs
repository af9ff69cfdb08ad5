//! Tables and valuers in two folders, and nothing outside them.
//!
//! A name is `data/…` or `uploads/…`. Whatever else a client sends, no path leaves
//! these folders: names have plain parts only, and links that lead outside do not
//! exist as far as clients can tell.

use crate::problem::Problem;
use crate::settings::{Limits, Settings};
use crate::wire::FileEntry;
use axum::http::StatusCode;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::{NamedTempFile, TempDir};

/// More files are not listed.
const MOST_LISTED: usize = 2000;

/// Folders below the folder of the data that are looked into.
const DEEPEST: usize = 4;

/// Longest name of an upload, in bytes.
const LONGEST_NAME: usize = 120;

/// Endings of tables; a compression may follow those of text.
const TABLES: [&str; 12] =
    ["csv", "tsv", "txt", "data", "ndjson", "jsonl", "parquet", "arrow", "feather", "ipc", "npy", "dat"];

/// The ending of valuers.
const VALUER: &str = "dshap";

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Table,
    Valuer,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Table => "table",
            What::Valuer => "valuer",
        }
    }

    /// What the name of a file promises.
    fn of(path: &Path) -> Option<Self> {
        let ending = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let last = ending(path)?;
        let plain = match last.as_str() {
            "gz" | "zst" => ending(Path::new(path.file_stem()?))?,
            _ => last,
        };
        match plain.as_str() {
            VALUER => Some(What::Valuer),
            plain if TABLES.contains(&plain) => Some(What::Table),
            _ => None,
        }
    }
}

/// The two folders.
#[derive(Debug)]
pub(crate) struct Store {
    data: Option<PathBuf>,
    uploads: PathBuf,
    /// Where finished runs stay, if they do.
    runs: Option<PathBuf>,
    limits: Limits,
    stored_bytes: Arc<AtomicU64>,
    /// Removes uploads at the end, unless they are kept.
    _temporary: Option<TempDir>,
}

impl Store {
    /// Opens the folders, and makes those that are kept.
    pub(crate) fn open(settings: &Settings) -> io::Result<Self> {
        let data = settings.data.as_ref().map(|folder| folder.canonicalize()).transpose()?;
        if data.as_ref().is_some_and(|folder| !folder.is_dir()) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let (uploads, runs, temporary) = match &settings.keep {
            Some(folder) => {
                let (uploads, runs) = (folder.join("uploads"), folder.join("runs"));
                std::fs::create_dir_all(&uploads)?;
                std::fs::create_dir_all(&runs)?;
                (uploads, Some(runs), None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("dshap-serve-").tempdir()?;
                (temporary.path().to_owned(), None, Some(temporary))
            }
        };
        let uploads = uploads.canonicalize()?;
        let store = Self {
            data,
            uploads,
            runs,
            limits: settings.limits,
            stored_bytes: Arc::default(),
            _temporary: temporary,
        };
        let stored = store.list_folder("uploads", &store.uploads, &mut Vec::new());
        store.stored_bytes.store(stored, Ordering::Relaxed);
        Ok(store)
    }

    pub(crate) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// Where finished runs stay, if they do.
    pub(crate) fn runs_folder(&self) -> Option<&Path> {
        self.runs.as_deref()
    }

    /// A folder for files that are about to be sent.
    pub(crate) fn scratch(&self) -> &Path {
        &self.uploads
    }

    /// All tables or all valuers, sorted by name; whether some are not listed.
    pub(crate) fn list(&self, what: What) -> (Vec<FileEntry>, bool) {
        let mut found = Vec::new();
        if let Some(data) = &self.data {
            self.list_folder("data", data, &mut found);
        }
        self.list_folder("uploads", &self.uploads, &mut found);
        let is_cut = found.len() > MOST_LISTED;
        let mut entries: Vec<FileEntry> =
            found.into_iter().filter(|(kind, _)| *kind == what).map(|(_, entry)| entry).collect();
        entries.truncate(MOST_LISTED);
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        (entries, is_cut)
    }

    /// Adds the files of a folder; returns their bytes.
    fn list_folder(&self, name: &str, folder: &Path, found: &mut Vec<(What, FileEntry)>) -> u64 {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let mut n_bytes = 0;
        for entry in entries.flatten() {
            if found.len() > MOST_LISTED {
                break;
            }
            let own = entry.file_name();
            let (Some(own), Ok(kind)) = (own.to_str(), entry.file_type()) else { continue };
            let (name, path) = (format!("{name}/{own}"), entry.path());
            if own.starts_with('.') {
                continue;
            }
            if kind.is_dir() && name.matches('/').count() <= DEEPEST {
                n_bytes += self.list_folder(&name, &path, found);
            } else if let (Some(what), Ok(path)) = (What::of(&path), self.path(&name)) {
                let bytes = path.metadata().map_or(0, |metadata| metadata.len());
                n_bytes += bytes;
                found.push((what, FileEntry { name, bytes }));
            }
        }
        n_bytes
    }

    /// The file of that name, if it is what was asked for.
    pub(crate) fn find(&self, what: What, name: &str) -> Result<PathBuf, Problem> {
        let missing = || Problem::missing(what.name(), name);
        let path = self.path(name).map_err(|()| missing())?;
        match What::of(Path::new(name)) == Some(what) {
            true => Ok(path),
            false => Err(missing()),
        }
    }

    /// The file behind a name, within its folder.
    fn path(&self, name: &str) -> Result<PathBuf, ()> {
        let (folder, rest) = name.split_once('/').ok_or(())?;
        let root = match folder {
            "data" => self.data.as_ref().ok_or(())?,
            "uploads" => &self.uploads,
            _ => return Err(()),
        };
        let is_plain = |part: Component| match part {
            Component::Normal(part) => part.to_str().is_some_and(|part| !part.starts_with('.')),
            _ => false,
        };
        // Components drop `.` and doubled separators, which no name has either.
        let is_as_written =
            !rest.contains(['\\', '\0', ':']) && !rest.contains("//") && !rest.contains("/./");
        if rest.is_empty() || !is_as_written || !Path::new(rest).components().all(is_plain) {
            return Err(());
        }
        let path = root.join(rest).canonicalize().map_err(|_| ())?;
        (path.starts_with(root) && path.is_file()).then_some(path).ok_or(())
    }

    /// Text in which files have the names that clients know.
    pub(crate) fn public(&self, text: &str) -> String {
        let roots = [("data/", self.data.as_ref()), ("uploads/", Some(&self.uploads))];
        roots.into_iter().fold(text.to_owned(), |text, (name, root)| match root {
            Some(root) => text.replace(&format!("{}/", root.display()), name),
            None => text,
        })
    }

    /// Begins an upload of a known or unknown length.
    pub(crate) fn begin_upload(&self, name: &str, length: Option<u64>) -> Result<Upload, Problem> {
        let name = upload_name(name)?;
        let (most_each, most_all) = (self.limits.upload_bytes, self.limits.stored_bytes());
        let file = tempfile::Builder::new().prefix(".part-").tempfile_in(&self.uploads);
        let file = file.map_err(|error| Problem::system("cannot store the upload", &error))?;
        let upload = Upload {
            name,
            file: Some(file),
            n_bytes: 0,
            most_each,
            most_all,
            stored_bytes: Arc::clone(&self.stored_bytes),
            folder: self.uploads.clone(),
        };
        upload.check(length.unwrap_or(0))?;
        Ok(upload)
    }

    /// Removes an upload.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Problem> {
        let missing = || Problem::missing("upload", name);
        let path = self.path(name).map_err(|()| missing())?;
        if !name.starts_with("uploads/") {
            let error = "only uploads can be removed; the folder of the data is never changed";
            return Err(Problem::new(StatusCode::FORBIDDEN, error));
        }
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        std::fs::remove_file(&path).map_err(|error| Problem::system("cannot remove the upload", &error))?;
        self.stored_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// The last part of a name that a browser sends, if a file can have it.
fn upload_name(given: &str) -> Result<String, Problem> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let is_odd = |c: char| dshap_words::is_hidden(c) || ":*?[]\"<>|".contains(c);
    let name: String = name.chars().map(|c| if is_odd(c) { '_' } else { c }).collect();
    if name.is_empty() || name.starts_with('.') || name.len() > LONGEST_NAME {
        return Err(Problem::bad(format!("a file cannot be called `{name}`"))
            .hint(format!("give it a name of at most {LONGEST_NAME} letters, such as `table.csv`")));
    }
    match What::of(Path::new(&name)) {
        Some(_) => Ok(name),
        None => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("the name of `{name}` does not tell that it is a table or a valuer"),
        )
        .hint(
            "upload CSV, NDJSON, Parquet, Arrow or NPY (CSV and NDJSON also as .gz or .zst), or a .dshap valuer",
        )),
    }
}

/// A file on its way in. It appears whole or not at all.
#[derive(Debug)]
pub(crate) struct Upload {
    name: String,
    file: Option<NamedTempFile>,
    n_bytes: u64,
    most_each: u64,
    most_all: u64,
    stored_bytes: Arc<AtomicU64>,
    folder: PathBuf,
}

impl Upload {
    fn check(&self, more: u64) -> Result<(), Problem> {
        let too_large = |error: String, hint: &str| {
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, error).hint(hint.to_owned()))
        };
        if self.n_bytes.saturating_add(more) > self.most_each {
            let error = format!("the file is larger than {} MB", self.most_each / 1_000_000);
            return too_large(error, "put it into the folder of `--data`, or raise `--max-upload`");
        }
        if self.stored_bytes.load(Ordering::Relaxed).saturating_add(more) > self.most_all {
            let error = format!("all uploads together are larger than {} MB", self.most_all / 1_000_000);
            return too_large(error, "remove uploads that are no longer needed");
        }
        Ok(())
    }

    /// Adds bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let more = bytes.len() as u64;
        self.check(more)?;
        self.n_bytes += more;
        self.stored_bytes.fetch_add(more, Ordering::Relaxed);
        let written = self.file.as_mut().map(|file| file.write_all(bytes)).transpose();
        written.map(|_| ()).map_err(|error| Problem::system("cannot store the upload", &error))
    }

    /// Lets the file appear, under another name if there is one of that name.
    pub(crate) fn finish(mut self) -> Result<FileEntry, Problem> {
        let failed = |error: io::Error| Problem::system("cannot store the upload", &error);
        let Some(mut file) = self.file.take() else { return Err(Problem::own_fault()) };
        for attempt in 1..1000 {
            let name = numbered(&self.name, attempt);
            match file.persist_noclobber(self.folder.join(&name)) {
                Ok(_) => {
                    let bytes = std::mem::take(&mut self.n_bytes);
                    return Ok(FileEntry { name: format!("uploads/{name}"), bytes });
                }
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
                Err(error) => return Err(failed(error.error)),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // What was not finished takes no room.
        self.stored_bytes.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}

/// `table.csv`, `table (2).csv`, …
fn numbered(name: &str, attempt: usize) -> String {
    match (attempt, name.split_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, endings))) => format!("{stem} ({attempt}).{endings}"),
        (_, None) => format!("{name} ({attempt})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(data: &Path, upload_bytes: u64) -> Store {
        let limits = Limits { upload_bytes, ..Limits::default() };
        let settings = Settings { data: Some(data.to_owned()), limits, ..Settings::default() };
        Store::open(&settings).expect("the folder exists")
    }

    #[test]
    fn no_name_leaves_the_folder() {
        let outer = tempfile::tempdir().expect("a folder");
        let data = outer.path().join("data");
        std::fs::create_dir_all(data.join("sub")).expect("a folder");
        std::fs::write(outer.path().join("secret.csv"), "a\n1\n").expect("written");
        std::fs::write(data.join("sub/own.csv"), "a\n1\n").expect("written");
        std::fs::write(data.join("notes.key"), "x").expect("written");
        std::fs::write(data.join(".hidden.csv"), "a\n1\n").expect("written");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outer.path().join("secret.csv"), data.join("link.csv")).expect("a link");
        let store = store(&data, 100);
        assert!(store.find(What::Table, "data/sub/own.csv").is_ok());
        let absolute = outer.path().join("secret.csv").display().to_string();
        for wrong in [
            "data/../secret.csv",
            "data/sub/../../secret.csv",
            "data/sub/../sub/own.csv",
            "data//secret.csv",
            "data/./sub/own.csv",
            "data/link.csv",
            "data/.hidden.csv",
            "data/notes.key",
            "data/",
            "data",
            "",
            "-",
            "uploads/../secret.csv",
            "other/own.csv",
            "data/sub\\own.csv",
            "data/sub/own.csv\0",
            &absolute,
            &format!("data/{absolute}"),
        ] {
            let found = store.find(What::Table, wrong).map_err(|problem| problem.status);
            assert_eq!(found, Err(404), "{wrong:?}");
        }
        let (listed, is_cut) = store.list(What::Table);
        let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((names, is_cut), (vec!["data/sub/own.csv"], false));
    }

    #[test]
    fn uploads_are_limited_one_by_one_and_together() {
        let data = tempfile::tempdir().expect("a folder");
        let store = store(data.path(), 100);
        assert_eq!(store.begin_upload("a.csv", Some(101)).map_err(|p| p.status).err(), Some(413));
        let mut names = Vec::new();
        for _ in 0..4 {
            let mut upload = store.begin_upload("C:\\folder\\a.csv", None).expect("small");
            upload.write(&[b'x'; 100]).expect("there is room");
            names.push(upload.finish().expect("stored").name);
        }
        assert_eq!(names, ["uploads/a.csv", "uploads/a (2).csv", "uploads/a (3).csv", "uploads/a (4).csv"]);
        let mut fifth = store.begin_upload("b.csv", None).expect("nothing yet");
        assert_eq!(fifth.write(b"x").map_err(|problem| problem.status), Err(413));
        drop(fifth);
        store.remove(&names[0]).expect("removed");
        let mut again = store.begin_upload("b.csv", None).expect("nothing yet");
        again.write(&[b'x'; 60]).expect("there is room");
        assert_eq!(again.write(&[b'x'; 60]).map_err(|problem| problem.status), Err(413));
        drop(again);
        assert_eq!(store.stored_bytes.load(Ordering::Relaxed), 300);
        for odd in ["", "..", ".csv", "x.exe", "a/.b.csv"] {
            assert!(store.begin_upload(odd, None).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_temporary_folder_vanishes_and_a_kept_one_stays() {
        let (data, keep) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let temporary = store(data.path(), 100);
        let folder = temporary.uploads.clone();
        drop(temporary);
        assert!(!folder.exists());
        let settings = Settings { keep: Some(keep.path().to_owned()), ..Settings::default() };
        let kept = Store::open(&settings).expect("made");
        let mut upload = kept.begin_upload("a.csv", None).expect("begun");
        upload.write(b"a\n1\n").expect("written");
        upload.finish().expect("stored");
        drop(kept);
        let again = Store::open(&settings).expect("opened");
        assert!(again.find(What::Table, "uploads/a.csv").is_ok());
        assert_eq!(again.stored_bytes.load(Ordering::Relaxed), 4);
    }
}
