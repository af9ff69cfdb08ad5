"""Signatures, defaults and docstrings agree with the catalogue, so a new option cannot be forgotten in Python."""

import ast
import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import dshap
from dshap import ClassificationValuer, DensityValuer, InputError, RegressionValuer, _sets, baselines, evaluate
from dshap._catalogue import methods, methods_for, option_of, options, takes

VALUERS = {"regression": RegressionValuer, "classification": ClassificationValuer, "density": DensityValuer}

#: Functions that fit models to sets of rows, and their methods.
FUNCTIONS = {
    baselines.d_shapley: "d-shapley",
    baselines.tmc_shapley: "tmc-shapley",
    baselines.exact_shapley: "exact-shapley",
    baselines.leave_one_out: "loo",
}

#: Parameters of the estimators that are not options.
ONLY_PYTHON = {"estimator", "method", "keep_training", "n_jobs", "progress"}

#: Options that Python has in another form.
OTHERWISE = {
    "by": "`Values.by`",
    "exclude": "columns of X",
    "features": "columns of X",
    "id": "the index of a frame",
    "keep": "the index of a frame",
    "population": "`population` of `fit`",
    "per_class": "`Values.per_class`",
    "reference": "`fit`",
    "stderr": "`std_error` of `explain`",
    "target": "y",
    "task": "the class",
    "test": "`test` of `fit`",
    "weight": "`sample_weight` of `fit`",
}

#: Options that only files need, and sets of rows, which only the command line values.
ONLY_COMMAND_LINE = {"checkpoint", "dates", "decimal", "no_header", "sets", "synergy"}

#: Groups of options about runs, output, trials and owners; `dshap.owners` and `dshap.payout` have parameters of their own.
OTHER_GROUPS = {"output", "run", "trial", "owners", "payout"}


#: Options of commands about files, output and the run; Python has arrays, results and `n_jobs` instead.
OF_FILES = {"csv_safe", "dates", "decimal", "exclude", "features", "format", "memory", "no_header", "quiet", "strict"}
OF_FILES |= {"summary", "target", "threads"}

#: What can be done to X before.
OF_COLUMNS = {"dependent", "missing", "pca", "positive", "rare_levels", "unseen"}

#: Functions that do what a command does: the command, and its options that Python has otherwise, or can do to X before.
COMMANDS = {
    dshap.owners: ("owners", (OF_COLUMNS - {"missing", "unseen"}) | {"explain_test", "manifest", "segment"}),
    dshap.payout: ("payout", set()),
    dshap.clean: ("clean", OF_COLUMNS | {"mark"}),
    dshap.suspects: ("clean", OF_COLUMNS | {"mark", "repeats"}),
}


def parameters(function):
    return {name: one for name, one in inspect.signature(function).parameters.items() if name != "self"}


def expected_options(task):
    """Options for an estimator: those of its methods and of every method, if they make sense in Python."""
    taken = {one["option"] for entry in methods_for(task) for one in entry["options"] if task in one["tasks"]}
    taken |= {
        name
        for name, option in options().items()
        if option["scope"] in ("always", "fit") and option["group"] not in OTHER_GROUPS
    }
    return taken - set(OTHERWISE) - ONLY_COMMAND_LINE


@pytest.mark.parametrize("task", VALUERS)
def test_every_option_is_a_parameter_and_every_parameter_an_option(task):
    found = {option_of(name)["name"] for name in set(VALUERS[task]().get_params()) - ONLY_PYTHON}
    assert found == expected_options(task)


def same(parameter, default, catalogued):
    """Whether a default of Python is that of the catalogue."""
    if parameter == "intercept":
        return default is True
    if isinstance(default, bool):
        return default is False and catalogued is None
    return str(default) == str(catalogued) or isinstance(default, float) and default == catalogued


@pytest.mark.parametrize("task", VALUERS)
def test_defaults_agree(task):
    for name, parameter in parameters(VALUERS[task].__init__).items():
        if name in ONLY_PYTHON or parameter.default is None:
            continue
        option = option_of(name)
        taken = [one for entry in methods_for(task) if (one := takes(entry, option["name"], task)) is not None]
        own = {one["default"] for one in taken if one["default"] is not None} or {option["default"] or None}
        # The ridge of a logistic fit is automatic unless other options ask for none.
        if name == "ridge":
            own = {one.split(";")[0] if isinstance(one, str) else one for one in own - {None}}
        assert all(same(name, parameter.default, default) for default in own), (name, parameter.default, own)


@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
@pytest.mark.parametrize("task", VALUERS)
def test_every_method_is_documented_and_accepted(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = {"regression": X[:, 0] + rng.normal(size=60), "classification": X[:, 0] + rng.logistic(size=60) > 0}.get(task)
    for entry in methods_for(task):
        name = entry["name"]
        assert f"`'{name}'`: " in VALUERS[task].__doc__, name
        params = {"samples": 8} if takes(entry, "samples", task) and entry["kind"] == "drawing" else {}
        fitted = VALUERS[task](name, **params).fit(*([X] if y is None else [X, y]))
        assert fitted._fitted.params()["method"] == name
    for name in set(methods()) - {entry["name"] for entry in methods_for(task)}:
        with pytest.raises(InputError, match=f"`method` is '{name}'; expected '{methods_for(task)[0]['name']}'"):
            VALUERS[task](name).fit(*([X] if y is None else [X, y]))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_take_the_options_of_their_method(function):
    entry = methods()[FUNCTIONS[function]]
    taken = {one["option"] for one in entry["options"]} - set(OTHERWISE) - ONLY_COMMAND_LINE
    # These change nothing about the values of baselines, or can be done to X before.
    wanted = (taken | {"categorical", "missing", "rare_levels", "seed", "task"}) - {"positive", "pca", "every_row"}
    found = parameters(function)
    names = {option_of(name)["name"] for name in set(found) - {"X", "y", "test", "reference", "n_jobs", "progress"}}
    assert names - {"unseen"} == wanted
    assert ("reference" in found) == any(one["option"] == "reference" for one in entry["options"])


@pytest.mark.parametrize("function", [*FUNCTIONS, evaluate.point_addition, evaluate.point_removal])
def test_defaults_of_functions_are_those_the_engine_compares_with(function):
    for name, parameter in parameters(function).items():
        if name in _sets.DEFAULTS:
            assert parameter.default == _sets.DEFAULTS[name], name


@pytest.mark.parametrize("function", COMMANDS, ids=lambda function: function.__name__)
def test_functions_take_the_options_of_their_command(function, command):
    name, elsewhere = COMMANDS[function]
    commands = json.loads(command("methods", "--json").stdout)["commands"]
    taken = next(set(entry["options"]) for entry in commands if entry["name"] == name)
    assert elsewhere <= taken
    only_python = {"X", "y", "estimator", "method", "n_jobs", "owners", "predictions", "progress"}
    found = {option_of(name)["name"] for name in set(parameters(function)) - only_python}
    assert found == taken - OF_FILES - elsewhere


def test_the_estimator_of_neighbours_on_spark_takes_the_options_of_the_method():
    """Its parameters are a list by hand, read here as text, since PySpark may not be installed."""
    source = (Path(dshap.__file__).parent / "spark" / "_estimators.py").read_text()
    listed = [
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["_TAKEN"]
    ]
    assert len(listed) == 1
    of_columns = {"categorical", "missing", "rare_levels", "unseen"}
    taken = {one["option"] for one in methods()["knn"]["options"]} - set(OTHERWISE)
    # Lists are kept in a file of one machine.
    assert set(listed[0]) - of_columns == taken - {"lists"}


def test_docstrings_are_filled_in():
    for valuer in VALUERS.values():
        assert "{" not in valuer.__doc__.split("Examples")[0], "no option is left unspelled"
        assert max(map(len, valuer.__doc__.splitlines())) <= 100
    assert "`scale='none'`" in RegressionValuer.__doc__


@pytest.mark.parametrize(
    "valuer",
    [
        RegressionValuer(m=50, q=9, intercept=False, dependent="error", missing="mean", unseen="zero", pca=2),
        RegressionValuer(refit_intercept=True, constant="full:2.5"),
        RegressionValuer("general", ridge=1.5, stop=0.1, samples=8, seed=3),
        RegressionValuer("general", targets="observed", samples=8),
        RegressionValuer("lower", q=55, bound_c=0.7, bound_C=0.1, ridge=2.0),
        RegressionValuer("algorithm-3", stop=0.1, stop_draws=0.2, samples=9, seed=1),
        RegressionValuer("knn", k=3, metric="manhattan", scale="none", samples=20, seed=2),
        ClassificationValuer("second-order", utility="brier", ridge=0.5, intercept=False),
        ClassificationValuer("second-order", spread="model", shift=2.5),
        ClassificationValuer("second-order", shift="measured", seed=4),
        ClassificationValuer("upper", convention="printed", stop=0.25, ridge=2.0),
        ClassificationValuer(positive=False, convention="printed"),
        DensityValuer("monte-carlo", bandwidth=0.5, kernel="triangular", scale="none", seed=5),
        DensityValuer(bandwidth="silverman", every_row=True, samples=40, m=30),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
def test_a_loaded_estimator_has_the_parameters_it_was_saved_with(valuer, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.logistic(size=60)
    y = {"regression": y, "classification": y > 0}.get(valuer._TASK)
    valuer.fit(*([X] if y is None else [X, y])).save(tmp_path / "v.dshap")
    loaded = type(valuer).load(tmp_path / "v.dshap")
    assert loaded.get_params() == valuer.get_params()
    assert pickle.loads(pickle.dumps(loaded)).get_params() == valuer.get_params()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"ridge": "1"}, "`ridge` is '1'; expected"),
        ({"ridge": True}, "`ridge` is True; expected"),
        ({"m": True}, "`m` is True; expected a whole number of at least 1"),
        ({"m": "10"}, "`m` is '10'; expected a whole number of at least 1"),
        ({"k": np.bool_(True)}, "expected a whole number of at least 1"),
        ({"seed": 1.5}, "`seed` is 1.5; expected a whole number of at least 0"),
        ({"metric": 3}, "`metric` is 3; expected 'euclidean', 'manhattan' or 'cosine'"),
        ({"refit_intercept": 1}, "`refit_intercept` is 1; expected True or False"),
        ({"stop": float("inf")}, "`stop` is inf; expected a number from 0 to below 1"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(params, words):
    X, y = dshap.datasets.gaussian_r(60, 2)
    with pytest.raises(InputError) as caught:
        RegressionValuer(**params).fit(X, y)
    assert words in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    X, y = dshap.datasets.gaussian_r(60, 2)
    given = RegressionValuer(
        m=np.int32(40), ridge=np.float64(0.0), intercept=np.bool_(True), seed=np.uint8(0), k=np.int64(5)
    )
    np.testing.assert_array_equal(given.fit(X, y).value(X, y), RegressionValuer(m=40).fit(X, y).value(X, y))
    assert given.m_ == 40
