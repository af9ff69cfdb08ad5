# %% [markdown]
# # Buy data from three vendors
#
# You have 40 patients and want to predict how their diabetes progresses. Three vendors offer more. One has good rows, one has
# careless measurements, and one resells rows of the first. What is each of them worth to you, and how should a budget be
# divided?

# %%
import numpy as np
from sklearn.datasets import load_diabetes

import dshap

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(1)
order = rng.permutation(len(y))
X, y = X[order], y[order]

own = X[:40], y[:40]
test = X[240:], y[240:]                                     # 202 patients to predict
careful, careless, copied = slice(40, 140), slice(140, 240), slice(40, 100)
noisy = y[careless] + rng.normal(0, 300, 100)               # four times the spread of the real targets
rows = np.vstack([X[careful], X[careless], X[copied]])
targets = np.concatenate([y[careful], noisy, y[copied]])
vendor = np.repeat(["careful", "careless", "copycat"], [100, 100, 60])

# %% [markdown]
# ## Ask what each brings
#
# `owners` plays a game: every group of vendors trains a model together with the rows you have, and is worth the drop in
# squared error for the patients in `test`. A vendor's value is the mean of what it adds, over all orders in which vendors may
# join. `given_own` is what it brings to you alone.

# %%
found = dshap.owners(rows, targets, by=vendor, test=test, own=own)
print(found)

# %%
import matplotlib.pyplot as plt

figure, panel = plt.subplots(figsize=(6, 2.4))
panel.barh(found.owner, found.shapley, xerr=2 * found.stderr, color="#3b7dd8", capsize=4)
panel.axvline(0, color="black", linewidth=0.8)
panel.invert_yaxis()
panel.set_xlabel("drop in squared error, ± 2 standard errors")
panel.set_title("What each vendor brings")

# %% [markdown]
# `careful` and `copycat` share the credit for the 60 rows that both have; the column `duplicates` shows them. Suppose you buy
# from `careful` first. What are the others worth then?

# %%
with_careful = np.vstack([own[0], X[careful]]), np.concatenate([own[1], y[careful]])
others = vendor != "careful"
later = dshap.owners(rows[others], targets[others], by=vendor[others], test=test, own=with_careful, game_only=True)
print(later)

# %% [markdown]
# ## Check it with a model of your own
#
# The game above fits ridge regressions. This is a plain one, fitted again with each offer.

# %%
from sklearn.linear_model import RidgeCV


def error(*groups):
    taken = np.isin(vendor, groups)
    model = RidgeCV(np.logspace(-3, 2, 20))
    model.fit(np.vstack([own[0], rows[taken]]), np.concatenate([own[1], targets[taken]]))
    return float(np.mean((model.predict(test[0]) - test[1]) ** 2))


alone = error()
print(f"your 40 rows             {alone:6.0f}")
for groups in (["careful"], ["careless"], ["copycat"], ["careful", "careless"], ["careful", "copycat"]):
    print(f"with {' and '.join(groups):<20}{error(*groups):6.0f}")

# %% [markdown]
# ## Divide a budget

# %%
paid = dshap.payout(found, 10_000)
print(paid)

# %% tags=["check"]
worth = dict(zip(found.owner, found.shapley))
then = dict(zip(later.owner, later.given_own))
money = dict(zip(paid.owner, paid.payout))
stderr = dict(zip(found.owner, found.stderr))
assert worth["careful"] > worth["copycat"] > worth["careless"]
assert worth["careless"] < 2 * stderr["careless"]
assert max(then.values()) < 0.1 * worth["careful"]
assert max(money, key=money.get) == "careful" and abs(sum(money.values()) - 10_000) < 1
assert error("careful") < alone and error("careful") <= min(error("careful", "careless"), error("copycat"))

# %% [markdown]
# ## Verdict
#
# - Buy from `careful`, and from nobody else: with these rows, what the others add is next to nothing, or harms.
# - `copycat` looks good as long as you compare it with nothing. The `duplicates` show why, and `own=` shows what is left.
# - For `careless`, the standard error is larger than the value. These data do not say that its rows help.
# - A payout by value divides the money among all three, since each is worth something before the others join. It is for
#   sharing what was earned together. To decide what to buy, look at `given_own`, and ask again after each purchase.
