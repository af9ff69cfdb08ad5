//! Files that appear whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::error::Error;
use crate::stamp::Stamp;

/// A file being written. It appears at [`commit`](AtomicFile::commit); until then an
/// older file of that name stays as it is, and dropping this leaves nothing behind.
///
/// Links are followed. Anything but an ordinary file, such as `/dev/stdout` or a
/// named pipe, cannot be replaced and is written to directly.
///
/// The new file has the mode of the one it replaces and, where the system allows it,
/// the owner. Other hard links to the old file keep the old contents.
#[derive(Debug)]
pub struct AtomicFile {
    name: String,
    output: Output,
}

#[derive(Debug)]
enum Output {
    Replacing {
        file: BufWriter<NamedTempFile>,
        target: PathBuf,
        unfinished: Unfinished,
        guard: Option<Guard>,
    },
    Direct(BufWriter<File>),
}

/// Writes this large cost nothing extra and keep few bytes waiting.
const BUFFER_BYTES: usize = 64 << 10;

/// The state of a file, so that a later commit replaces this state and no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard(Option<Stamp>);

impl Guard {
    /// The file at `path` as it is now, or that there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if that cannot be told.
    pub fn of(path: &Path) -> Result<Guard, Error> {
        let failed = |reason| Error::write(&path.display().to_string(), reason);
        let target = follow(path).map_err(failed)?;
        let existing = existing(&target).map_err(failed)?;
        Ok(Guard(existing.filter(Metadata::is_file).map(|metadata| Stamp::of(&metadata))))
    }
}

impl AtomicFile {
    /// Starts a file that will be called `path`.
    pub fn create(path: &Path) -> Result<AtomicFile, Error> {
        let name = path.display().to_string();
        let failed = |reason| Error::write(&name, reason);
        let target = follow(path).map_err(failed)?;
        let existing = existing(&target).map_err(failed)?;
        if let Some(metadata) = &existing {
            // Renaming would replace even a file that is protected from writing.
            // Opening it checks the permission that is needed.
            let file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
            if !metadata.is_file() {
                return Ok(AtomicFile {
                    output: Output::Direct(BufWriter::with_capacity(BUFFER_BYTES, file)),
                    name,
                });
            }
        }
        AtomicFile::beside(name, target, existing)
    }

    /// Starts a file that will be called `path`, where a link is replaced and not
    /// followed: for names that the user did not choose.
    pub fn in_place_of(path: &Path) -> Result<AtomicFile, Error> {
        let existing = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        AtomicFile::beside(path.display().to_string(), path.to_owned(), existing)
    }

    fn beside(name: String, target: PathBuf, existing: Option<Metadata>) -> Result<AtomicFile, Error> {
        let failed = |reason| Error::write(&name, reason);
        let folder = folder_of(&target);
        if existing.is_none() && !folder.is_dir() {
            return Err(Error::NoFolder { folder: folder.display().to_string(), file: name });
        }
        remove_abandoned(folder);
        let file = temporary(folder, &target, existing.is_some()).map_err(failed)?;
        let unfinished = Unfinished::new(file.path());
        if let Some(metadata) = existing {
            keep_owner(file.as_file(), &metadata);
            file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
        }
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(AtomicFile { output: Output::Replacing { file, target, unfinished, guard: None }, name })
    }

    /// Makes [`commit`](AtomicFile::commit) fail if the file is not as it was when
    /// `guard` was made.
    #[must_use]
    pub fn unless_changed_since(mut self, since: Guard) -> AtomicFile {
        if let Output::Replacing { guard, .. } = &mut self.output {
            *guard = Some(since);
        }
        self
    }

    /// Makes the file appear, with all that was written.
    pub fn commit(self) -> Result<(), Error> {
        let name = self.name;
        let failed = |reason| Error::write(&name, reason);
        match self.output {
            Output::Direct(mut file) => file.flush().map_err(failed),
            Output::Replacing { file, target, unfinished, guard } => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                // Without this, a crash could leave the new name with no contents.
                file.as_file().sync_all().map_err(failed)?;
                let changed = || Error::Replaced { file: name.clone() };
                match guard {
                    None => file.persist(&target).map(drop).map_err(|error| failed(error.error))?,
                    Some(Guard(None)) => match file.persist_noclobber(&target) {
                        Ok(_) => {}
                        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                            return Err(changed());
                        }
                        Err(error) => return Err(failed(error.error)),
                    },
                    Some(Guard(Some(stamp))) => {
                        // Whoever replaces the file holds its lock until it is replaced.
                        let old = File::open(&target).map_err(failed)?;
                        old.lock().map_err(failed)?;
                        let now = existing(&target).map_err(failed)?;
                        if now.map(|metadata| Stamp::of(&metadata)) != Some(stamp) {
                            return Err(changed());
                        }
                        file.persist(&target).map_err(|error| failed(error.error))?;
                    }
                }
                drop(unfinished);
                sync_folder(folder_of(&target));
                Ok(())
            }
        }
    }

    /// The name as the user typed it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.output {
            Output::Replacing { file, .. } => file.write(bytes),
            Output::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::Replacing { file, .. } => file.flush(),
            Output::Direct(file) => file.flush(),
        }
    }
}

/// Deletes the temporary files of all unfinished [`AtomicFile`]s.
///
/// For a program that is about to exit because it was interrupted: exiting runs no
/// destructors. Committed files are not touched.
pub fn remove_unfinished_files() {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths.drain(..) {
        // Nobody is left to tell, and the file may be gone already.
        let _ = fs::remove_file(path);
    }
}

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Keeps a path on the list of unfinished files while it lives.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Unfinished {
        let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        paths.push(path.to_owned());
        Unfinished(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        paths.retain(|path| *path != self.0);
    }
}

fn existing(target: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(target) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Without this, a crash could lose the new name. Some systems cannot do it, and the
/// file has appeared by now, so failing is not reported.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Gives a new file the owner of the old one. Only a privileged user can; for others
/// the new file is their own.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if let Ok(new) = file.metadata()
        && (new.uid(), new.gid()) != (old.uid(), old.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
    {
        let _ = fchown(file, None, Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _old: &Metadata) {}

/// Removes the temporary files of runs that were killed. A run holds the lock of each
/// of its own, and one that is younger than [`MIN_AGE`] may not have got it yet.
fn remove_abandoned(folder: &Path) {
    /// A folder may hold millions of files, which nobody wants to wait for.
    const MAX_ENTRIES: usize = 10_000;
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MAX_ENTRIES).flatten() {
        let name = entry.file_name();
        let is_ours =
            name.as_encoded_bytes().starts_with(b".") && name.as_encoded_bytes().ends_with(SUFFIX.as_bytes());
        // A link is not followed, here or by removing it.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let is_old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age >= MIN_AGE);
        let is_free =
            || OpenOptions::new().write(true).open(entry.path()).is_ok_and(|f| f.try_lock().is_ok());
        if is_old() == Some(true) && is_free() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Between the moments a temporary file appears and is locked, much less time passes.
const MIN_AGE: Duration = Duration::from_secs(2);

/// How the names of temporary files end. No other program's do.
const SUFFIX: &str = ".dshap-part";

/// A temporary file beside the target, so that it can be renamed. It is new, whatever
/// else has such a name, and locked while it is written. A private one is for this user
/// alone, until it gets the mode of the file it replaces.
fn temporary(folder: &Path, target: &Path, private: bool) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Asking for all permissions leaves it to the user's mask, as for any new file.
        builder.permissions(fs::Permissions::from_mode(if private { 0o600 } else { 0o666 }));
    }
    let file = builder.tempfile_in(folder)?;
    // A file system without locks leaves what a killed run wrote; that is all.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Opens a file to be read and added to, and makes it if there is none. A link is refused
/// (`None`): for names that the user did not choose.
///
/// # Errors
///
/// Those of the system.
pub fn open_without_link(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Looking first and opening afterwards would leave time to plant a link.
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    }
    let is_link = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if cfg!(not(unix)) && is_link() {
        return Ok(None);
    }
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(_) if is_link() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The file behind a link, which need not exist yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MAX_LINKS: usize = 40;

    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let next = fs::read_link(&path)?;
                if fs::metadata(&path).is_ok_and(|target| !target.is_file()) {
                    // The links of /proc/self/fd name no file that could be
                    // opened, but can themselves be opened.
                    return Ok(path);
                }
                path = match path.parent() {
                    Some(folder) => folder.join(next),
                    None => next,
                };
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_replaces_a_private_file_is_private_from_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("salaries.csv");
        fs::write(&path, "old").expect("written");
        let mode =
            |file: &NamedTempFile| file.as_file().metadata().expect("is there").permissions().mode() & 0o777;
        // Before it gets the mode of the old file.
        assert_eq!(mode(&temporary(folder.path(), &path, true).expect("made")), 0o600);
        for old in [0o600, 0o640] {
            fs::set_permissions(&path, fs::Permissions::from_mode(old)).expect("set");
            for file in [AtomicFile::create(&path), AtomicFile::in_place_of(&path)] {
                let file = file.expect("begins");
                let Output::Replacing { file, .. } = &file.output else { panic!("an ordinary file") };
                assert_eq!(mode(file.get_ref()), old);
            }
        }
    }

    #[test]
    fn a_file_is_opened_or_made_and_a_link_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.csv");
        assert!(open_without_link(&path).expect("opens").is_some(), "made");
        assert!(open_without_link(&path).expect("opens").is_some(), "opened");
        for target in ["results.csv", "nowhere"] {
            let link = folder.path().join(format!("to-{target}"));
            std::os::unix::fs::symlink(target, &link).expect("links");
            assert!(open_without_link(&link).expect("a link is no error").is_none(), "{target}");
        }
        assert!(!folder.path().join("nowhere").exists());
        assert!(open_without_link(folder.path()).is_err(), "a folder");
    }
}
