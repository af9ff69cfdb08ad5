# %% [markdown]
# # Value image or text embeddings
#
# Images and texts have no columns to speak of. A network turns them into some: the outputs of its last layer but one. Then
# rows can be valued like any others. Here a small network of scikit-learn reads pictures of digits. For a network of your
# own, [labels](../labels.md#the-last-layer-of-a-network) has the recipe for torch; for texts, take any sentence encoder.

# %%
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import dshap

digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
X, y = digits.data[order] / 16, digits.target[order]
old, pool, test = slice(0, 600), slice(600, 1200), slice(1200, None)

network = MLPClassifier((64, 32), max_iter=300, random_state=0).fit(X[old], y[old])   # trained earlier, on other pictures


def embedded(pictures):
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1]):
        pictures = np.maximum(pictures @ weights + bias, 0)
    return pictures


print(f"{X.shape[1]} pixels become {embedded(X[:1]).shape[1]} numbers; accuracy of the network {network.score(X[test], y[test]):.3f}")

# %% [markdown]
# ## Wrong labels in embedding space
#
# The network is good, so pictures of one digit lie close together. Nearest neighbours by angle (`metric="cosine"`) need no
# fit and no assumption. The same is done with raw pixels, to see what the network is good for.

# %%
labels, is_wrong = dshap.evaluate.corrupt(y[pool], 0.1, task="classification", seed=1)
spaces = {"embeddings": embedded(X[pool]), "pixels": X[pool]}
values = {}
for name, rows in spaces.items():
    near = dshap.ClassificationValuer("knn", k=7, metric="cosine", scale="none").fit(rows, labels)
    values[f"knn, {name}"] = near.value_training()
    linear = dshap.ClassificationValuer(pca=16).fit(rows, labels)
    values[f"−penalty, {name}"] = -linear.explain_training().penalty
detected = dshap.evaluate.noise_detection(values, is_wrong)
detected

# %% [markdown]
# ## See what is valuable
#
# The pictures of lowest and of highest value, with their labels. Red: the label was made wrong.

# %%
import matplotlib.pyplot as plt

value = values["knn, embeddings"]
figure, panels = plt.subplots(2, 10, figsize=(10, 2.7))
for line, rows in zip(panels, (np.argsort(value)[:10], np.argsort(-value)[:10])):
    for row, panel in zip(rows, line):
        panel.imshow(X[pool][row].reshape(8, 8), cmap="gray_r")
        panel.set_title(labels[row], color="crimson" if is_wrong[row] else "black", fontsize=10)
        panel.axis("off")
figure.suptitle("lowest values (above) and highest values (below)")

# %% [markdown]
# ## Which rows should a new model be trained on?
#
# A logistic model of the embeddings learns from a part of the rows: those of highest value, those of lowest, or some by
# chance. All are judged on pictures with right labels.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(2)


def accuracy(rows):
    head = make_pipeline(StandardScaler(), LogisticRegression())
    return head.fit(spaces["embeddings"][rows], labels[rows]).score(embedded(X[test]), y[test])


n = len(labels)
ranked = np.argsort(-value)
print("rows   highest   by chance   lowest")
kept = {}
for share in (0.2, 0.5, 0.9):
    k = round(share * n)
    chance = np.mean([accuracy(rng.choice(n, k, replace=False)) for _ in range(5)])
    kept[share] = accuracy(ranked[:k]), chance, accuracy(ranked[::-1][:k])
    print(f"{k:4}   {kept[share][0]:7.3f}   {kept[share][1]:9.3f}   {kept[share][2]:6.3f}")
print(f"{n:4}   {accuracy(ranked):7.3f}   (all rows)")

# %% tags=["check"]
auc = dict(zip(detected.method, detected.auc))
assert min(auc["knn, embeddings"], auc["−penalty, embeddings"], auc["knn, pixels"]) > 0.98
assert auc["−penalty, pixels"] < auc["−penalty, embeddings"]
assert abs(auc["knn, pixels"] - auc["knn, embeddings"]) < 0.01
assert kept[0.9][0] > accuracy(ranked) and kept[0.5][0] > kept[0.5][1]
assert kept[0.2][0] < kept[0.5][0] and kept[0.2][2] < kept[0.2][1]

# %% [markdown]
# ## Verdict
#
# - Values in embedding space find nearly all wrong labels, by neighbours and by a logistic model alike.
# - Pixels of these small pictures are nearly as good for neighbours. The embedding helps the logistic model. On photographs or
#   texts, where distances between raw inputs mean nothing, there is no choice.
# - Leaving out the tenth of lowest value beats keeping all rows, because wrong labels are among them. Half of the rows, the best
#   ones, are better than half by chance.
# - **The highest values alone are not a good training set.** With a fifth of the rows the gain is gone: rows of high value look
#   alike. Values are for throwing out bad rows, not for choosing a small set.
