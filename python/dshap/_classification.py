"""`ClassificationValuer`: rows valued for logistic regression, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils import ClassifierTags

from dshap._dshap import Valuer
from dshap._inputs import Target
from dshap._labels import classes_of, labels_of
from dshap._names import Names
from dshap._prediction import PredictionValuer

__all__ = ["ClassificationValuer"]


class ClassificationValuer(PredictionValuer):
    """Values rows for logistic regression, in closed form.

    The value of a row is the expected drop in squared error when it joins a random
    set of other rows, summed over set sizes q−1 … m−1 and divided by m, in the
    weighted regression that stands in for the logistic model, with the coefficients
    and weights of the whole reference. Positive: the row is expected to help. What
    the row brings to a logistic model fitted anew on each set is another value,
    `method='second-order'`. `fit` takes the reference, which stands for the distribution of the data; `value` takes any
    rows with their labels.

    With more than two labels each is told from all others, and the values are
    summed; of `'second-order'` one softmax model tells all labels apart, under
    log-loss without a ridge and while it has no more than 500 coefficients.

    Parameters
    ----------
    method : str, default='gaussian'
        `'gaussian'`: exact for Gaussian inputs. `'calibrated'`: calibrated to
        other inputs. `'general'`: by drawing sets, for any inputs.
        `'lower'`, `'upper'`: bounds. `'second-order'`: the gain of a logistic model
        that is fitted anew on each set, under `utility`; rows that contradict their
        label can be worth much to it, so it does not find wrong labels. `'knn'`: for a
        model that is the share of the nearest rows with a label, any number of labels.
        `'knn-shapley'`: the same as Shapley values of a finite dataset; only
        `value_training`.
    m : int, optional
        Largest set size, the row included. By default the number of reference rows.
    q : int, optional
        Smallest set whose utility counts. By default p + max(p, 10), at most m,
        at least p + 3, for p design columns, the intercept among them; for
        `'knn'` k + 1. `'second-order'` counts all coefficients of a softmax model for
        p, and stays as far above a shift that is given or measured.
    intercept : bool, default=True
        Whether there is a column of ones.
    ridge : float, default=0.0
        Ridge penalty γ of the fit, (γ/2)|β|² on the summed log-loss; the intercept
        is not penalised. Labels that the features tell apart without an error have
        no fit without one.
    positive : label, optional
        With two labels, the one that counts as 1. By default the later one.
    utility : str, default='log-loss'
        What the refitted models of `'second-order'` are judged by: `'log-loss'`,
        `'accuracy'` or `'brier'`.
    spread : str, default='sandwich'
        How the spread of their coefficients is known: from the residuals of the
        reference (`'sandwich'`), or from the `'model'`, with less noise where the
        model holds.
    small_ridge : float, default=0.0
        Ridge penalty of the sets of `'second-order'`, to first order, the reference
        being fitted without one; `ridge` is for penalties of ordinary size. Not
        under `'accuracy'`.
    shift : float or 'measured', optional
        Of `'second-order'` under log-loss without a ridge: how many rows fewer a set
        seems to have than it has. By default p + 1; `'measured'` on a thousand
        refitted sets.
    constant : str, default='gain'
        The row-independent constant of `'gaussian'`: `'gain'`, `'theorem'` or
        `'full:C'` with a number C.
    convention : str, default='definition'
        The sum as defined, or as `'printed'` in the paper; bounds as printed are
        on the authors' variables.
    bound_c, bound_C : float, optional
        Constants of `'lower'` and `'upper'`. By default 0.5 and 1.
    stop : float, optional
        When draws of `'general'` are good enough: their errors as a share of the
        spread of values (0.02 by default). Of printed bounds, Algorithm 4's rule.
    samples : int, optional
        Rounds of `'general'` at most (4096 by default), reference rows that are
        test rows of `'knn'` and `'knn-shapley'` (10 000).
    seed : int, default=0
        Seed of `'general'`, of a sample of test rows, and of standard errors and the
        measured shift of `'second-order'`.
    k : int, default=5
        `'knn'`, `'knn-shapley'`: how many nearest rows of a set predict.
    metric : str, default='euclidean'
        `'knn'`, `'knn-shapley'`: how far apart rows are. `'euclidean'`,
        `'manhattan'` or `'cosine'`.
    scale : str, default='std'
        `'knn'`, `'knn-shapley'`: columns over their standard deviations, or
        `'none'`: as they are.
    dependent : str, default='drop'
        Columns that are constant or depend on earlier ones: `'drop'` or `'error'`.
    pca : int, optional
        Reduce the columns to so many leading principal components of the reference,
        centred and not scaled: for embeddings, such as the last layer of a network.
    categorical : list, optional
        Columns that are categories whatever they hold: names, or numbers where
        columns have no names. Text and categorical columns of a frame are
        categories in any case.
    missing : str, default='error'
        Missing cells: `'error'`, `'drop'` (such rows have no value and no part in
        the fit) or `'mean'` of the reference column. A label cannot be filled in.
    unseen : str, default='error'
        Categories that the reference does not have: `'error'`, or `'zero'`, like
        its first one. A label that the reference does not have is always an error.
    keep_training : bool, default=True
        Keep hold of the arrays given to `fit`, for `value_training`. They are not
        copied, so they must not be changed; if they are, that is noticed.
    n_jobs : int, optional
        Number of threads. None and −1 are all cores, −2 all but one and so on; at
        most 256, or as many as there are cores, are started. The values do not
        depend on it.
    progress : bool, default=False
        Show a bar of tqdm for each pass over the data.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, as they were given. With two of them the last is the positive one.
    coef_ : array of shape (1, n_columns) or (n_classes, n_columns)
        Coefficients of the design columns, 0 for dropped ones: of the positive
        label, or of each against the others. Of a softmax model those of each label
        against the first, whose own are 0.
    intercept_ : array of shape (1,) or (n_classes,)
        The log-odds where all features are 0, of a softmax model against the first
        label.
    deviance_ : float
        −2 times the log-likelihood of the reference, summed over fits.
    label_rows_ : array of shape (n_classes,)
        Reference rows of each label.
    n_iter_ : int
        Passes over the reference that the fit took.
    n_rows_ : int
        Reference rows.
    test_rows_ : int
        `'knn'`, `'knn-shapley'`: rows that utility is measured on. These have no
        coefficients, deviance and passes.
    effective_rows_ : float
        How many rows without weights would tell as much: (Σw)²/Σw².
    p_, q_, m_ : int
        Design columns, the intercept among them, smallest and largest set size.
    columns_ : list of str
        Names of the design columns, such as `age` or `city=Paris`.
    dropped_ : list of str
        Columns left out because they are constant or dependent.
    n_features_in_ : int
        Features seen during fit.
    feature_names_in_ : array of str
        Their names, if they have any.
    warnings_ : list of str
        Doubts about the fit.

    Examples
    --------
    >>> from dshap import ClassificationValuer
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(500, seed=1)
    >>> wrong = abs(X[:, 0]).argmax()                # a clear case
    >>> y[wrong] = X[wrong, 0] < 0                   # with the other label
    >>> valuer = ClassificationValuer().fit(X, y)
    >>> valuer.classes_.tolist(), valuer.coef_.shape
    ([0, 1], (1, 3))
    >>> bool(valuer.value_training().argmin() == wrong)
    True
    """

    __module__ = "dshap"

    _TASK: ClassVar[str] = "classification"
    _LEARNED: ClassVar[tuple[str, ...]] = (
        "coef",
        "columns",
        "deviance",
        "dropped",
        "effective_rows",
        "intercept",
        "label_rows",
        "m",
        "n_iter",
        "n_rows",
        "p",
        "q",
        "test_rows",
    )

    def __init__(
        self,
        method: str = "gaussian",
        *,
        m: int | None = None,
        q: int | None = None,
        intercept: bool = True,
        ridge: float = 0.0,
        positive: Any = None,
        utility: str = "log-loss",
        spread: str = "sandwich",
        small_ridge: float = 0.0,
        shift: float | str | None = None,
        constant: str = "gain",
        convention: str = "definition",
        bound_c: float | None = None,
        bound_C: float | None = None,
        stop: float | None = None,
        samples: int | None = None,
        seed: int = 0,
        k: int = 5,
        metric: str = "euclidean",
        scale: str = "std",
        dependent: str = "drop",
        pca: int | None = None,
        categorical: list[Any] | None = None,
        missing: str = "error",
        unseen: str = "error",
        keep_training: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.method = method
        self.m = m
        self.q = q
        self.intercept = intercept
        self.ridge = ridge
        self.positive = positive
        self.utility = utility
        self.spread = spread
        self.small_ridge = small_ridge
        self.shift = shift
        self.constant = constant
        self.convention = convention
        self.bound_c = bound_c
        self.bound_C = bound_C
        self.stop = stop
        self.samples = samples
        self.seed = seed
        self.k = k
        self.metric = metric
        self.scale = scale
        self.dependent = dependent
        self.pca = pca
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    def _read_target(self, y: Any) -> Target:
        return labels_of(y)

    def _adopt(self, fitted: Valuer, names: Names | None, target: Target | None = None) -> None:
        super()._adopt(fitted, names, target)
        kind, stored = fitted.facts()["labels"]
        self.classes_ = classes_of(kind, stored, target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags
