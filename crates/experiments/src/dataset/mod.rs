//! Datasets by name: made, found in folders, or downloaded and checked.

mod catalogue;
mod fetch;
mod parse;

pub use catalogue::{Entry, Origin, all, find};
pub use parse::Format;

use crate::{Error, Table};
use std::path::{Path, PathBuf};

/// Where to look for datasets.
#[derive(Debug, Clone, Default)]
pub struct Library {
    /// Folders with tables, such as `abalone.csv`, in the order they are tried.
    pub folders: Vec<PathBuf>,
    /// The folder that downloads are kept in, tried last.
    pub cache: Option<PathBuf>,
}

impl Library {
    /// Reads a dataset from the first folder that has it.
    ///
    /// # Errors
    ///
    /// As for [`Library::file`] and [`Entry::read`].
    pub fn read(&self, name: &str) -> Result<Table, Error> {
        find(name)?.read(&self.file(name)?)
    }

    /// The file of a dataset in the first folder that has it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataset`], [`Error::NotFound`].
    pub fn file(&self, name: &str) -> Result<PathBuf, Error> {
        let entry = find(name)?;
        // Features of images by any network may have the plain name of the dataset.
        let mut names = vec![entry.file];
        names.extend((matches!(entry.origin, Origin::NotOffered { .. })).then_some(entry.name));
        let in_folders = self.folders.iter().flat_map(|folder| {
            let file =
                |name: &&str| ["csv", "parquet"].map(|extension| folder.join(format!("{name}.{extension}")));
            names.iter().flat_map(file).collect::<Vec<_>>()
        });
        let tried: Vec<PathBuf> = in_folders.chain(self.cache.as_deref().map(|c| cached(c, entry))).collect();
        let words = |path: &PathBuf| format!("`{}`", path.display());
        tried.iter().find(|path| path.is_file()).cloned().ok_or_else(|| Error::NotFound {
            dataset: entry.name,
            tried: tried.iter().map(words).collect(),
            can_be_downloaded: matches!(entry.origin, Origin::Download { .. }),
        })
    }
}

fn cached(cache: &Path, entry: &Entry) -> PathBuf {
    cache.join(format!("{}.csv", entry.name))
}

/// How to get a dataset.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// An address or a file to take the source from, instead of the public address.
    pub from: Option<String>,
    /// Keep the table even if its digest is not the one expected.
    pub unchecked: bool,
    /// Rows of a simulated dataset; 2000 by default.
    pub rows: Option<usize>,
    /// Features of a simulated dataset; those of the paper by default.
    pub dim: Option<usize>,
    /// The seed of a simulated dataset.
    pub seed: u64,
}

/// Rows of a simulated dataset by default.
const MADE_ROWS: usize = 2000;

/// Makes or downloads a dataset. Downloads are checked and kept in `cache`, where
/// they are found the next time, unless a source is named. `say` is told about
/// downloads, `doubt` about a cache that cannot be written.
///
/// # Errors
///
/// [`Error::UnknownDataset`], [`Error::NotOffered`], [`Error::Download`],
/// [`Error::Format`], [`Error::Digest`].
pub fn get(
    name: &str,
    request: &Request,
    cache: Option<&Path>,
    say: &dyn Fn(&str),
    doubt: &dyn Fn(&str),
) -> Result<Table, Error> {
    let entry = find(name)?;
    match &entry.origin {
        Origin::Made { make, dim } => {
            Ok(make(request.rows.unwrap_or(MADE_ROWS), request.dim.unwrap_or(*dim), request.seed))
        }
        Origin::NotOffered { why } => Err(Error::NotOffered { dataset: entry.name, why }),
        Origin::Download { address, member, format } => {
            let kept = cache.map(|cache| cached(cache, entry));
            if let (Some(path), None) = (&kept, &request.from)
                && path.is_file()
            {
                let table = Table::read(path)?;
                if table.digest() == entry.digest {
                    return Ok(table);
                }
                // It is damaged, so it is fetched again.
            }
            let address = request.from.as_deref().unwrap_or(address);
            if fetch::local(address).is_none() {
                say(&format!("downloading `{address}`"));
            }
            let bytes = fetch::fetch(address, fetch::PATIENCE)?;
            let wrong = |reason| Error::Format { address: address.into(), dataset: entry.name, reason };
            let parsed = fetch::text(bytes, member).and_then(|text| format.parse(&text)).map_err(wrong);
            // A file may also be the table that was made from the source earlier.
            let table = match (parsed, fetch::local(address)) {
                (Err(error), Some(path)) => entry.read(path).map_err(|_| error)?,
                (parsed, _) => parsed?,
            };
            let found = table.digest();
            if found != entry.digest && !request.unchecked {
                return Err(Error::Digest { dataset: entry.name, found, expected: entry.digest });
            }
            if let (Some(path), true) = (&kept, found == entry.digest)
                && let Err(error) = keep(&table, path)
            {
                doubt(&format!("the table could not be kept for the next time: {error}"));
            }
            Ok(table)
        }
    }
}

fn keep(table: &Table, path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    table.write(path)
}

/// The folder for downloads in the user's cache, if the system has one.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("dshap").join("datasets"))
}
