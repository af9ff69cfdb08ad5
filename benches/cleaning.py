"""How well `dshap.suspects` and `dshap.clean` do on real tables: wrong labels found beside cleanlab, and how often
`clean` recommends the right thing. Prints Markdown.

Run by `./bench suspects` and `./bench clean`. The tables are looked for in the folder that DSHAP_DATA names, or in
../shared/data beside the repository; a table that is not there is passed over. DSHAP_BENCH_SEEDS changes the number of
draws, and DSHAP_BENCH_TABLES names the tables, separated by commas.
"""

import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import dshap
from timing import DATA

# file, target, columns that are no features, rows at most
LABELS = {
    "iris": ("sklearn:load_iris", None, [], 1_000),
    "wine": ("sklearn:load_wine", None, [], 1_000),
    "australian": ("australian.csv", "target", [], 1_000),
    "pima": ("pima_diabetes.csv", "target", [], 1_000),
    "breast_cancer": ("breast_cancer.csv", "target", [], 1_000),
    "skin": ("skin_nonskin.parquet", "target", [], 1_000),
    "digits": ("digits.csv", "target", [], 1_000),
    "mnist": ("mnist_effnetlite0_pca32.parquet", "label", ["target", "split", "index"], 500),
    "fashion_mnist": ("fashion_mnist_effnetlite0_pca32.parquet", "label", ["target", "split", "index"], 500),
    "cifar10": ("cifar10_effnetlite0_pca32.parquet", "label", ["target", "split", "index"], 500),
}
# Tables of a hundred rows say little about recommendations.
CLASSICS = ("iris", "wine")
NUMBERS = {
    "abalone": ("abalone.csv", "target", [], 1_500),
    "airfoil": ("airfoil.csv", "target", [], 1_500),
    "whitewine": ("whitewine.csv", "target", [], 1_500),
    "diabetes": ("diabetes_efron.csv", "target", [], 1_500),
}


def seeds(usual):
    return range(int(os.environ.get("DSHAP_BENCH_SEEDS", usual)))


def load(file, target, exclude):
    if file.startswith("sklearn:"):
        from sklearn import datasets

        return getattr(datasets, file.split(":")[1])(return_X_y=True)
    path = DATA / file
    if not path.exists():
        return None
    table = pa.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)
    names = [name for name in table.column_names if name != target and name not in exclude]
    x = np.column_stack([table[name].to_numpy().astype(float) for name in names])
    return x, table[target].to_numpy()


def tables(places):
    only = os.environ.get("DSHAP_BENCH_TABLES")
    for name, (*place, most) in places.items():
        loaded = load(*place) if only is None or name in only.split(",") else None
        if loaded is not None:
            yield name, *loaded, most


def drawn(x, y, most, seed):
    """A random sample of the rows, labels as codes."""
    rows = np.random.default_rng(seed).permutation(len(y))[:most]
    return x[rows], y[rows]


def flipped(codes, share, rng):
    """Labels of which a share became another one."""
    n_classes = codes.max() + 1
    wrong = np.zeros(len(codes), bool)
    wrong[rng.permutation(len(codes))[: round(share * len(codes))]] = True
    changed = codes.copy()
    changed[wrong] = (codes[wrong] + rng.integers(1, n_classes, wrong.sum())) % n_classes
    return changed, wrong


def auc(suspicion, wrong):
    order = np.argsort(suspicion, kind="stable")
    _, inverse, counts = np.unique(suspicion[order], return_inverse=True, return_counts=True)
    ends, ranks = np.cumsum(counts), np.empty(len(order))
    ranks[order] = ((ends - counts + 1 + ends) / 2)[inverse]
    n = wrong.sum()
    return (ranks[wrong].sum() - n * (n + 1) / 2) / (n * (len(wrong) - n))


def boosted(x, y, seed, name):
    """Out-of-fold probabilities of scikit-learn's gradient boosting, kept in DSHAP_BENCH_CACHE if that is set."""
    from dshap._prediction_folds import cross_fitted

    folder = os.environ.get("DSHAP_BENCH_CACHE")
    path = folder and Path(folder) / f"{name}-{seed}.pickle"
    if path and path.exists():
        return pickle.loads(path.read_bytes())
    probs = cross_fitted(x, y.astype(float), "boosting", 0)
    if path:
        path.write_bytes(pickle.dumps(probs))
    return probs


def flags(flagged, wrong):
    found = wrong[flagged].sum()
    return found / max(flagged.sum(), 1), found / wrong.sum()


def suspects():
    """Wrong labels found: AUC, precision and recall, beside cleanlab on the same predictions."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    share = 0.1
    print("## Wrong labels found\n")
    print(f"{100 * share:.0f} % of the labels flipped to any other; means over {len(seeds(20))} draws of at most 1 000 rows (images: 500).")
    print("Peer: cleanlab on out-of-fold probabilities of scikit-learn's `HistGradientBoostingClassifier`, the better of its two")
    print("scores; flags by `find_label_issues`. dshap: `suspects`, with the same probabilities and without.\n")
    print("| table | AUC cleanlab | AUC dshap, boosting | AUC dshap alone | flags cleanlab P / R | flags dshap, boosting P / R | flags dshap alone P / R | stated P (boosting, alone) |")
    print("|---" * 8 + "|")
    for name, x, y, most in tables(LABELS):
        found = []
        for seed in seeds(20):
            sample, labels = drawn(x, y, most, seed)
            codes = np.unique(labels, return_inverse=True)[1]
            changed, wrong = flipped(codes, share, np.random.default_rng(1_000 + seed))
            probs = boosted(sample, changed, seed, name)
            kinds = ("self_confidence", "normalized_margin")
            peer = max(auc(-get_label_quality_scores(changed, probs, method=kind), wrong) for kind in kinds)
            ours = dshap.suspects(sample, changed, task="classification", predictions=probs)
            alone = dshap.suspects(sample, changed, task="classification", estimator=None)
            row = [peer, auc(ours.score, wrong), auc(alone.score, wrong)]
            row += [*flags(find_label_issues(changed, probs), wrong), *flags(ours.suspect, wrong), *flags(alone.suspect, wrong)]
            found.append(row + [ours.precision, alone.precision])
        a, b, c, pp, pr, op, orr, ap, ar, sp, sa = np.nanmean(found, axis=0)
        mark = lambda own: "" if own >= a - 0.005 else " ✗"
        both = lambda p, r: "" if p >= pp and r >= pr else " ✗"
        print(
            f"| {name} | {a:.4f} | {b:.4f}{mark(b)} | {c:.4f}{mark(c)} | {pp:.2f} / {pr:.2f} | {op:.2f} / {orr:.2f}{both(op, orr)} "
            f"| {ap:.2f} / {ar:.2f}{both(ap, ar)} | {sp:.2f}, {sa:.2f} |",
            flush=True,
        )
    print("\n✗: AUC more than 0.005 below the peer; precision or recall below the peer's.\n")


def redrawn(x, y, is_label, rng):
    """Targets drawn from the fitted model: logistic, or linear with normal noise."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.preprocessing import StandardScaler

    z = StandardScaler().fit_transform(x)
    if is_label:
        probs = LogisticRegression(C=1.0, max_iter=1_000).fit(z, y).predict_proba(z)
        codes = (probs.cumsum(axis=1) < rng.random(len(y))[:, None]).sum(axis=1)
        return np.minimum(codes, probs.shape[1] - 1)
    fitted = LinearRegression().fit(z, y).predict(z)
    return fitted + (y - fitted).std() * rng.standard_normal(len(y))


def loss(x, y, test_x, test_y, is_label):
    """The loss of a model and ten nearest neighbours, as `clean` mixes them: log-loss or squared error."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(x)
    x, test_x = scaler.transform(x), scaler.transform(test_x)
    if not is_label:
        predicted = LinearRegression().fit(x, y).predict(test_x), KNeighborsRegressor(10).fit(x, y).predict(test_x)
        return [((test_y - each) ** 2).mean() for each in (*predicted, (predicted[0] + predicted[1]) / 2)]
    model = LogisticRegression(C=1.0, max_iter=1_000).fit(x, y)
    near = KNeighborsClassifier(10).fit(x, y)
    shares = np.bincount(y, minlength=y.max() + 1)[np.unique(y)] / len(y)
    probs = model.predict_proba(test_x), (10 * near.predict_proba(test_x) + shares) / 11
    given = np.searchsorted(model.classes_, test_y)
    each = [prob[np.arange(len(given)), given] for prob in probs]
    return [-np.log(np.clip(prob, 1e-6, 1)).mean() for prob in (*each, (each[0] + each[1]) / 2)]


def clean():
    """How often `clean` recommends nothing on clean data, and the right thing on corrupted data."""
    print("## Recommendations\n")
    print(f"Means over {len(seeds(20))} draws of at most 1 000 rows (numbers 1 500, images 500). Clean: targets redrawn from the")
    print("fitted logistic or linear model; the share of draws in which nothing is recommended. Corrupted: 5 % of the labels")
    print("flipped, or of the targets moved by five residual deviations up or down, in two thirds of the rows. The others are")
    print("uncorrupted and measure: the share of draws in which the recommended action lowers the loss of the model and the")
    print("neighbours together, or does harm. Oracle: dropping exactly the corrupted rows. As it is: what is recommended for the")
    print("table without any change.\n")
    print("| table | clean: nothing | corrupted: acts | loss falls | loss rises | mean change of loss | oracle: loss falls | as it is: nothing |")
    print("|---" * 8 + "|")
    totals = []
    for places, is_label in ((LABELS, True), (NUMBERS, False)):
        for name, x, y, most in tables(places):
            if name in CLASSICS:
                continue
            found = [one_draw(x, y, most, seed, is_label) for seed in seeds(20)]
            row = np.mean(found, axis=0)
            totals.append(row)
            print(f"| {name} | {row[0]:.0%} | {row[1]:.0%} | {row[2]:.0%} | {row[3]:.0%} | {row[4]:+.1%} | {row[5]:.0%} | {row[6]:.0%} |", flush=True)
    row = np.mean(totals, axis=0)
    print(f"| **all** | {row[0]:.0%} | {row[1]:.0%} | {row[2]:.0%} | {row[3]:.0%} | {row[4]:+.1%} | {row[5]:.0%} | {row[6]:.0%} |\n")


def one_draw(x, y, most, seed, is_label):
    sample, targets = drawn(x, y, most, seed)
    rng = np.random.default_rng(2_000 + seed)
    task = "classification" if is_label else "regression"
    if is_label:
        targets = np.unique(targets, return_inverse=True)[1]
    clean_targets = redrawn(sample, targets, is_label, rng)
    nothing = dshap.clean(sample, clean_targets, task=task, seed=seed).recommended is None
    as_it_is = dshap.clean(sample, targets, task=task, seed=seed).recommended is None
    order = rng.permutation(len(targets))
    n_own = 2 * len(order) // 3
    own, rest = order[:n_own], order[n_own:]
    own_x, own_y = sample[own], targets[own]
    if is_label:
        own_y, wrong = flipped(own_y, 0.05, rng)
    else:
        wrong = np.zeros(n_own, bool)
        wrong[rng.permutation(n_own)[: round(0.05 * n_own)]] = True
        deviation = (targets - linear(sample, targets)).std()
        own_y = own_y + wrong * 5 * deviation * rng.choice([-1, 1], n_own)
    found = dshap.clean(own_x, own_y, task=task, seed=seed)
    test = sample[rest], targets[rest], is_label
    if is_label:
        # Labels that only the other rows have cannot be learned.
        known = np.isin(test[1], own_y)
        test = test[0][known], test[1][known], is_label
    before = loss(own_x, own_y, *test)[2]
    after = loss(*found.apply(own_x, own_y), *test)[2]
    oracle = loss(own_x[~wrong], own_y[~wrong], *test)[2]
    acts = found.recommended is not None
    return nothing, acts, after < before, after > before, after / before - 1, oracle < before, as_it_is


def linear(x, y):
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(x, y).predict(x)
