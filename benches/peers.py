"""dshap beside pyDVL, OpenDataVal and cleanlab on one task: find flipped labels. Writes the table of docs/comparison.md.

Run by `./bench peers`, which gives each package an environment of its own. Each method runs in its own process, so that its
memory is its own. `python peers.py NAME` runs one method and prints JSON.
"""

import importlib.metadata
import inspect
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

DRAWS = 5
SHARE = 0.1

# The table lies between these lines of docs/comparison.md.
BEGIN, END = "<!-- ./bench peers: begin -->", "<!-- ./bench peers: end -->"


def data(seed):
    """Training rows of breast_cancer with flipped labels, which are wrong, and other rows with right labels."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    X, y = X[order], y[order].astype(np.int64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    wrong = np.zeros(400, dtype=bool)
    wrong[rng.permutation(400)[: round(SHARE * 400)]] = True
    return X[:400], np.where(wrong, 1 - y[:400], y[:400]), X[400:], y[400:], wrong


# Each function is what a user writes; its lines are counted. Low values are suspicious.
def dshap_penalty(X, y, X_test, y_test):
    import dshap
    return -dshap.ClassificationValuer().fit(X, y).explain_training().penalty


def dshap_value(X, y, X_test, y_test):
    import dshap
    return dshap.ClassificationValuer().fit(X, y).value_training()


def dshap_knn(X, y, X_test, y_test):
    import dshap
    return dshap.ClassificationValuer("knn").fit(X, y).value_training()


def dshap_knn_shapley(X, y, X_test, y_test):
    import dshap
    return dshap.ClassificationValuer("knn-shapley").fit(X, y, test=(X_test, y_test)).value_training()


def dshap_data_oob(X, y, X_test, y_test):
    import dshap
    from sklearn.ensemble import RandomForestClassifier
    return dshap.baselines.data_oob(RandomForestClassifier(200, random_state=0).fit(X, y), X, y).value


def dshap_forest_leaves(X, y, X_test, y_test):
    import dshap
    from sklearn.ensemble import RandomForestClassifier
    forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=0).fit(X, y)
    return dshap.from_pipeline(forest).fit(X, y).value_training()


def dshap_suspects(X, y, X_test, y_test):
    import dshap
    return -dshap.suspects(X, y).score


def pydvl_knn_shapley(X, y, X_test, y_test):
    from pydvl.valuation import Dataset, KNNShapleyValuation
    from sklearn.neighbors import KNeighborsClassifier
    valuation = KNNShapleyValuation(KNeighborsClassifier(5), Dataset(X_test, y_test), progress=False)
    return valuation.fit(Dataset(X, y)).result.values


def pydvl_data_oob(X, y, X_test, y_test):
    from pydvl.valuation import DataOOBValuation, Dataset
    from sklearn.ensemble import RandomForestClassifier
    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    return DataOOBValuation(forest).fit(Dataset(X, y)).result.values


def pydvl_loo(X, y, X_test, y_test):
    from pydvl.valuation import Dataset, LOOValuation, ModelUtility, SupervisedScorer
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression(max_iter=1000)
    utility = ModelUtility(model, SupervisedScorer("neg_log_loss", Dataset(X_test, y_test), default=-0.7))
    return LOOValuation(utility, progress=False).fit(Dataset(X, y)).result.values


def opendataval_knn_shapley(X, y, X_test, y_test):
    import torch
    from opendataval.dataval import KNNShapley
    x, x_test = torch.tensor(X, dtype=torch.float32), torch.tensor(X_test, dtype=torch.float32)
    hot, hot_test = torch.eye(2)[torch.tensor(y)], torch.eye(2)[torch.tensor(y_test)]
    return KNNShapley(k_neighbors=5).input_data(x, hot, x_test, hot_test).train_data_values().evaluate_data_values()


def cleanlab_self_confidence(X, y, X_test, y_test):
    from cleanlab.rank import get_label_quality_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    probs = cross_val_predict(LogisticRegression(max_iter=1000), X, y, method="predict_proba")
    return get_label_quality_scores(y, probs, method="self_confidence")


METHODS = [
    dshap_penalty, dshap_value, dshap_suspects, dshap_knn, dshap_knn_shapley, dshap_data_oob, dshap_forest_leaves,
    pydvl_knn_shapley, pydvl_data_oob, pydvl_loo, opendataval_knn_shapley, cleanlab_self_confidence,
]  # fmt: skip


def run(name):
    """One method on all draws."""
    from sklearn.metrics import roc_auc_score

    method = next(one for one in METHODS if one.__name__ == name)
    warnings.simplefilter("ignore")
    method(*data(99)[:4])
    before = time.perf_counter()
    found = [(method(*drawn[:4]), drawn[4]) for drawn in map(data, range(DRAWS))]
    seconds = (time.perf_counter() - before) / DRAWS
    auc = [roc_auc_score(wrong, -np.asarray(values)) for values, wrong in found]
    package = name.split("_")[0]
    version = importlib.metadata.version({"pydvl": "pyDVL"}.get(package, package))
    lines = len(inspect.getsource(method).strip().splitlines()) - 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"auc": np.mean(auc), "error": np.std(auc, ddof=1) / np.sqrt(DRAWS), "seconds": seconds,
                      "peak": peak, "lines": lines, "version": version}))  # fmt: skip


def main():
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("DSHAP_PEERS", root / ".bench-peers"))
    table = ["| package | method | lines | AUC | ± | seconds | peak memory, MB |", "|---|---|---|---|---|---|---|"]
    for method in METHODS:
        package, _, what = method.__name__.partition("_")
        what = what.replace("_", " ")
        place = folder / package / "bin" / "python"
        place = place if place.exists() else Path(sys.executable)
        done = subprocess.run([place, __file__, method.__name__], capture_output=True, text=True)
        if done.returncode != 0:
            table.append(f"| {package} | {what} | | not measured: {done.stderr.strip().splitlines()[-1][:60]} | | | |")
        else:
            row = json.loads(done.stdout.strip().splitlines()[-1])
            table.append(f"| {package} {row['version']} | {what} | {row['lines']} | {row['auc']:.3f} | {row['error']:.3f} | "
                         f"{row['seconds']:.3g} | {row['peak']:.0f} |")  # fmt: skip
        print(table[-1], flush=True)
    page = root / "docs" / "comparison.md"
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(before + BEGIN + "\n\n" + "\n".join(table) + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    run(sys.argv[1]) if len(sys.argv) > 1 else main()
