//! Whether a file is still the one that was opened first.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// A file's name, size and time of last change, to tell later whether it is
/// still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    /// The file as the user named it.
    pub name: String,
    /// Its size on disk.
    pub bytes: u64,
    /// When it was last written to, in nanoseconds since 1970; 0 for anything but a
    /// file, such as standard input.
    pub modified_ns: i128,
    /// When its contents or its inode last changed, which no program can set back; 0
    /// if unknown.
    pub changed_ns: i128,
}

/// All that tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    n_bytes: u64,
    modified_ns: i128,
    /// Device, inode and time of last change of either contents or inode. The
    /// last one cannot be set back by a program that rewrites a file.
    #[cfg(unix)]
    identity: (u64, u64, i128),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            n_bytes: metadata.len(),
            modified_ns: modified_ns(metadata),
            #[cfg(unix)]
            identity: {
                use std::os::unix::fs::MetadataExt;
                let changed_ns =
                    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
                (metadata.dev(), metadata.ino(), changed_ns)
            },
        }
    }

    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    pub(crate) fn modified_ns(&self) -> i128 {
        self.modified_ns
    }

    /// Device and inode: equal only for one file, whatever its names.
    #[cfg(unix)]
    pub(crate) fn file_number(&self) -> Option<(u64, u64)> {
        Some((self.identity.0, self.identity.1))
    }

    #[cfg(not(unix))]
    pub(crate) fn file_number(&self) -> Option<(u64, u64)> {
        None
    }

    #[cfg(unix)]
    pub(crate) fn changed_ns(&self) -> i128 {
        self.identity.2
    }

    #[cfg(not(unix))]
    pub(crate) fn changed_ns(&self) -> i128 {
        0
    }
}

/// Always 0 on a file system that keeps no such time.
fn modified_ns(metadata: &Metadata) -> i128 {
    let Ok(modified) = metadata.modified() else {
        return 0;
    };
    let nanoseconds =
        |duration: std::time::Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    }
}
