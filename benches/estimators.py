"""When `RegressionValuer(estimator=…)` helps: targets of real tables are made wrong, and models are judged on right ones.

Prints Markdown. Run by `./bench estimators`; by itself, `python benches/estimators.py` needs dshap and scikit-learn. The
tables are looked for in the folder that DSHAP_DATA names, or in ../shared/data; those that scikit-learn brings or that are
made here need no file.
"""

import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import dshap

DATA = Path(os.environ.get("DSHAP_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
DRAWS = 4
MOST_ROWS = 500
SHARE = 0.1
TABLES = ["abalone", "airfoil", "diabetes_efron", "whitewine", "gaussian-r"]


def load(name, seed):
    """Rows to value, with wrong targets, and as many others with right ones."""
    if name == "gaussian-r":
        X, y = dshap.datasets.gaussian_r(2 * MOST_ROWS, 10, seed=seed)
    else:
        cells = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", skip_header=1)
        X, y = cells[:, :-1], cells[:, -1]
    order = np.random.default_rng(seed).permutation(len(y))
    half = min(MOST_ROWS, len(y) // 2)
    train, test = order[:half], order[half : 2 * half]
    wrong, is_wrong = dshap.evaluate.corrupt(y[train], SHARE, task="regression", seed=seed)
    return X[train], wrong, is_wrong, X[test], y[test]


def estimators():
    return {
        "none (the linear model)": None,
        "boosting": "boosting",
        "random forest": RandomForestRegressor(60, min_samples_leaf=3, random_state=0),
    }


def quality(estimator, X, y, X_test, y_test):
    """R² on right targets of what the estimator predicts."""
    model = {None: LinearRegression(), "boosting": HistGradientBoostingRegressor(random_state=0)}.get(
        estimator if isinstance(estimator, (str, type(None))) else 0, estimator
    )
    return model.fit(X, y).score(X_test, y_test)


def run():
    warnings.simplefilter("ignore")
    print("| table | estimator | AUC of `penalty` | AUC of `value` | R² with all rows | "
          "without the 10 % of largest penalty | without 10 % by chance |")
    print("|---|---|---|---|---|---|---|")
    for table in TABLES:
        if table != "gaussian-r" and not (DATA / f"{table}.csv").exists():
            continue
        for name, estimator in estimators().items():
            lines = []
            for seed in range(DRAWS):
                X, y, is_wrong, X_test, y_test = load(table, seed)
                found = dshap.RegressionValuer(estimator=estimator, seed=seed).fit(X, y).explain_training()
                penalty, value, _ = dshap.evaluate.noise_detection({"p": -found.penalty, "v": found}, is_wrong).auc
                k = round(SHARE * len(y))
                kept = np.argsort(found.penalty)[:-k]
                chance = np.random.default_rng(seed).permutation(len(y))[:-k]
                scores = [quality(estimator, X[rows], y[rows], X_test, y_test) for rows in (np.arange(len(y)), kept, chance)]
                lines.append([penalty, value, *scores])
            mean, error = np.mean(lines, axis=0), np.std(lines, axis=0, ddof=1) / np.sqrt(DRAWS)
            cells = " | ".join(f"{a:.3f} ± {b:.3f}" for a, b in zip(mean, error))
            print(f"| {table} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    run()
