# %% [markdown]
# # Value rows on Spark
#
# A table lies on a cluster. Its rows are valued there, without being collected, and the values are those of one machine. The
# "cluster" here is Spark on this computer; on a real one, only the line with `master` changes.

# %%
import os
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable               # executors use the same Python

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")

# %% [markdown]
# ## Rows in partitions
#
# 5 000 flats with a price. In one of fifty, somebody typed the price with a wrong sign.

# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 5_000
flats = pd.DataFrame({
    "row": np.arange(n),
    "area": rng.gamma(9, 9, n).round(1),
    "age": rng.integers(0, 100, n),
    "city": rng.choice(["Lima", "Oslo", "Rome"], n),
})
price = 3 * flats["area"] - 0.8 * flats["age"] + 40 * (flats["city"] == "Oslo") + rng.normal(0, 30, n)
is_wrong = rng.random(n) < 0.02
flats["price"] = np.where(is_wrong, -price, price).round(2)
rows = spark.createDataFrame(flats).repartition(4)
print(f"{rows.count()} rows in {rows.rdd.getNumPartitions()} partitions")

# %% [markdown]
# ## Fit and value where the rows are
#
# Each partition sums its own rows, and only the sums travel. `row` numbers the rows, which fixes the order of sums and
# with it the last bit of every value.

# %%
from dshap import spark as on_cluster

valuer = on_cluster.fit(rows, "price", task="regression", features=["area", "age", "city"], row="row")
valued = on_cluster.value(rows, valuer, leave_one_out=True, parts=True, row="row")
valued.orderBy("value").select("row", "area", "age", "city", "price", "value", "penalty").limit(5).toPandas().round(4)

# %% [markdown]
# ## The same on one machine

# %%
import dshap

alone = dshap.RegressionValuer().fit(flats[["area", "age", "city"]], flats["price"]).explain_training()
of_cluster = valued.select("row", "value", "penalty").orderBy("row").toPandas()
same = (of_cluster["value"].to_numpy() == alone.value).mean()
print(f"{100 * same:.1f} % of the values have the same bits")
alone

# %% [markdown]
# ## Find the wrong prices

# %%
order = of_cluster["penalty"].to_numpy().argsort()[::-1]
k = int(is_wrong.sum())
print(f"{is_wrong[order[:k]].sum()} of the {k} wrong prices are among the {k} largest penalties")

# %% tags=["check"]
assert same == 1.0
assert is_wrong[order[:k]].mean() > 0.8
spark.stop()

# %% [markdown]
# ## Verdict
#
# - Values on Spark are those of one machine, to the last bit if a column numbers the rows.
# - For 5 000 rows a cluster is a waste of time: starting Spark takes longer than valuing them here. It pays when the rows do
#   not fit on one machine, or are on the cluster anyway.
# - `general`, `second-order` and baselines need all rows in one place, so they are refused ([spark](../spark.md)).
