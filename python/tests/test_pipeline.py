"""`from_pipeline`: rows are valued for the model that people already have."""

import copy

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits
from sklearn import ensemble, linear_model, neighbors, svm, tree
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import dshap
from dshap import ClassificationValuer, InputError, RegressionValuer, from_pipeline
from dshap._leaves import LeafSpace, leaves_of


@pytest.fixture(scope="module")
def labelled():
    return dshap.datasets.gaussian_c(400, seed=1)


@pytest.fixture(scope="module")
def numbered():
    return dshap.datasets.gaussian_r(400, 3, seed=1)


def test_a_linear_regression_with_its_earlier_steps(numbered):
    X, y = numbered
    model = make_pipeline(StandardScaler(), linear_model.LinearRegression()).fit(X, y)
    valuer = from_pipeline(model).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    by_hand = RegressionValuer(refit_intercept=True).fit(scaled, y)
    assert_same_bits(valuer.value_training(), by_hand.value_training())
    assert_same_bits(valuer.value(X[:9], y[:9]), by_hand.value(scaled[:9], y[:9]))
    np.testing.assert_allclose(valuer.valuer_.coef_, model[-1].coef_, rtol=1e-9)
    assert valuer.agreement_ == pytest.approx(1.0, abs=1e-12)
    assert "100.0 % of the variation agrees" in repr(valuer)
    through = from_pipeline(linear_model.LinearRegression(fit_intercept=False).fit(X, y)).fit(X, y).valuer_
    assert (through.intercept, through.refit_intercept) == (False, False)


@pytest.mark.parametrize("alpha", [0.5, 40.0])
def test_a_ridge_with_its_penalty(alpha, numbered):
    X, y = numbered
    model = linear_model.Ridge(alpha).fit(X, y)
    valuer = from_pipeline(model, m=60).fit(X, y)
    assert (valuer.valuer_.method, valuer.valuer_.ridge) == ("general", alpha)
    assert valuer.agreement_ == pytest.approx(1.0, abs=1e-12)
    by_hand = RegressionValuer("general", ridge=alpha, m=60).fit(X, y)
    assert_same_bits(valuer.value_training(), by_hand.value_training())
    # A stronger penalty gives other values.
    assert not np.allclose(valuer.value_training(), from_pipeline(linear_model.Ridge(2 * alpha).fit(X, y), m=60).fit(X, y).value_training())
    searched = linear_model.RidgeCV([0.1, 3.0]).fit(X, y)
    assert from_pipeline(searched).fit(X, y).valuer_.ridge == searched.alpha_


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_logistic_regression_with_its_penalty_and_intercept(C, intercept, labelled):
    X, y = labelled
    model = linear_model.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-10, max_iter=5000).fit(X, y)
    valuer = from_pipeline(model).fit(X, y)
    assert valuer.valuer_.ridge == pytest.approx(1 / C)
    # Coefficients are those of the model, so the penalty means the same.
    np.testing.assert_allclose(valuer.valuer_.coef_, model.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(valuer.valuer_.intercept_, model.intercept_, rtol=1e-4, atol=1e-6)
    assert valuer.agreement_ == 1.0


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_logistic_regression_with_a_penalty_chosen_by_cross_validation(labelled):
    X, y = labelled
    model = linear_model.LogisticRegressionCV(Cs=[0.02, 0.5], tol=1e-10, max_iter=5000).fit(X, y)
    chosen = float(np.ravel(model.C_)[0])
    valuer = from_pipeline(model).fit(X, y)
    assert valuer.valuer_.ridge == pytest.approx(1 / chosen) and valuer.agreement_ == 1.0
    np.testing.assert_allclose(valuer.valuer_.coef_, model.coef_, rtol=1e-5, atol=1e-7)
    same = linear_model.LogisticRegression(C=chosen).fit(X, y)
    assert_same_bits(valuer.value_training(), from_pipeline(same).fit(X, y).value_training())
    averaged = linear_model.LogisticRegressionCV(Cs=[0.02, 0.5], refit=False).fit(X, y)
    with pytest.raises(InputError, match="refit=True"):
        from_pipeline(averaged)
    mixed = linear_model.LogisticRegressionCV(Cs=[0.5], solver="saga", l1_ratios=[0.5], penalty="elasticnet", max_iter=5000)
    with pytest.raises(InputError, match="l1 penalty"):
        from_pipeline(mixed.fit(X, y))


@pytest.mark.parametrize("params", [{}, {"method": "second-order"}, {"method": "second-order", "ridge": 0.0}])
def test_three_labels_are_one_model_for_scikit_learn(params, recwarn):
    X, scores = dshap.datasets.gaussian_r(300, 2, seed=3)
    y = np.digitize(scores, np.quantile(scores, [0.33, 0.67]))
    model = linear_model.LogisticRegression().fit(X, y)
    from_pipeline(model, **params).fit(X, y)
    told = [str(warning.message) for warning in recwarn if "multinomial model of 3 labels" in str(warning.message)]
    assert len(told) == (0 if params.get("ridge") == 0.0 else 1)
    assert all("method='second-order', ridge=0" in words for words in told)


def test_a_logistic_regression_without_a_penalty_and_by_another_method(labelled):
    X, y = labelled
    model = linear_model.LogisticRegression(C=np.inf).fit(X, y)
    assert from_pipeline(model).fit(X, y).valuer_.ridge == 0
    other = from_pipeline(model, method="second-order", utility="brier").fit(X, y)
    assert_same_bits(
        other.value_training(), ClassificationValuer("second-order", utility="brier", ridge=0.0).fit(X, y).value_training()
    )


def test_neighbours_with_their_number_and_metric(labelled, numbered):
    X, y = labelled
    model = make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier(7, p=1)).fit(X, y)
    valuer = from_pipeline(model).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    by_hand = ClassificationValuer("knn", k=7, metric="manhattan", scale="none").fit(scaled, y)
    assert_same_bits(valuer.value_training(), by_hand.value_training())
    assert 0.8 < valuer.agreement_ <= 1
    X, y = numbered
    valuer = from_pipeline(neighbors.KNeighborsRegressor(4, metric="cosine").fit(X, y)).fit(X, y).valuer_
    assert (type(valuer), valuer.k, valuer.metric) == (RegressionValuer, 4, "cosine")


def test_frames_with_text_and_a_search(mixed):
    X, y = mixed
    X, y = X.dropna(), y[X.dropna().index]
    columns = make_column_transformer((OneHotEncoder(drop="first"), ["city", "size"]), (StandardScaler(), ["area"]))
    pipeline = make_pipeline(columns, linear_model.LinearRegression())
    model = GridSearchCV(pipeline, {"linearregression__fit_intercept": [True]}, cv=3).fit(X, y)
    valuer = from_pipeline(model).fit(X, y)
    assert valuer.valuer_.n_features_in_ == 5 and valuer.agreement_ == pytest.approx(1.0, abs=1e-9)
    assert np.isfinite(valuer.value(X, y)).all()


FORESTS = [
    tree.DecisionTreeClassifier(max_depth=4),
    ensemble.RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
    ensemble.ExtraTreesClassifier(30, min_samples_leaf=5, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=30, random_state=0),
    ensemble.HistGradientBoostingClassifier(max_iter=30),
]


@pytest.mark.parametrize("head", ["neighbours", "linear"])
@pytest.mark.parametrize("model", FORESTS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
def test_trees_are_valued_in_their_leaf_space(model, head, labelled):
    X, y = labelled
    model = copy.deepcopy(model).fit(X, y)
    valuer = from_pipeline(model, head=head, components=8).fit(X, y)
    assert 0.85 < valuer.agreement_ <= 1, "leaves tell what the model says"
    assert f"{100 * valuer.agreement_:.1f} % labels agree with the model" in repr(valuer)
    assert valuer.value_training().shape == (400,)
    # Another labelling of rows never seen is worth less.
    new_X, new_y = dshap.datasets.gaussian_c(300, seed=2)
    assert valuer.value(new_X, new_y).mean() > valuer.value(new_X, 1 - new_y).mean()


@pytest.mark.parametrize(
    "model",
    [
        ensemble.RandomForestRegressor(30, min_samples_leaf=5, random_state=0),
        ensemble.GradientBoostingRegressor(n_estimators=30, random_state=0),
        ensemble.HistGradientBoostingRegressor(max_iter=30),
    ],
    ids=lambda model: type(model).__name__,
)
def test_trees_that_predict_numbers(model, numbered):
    X, y = numbered
    model = copy.deepcopy(model).fit(X, y)
    valuer = from_pipeline(model, k=3).fit(X, y)
    assert 0.3 < valuer.agreement_ < 1
    assert "in leaf space (30 trees" in repr(valuer)


def test_distances_in_leaf_space_are_shares_of_trees(labelled):
    X, y = labelled
    forest = ensemble.RandomForestClassifier(20, min_samples_leaf=9, random_state=0).fit(X, y)
    space = LeafSpace(forest, None, 0)
    at = space.fit(X)
    leaves = forest.apply(X)
    for one, other in [(0, 1), (5, 77), (3, 3)]:
        share = np.mean(leaves[one] != leaves[other])
        assert np.sum((at[one] - at[other]) ** 2) == pytest.approx(share, abs=1e-12)
    np.testing.assert_allclose(space.transform(X), at)


def test_leaves_of_histogram_boosting_with_missing_cells_and_three_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=300), [-0.5, 0.5])
    X[rng.random(X.shape) < 0.1] = np.nan
    model = ensemble.HistGradientBoostingClassifier(max_iter=12).fit(X, y)
    leaves = leaves_of(model, X)
    assert leaves.shape == (300, 36), "twelve steps, one tree for each label"
    # Rows in the same leaves have the same scores.
    _, first, which = np.unique(leaves, axis=0, return_index=True, return_inverse=True)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, scores[first][which.ravel()], rtol=1e-12)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_boosting(name, labelled):
    package = pytest.importorskip(name, reason=f"{name} is not installed: ./test peers installs it")
    X, y = labelled
    kind = package.XGBClassifier if name == "xgboost" else package.LGBMClassifier
    model = kind(n_estimators=20, max_depth=3).fit(X, y)
    valuer = from_pipeline(model).fit(X, y)
    assert 0.85 < valuer.agreement_ <= 1
    assert valuer.value_training().shape == (400,)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (svm.SVC(), "there is no value for a SVC; from_pipeline takes LinearRegression, Ridge"),
        (linear_model.SGDClassifier(loss="log_loss"), r"use ClassificationValuer\(estimator=model\)"),
        (linear_model.LogisticRegression(solver="liblinear"), "also penalises the intercept"),
        (linear_model.LogisticRegression(class_weight="balanced"), "`class_weight` is not taken over"),
        (linear_model.LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=5000), "an l1 penalty has no value"),
        (neighbors.KNeighborsClassifier(weights="distance"), "weights='uniform'"),
        (neighbors.KNeighborsClassifier(metric="chebyshev"), "the metric is chebyshev"),
        (linear_model.LinearRegression(positive=True), "no closed form"),
    ],
    ids=str,
)
def test_models_without_a_value_say_why(model, words, labelled):
    with pytest.raises(InputError, match=words):
        from_pipeline(model.fit(*labelled))


def test_what_is_not_a_fitted_model(labelled):
    with pytest.raises(InputError, match="the LinearRegression is not fitted yet"):
        from_pipeline(linear_model.LinearRegression())
    with pytest.raises(InputError, match="expected a fitted estimator"):
        from_pipeline("forest")
    with pytest.raises(InputError, match="does not end with a model"):
        from_pipeline(make_pipeline(StandardScaler(), "passthrough").fit(*labelled))
    model = linear_model.LogisticRegression().fit(*labelled)
    with pytest.raises(InputError, match="`head` is 'trees'"):
        from_pipeline(model, head="trees")
    with pytest.raises(dshap.NotFittedError, match="not fitted yet"):
        from_pipeline(model).value_training()
    assert "not fitted" in repr(from_pipeline(model))


def test_values_through_a_pipeline_keep_the_index(labelled):
    X, y = labelled
    frame = pd.DataFrame(X, columns=list("abc"), index=[f"row {i}" for i in range(len(y))])
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), linear_model.LogisticRegression()).fit(frame, y)
    found = from_pipeline(model).fit(frame, y).explain_training()
    assert found.to_pandas().index[7] == "row 7"
