"""Rows on a cluster: Spark with real executor processes, or Sail, by the same tests.

`./test spark` runs this file twice, in an environment with PySpark and in one with Sail. Elsewhere it is skipped.
"""

import functools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: ./test spark installs it")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

import dshap  # noqa: E402
from dshap import spark as on_cluster  # noqa: E402

try:
    import pysail  # noqa: F401

    ENGINE = "sail"
except ImportError:
    ENGINE = "spark"

only_spark = pytest.mark.skipif(ENGINE != "spark", reason="Sail has no executors of its own here, and no pyspark.ml commands")

N = 9000
FEATURES = ["u", "v", "city"]


@pytest.fixture(scope="module")
def spark():
    if ENGINE == "sail":
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer()
        server.start(background=True)
        session = SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
        yield session
        session.stop()
        server.stop()
        return
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("dshap")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
        "spark.executor.memory": "1g",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=N), rng.exponential(size=N)
    city = np.array(["south", "north", "east"])[rng.integers(0, 3, N)]
    y = u - v + (city == "north") + rng.normal(size=N)
    y[5] += 30
    return pa.table(
        {
            "row": np.arange(N),
            "u": u,
            "v": v,
            "city": city,
            "w": rng.uniform(0.5, 2, N),
            "owner": np.array(["ann", "bob", "cleo"])[rng.integers(0, 3, N)],
            "y": y,
            "two": np.where(y > 0, "yes", "no"),
            "three": np.array(["low", "mid", "top"])[np.digitize(y, [-1.0, 1.0])],
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    """The table as Parquet files, which become partitions."""
    folder = tmp_path_factory.mktemp("rows")
    for i, start in enumerate(range(0, N, 2500)):
        pq.write_table(rows.slice(start, 2500), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def df(spark, folder):
    # Out of order, so that only the numbers of rows say which comes first.
    return spark.read.parquet(str(folder)).repartition(4, "owner", "city")


def by_row(frame, *columns):
    """Columns of a DataFrame in the order of the rows."""
    names = ["row", *(columns or ["value"])]
    table = frame.select(*names).toArrow().sort_by("row")
    found = [table.column(name).to_numpy() for name in names[1:]]
    return found[0] if len(found) == 1 else found


def close(found, expected, share=1e-12):
    spread = np.nanmax(expected) - np.nanmin(expected)
    assert len(found) == len(expected)
    assert np.nanmax(np.abs(found - expected)) <= share * spread
    assert np.array_equal(np.isnan(found), np.isnan(expected))


@functools.cache
def command(folder, *options):
    """Leave-one-out values by the command line."""
    out = folder.parent / "values.parquet"
    files = str(folder / "part-*.parquet")
    run = [sys.executable, "-m", "dshap", "value", files, *options, "-o", str(out), "--quiet"]
    subprocess.run(run, check=True, capture_output=True)
    return pq.read_table(out)


CASES = {
    "regression": ({}, ["--target", "y"], "y"),
    "bound": ({"method": "lower"}, ["--target", "y", "--method", "lower"], "y"),
    "calibrated": ({"method": "calibrated"}, ["--target", "y", "--method", "calibrated"], "y"),
    "weights": ({"weight": "w"}, ["--target", "y", "--weight", "w"], "y"),
    "two labels": ({"task": "classification"}, ["--target", "two"], "two"),
    "three labels": ({"task": "classification"}, ["--target", "three"], "three"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ["any", "fixed"])
def test_values_are_those_of_the_command_line(df, folder, name, order):
    params, options, target = CASES[name]
    if order == "fixed" and name in ("bound", "weights"):
        pytest.skip("their sums are those of the other cases")
    expected = command(folder, *options, "--features", ",".join(FEATURES))["value"].to_numpy()
    row = "row" if order == "fixed" else None
    task = params.get("task", "regression")
    rest = {key: value for key, value in params.items() if key != "task"}
    valuer = on_cluster.fit(df, target, task=task, features=FEATURES, row=row, **rest)
    found = by_row(on_cluster.value(df, valuer, leave_one_out=True))
    if order == "fixed" and name != "calibrated":
        assert np.array_equal(found, expected), "the same bits"
    else:
        close(found, expected)


def test_densities_draw_the_sample_of_one_machine(df, rows, folder):
    options = ["--task", "density", "--features", "u,v", "--samples", "2000", "--bandwidth", "scott"]
    expected = command(folder, *options)["value"].to_numpy()
    params = dict(task="density", features=["u", "v"], samples=2000, bandwidth="scott")
    valuer = on_cluster.fit(df, row="row", **params)
    assert valuer.rows_used_ == 2000 and valuer.n_rows_ == N
    assert np.array_equal(by_row(on_cluster.value(df, valuer, leave_one_out=True, row="row")), expected)
    # Any order: another sample, the same distribution. Values by samples of 2 000 rows correlate at about 0.97.
    other = on_cluster.fit(df, **params)
    assert (other.rows_used_, other.n_rows_) == (2000, N)
    np.testing.assert_allclose(other.bandwidth_, valuer.bandwidth_, rtol=0.2)
    values = by_row(on_cluster.value(df, other))
    assert np.corrcoef(values, expected)[0, 1] > 0.9
    # The engine may hand the rows over in another order, so only a column of numbers tells which is which.
    with pytest.raises(dshap.InputError, match="name a column that numbers them"):
        on_cluster.value(df, other, leave_one_out=True)
    with pytest.raises(dshap.InputError, match="fitted without `row`: fit it with `row='row'`"):
        on_cluster.value(df, other, leave_one_out=True, row="row")


def test_neighbours_share_test_rows_between_tasks(df, spark, rows):
    small = rows.slice(0, 900)
    frame = spark.createDataFrame(small.to_pandas()).repartition(3)
    one = dshap.ClassificationValuer(method="knn", k=3).fit(
        small.select(["u", "v"]), small["two"].to_pylist()
    )
    estimator = on_cluster.KnnValuer(features_col=["u", "v"], label_col="two", k=3, row_col="row")
    close(by_row(estimator.fit_transform_training(frame)), one.value_training())
    new = rows.slice(2000, 300)
    found = by_row(estimator.fit(frame).transform(spark.createDataFrame(new.to_pandas())))
    close(found, one.value(new.select(["u", "v"]), new["two"].to_pylist()))


@only_spark
def test_a_pipeline_with_vectors(df, rows, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    assembled = VectorAssembler(inputCols=["u", "v"], outputCol="x")
    valuer = on_cluster.RegressionValuer(
        # Standard errors come from a sample of the rows, which their numbers fix.
        features_col="x", label_col="y", row_col="row", value_col="worth", std_error=True, parts=True
    )
    model = Pipeline(stages=[assembled, valuer]).fit(df)
    one = dshap.RegressionValuer().fit(rows.select(["u", "v"]), rows["y"].to_numpy())
    expected = one.explain(rows.select(["u", "v"]), rows["y"].to_numpy(), std_error=True)
    found = model.transform(df)
    worth, stderr, penalty = by_row(found, "worth", "stderr", "penalty")
    close(worth, expected.value)
    close(stderr, expected.stderr)
    close(penalty, expected.penalty)
    assert found.select("x").head()[0].size == 2, "vectors stay vectors"
    model.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert np.array_equal(by_row(again.transform(df), "worth"), worth)


def test_arrays_missing_cells_and_files(spark, rows, tmp_path):
    table = rows.slice(0, 1000).to_pandas()
    table["x"] = [[a, b] for a, b in zip(table.u, table.v)]
    frame = spark.createDataFrame(table[["row", "x", "y"]])
    model = on_cluster.RegressionValuer(features_col="x", label_col="y").fit(frame)
    one = dshap.RegressionValuer().fit(table[["u", "v"]], table.y)
    close(by_row(model.transform(frame)), one.value(table[["u", "v"]], table.y))
    path = str(tmp_path / "x.dshap")
    model.save(path)
    close(by_row(on_cluster.ValuerModel.load(path).set_params(features_col="x").transform(frame)), one.value(table[["u", "v"]], table.y))

    gaps = rows.slice(0, 1000).to_pandas()
    gaps.loc[[3, 77], "u"] = None
    expected = dshap.RegressionValuer(missing="mean").fit(gaps[["u", "city"]], gaps.y).value_training()
    frame = spark.createDataFrame(pa.Table.from_pandas(gaps, preserve_index=False)).repartition(3)
    valuer = on_cluster.fit(frame, "y", features=["u", "city"], missing="mean")
    close(by_row(on_cluster.value(frame, valuer, leave_one_out=True)), expected)
    with pytest.raises(dshap.InputError) as caught:
        on_cluster.fit(frame, "y", features=["u", "city"])
    assert "`u`" in str(caught.value).splitlines()[0]


def test_owners(df, spark, rows, folder):
    test = rows.slice(0, 500)
    found = on_cluster.owners(df, by="owner", target="y", features=["u", "v"], test=test, ridge=1.0)
    expected = dshap.owners(
        rows.select(["u", "v"]), rows["y"].to_numpy(), by=rows["owner"].to_pylist(), ridge=1.0,
        test=(test.select(["u", "v"]), test["y"].to_numpy()),
    )
    assert found.owner.tolist() == expected.owner.tolist()
    for name in ("rows", "row_sum", "shapley", "joint", "below_zero"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)


def test_owners_of_arrays_whose_names_have_several_spellings(spark, rows):
    table = rows.slice(0, 600).to_pandas()
    table["x"] = [[a, b] for a, b in zip(table.u, table.v)]
    # `1.0` is `1`, as in files; blanks around a name in a frame belong to it.
    table["owner"] = [["1", "1.0", " 1 ", "bob"][i % 4] for i in range(600)]
    test = table.iloc[:200][["x", "y"]]
    frame = spark.createDataFrame(table[["x", "y", "owner"]])
    found = on_cluster.owners(frame, by="owner", target="y", features="x", test=spark.createDataFrame(test), ridge=1.0)
    one = dshap.owners(
        table[["u", "v"]].to_numpy(), table.y.to_numpy(), ridge=1.0, by=table.owner.tolist(),
        test=(table[["u", "v"]].to_numpy()[:200], table.y.to_numpy()[:200]),
    )
    assert found.owner.tolist() == one.owner.tolist() == [" 1 ", "1", "bob"]
    for name in ("rows", "row_sum", "row_mean", "shapley", "below_zero"):
        np.testing.assert_allclose(getattr(found, name), getattr(one, name), rtol=1e-9)


def test_neighbours_refuse_weights_and_want_a_label(df):
    with pytest.raises(dshap.InputError, match="nearest neighbours take no weights"):
        on_cluster.KnnValuer(label_col="two", weight_col="w", features_col=["u", "v"]).fit(df)
    with pytest.raises(dshap.InputError, match="label_col is not given"):
        on_cluster.KnnValuer(features_col=["u", "v"]).fit(df)


def test_mistakes_are_found_before_a_job_starts(df):
    for mistake, text in [
        (dict(target="nothing"), "no column `nothing`"),
        (dict(target="y", features=["u", "y"]), "both the label and a feature"),
        (dict(target="y", features=["u"], method="general"), "cannot be fitted on several machines"),
        (dict(target="y", features=["u"], methode="gaussian"), "not a parameter"),
        (dict(target="y", features=["u"], row="u"), "whole numbers number rows"),
        (dict(target="city", features=["u"], task="regression"), "city"),
    ]:
        with pytest.raises(dshap.InputError, match=text):
            on_cluster.fit(df, **mistake)


def test_numbers_that_are_not_numbers_of_rows(df):
    from pyspark.sql import functions as F

    for wrong in (df.withColumn("row", F.col("row") + 1), df.where("row <> 17"), df.union(df.where("row = 8999"))):
        with pytest.raises(dshap.DshapError, match="number"):
            on_cluster.fit(wrong, "y", features=["u"], row="row")


@only_spark
def test_many_partitions_are_merged_on_executors(df, rows):
    valuer = on_cluster.fit(df.repartition(40), "y", features=["u", "v"])
    one = dshap.RegressionValuer().fit(rows.select(["u", "v"]), rows["y"].to_numpy())
    assert valuer.n_rows_ == N
    np.testing.assert_allclose(valuer.coef_, one.coef_, rtol=1e-12)


@only_spark
def test_an_executor_that_dies_changes_nothing(spark, df, rows, tmp_path):
    from pyspark.sql import functions as F

    flag = tmp_path / "killed"

    def slow_and_deadly(batches):
        import pathlib

        for batch in batches:
            if not pathlib.Path(flag).exists():
                pathlib.Path(flag).touch()
                # The parent of a worker is the daemon of the executor, and its parent the executor.
                daemon = os.getppid()
                with open(f"/proc/{daemon}/status") as status:
                    executor = next(int(line.split()[1]) for line in status if line.startswith("PPid"))
                os.kill(executor, signal.SIGKILL)
                time.sleep(30)
            yield batch

    columns = df.select("row", "u", "v", "y")
    expected = on_cluster.fit(columns, "y", features=["u", "v"], row="row")
    deadly = columns.mapInArrow(slow_and_deadly, columns.schema)
    found = on_cluster.fit(deadly, "y", features=["u", "v"], row="row")
    assert flag.exists(), "an executor was killed"
    assert found.n_rows_ == N and found._fitted.to_bytes() == expected._fitted.to_bytes()
