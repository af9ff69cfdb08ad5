//! Long work without the GIL: threads, progress, and Ctrl-C.

use crate::error::{input_error, raise_about};
use crate::words::Spelling;
use dshap_models::{Error, Observer, Stage};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for.
const PULSE: Duration = Duration::from_millis(50);

/// The progress of the work, for the thread that waits.
#[derive(Default)]
struct Watch {
    stage: Mutex<Option<(Stage, u64)>>,
    done: AtomicU64,
    interrupted: AtomicBool,
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, total));
    }

    fn advance(&self, done: u64, _: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn end(&self) {}

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Calls `progress(stage, done, total)`.
    fn tell(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((stage, total)) = stage {
            progress.call1(py, (stage.name(), self.done.load(Ordering::Relaxed), total))?;
        }
        Ok(())
    }
}

/// Does some work on `n_jobs` threads while this thread listens for signals.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    spelling: Spelling<'_>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Observer) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let pool = pool(n_threads(n_jobs)?)?;
    let watch = Watch::default();
    let mut stopped: Option<PyErr> = None;
    let outcome = py.detach(|| {
        let (done, outcome) = channel();
        pool.in_place_scope(|scope| {
            let watch = &watch;
            scope.spawn(move |_| {
                // The channel is closed only if this thread has panicked.
                let _ = done.send(work(watch));
            });
            loop {
                match outcome.recv_timeout(PULSE) {
                    Ok(outcome) => return Some(outcome),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if stopped.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        let heard = Python::attach(|py| {
                            py.check_signals()?;
                            progress.as_ref().map_or(Ok(()), |progress| watch.tell(py, progress))
                        });
                        if let Err(error) = heard {
                            watch.interrupted.store(true, Ordering::Relaxed);
                            stopped = Some(error);
                        }
                    }
                }
            }
        })
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    if let Some(progress) = &progress {
        watch.tell(py, progress)?;
    }
    // Without an outcome the worker has panicked, and the scope has passed the panic on.
    let outcome = outcome.expect("a worker ends with an outcome or a panic");
    outcome.map_err(|error| raise_about(py, &error, spelling))
}

/// More threads than this, or than there are cores, are no faster; starting a
/// million of them would take very long.
const MOST_THREADS: usize = 256;

/// `n_jobs` as in joblib: none or −1 are all cores, −2 all but one.
fn n_threads(n_jobs: Option<isize>) -> PyResult<usize> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs {
        // Rayon takes 0 for all cores, or for `RAYON_NUM_THREADS`.
        None | Some(-1) => Ok(0),
        Some(0) => Err(input_error("`n_jobs` is 0; expected a number of threads, or None for all cores")),
        Some(n) if n > 0 => Ok((n as usize).min(MOST_THREADS.max(cores()))),
        Some(n) => Ok((cores() as isize).saturating_add(1).saturating_add(n).max(1) as usize),
    }
}

/// Pools that are kept, each with its threads.
const KEPT_POOLS: usize = 4;

/// A pool of a process, and its number of threads.
type Pools = Vec<((u32, usize), Arc<ThreadPool>)>;

/// Pools by process and number of threads: starting threads takes longer than
/// valuing a thousand rows, and threads do not survive a fork.
static POOLS: Mutex<Pools> = Mutex::new(Vec::new());

fn pool(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let key = (std::process::id(), n_threads);
    let start = || {
        let pool = ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .thread_name(|index| format!("dshap-{index}"))
            .build()
            .map_err(|error| input_error(&format!("cannot start {n_threads} threads: {error}")))?;
        Ok(Arc::new(pool))
    };
    // After a fork the lock may be held by a thread that no longer exists.
    let Ok(mut pools) = POOLS.try_lock() else { return start() };
    if let Some((_, pool)) = pools.iter().find(|(have, _)| *have == key) {
        return Ok(Arc::clone(pool));
    }
    let pool = start()?;
    if pools.len() == KEPT_POOLS {
        let ((process, _), oldest) = pools.remove(0);
        if process != key.0 {
            // Its threads belong to the parent, and none of them answers here.
            std::mem::forget(oldest);
        }
    }
    pools.push((key, Arc::clone(&pool)));
    Ok(pool)
}
