"""The web application: one-row valuations beside a static reply, and a large table beside the command line."""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, ROUNDS, THREADS, best, grouped

CONNECTIONS = 4
# Requests that are on their way at once, so that this client is not what is measured.
WAITING = 64


def table(path, n, p):
    rng = np.random.default_rng(1)
    beta, writer = rng.normal(size=p), None
    for start in range(0, n, 100_000):
        X = rng.normal(size=(min(100_000, n - start), p))
        columns = {f"x{j}": X[:, j] for j in range(p)} | {"y": X @ beta + rng.normal(size=len(X))}
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema, compression="none")
        writer.write_table(batch)
    writer.close()


class Server:
    def __init__(self, folder):
        command = [DSHAP, "serve", "--port", "0", "--data", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip().rstrip("/")
        self.host, port = self.url.removeprefix("http://").split(":")
        self.port = int(port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"} if data else {})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def request(self, method, path, body=b""):
        kind = "content-type: application/json\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\n{kind}content-length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def rate(self, request, seconds=2.0):
        """Replies per second to one request, sent again and again."""
        counts = [0] * CONNECTIONS

        def work(place):
            with socket.create_connection((self.host, self.port)) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                end, many, rest = time.perf_counter() + seconds, request * WAITING, b""
                while time.perf_counter() < end:
                    connection.sendall(many)
                    got = 0
                    while got < WAITING:
                        rest += connection.recv(1 << 20)
                        got += rest.count(b"HTTP/1.1 200")
                        assert b"HTTP/1.1 4" not in rest, rest[:500]
                        # A status line may be cut in two.
                        rest = rest[-11:].replace(b"HTTP/1.1 200", b"")
                    # What is left of the last body comes with the next replies.
                    counts[place] += got

        threads = [threading.Thread(target=work, args=(place,)) for place in range(CONNECTIONS)]
        start = time.perf_counter()
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        return sum(counts) / (time.perf_counter() - start)


def one_row(folder):
    subprocess.run([DSHAP, "fit", folder / "small.parquet", "--target", "y", "--quiet", "-o", folder / "v.dshap"], check=True)
    row = {f"x{j}": 0.1 * j for j in range(10)} | {"y": 1.0}
    with Server(folder) as server:
        value = server.request("POST", "/api/valuers/data/v.dshap/value", json.dumps({"rows": [row]}).encode())
        static = server.request("GET", "/assets/icon.svg")
        server.ask("/api/valuers/data/v.dshap/value", {"rows": [row]})
        rounds = [(server.rate(static), server.rate(value)) for _ in range(ROUNDS)]
        frame = best(lambda: server.ask("/api/theory?p=1000&m=10000000"), rounds=20)
    fixed, valued = (max(rates) for rates in zip(*rounds))
    print(f"One row of 10 features per request, {CONNECTIONS} connections, {THREADS} threads, beside a static file of the same")
    print(f"server; both alternate {ROUNDS} times and the best counts.\n")
    print("| static replies | valuations | ratio |")
    print("|---|---|---|")
    print(f"| {grouped(round(fixed))} per second | {grouped(round(valued))} per second | **{valued / fixed:.2f}** |\n")
    print(f"The curves of the theory page for p = 1 000 and m = 10⁷ take {1000 * frame:.1f} ms.\n")


def large(folder, n, p):
    path = folder / "large.parquet"
    table(path, n, p)
    command = [DSHAP, "value", path, "--target", "y", "--quiet", "-o", folder / "values.parquet"]
    lines = best(lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))

    def first_page():
        run = server.ask("/api/runs", {"table": "data/large.parquet", "options": {"target": "y"}})["id"]
        while server.ask(f"/api/runs/{run}")["status"] in ("waiting", "running"):
            time.sleep(0.02)
        assert len(server.ask(f"/api/runs/{run}/values?sort=value&limit=25")["cells"]) == 25

    with Server(folder) as server:
        seconds = best(first_page)
        run = server.ask("/api/runs")["runs"][0]["id"]
        page = best(lambda: server.ask(f"/api/runs/{run}/values?sort=value&limit=25&offset=500000"))
        sort = best(lambda: server.ask(f"/api/runs/{run}/values?sort=dist_sq&range=value:{np.random.uniform(-1, -0.9)}:&limit=25"))
        charts = best(lambda: server.ask(f"/api/runs/{run}/charts"))
    print(f"{grouped(n)} × {p} doubles (Parquet), regression, {THREADS} threads, best of three: the command line writes all values;")
    print("the server values all rows and sends the first page, sorted by value.\n")
    print("| command line | first page | ratio | another page | filtered and sorted anew | charts |")
    print("|---|---|---|---|---|---|")
    print(f"| {lines:.2f} s | {seconds:.2f} s | **{seconds / lines:.2f}** | {1000 * page:.0f} ms | {1000 * sort:.0f} ms | {1000 * charts:.0f} ms |\n")


def run():
    small = bool(os.environ.get("DSHAP_BENCH_SMALL"))
    print("## The web application\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder / "small.parquet", 10_000, 10)
        one_row(folder)
        large(folder, 20_000 if small else 1_000_000, 20)
