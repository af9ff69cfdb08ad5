# %% [markdown]
# # Find bad labels
#
# Somebody labelled pictures of digits and made mistakes. Which pictures should be looked at again, and does it help the
# model to throw them out? Here the mistakes are made on purpose, so that we know the answer.

# %%
import numpy as np
from sklearn.datasets import load_digits

import dshap

digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.target))
train, test = order[:900], order[900:]
X, truth = digits.data[train], digits.target[train]
y = truth.copy()
wrong = rng.choice(len(y), 45, replace=False)               # 5 % get another label
y[wrong] = (y[wrong] + rng.integers(1, 10, 45)) % 10
is_wrong = y != truth

# %% [markdown]
# ## Ask for suspicious rows
#
# `suspects` compares each label with what models predict that did not see the row. These labels are whole numbers, so we
# say that they are labels. `estimator=None` leaves out gradient boosting, which takes longer.

# %%
found = dshap.suspects(X, y, task="classification", estimator=None)
found

# %% [markdown]
# These are the 24 most suspicious pictures: the label they were given, and the one that other rows suggest.

# %%
import matplotlib.pyplot as plt

figure, panels = plt.subplots(3, 8, figsize=(9, 4.2))
for row, panel in zip(found.ranking(), panels.flat):
    panel.imshow(X[row].reshape(8, 8), cmap="gray_r")
    panel.set_title(f"{y[row]} → {found.suggested[row]}", color="black" if is_wrong[row] else "crimson")
    panel.axis("off")
figure.suptitle("given label → suggested label (red: the given label was right)")

# %% [markdown]
# ## How good are the answers?
#
# Several scores are tried on the same rows. Data-OOB asks the trees of a random forest.

# %%
from sklearn.ensemble import RandomForestClassifier

forest = RandomForestClassifier(200, random_state=0).fit(X, y)
linear = dshap.ClassificationValuer().fit(X, y).explain_training()
detected = dshap.evaluate.noise_detection(
    {
        "suspects": -found.score,
        "penalty": -linear.penalty,
        "value": linear,
        "knn": dshap.ClassificationValuer("knn").fit(X, y).value_training(),
        "Data-OOB": dshap.baselines.data_oob(forest, X, y),
    },
    is_wrong,
)
detected

# %% [markdown]
# ## Does it help to throw them out?
#
# The real test is a model on pictures that nobody touched.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def accuracy(rows, labels):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return model.fit(X[rows], labels[rows]).score(digits.data[test], digits.target[test])


everything = np.arange(len(y))
kept = everything[~found.suspect]
by_chance = rng.choice(everything, len(kept), replace=False)
flagged, right = int(found.suspect.sum()), int(is_wrong[found.suspect].sum())
print(f"flagged: {flagged}, of which wrong: {right}; wrong in all: {is_wrong.sum()}")
print(f"accuracy with all rows          {accuracy(everything, y):.3f}")
print(f"without the flagged rows        {accuracy(kept, y):.3f}")
print(f"without as many rows by chance  {accuracy(by_chance, y):.3f}")
print(f"with the right labels           {accuracy(everything, truth):.3f}")

# %% tags=["check"]
auc = dict(zip(detected.method, detected.auc))
assert right >= 40 and 0.6 < right / flagged < 1
assert min(auc["suspects"], auc["knn"], auc["Data-OOB"], auc["penalty"]) > 0.97
assert auc["value"] < auc["penalty"]
assert accuracy(kept, y) > accuracy(everything, y)
assert accuracy(kept, y) > accuracy(by_chance, y)

# %% [markdown]
# ## Verdict
#
# - Nearly all wrong labels are found, and most flagged rows are really wrong, but not all. Look at them before you drop them.
# - Dropping the flagged rows makes the model better; dropping as many rows by chance does not.
# - `value` is nearly as good here, but do not rely on it: a low value also marks rows that merely teach little, and on other
#   tables it is far behind `penalty` ([comparison](../comparison.md)). Use `suspects`, `penalty` or neighbours.
# - Labels that are wrong by mistake, as here, are easier to find than labels that are all wrong in the same way. On your own table,
#   `dshap.clean` tests whether dropping or relabelling helps, and often says no ([cleaning](../cleaning.md)).
