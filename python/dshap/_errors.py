"""What can go wrong, as exceptions."""

from sklearn import exceptions


class DshapError(Exception):
    """Base of all errors of dshap."""

    __module__ = "dshap"


class InputError(DshapError, ValueError):
    """Data or parameters that cannot be used; the message says what, where and what to try."""

    __module__ = "dshap"


class InputTypeError(InputError, TypeError):
    """An `InputError` about something of the wrong type, also a `TypeError`."""

    __module__ = "dshap"


class FileError(DshapError, OSError):
    """A valuer file that cannot be read or written, or is damaged.

    `filename` is the file; `errno` is the error number of the operating system, if there is one.
    """

    __module__ = "dshap"

    def __str__(self) -> str:
        # Python's own text would add the number and the name to a message that has both.
        return super().__str__() if self.strerror is None else str(self.strerror)


class NotFittedError(DshapError, exceptions.NotFittedError):
    """An estimator used before `fit`; also scikit-learn's exception of that name."""

    __module__ = "dshap"


class DshapWarning(UserWarning):
    """Something doubtful about values that were computed all the same."""

    __module__ = "dshap"
