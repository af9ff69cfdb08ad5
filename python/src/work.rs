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
    rows: AtomicU64,
    interrupted: AtomicBool,
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.rows.store(0, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, total));
    }

    fn advance(&self, done: u64, rows: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.rows.store(rows, Ordering::Relaxed);
    }

    fn end(&self) {}

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Calls `progress(stage, done, total, unit)`; the total is 0 while it is not known.
    fn tell(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((stage, total)) = stage else { return Ok(()) };
        let (done, rows) = (self.done.load(Ordering::Relaxed), self.rows.load(Ordering::Relaxed));
        let (done, total) = match unit(stage) {
            // Rows in memory have the same number of bytes each.
            "row" if done == 0 => (0, 0),
            "row" => (rows, (total as f64 * rows as f64 / done as f64).round() as u64),
            _ => (done, total),
        };
        progress.call1(py, (stage.name(), done, total, unit(stage)))?;
        Ok(())
    }
}

/// What a stage counts.
fn unit(stage: Stage) -> &'static str {
    match stage {
        Stage::Bandwidth => "part",
        Stage::Sets => "set",
        Stage::Draw => "round",
        Stage::Coalitions => "coalition",
        Stage::Trial(_) => "step",
        Stage::Survey
        | Stage::Components
        | Stage::Fit
        | Stage::Refine
        | Stage::Calibrate
        | Stage::Forget
        | Stage::Value
        | Stage::Read => "row",
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
    run_on(&*pool(n_threads(n_jobs)?)?, py, spelling, progress, work)
}

/// The same on threads of its own: for work that calls Python, which may call dshap again. On
/// the threads of a kept pool the two would wait for each other.
pub(crate) fn run_apart<T: Send>(
    py: Python<'_>,
    spelling: Spelling<'_>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Observer) -> Result<T, Error> + Send,
) -> PyResult<T> {
    run_on(&*started(n_threads(n_jobs)?)?, py, spelling, progress, work)
}

fn run_on<T: Send>(
    pool: &ThreadPool,
    py: Python<'_>,
    spelling: Spelling<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Observer) -> Result<T, Error> + Send,
) -> PyResult<T> {
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

fn started(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .thread_name(|index| format!("dshap-{index}"))
        .build()
        .map(Arc::new)
        .map_err(|error| input_error(&format!("cannot start {n_threads} threads: {error}")))
}

fn pool(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let key = (std::process::id(), n_threads);
    // After a fork the lock may be held by a thread that no longer exists.
    let Ok(mut pools) = POOLS.try_lock() else { return started(n_threads) };
    if let Some((_, pool)) = pools.iter().find(|(have, _)| *have == key) {
        return Ok(Arc::clone(pool));
    }
    let pool = started(n_threads)?;
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
