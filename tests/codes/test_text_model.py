"""What every small model of texts of the package owes: broken files are named, and no text knows of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from therapy_analytics import codes as behaviours
from therapy_analytics.codes.text_model import load_text_model, mean_vectors, read_texts
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.text.segments import turns_from_texts

FOLDERS = sorted(Path(behaviours.__file__).parent.glob("*_weights"))
EVERY = pytest.mark.parametrize("folder", FOLDERS, ids=lambda one: one.name)
TEXTS = ["Why do you think so?", "", "i never get anything right", "You are right, what an insight!", "..."]


def test_there_is_one() -> None:
    assert len(FOLDERS) == 1


@EVERY
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("model.json", b"{}"),
        ("model.json", b'{"format": 0, "version": "1"}'),
        ("model.json", b"[]"),
        ("weights.npz", b"nothing"),
        ("weights.npz", None),
    ],
)
def test_broken_weights_are_named(folder: Path, tmp_path: Path, name: str, data: bytes | None) -> None:
    for one in ("model.json", "weights.npz"):
        (tmp_path / one).write_bytes((folder / one).read_bytes())
    (tmp_path / name).unlink()
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BadDataFileError, match=name):
        load_text_model(tmp_path)


@EVERY
def test_no_bit_depends_on_the_other_texts(folder: Path) -> None:
    model = load_text_model(folder)
    extra = np.zeros((len(TEXTS), len(model.extras))) if model.extras else None
    together = model.probabilities(read_texts(turns_from_texts(TEXTS)), extra)
    assert together.shape == (len(TEXTS), len(model.kinds))
    for i, text in enumerate(TEXTS):
        alone = model.probabilities(read_texts(turns_from_texts([text])), None if extra is None else extra[:1])
        assert alone[0].tobytes() == together[i].tobytes()


@EVERY
def test_probabilities_are_probabilities(folder: Path) -> None:
    model = load_text_model(folder)
    extra = np.zeros((len(TEXTS), len(model.extras))) if model.extras else None
    p = model.probabilities(read_texts(turns_from_texts(TEXTS)), extra)
    assert ((p >= 0) & (p <= 1)).all()
    if model.exclusive:
        assert p.sum(axis=1) == pytest.approx(1)
    assert model.probabilities(read_texts(turns_from_texts([]))).shape == (0, len(model.kinds))


@EVERY
def test_it_is_small_and_says_where_it_comes_from(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000
    assert "tools/train_" in (folder / "NOTICE.md").read_text(encoding="utf-8")


def test_mean_vectors_have_one_length_or_none() -> None:
    length = np.linalg.norm(mean_vectors(turns_from_texts(["my mother", "", "my mother cried"])), axis=1)
    assert length == pytest.approx([4.0, 0.0, 4.0])
