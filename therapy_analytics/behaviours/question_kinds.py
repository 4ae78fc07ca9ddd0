"""Which of five kinds a question is, as questions that make somebody think are told apart, or of none.

*clarity* asks what is meant, *assumptions* what is taken for granted, *evidence* for reasons and facts, *viewpoints*
how it looks from elsewhere, and *implications* what follows; *other* questions ask for facts, plans, permission
or feelings. A linear model over hashed words, hand-crafted features and the mean of static word vectors reads each
question by itself. It was trained on questions of a forum for debate and on invented questions of sessions
(``question_kinds_weights/NOTICE.md``) by ``tools/train_question_kinds.py``, as written and without punctuation.

References
----------
Paul, R., & Elder, L. (2007). Critical thinking: The art of Socratic questioning. Journal of Developmental Education,
31.

Ang, B. H., Gollapalli, S. D., & Ng, S.-K. (2023). Socratic question generation: A novel dataset, models, and
evaluation. Proceedings of EACL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from therapy_analytics.behaviours.text_model import Floats, TextModel, Texts, load_text_model, read_texts
from therapy_analytics.language import TurnArrays
from therapy_analytics.language.segments import turns_from_texts

KINDS = ("clarity", "assumptions", "evidence", "viewpoints", "implications", "other")
"""Columns of everything that the model gives."""
WEIGHTS = Path(__file__).parent / "question_kinds_weights"


@dataclass(frozen=True, slots=True, eq=False)
class QuestionKinds:
    """The model, asked for each question."""

    model: TextModel

    def predict(self, questions: TurnArrays) -> Floats:
        """Return the probability of each of `KINDS`, (n_questions, 6), rows adding up to 1; nan without words.

        No bit of it depends on the other questions.
        """
        return self.of_read(questions, read_texts(questions))

    def of_read(self, questions: TurnArrays, texts: Texts) -> Floats:
        """Return the same for questions that are read."""
        p = self.model.probabilities(texts)
        p[questions.n_words == 0] = np.nan
        return p

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """Return the probabilities of texts, each read as one question.

        Examples
        --------
        >>> p = load_question_kinds().of_texts(["What do you mean by that?", "How would your sister see it?"])
        >>> p.shape, bool(p[0, 0] > p[1, 0])
        ((2, 6), True)
        """
        return self.predict(turns_from_texts(texts))


def load_question_kinds(folder: Path = WEIGHTS) -> QuestionKinds:
    """Load the model of the package, or that of another folder.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    return QuestionKinds(load_text_model(folder))
