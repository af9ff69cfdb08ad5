//! Runs: waiting, running, done.
//!
//! A few threads take runs from a queue. Whatever happens to one of them, even a panic,
//! the others and the server go on.

use crate::held::HeldRows;
use crate::problem::Problem;
use crate::settings::Limits;
use crate::watch::{Stopped, Watch};
use crate::wire::{ResultView, RunRequest, RunStatus, RunView};
use axum::http::StatusCode;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// What came of a run that is done.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) result: ResultView,
    pub(crate) rows: HeldRows,
    /// The page of `dshap report`, without what further runs would find.
    pub(crate) report: String,
    /// The whole page, once somebody asked for it.
    pub(crate) full_report: OnceLock<String>,
    /// Owners given each other, once somebody asked for them.
    pub(crate) game: OnceLock<dshap_owners::Report>,
    pub(crate) seconds: f64,
}

/// Does the work of a run.
pub(crate) trait Work: Send + Sync + 'static {
    fn carry_out(&self, request: &RunRequest, watch: &Watch) -> Result<Finished, Problem>;

    /// Keeps what came of a run, if it is kept at all.
    fn keep(&self, _id: &str, _request: &RunRequest, _finished: &Finished) {}

    /// Forgets it.
    fn forget(&self, _id: &str) {}
}

#[derive(Debug, Clone)]
enum Phase {
    Waiting,
    Running,
    Done(Arc<Finished>),
    Failed(Problem, f64),
    Cancelled(f64),
}

impl Phase {
    fn is_over(&self) -> bool {
        matches!(self, Phase::Done(_) | Phase::Failed(..) | Phase::Cancelled(_))
    }
}

#[derive(Debug)]
struct Run {
    request: RunRequest,
    watch: Arc<Watch>,
    phase: Phase,
}

#[derive(Debug, Default)]
struct State {
    /// By number, so that the newest comes last.
    runs: BTreeMap<u64, Run>,
    queue: VecDeque<u64>,
    n_running: usize,
    last: u64,
    is_closed: bool,
}

/// All runs of a server.
pub(crate) struct Runs {
    limits: Limits,
    work: Box<dyn Work>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Runs {
    /// Starts the threads; `kept` are runs of an earlier server.
    pub(crate) fn start(
        limits: Limits,
        work: impl Work,
        kept: Vec<(u64, RunRequest, Finished)>,
    ) -> std::io::Result<Arc<Self>> {
        let mut state = State::default();
        for (number, request, finished) in kept {
            let watch = Arc::new(Watch::new(limits.run_time));
            state.last = state.last.max(number);
            state.runs.insert(number, Run { request, watch, phase: Phase::Done(Arc::new(finished)) });
        }
        let runs = Arc::new(Self {
            limits,
            work: Box::new(work),
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        for _ in 0..limits.runs_at_once.max(1) {
            let runs = Arc::clone(&runs);
            std::thread::Builder::new().name("dshap-run".into()).spawn(move || runs.work_on())?;
        }
        Ok(runs)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a run into the queue.
    pub(crate) fn submit(&self, request: RunRequest) -> Result<RunView, Problem> {
        let mut state = self.state();
        if state.queue.len() >= self.limits.runs_waiting {
            let error = format!("{} runs are waiting already", state.queue.len());
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, error)
                .hint("wait until one has ended, or cancel one"));
        }
        state.last += 1;
        let number = state.last;
        let watch = Arc::new(Watch::new(self.limits.run_time));
        state.runs.insert(number, Run { request, watch, phase: Phase::Waiting });
        state.queue.push_back(number);
        let view = state.runs.get(&number).map(|run| run.view(number)).ok_or_else(Problem::own_fault);
        drop(state);
        self.changed.notify_one();
        view
    }

    /// Takes runs from the queue, one after the other, until the server ends.
    fn work_on(&self) {
        while let Some((number, request, watch)) = self.next() {
            watch.start();
            let outcome = catch_unwind(AssertUnwindSafe(|| self.work.carry_out(&request, &watch)));
            let seconds = watch.elapsed().as_secs_f64();
            let phase = match outcome {
                Ok(Ok(finished)) => Phase::Done(Arc::new(Finished { seconds, ..finished })),
                Ok(Err(problem)) => match watch.stopped() {
                    Some(Stopped::Cancelled) => Phase::Cancelled(seconds),
                    Some(Stopped::TooLong) => Phase::Failed(self.too_long(), seconds),
                    None => Phase::Failed(problem, seconds),
                },
                Err(_) => Phase::Failed(Problem::own_fault(), seconds),
            };
            if let Phase::Done(finished) = &phase {
                self.work.keep(&id_of(number), &request, finished);
            }
            let mut state = self.state();
            state.n_running -= 1;
            if let Some(run) = state.runs.get_mut(&number) {
                run.phase = phase;
            }
            let forgotten = self.forget_oldest(&mut state, number);
            drop(state);
            self.changed.notify_all();
            forgotten.into_iter().for_each(|number| self.work.forget(&id_of(number)));
        }
    }

    fn too_long(&self) -> Problem {
        let seconds = self.limits.run_time.as_secs();
        Problem::new(StatusCode::REQUEST_TIMEOUT, format!("the run took longer than {seconds} s"))
            .hint("choose a faster method, or raise `--max-seconds`")
    }

    /// Waits for a run to begin; none if the server ends.
    fn next(&self) -> Option<(u64, RunRequest, Arc<Watch>)> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(number) = state.queue.pop_front() {
                let Some(run) = state.runs.get_mut(&number) else { continue };
                run.phase = Phase::Running;
                let taken = (number, run.request.clone(), Arc::clone(&run.watch));
                state.n_running += 1;
                return Some(taken);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Forgets runs that ended long ago, while there are too many or they hold too much.
    fn forget_oldest(&self, state: &mut State, newest: u64) -> Vec<u64> {
        let mut forgotten = Vec::new();
        loop {
            let over = || state.runs.iter().filter(|(_, run)| run.phase.is_over());
            let held: u64 = over().map(|(_, run)| run.held_bytes()).sum();
            if over().count() <= self.limits.runs_kept && held <= self.limits.memory_bytes {
                return forgotten;
            }
            let Some(oldest) = over().map(|(number, _)| *number).find(|number| *number != newest) else {
                return forgotten;
            };
            state.runs.remove(&oldest);
            forgotten.push(oldest);
        }
    }

    /// All runs, newest first.
    pub(crate) fn list(&self) -> Vec<RunView> {
        let mut views: Vec<RunView> =
            self.state().runs.iter().rev().map(|(number, run)| run.view(*number)).collect();
        // The list stays short; the summary is part of the run itself.
        for result in views.iter_mut().filter_map(|view| view.result.as_mut()) {
            result.summary = serde_json::Value::Null;
        }
        views
    }

    pub(crate) fn view(&self, id: &str) -> Result<RunView, Problem> {
        let number = number_of(id)?;
        let state = self.state();
        state.runs.get(&number).map(|run| run.view(number)).ok_or_else(|| Problem::missing("run", id))
    }

    /// What came of a run, if it is done.
    pub(crate) fn finished(&self, id: &str) -> Result<Arc<Finished>, Problem> {
        let number = number_of(id)?;
        match self.state().runs.get(&number).map(|run| &run.phase) {
            Some(Phase::Done(finished)) => Ok(Arc::clone(finished)),
            Some(_) => Err(Problem::new(StatusCode::CONFLICT, format!("run `{id}` has no values"))),
            None => Err(Problem::missing("run", id)),
        }
    }

    /// What a run was asked to do.
    pub(crate) fn request(&self, id: &str) -> Result<RunRequest, Problem> {
        let number = number_of(id)?;
        let request = self.state().runs.get(&number).map(|run| run.request.clone());
        request.ok_or_else(|| Problem::missing("run", id))
    }

    /// Stops a run. One that is over stays as it is.
    pub(crate) fn cancel(&self, id: &str) -> Result<RunView, Problem> {
        let number = number_of(id)?;
        let mut state = self.state();
        let Some(run) = state.runs.get_mut(&number) else { return Err(Problem::missing("run", id)) };
        run.watch.cancel();
        if matches!(run.phase, Phase::Waiting) {
            run.phase = Phase::Cancelled(0.0);
        }
        let view = run.view(number);
        state.queue.retain(|waiting| *waiting != number);
        Ok(view)
    }

    /// Stops a run and forgets it.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Problem> {
        self.cancel(id)?;
        let number = number_of(id)?;
        self.state().runs.remove(&number);
        self.work.forget(id);
        Ok(())
    }

    /// Stops all runs and waits a moment for them.
    pub(crate) fn close(&self, patience: Duration) {
        let mut state = self.state();
        state.is_closed = true;
        state.queue.clear();
        state.runs.values().for_each(|run| run.watch.cancel());
        self.changed.notify_all();
        let is_busy = |state: &mut State| state.n_running > 0;
        let _ = self.changed.wait_timeout_while(state, patience, is_busy);
    }
}

impl Run {
    fn held_bytes(&self) -> u64 {
        match &self.phase {
            Phase::Done(finished) => finished.rows.n_bytes() + finished.report.len() as u64,
            _ => 0,
        }
    }

    fn view(&self, number: u64) -> RunView {
        let (status, seconds) = match &self.phase {
            Phase::Waiting => (RunStatus::Waiting, 0.0),
            Phase::Running => (RunStatus::Running, self.watch.elapsed().as_secs_f64()),
            Phase::Done(finished) => (RunStatus::Done, finished.seconds),
            Phase::Failed(_, seconds) => (RunStatus::Failed, *seconds),
            Phase::Cancelled(seconds) => (RunStatus::Cancelled, *seconds),
        };
        RunView {
            id: id_of(number),
            request: self.request.clone(),
            status,
            seconds,
            progress: matches!(self.phase, Phase::Running).then(|| self.watch.progress()),
            problem: match &self.phase {
                Phase::Failed(problem, _) => Some(problem.clone()),
                _ => None,
            },
            result: match &self.phase {
                Phase::Done(finished) => Some(finished.result.clone()),
                _ => None,
            },
        }
    }
}

fn id_of(number: u64) -> String {
    format!("run-{number}")
}

/// The number of a run.
pub(crate) fn number_of(id: &str) -> Result<u64, Problem> {
    let number = id.strip_prefix("run-").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|digits| digits.parse().ok()).ok_or_else(|| Problem::missing("run", id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::held;
    use dshap_run::Observer;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    /// Does what the name of the table says.
    struct Scripted;

    static N_AT_ONCE: AtomicUsize = AtomicUsize::new(0);

    impl Work for Scripted {
        fn carry_out(&self, request: &RunRequest, watch: &Watch) -> Result<Finished, Problem> {
            match request.table.as_str() {
                "panic" => panic!("as asked"),
                "fail" => Err(Problem::bad("as asked")),
                "wait" => {
                    N_AT_ONCE.fetch_add(1, Ordering::SeqCst);
                    while !watch.is_interrupted() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    N_AT_ONCE.fetch_sub(1, Ordering::SeqCst);
                    Err(Problem::bad("interrupted"))
                }
                _ => Ok(finished()),
            }
        }
    }

    fn finished() -> Finished {
        let result = ResultView {
            rows: 3,
            columns: Vec::new(),
            owner_column: None,
            described: Vec::new(),
            warnings: Vec::new(),
            command: String::new(),
            summary: serde_json::Value::Null,
        };
        Finished {
            result,
            rows: held(),
            report: String::new(),
            full_report: OnceLock::new(),
            game: OnceLock::new(),
            seconds: 0.0,
        }
    }

    fn request(table: &str) -> RunRequest {
        RunRequest { table: table.into(), method: None, valuer: None, options: serde_json::Map::new() }
    }

    fn runs(limits: Limits) -> Arc<Runs> {
        Runs::start(limits, Scripted, Vec::new()).expect("threads can be started")
    }

    fn settled(runs: &Runs, id: &str) -> RunView {
        let start = Instant::now();
        loop {
            let view = runs.view(id).expect("there is such a run");
            if !matches!(view.status, RunStatus::Waiting | RunStatus::Running) {
                return view;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{id} does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_panic_in_one_run_leaves_the_others_alone() {
        let runs = runs(Limits { runs_at_once: 1, ..Limits::default() });
        let id = runs.submit(request("panic")).expect("there is room").id;
        let view = settled(&runs, &id);
        assert_eq!((view.status, view.problem.map(|problem| problem.status)), (RunStatus::Failed, Some(500)));
        for (table, status) in [("fail", RunStatus::Failed), ("fine", RunStatus::Done)] {
            let id = runs.submit(request(table)).expect("there is room").id;
            assert_eq!(settled(&runs, &id).status, status, "{table}");
        }
        runs.close(Duration::from_secs(1));
    }

    #[test]
    fn runs_wait_are_cancelled_and_are_too_many_at_last() {
        let runs = runs(Limits { runs_at_once: 2, runs_waiting: 3, ..Limits::default() });
        let running: Vec<String> =
            (0..2).map(|_| runs.submit(request("wait")).expect("there is room").id).collect();
        let start = Instant::now();
        while N_AT_ONCE.load(Ordering::SeqCst) < 2 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let waiting: Vec<String> =
            (0..3).map(|_| runs.submit(request("fine")).expect("there is room").id).collect();
        assert_eq!(runs.submit(request("fine")).map_err(|problem| problem.status).err(), Some(429));
        assert_eq!(N_AT_ONCE.load(Ordering::SeqCst), 2);
        assert_eq!(runs.cancel(&waiting[1]).expect("exists").status, RunStatus::Cancelled);
        for id in &running {
            runs.cancel(id).expect("exists");
            assert_eq!(settled(&runs, id).status, RunStatus::Cancelled);
        }
        assert_eq!(settled(&runs, &waiting[0]).status, RunStatus::Done);
        assert_eq!(settled(&runs, &waiting[1]).status, RunStatus::Cancelled);
        assert_eq!(settled(&runs, &waiting[2]).status, RunStatus::Done);
        runs.remove(&waiting[2]).expect("exists");
        assert_eq!(runs.view(&waiting[2]).map_err(|problem| problem.status).err(), Some(404));
        runs.close(Duration::from_secs(1));
    }

    #[test]
    fn a_run_that_takes_too_long_is_stopped() {
        let runs = runs(Limits { run_time: Duration::from_millis(20), ..Limits::default() });
        let id = runs.submit(request("wait")).expect("there is room").id;
        let problem = settled(&runs, &id).problem.expect("it failed");
        assert_eq!(problem.status, 408);
        runs.close(Duration::from_secs(1));
    }

    #[test]
    fn old_runs_are_forgotten() {
        let runs = runs(Limits { runs_kept: 2, runs_at_once: 1, ..Limits::default() });
        let ids: Vec<String> = (0..4).map(|_| runs.submit(request("fine")).expect("room").id).collect();
        settled(&runs, &ids[3]);
        let left: Vec<String> = runs.list().into_iter().map(|view| view.id).collect();
        assert_eq!(left, [ids[3].clone(), ids[2].clone()]);
        for odd in ["run-", "run-x", "9", "run-99999999999999999999", "run-+1"] {
            assert_eq!(runs.view(odd).map_err(|problem| problem.status).err(), Some(404), "{odd}");
        }
        runs.close(Duration::from_secs(1));
    }
}
