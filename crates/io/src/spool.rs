//! A copy of a pipe in a file, made while the pipe is read.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::input_reader::{read_at, write_all_at};

/// Read from the pipe at a time.
const STEP_BYTES: usize = 256 << 10;

/// A copy of something that can be read only once. It is in a file without a name, so
/// the system frees it however the program ends.
///
/// A separate thread makes the copy. Readers wait for bytes that have not arrived, so
/// work on the first rows begins before the last arrive.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    progress: Mutex<Progress>,
    has_grown: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    n_bytes: u64,
    end: Option<End>,
}

/// How the copy ended.
#[derive(Debug, Clone)]
enum End {
    Whole,
    Failed(io::ErrorKind, String),
}

impl End {
    fn reached(&self) -> io::Result<()> {
        match self {
            End::Whole => Ok(()),
            End::Failed(kind, reason) => Err(io::Error::new(*kind, reason.clone())),
        }
    }
}

impl Spool {
    /// Begins to copy.
    pub(crate) fn begin(from: impl Read + Send + 'static) -> io::Result<Arc<Spool>> {
        let file = tempfile::tempfile()?;
        let spool = Arc::new(Spool { file, progress: Mutex::default(), has_grown: Condvar::new() });
        let behind = Arc::clone(&spool);
        std::thread::Builder::new().name("dshap-pipe".to_owned()).spawn(move || {
            let end = match behind.copy(from) {
                Ok(()) => End::Whole,
                Err(reason) => End::Failed(reason.kind(), reason.to_string()),
            };
            behind.progress().end = Some(end);
            behind.has_grown.notify_all();
        })?;
        Ok(spool)
    }

    fn copy(&self, mut from: impl Read) -> io::Result<()> {
        let mut step = vec![0; STEP_BYTES];
        let mut n_bytes = 0;
        loop {
            let n_read = match from.read(&mut step) {
                Ok(0) => return Ok(()),
                Ok(n_read) => n_read,
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => continue,
                Err(reason) => return Err(reason),
            };
            write_all_at(&self.file, &step[..n_read], n_bytes)?;
            n_bytes += n_read as u64;
            self.progress().n_bytes = n_bytes;
            self.has_grown.notify_all();
        }
    }

    /// Nothing done under the lock can panic, so a poisoned lock is still sound.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes from `position` on, or none after the end. Waits for them.
    pub(crate) fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let is_awaited = |progress: &mut Progress| progress.n_bytes <= position && progress.end.is_none();
        let progress =
            self.has_grown.wait_while(self.progress(), is_awaited).unwrap_or_else(PoisonError::into_inner);
        let available = progress.n_bytes.saturating_sub(position);
        if available == 0 {
            let end = progress.end.clone();
            return end.map_or(Ok(0), |end| end.reached().map(|()| 0));
        }
        drop(progress);
        let n_wanted = usize::try_from(available).map_or(buffer.len(), |n| n.min(buffer.len()));
        read_at(&self.file, &mut buffer[..n_wanted], position)
    }

    /// The file, once everything is in it.
    pub(crate) fn whole(&self) -> io::Result<&File> {
        let end = self.ended().end.clone();
        end.map_or(Ok(()), |end| end.reached()).map(|()| &self.file)
    }

    /// The number of bytes, or of those that arrived if the pipe broke. Waits for the
    /// end.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.ended().n_bytes
    }

    fn ended(&self) -> MutexGuard<'_, Progress> {
        let is_awaited = |progress: &mut Progress| progress.end.is_none();
        self.has_grown.wait_while(self.progress(), is_awaited).unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of bytes, if the pipe has ended.
    pub(crate) fn n_bytes_known(&self) -> Option<u64> {
        let progress = self.progress();
        progress.end.is_some().then_some(progress.n_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// A pipe that returns what is sent, and fails on request.
    struct Pipe(Receiver<io::Result<&'static [u8]>>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.recv() {
                Err(_) => Ok(0),
                Ok(sent) => sent.map(|bytes| {
                    buffer[..bytes.len()].copy_from_slice(bytes);
                    bytes.len()
                }),
            }
        }
    }

    #[test]
    fn the_first_bytes_are_read_before_the_last_have_come() {
        let (sender, pipe) = channel();
        let spool = Spool::begin(Pipe(pipe)).expect("begins");
        let mut buffer = [0; 8];
        sender.send(Ok(&b"abc"[..])).expect("is read");
        assert_eq!(spool.read_at(&mut buffer, 1).expect("reads"), 2);
        assert_eq!(&buffer[..2], b"bc");
        assert_eq!(spool.n_bytes_known(), None);
        sender.send(Ok(&b"def"[..])).expect("is read");
        assert_eq!(spool.read_at(&mut buffer, 3).expect("waits and reads"), 3);
        assert_eq!(&buffer[..3], b"def");
        drop(sender);
        assert_eq!(spool.read_at(&mut buffer, 6).expect("waits for the end"), 0);
        assert_eq!((spool.n_bytes(), spool.n_bytes_known()), (6, Some(6)));
    }

    #[test]
    fn a_pipe_that_breaks_is_an_error_after_its_bytes() {
        let (sender, pipe) = channel();
        let spool = Spool::begin(Pipe(pipe)).expect("begins");
        sender.send(Ok(&b"abc"[..])).expect("is read");
        sender.send(Err(io::Error::other("the line went dead"))).expect("is read");
        let mut buffer = [0; 8];
        assert_eq!(spool.read_at(&mut buffer, 0).expect("reads"), 3);
        let error = spool.read_at(&mut buffer, 3).expect_err("fails");
        assert_eq!(error.to_string(), "the line went dead");
        assert_eq!(spool.n_bytes(), 3);
        assert!(spool.whole().is_err());
    }
}
