"""What all benchmarks share: where the programs are, how time is taken, how counts are printed."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "target/release/examples"
DSHAP = ROOT / "target/release/dshap"
DATA = Path(os.environ.get("DSHAP_DATA", ROOT.parent / "shared/data"))
THREADS = int(os.environ["OPENBLAS_NUM_THREADS"])
ROUNDS = 3


def grouped(count):
    return f"{count:_}".replace("_", " ")


def judged(ratio, target):
    """A ratio, marked where it misses its target."""
    return f"**{ratio:.2f}**" + ("" if ratio <= target else f" **missed**: at most {target:g}")


def example(name, *args, threads=THREADS):
    """What an example of the core prints."""
    command = [EXAMPLES / name, *map(str, args)]
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def measure(*args):
    return example("measure", *args)


def best(work, rounds=3):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def best_with_processor(work, rounds=1):
    """The seconds of the best of some rounds of a child process, and its processor time divided by these seconds and the
    number of threads: the share of the time in which all threads worked."""
    found = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = best(work, 1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime
        found.append((seconds, used / (seconds * THREADS)))
    return min(found)


def run_with_peak(command, through_pipe=None):
    """Seconds and peak resident MB of a command, which gets a file through a pipe if one is named. What the kernel reports
    at the end of a child includes the memory of the parent it was forked from, so its own record is read while it runs."""
    start, peak = time.perf_counter(), 0
    feeder = subprocess.Popen(["cat", through_pipe], stdout=subprocess.PIPE) if through_pipe else None
    child = subprocess.Popen(command, stdin=feeder.stdout if feeder else None)
    if feeder:
        feeder.stdout.close()
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.002)
    if feeder:
        feeder.wait()
    if child.returncode != 0:
        sys.exit(f"{command} failed")
    return time.perf_counter() - start, peak * 1024 / 1e6
