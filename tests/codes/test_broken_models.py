"""Models, codebooks and word lists that are broken or crafted: they load and work, or say plainly what is wrong."""

from __future__ import annotations

import io
import json
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import large_files
from benchmarks.fuzz import models
from therapy_analytics.cli import app
from therapy_analytics.codes import TaggerOptions, load_coder
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.text import data_files
from therapy_analytics.text.data_files import Wanted, read_arrays, read_bytes, toml_table

KINDS = ("own", "texts", "codebook", "lexicon", "dictionary")
Change = Callable[[dict[str, Any]], object]


def test_many_damaged_models_load_and_work_or_are_refused() -> None:
    """The larger run, over the encoder, the vectors and spaCy's pipelines as well, is benchmarks/fuzz/models.py."""
    found = [models.numbered(11, number, KINDS) for number in range(120)]
    assert [(number, *one) for number, one in enumerate(found) if one[1].startswith("FAILED")] == []
    states = Counter(found)
    assert all(states[kind, state] > 0 for kind in KINDS for state in ("loaded", "refused"))


def _model(folder: Path, change: Change = lambda _: None) -> Path:
    files = models.tiny_model()
    about = json.loads(files["model.json"])
    change(about)
    return models.write({**files, "model.json": json.dumps(about).encode()}, folder)


CHANGES: dict[str, Change] = {
    "a field removed": lambda model: model.pop("heads"),
    "a list that is a text": lambda model: model.update(context_heads="ab"),
    "a code twice": lambda model: model["codes"].append(model["codes"][0]),
    "a code of no head": lambda model: model["codes"][0].update(heads=[]),
    "a code of an unknown head": lambda model: model["codes"][0].update(heads=["other"]),
    "a code in no codebook": lambda model: model["codes"][0].update(column="session_id"),
    "a code of the other role": lambda model: model["codes"][0].update(role="client"),
    "a threshold missing": lambda model: model["codes"][0]["thresholds"].popitem(),
    "a threshold that is no number": lambda model: model["codes"][0]["thresholds"].update(recall=float("nan")),
    "a threshold beyond all numbers": lambda model: model["codes"][0]["thresholds"].update(recall=10**400),
    "thresholds in a list": lambda model: model["codes"][0].update(thresholds=[0.4]),
    "another format": lambda model: model.update(format={"said": "secret"}),
    "a name over two lines": lambda model: model.update(name="a\nb"),
    "a million heads": lambda model: model.update(heads=[f"h{at}" for at in range(200_000)]),
}


def test_the_command_refuses_a_broken_model_in_one_plain_line(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Therapist: Hello.\nClient: Hi.\n" * 4)
    folders = {name: _model(tmp_path / name.replace(" ", "_"), change) for name, change in CHANGES.items()}
    deep = _model(tmp_path / "deep")
    (deep / "codebook.toml").write_text(models.BOOK + "odd = " + "[" * 50_000)
    (_model(tmp_path / "cut") / "weights.npz").write_bytes(b"PK\x03\x04")
    for name, folder in {**folders, "deep": deep, "cut": tmp_path / "cut"}.items():
        words = ["run", str(tmp_path / "talk.txt"), "--out", str(tmp_path / "out"), "--tagger", "fast"]
        done = CliRunner().invoke(app, [*words, "--model", str(folder)])
        lines = done.output.replace("\n", " ").strip()
        assert done.exit_code == 2, name
        assert done.exception is None or isinstance(done.exception, SystemExit), name
        assert str(folder.name) in lines.replace(" ", ""), name
        assert "secret" not in lines, name
        assert len(lines) < 500, name
    assert not (tmp_path / "out").exists()


def bomb(n_bytes: int) -> bytes:
    """Return an archive whose buckets unpack to so many zeros; the same packed block again and again."""
    block = 2**24
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = np.lib.format.magic(1, 0)
    texts = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_bytes // 4},), }}".ljust(117) + "\n"
    first = packer.compress(head + len(texts).to_bytes(2, "little") + texts.encode()) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = first + zeros * (n_bytes // block) + packer.flush(zlib.Z_FINISH)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("buckets.npy", packed)
    data, length = bytearray(out.getvalue()), (n_bytes + 128).to_bytes(4, "little")
    for mark, way, unpacked in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = data.rfind(mark)
        data[at + way : at + way + 2] = (8).to_bytes(2, "little")
        data[at + unpacked : at + unpacked + 4] = length
    return bytes(data)


@pytest.mark.skipif(sys.platform == "win32", reason="the memory of a process is not told there")
def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    (_model(tmp_path / "model") / "weights.npz").write_bytes(bomb(1_600_000_000 // 2**24 * 2**24))
    (tmp_path / "talk.txt").write_text("Therapist: Hello.\nClient: Hi.\n" * 4)
    words = [large_files.COMMAND, "run", "talk.txt", "--tagger", "fast", "--model", "model"]
    status, texts, peak_mb = large_files.measured(words, tmp_path, Path(large_files.__file__).resolve().parents[1])
    assert status == 2
    assert texts.startswith("tanalyze: ")
    assert texts.count("\n") == 1
    assert "weights.npz" in texts
    assert peak_mb < 600


def test_an_array_is_what_it_should_be(tmp_path: Path) -> None:
    out = io.BytesIO()
    sound = np.arange(6.0).reshape(2, 3)
    np.savez_compressed(out, right=sound, big=sound.astype(">f4"), whole=sound.astype(int), wild=sound * 1e7)

    def read(name: str, *shape: int) -> Any:
        wanted = {name: Wanted(shape)}
        return read_arrays(tmp_path / "a.npz", out.getvalue(), wanted, what="an archive", remedy="Make it anew")[name]

    np.testing.assert_array_equal(read("right", 2, 3), sound)
    np.testing.assert_array_equal(read("big", 2, 3), sound)
    for name, shape in {"right": (3, 2), "whole": (2, 3), "wild": (2, 3), "none": (2, 3)}.items():
        with pytest.raises(BadDataFileError, match=rf"a\.npz: the array '{name}' does not have numbers of ordinary"):
            read(name, *shape)
    with pytest.raises(BadDataFileError, match=r"the arrays would take more than 512 MB.*Make it anew"):
        read("right", 10**6, 10**6)


def test_a_file_that_is_larger_than_it_may_be_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "book.toml"
    path.write_bytes(b"#" * (3 * data_files.MB))
    assert len(read_bytes(path, 3 * data_files.MB, what="the codebook", remedy="Split it")) == 3 * data_files.MB
    with pytest.raises(BadDataFileError, match=r"the codebook has more than 2 MB, the most that is read\. Split it"):
        read_bytes(path, 2 * data_files.MB, what="the codebook", remedy="Split it")
    with pytest.raises(BadDataFileError, match="the codebook cannot be opened"):
        read_bytes(Path(f"{path}\0"), data_files.MB, what="the codebook", remedy="Split it")


def test_an_error_of_toml_does_not_quote_the_file() -> None:
    for text in ("a = {secret=1, secret=2}", 'a = "\x00secret"', "[secret.x]\n[[secret.x]]", "secret = [" * 20_000):
        with pytest.raises(BadDataFileError, match=r"not valid TOML \(") as caught:
            toml_table(text.encode(), Path("a.toml"), what="the codebook", remedy="Mend it")
        assert "secret" not in str(caught.value)


def test_the_tiny_model_is_sound(tmp_path: Path) -> None:
    models.use_own(_model(tmp_path / "own"))
    assert "clinic_greets" in load_coder(TaggerOptions(kind="fast", model=str(tmp_path / "own"))).names
