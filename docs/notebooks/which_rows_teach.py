# %% [markdown]
# # Which rows teach this prediction?
#
# A model predicts the progression of diabetes for one patient, and the patient asks why. Which patients of the training
# data taught the model that prediction? We ask dshap, and then check the answer by leaving these patients out.

# %%
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import dshap

data = load_diabetes(as_frame=True)
X, y = data.data, data.target
train, held_out = X.index[:400], X.index[400:]
X_train, y_train = X.loc[train], y.loc[train]
model = LinearRegression().fit(X_train, y_train)

misses = (model.predict(X.loc[held_out]) - y.loc[held_out]).abs()
case = misses.idxmax()                                      # the patient whose prediction is worst
print(f"patient {case}: predicted {model.predict(X.loc[[case]])[0]:.0f}, really {y[case]:.0f}")

# %% [markdown]
# ## Value all rows for this patient alone
#
# `teach` values each training row for one prediction, in closed form. A positive value means that the row is expected to
# bring predictions closer to this patient's real target.

# %%
valuer = dshap.RegressionValuer(refit_intercept=False).fit(X_train, y_train)
taught = valuer.teach(X.loc[[case]], y.loc[[case]])[0]
best, worst = np.argsort(-taught)[:10], np.argsort(taught)[:10]
X_train.assign(target=y_train, value=taught).iloc[best][["bmi", "bp", "s5", "target", "value"]].round(3)

# %% [markdown]
# ## See them
#
# Body mass and the blood value `s5` matter most to this model. The case is the star.

# %%
import matplotlib.pyplot as plt

figure, panel = plt.subplots(figsize=(6, 4))
limit = np.quantile(np.abs(taught), 0.98)
dots = panel.scatter(X_train["bmi"], X_train["s5"], c=taught, cmap="RdBu", vmin=-limit, vmax=limit, s=18)
panel.scatter(X_train["bmi"].iloc[best], X_train["s5"].iloc[best], s=90, facecolors="none", edgecolors="black")
panel.plot(X.loc[case, "bmi"], X.loc[case, "s5"], "k*", markersize=16)
panel.set_xlabel("bmi")
panel.set_ylabel("s5")
figure.colorbar(dots, label="value for this patient")
panel.set_title("What each patient teaches about the starred one (circles: the ten best)")

# %% [markdown]
# ## Check by leaving rows out
#
# If the values are right, the prediction moves away from the truth without the best teachers, and towards it without the
# worst. A random choice says how much a prediction moves anyway.

# %%
rng = np.random.default_rng(0)


def miss_without(rows):
    kept = np.setdiff1d(np.arange(len(train)), rows)
    fitted = LinearRegression().fit(X_train.iloc[kept], y_train.iloc[kept])
    return abs(fitted.predict(X.loc[[case]])[0] - y[case])


k = 20
by_chance = [miss_without(rng.choice(len(train), k, replace=False)) for _ in range(200)]
all_rows, no_best, no_worst = miss_without([]), miss_without(np.argsort(-taught)[:k]), miss_without(np.argsort(taught)[:k])
print(f"miss with all rows               {all_rows:.1f}")
print(f"without the {k} best teachers     {no_best:.1f}")
print(f"without the {k} worst             {no_worst:.1f}")
print(f"without {k} rows by chance        {np.mean(by_chance):.1f}, in 95 % of draws below {np.quantile(by_chance, 0.95):.1f}")

# %% tags=["check"]
assert no_best > np.quantile(by_chance, 0.95) and no_worst < np.quantile(by_chance, 0.05)
assert no_best > all_rows > no_worst

# %% [markdown]
# ## Verdict
#
# - The answer holds when it is checked: without its best teachers the prediction gets worse than without nearly any random
#   choice of as many rows, and without the worst ones it gets better.
# - A good teacher need not look like the patient. What counts is which way a row pulls the coefficients in this patient's
#   direction.
# - This is about one patient. Rows that are bad teachers here may be good for others: do not delete them for one case.
