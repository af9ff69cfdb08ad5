"""Adapters beside the real packages; `./test peers` installs each of them into an environment of its own."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import dshap
from dshap import ClassificationValuer, RegressionValuer


@pytest.fixture(scope="module")
def labelled():
    X, y = dshap.datasets.gaussian_c(200, seed=1)
    return X, y.astype(np.int64)


class TestPyDvl:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip("pydvl", reason="pyDVL is not installed: ./test peers installs it")

    def test_a_valuation_returns_the_result_of_pydvl(self, labelled):
        from pydvl.valuation import Dataset, ValuationResult

        from dshap.pydvl import DshapValuation

        X, y = labelled
        result = DshapValuation(ClassificationValuer()).fit(Dataset(X, y)).result
        assert isinstance(result, ValuationResult)
        values = ClassificationValuer().fit(X, y).explain_training(std_error=True)
        np.testing.assert_array_equal(result.values, values.value)
        np.testing.assert_allclose(result.stderr, values.stderr)
        assert result.algorithm == "dshap gaussian" and result.status.name == "Converged"
        # What users of pyDVL do with a result.
        result.sort(inplace=True)
        assert result.indices[0] == values.value.argmin()
        assert pickle.loads(pickle.dumps(DshapValuation(RegressionValuer()))).valuer.method == "gaussian"

    def test_the_usual_valuer_and_methods_without_errors(self, labelled):
        from pydvl.valuation import Dataset

        from dshap.pydvl import DshapValuation

        X, y = dshap.datasets.gaussian_r(200, 3, seed=1)
        fitted = DshapValuation().fit(Dataset(X, y))
        np.testing.assert_array_equal(fitted.result.values, RegressionValuer().fit(X, y).value_training())
        bounds = DshapValuation(RegressionValuer("lower", q=150)).fit(Dataset(X, y)).result
        assert np.isfinite(bounds.values).all()

    def test_knn_shapley_is_that_of_pydvl(self, labelled):
        from pydvl.valuation import Dataset, KNNShapleyValuation

        from dshap.pydvl import DshapValuation

        X, y = labelled
        train, test = Dataset(X[:150], y[:150]), Dataset(X[150:], y[150:])
        theirs = KNNShapleyValuation(KNeighborsClassifier(5), test, progress=False).fit(train).result
        ours = DshapValuation(ClassificationValuer("knn-shapley", k=5, scale="none"), test).fit(train).result
        assert np.corrcoef(ours.values, theirs.values)[0, 1] > 0.9999

    def test_data_oob_is_that_of_pydvl(self, labelled):
        from pydvl.valuation import DataOOBValuation, Dataset

        X, y = labelled
        forest = RandomForestClassifier(40, random_state=0).fit(X, y)
        theirs = DataOOBValuation(forest).fit(Dataset(X, y)).result
        np.testing.assert_allclose(dshap.baselines.data_oob(forest, X, y).value, theirs.values, rtol=1e-9)

    def test_groups_are_refused(self, labelled):
        from pydvl.valuation import Dataset, GroupedDataset

        from dshap.pydvl import DshapValuation

        X, y = labelled
        with pytest.raises(TypeError, match=r"dshap\.owners"):
            DshapValuation().fit(GroupedDataset.from_dataset(Dataset(X, y), [i % 5 for i in range(len(y))]))


class TestOpenDataVal:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip("opendataval", reason="OpenDataVal is not installed: ./test peers installs it")

    def test_an_evaluator_in_its_own_experiment(self, labelled):
        from opendataval.dataloader import DataFetcher
        from opendataval.dataval import DataEvaluator

        from dshap.opendataval import DshapEvaluator

        X, y = labelled
        one_hot = np.eye(2)[y]
        fetcher = DataFetcher.from_data_splits(
            X[:120], one_hot[:120], X[120:160], one_hot[120:160], X[160:], one_hot[160:], one_hot=True
        )
        evaluator = DshapEvaluator(ClassificationValuer("knn", k=5), use_valid=True).train(fetcher)
        assert isinstance(evaluator, DataEvaluator)
        x_train, y_train, x_valid, y_valid, *_ = (np.asarray(part, dtype=float) for part in fetcher.datapoints)
        by_hand = ClassificationValuer("knn", k=5).fit(
            x_train, y_train.argmax(axis=1), test=(x_valid, y_valid.argmax(axis=1))
        )
        np.testing.assert_allclose(evaluator.data_values, by_hand.value_training(), rtol=1e-6)
        assert np.isfinite(DshapEvaluator().train(fetcher).data_values).all()

    def test_knn_shapley_is_that_of_opendataval(self, labelled):
        import torch
        from opendataval.dataval import KNNShapley

        from dshap.opendataval import DshapEvaluator

        X, y = labelled
        x, hot = torch.tensor(X, dtype=torch.float32), torch.tensor(np.eye(2)[y], dtype=torch.float32)
        data = x[:150], hot[:150], x[150:], hot[150:]
        theirs = KNNShapley(k_neighbors=5).input_data(*data).train_data_values().evaluate_data_values()
        valuer = ClassificationValuer("knn-shapley", k=5, scale="none")
        ours = DshapEvaluator(valuer, use_valid=True).input_data(*data).train_data_values().evaluate_data_values()
        assert np.corrcoef(ours, theirs)[0, 1] > 0.999


class TestCleanlab:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip("cleanlab", reason="cleanlab is not installed: ./test peers installs it")

    def test_the_forms_are_those_of_cleanlab(self, labelled):
        from cleanlab.classification import CleanLearning
        from cleanlab.filter import find_label_issues
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_predict

        X, _ = labelled
        y = (X.sum(axis=1) > 0).astype(np.int64)
        wrong_y, is_wrong = dshap.evaluate.corrupt(y, 0.1, seed=1)
        probs = cross_val_predict(LogisticRegression(), X, wrong_y, method="predict_proba")
        theirs = find_label_issues(wrong_y, probs)
        ours = dshap.find_label_issues(X, wrong_y, probs)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        ranked_theirs = find_label_issues(wrong_y, probs, return_indices_ranked_by="self_confidence")
        ranked = dshap.find_label_issues(X, wrong_y, probs, output="ranked")
        assert ranked.dtype.kind == ranked_theirs.dtype.kind
        assert is_wrong[ranked].mean() > 0.5 and is_wrong[ranked_theirs].mean() > 0.5
        frame = CleanLearning(LogisticRegression()).find_label_issues(X, wrong_y)
        assert set(dshap.find_label_issues(X, wrong_y, probs, output="frame").columns) == set(frame.columns)
