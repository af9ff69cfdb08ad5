//! One pass over a table, watched, with reading and arithmetic side by side.

use dshap_io::{Batch, ScanOptions, Source};
use dshap_models::{Error, Observer, Stage};
use dshap_table::Wanted;
use rayon::{Scope, Yield};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Batches that wait to be worked on. With two, threads read on while the last rows of a
/// batch are worked on by one of them; with one, they would wait for it.
pub(crate) const READ_AHEAD: usize = 2;

/// How long a thread without work sleeps if nobody wakes it.
const NAP: Duration = Duration::from_micros(500);

/// What a pass reads.
pub(crate) struct Scan<'a> {
    pub(crate) source: &'a Source,
    pub(crate) wanted: &'a [Wanted],
    pub(crate) options: ScanOptions,
    pub(crate) stage: Stage,
    pub(crate) observer: &'a dyn Observer,
}

impl Scan<'_> {
    /// Hands over batch after batch while the next ones are read; returns the
    /// number of rows seen, those that were skipped included.
    pub(crate) fn run(self, mut each: impl FnMut(Batch) -> Result<(), Error> + Send) -> Result<u64, Error> {
        let Scan { source, wanted, options, stage, observer } = self;
        observer.begin(stage, source.n_bytes_known().unwrap_or(0));
        let mut n_rows = options.skip_rows;
        let ahead = Ahead::of(source.scan(wanted, options)?);
        rayon::scope(|scope| {
            while let Some(batch) = ahead.next(scope)? {
                if observer.is_interrupted() {
                    return Err(Error::Interrupted);
                }
                n_rows += batch.rows.num_rows() as u64;
                let bytes = batch.bytes_read;
                each(batch)?;
                observer.advance(bytes, n_rows);
            }
            Ok(())
        })?;
        observer.end();
        Ok(n_rows)
    }
}

/// Batches that are read before they are needed, in order.
struct Ahead {
    state: Mutex<State>,
    has_news: Condvar,
}

struct State {
    ready: VecDeque<Batch>,
    reader: Reader,
}

/// Where the reader is.
enum Reader {
    /// It waits until there is room for a batch.
    Rests(dshap_io::Scan),
    /// A task reads the next batch.
    Reads,
    /// There is nothing left to read.
    IsDone,
    Failed(dshap_io::Error),
}

impl Ahead {
    fn of(scan: dshap_io::Scan) -> Self {
        let state = State { ready: VecDeque::new(), reader: Reader::Rests(scan) };
        Self { state: Mutex::new(state), has_news: Condvar::new() }
    }

    /// The next batch. Until it is there, this thread helps to read it.
    fn next<'s>(&'s self, scope: &Scope<'s>) -> Result<Option<Batch>, Error> {
        loop {
            let mut state = self.lock();
            let batch = state.ready.pop_front();
            self.read_on(&mut state, scope);
            if batch.is_some() {
                return Ok(batch);
            }
            if let Reader::Failed(_) | Reader::IsDone = state.reader {
                return match std::mem::replace(&mut state.reader, Reader::IsDone) {
                    Reader::Failed(error) => Err(error.into()),
                    _ => Ok(None),
                };
            }
            drop(state);
            if rayon::yield_now() != Some(Yield::Executed) {
                let state = self.lock();
                if state.ready.is_empty() && matches!(state.reader, Reader::Reads) {
                    drop(self.has_news.wait_timeout(state, NAP));
                }
            }
        }
    }

    /// Sets the reader to work if it rests and there is room.
    fn read_on<'s>(&'s self, state: &mut State, scope: &Scope<'s>) {
        if state.ready.len() >= READ_AHEAD || !matches!(state.reader, Reader::Rests(_)) {
            return;
        }
        if let Reader::Rests(scan) = std::mem::replace(&mut state.reader, Reader::Reads) {
            scope.spawn(move |_| self.read(scan));
        }
    }

    /// Reads until there is no room for a further batch.
    fn read(&self, mut scan: dshap_io::Scan) {
        loop {
            let next = scan.next();
            let mut state = self.lock();
            let has_room = match next {
                Some(Ok(batch)) => {
                    state.ready.push_back(batch);
                    state.ready.len() < READ_AHEAD
                }
                Some(Err(error)) => {
                    state.reader = Reader::Failed(error);
                    return self.has_news.notify_all();
                }
                None => {
                    state.reader = Reader::IsDone;
                    return self.has_news.notify_all();
                }
            };
            if !has_room {
                state.reader = Reader::Rests(scan);
                return self.has_news.notify_all();
            }
            drop(state);
            self.has_news.notify_all();
        }
    }

    /// A thread that panicked left the state as it was between two batches.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
