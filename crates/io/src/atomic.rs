//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::Error;

/// A file being written. It appears at [`commit`](AtomicFile::commit); until then an
/// older file of that name stays as it is, and dropping this leaves nothing behind.
///
/// Links are followed. Anything but an ordinary file, such as `/dev/stdout` or a
/// named pipe, cannot be replaced and is written to directly.
#[derive(Debug)]
pub struct AtomicFile {
    name: String,
    output: Output,
}

#[derive(Debug)]
enum Output {
    Replacing { file: BufWriter<NamedTempFile>, target: PathBuf, unfinished: Unfinished },
    Direct(BufWriter<File>),
}

/// Writes this large cost nothing extra and keep few bytes waiting.
const BUFFER_BYTES: usize = 64 << 10;

impl AtomicFile {
    /// Starts a file that will be called `path`.
    pub fn create(path: &Path) -> Result<AtomicFile, Error> {
        let name = path.display().to_string();
        let failed = |reason| Error::write(&name, reason);
        let target = follow(path).map_err(failed)?;
        let existing = match fs::metadata(&target) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if existing.is_none() && !folder.is_dir() {
            return Err(Error::NoFolder { file: name, folder: folder.display().to_string() });
        }

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

        let file = temporary(folder, &target).map_err(failed)?;
        let unfinished = Unfinished::new(file.path());
        if let Some(metadata) = existing {
            file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
        }
        Ok(AtomicFile {
            output: Output::Replacing {
                file: BufWriter::with_capacity(BUFFER_BYTES, file),
                target,
                unfinished,
            },
            name,
        })
    }

    /// Makes the file appear, with all that was written.
    pub fn commit(self) -> Result<(), Error> {
        let name = self.name;
        let failed = |reason| Error::write(&name, reason);
        match self.output {
            Output::Direct(mut file) => file.flush().map_err(failed),
            Output::Replacing { file, target, unfinished } => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                // Without this, a crash could leave the new name with no contents.
                file.as_file().sync_all().map_err(failed)?;
                file.persist(target).map_err(|error| failed(error.error))?;
                drop(unfinished);
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

/// A temporary file beside the target, so that it can be renamed.
fn temporary(folder: &Path, target: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default. Asking for all permissions
        // leaves it to the user's mask, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
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
