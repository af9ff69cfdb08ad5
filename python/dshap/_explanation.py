"""Why a row is worth what it is worth."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Explanation"]


class Explanation:
    """Why a row is worth what it is worth.

    Returned by `Values.explain_row`. Prints as sentences.

    Attributes
    ----------
    facts : dict
        The numbers behind the sentences, as `dshap explain --format json` has them: `value`,
        `rank`, `target` (prediction and residual, or the label, its probability and a suggested
        one), `value_if_predicted`, `distance`, `features` (contributions to the squared distance,
        largest first) and `nearest` (rows like it).
    sentences : list of str
        A sentence or two for each thing to say.
    """

    __module__ = "dshap"

    def __init__(self, facts: str, sentences: list[str]) -> None:
        self.facts: dict[str, Any] = json.loads(facts)
        self.sentences = sentences

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"<Explanation of row {self.facts['row']}>\n{self}"
