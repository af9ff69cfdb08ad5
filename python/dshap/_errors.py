"""What can go wrong, as exceptions."""


class DshapError(Exception):
    """Base of all errors of dshap."""

    __module__ = "dshap"


class InputError(DshapError, ValueError):
    """Data or parameters that cannot be used; says what, where and what to try."""

    __module__ = "dshap"


class FileError(DshapError, OSError):
    """A valuer file that cannot be read or written."""

    __module__ = "dshap"


class DshapWarning(UserWarning):
    """A doubt about values that were computed all the same."""

    __module__ = "dshap"
