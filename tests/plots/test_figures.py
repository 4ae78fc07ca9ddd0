"""Figures of a session as files: the formats, the same bytes, words that stay apart, and shades that print in grey."""

import functools
import io
import itertools
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from boards import outlined
from matplotlib import rc_context
from matplotlib.patches import PathPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from benchmarks.figures import tables_of
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots._figures import (
    FORMATS,
    check_formats,
    run_figures,
    session_figures,
    write_figures,
)
from therapy_analytics.plots._outlines import NUMBERS, OutlinedText, length, sentences
from therapy_analytics.plots._save import draw, package_style, save

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {one.__name__: one.takes for one in session_figures()}
RUN_FIGURES = {one.__name__: one.takes for one in run_figures()}
ALL = {**FIGURES, **RUN_FIGURES}
made = functools.cache(tables_of)


@pytest.fixture(scope="module", params=[5, 60])
def tables(request):
    return made(request.param)


@pytest.fixture(scope="module")
def usual():
    return made(60)


@pytest.fixture(scope="module")
def written(usual, tmp_path_factory):
    before = {name: table.copy(deep=True) for name, table in usual.items()}
    found = write_figures(session_figures(), usual, tmp_path_factory.mktemp("figures"), formats=FORMATS)
    for name, table in before.items():
        pd.testing.assert_frame_equal(usual[name], table)
    return found


def figure_of(name, tables):
    table = tables[ALL[name]]
    with package_style():
        return draw(PLOTS[name], table)


# Files


def test_each_figure_is_written_in_each_format(written):
    assert [path.name for path in written] == [f"{name}.{kind}" for name in FIGURES for kind in FORMATS]
    assert all(path.stat().st_size > 1000 for path in written)


def test_files_are_what_their_endings_say(written):
    for path in written:
        read = {".png": _png, ".svg": _svg, ".pdf": _pdf}[path.suffix]
        read(path)


def _png(path):
    with Image.open(path) as image:
        image.load()
        assert image.size[0] == 2055
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert set(image.info) <= {"dpi", "Description"}


def _svg(path):
    assert ET.parse(path).getroot().tag == f"{SVG}svg"


def _pdf(path):
    found = path.read_bytes()
    assert found.startswith(b"%PDF")
    assert found.rstrip().endswith(b"%%EOF")


def test_the_same_bytes_twice_whatever_the_style_and_nothing_of_the_day(usual, written, tmp_path):
    with rc_context({"font.size": 20, "axes.facecolor": "black", "svg.fonttype": "path"}):
        again = write_figures(session_figures(), usual, tmp_path, formats=FORMATS)
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
        assert not [word for word in (b"Matplotlib", b"CreationDate", b"Software") if word in one.read_bytes()]


def test_one_format_gives_the_same_file_as_all_at_once(usual, written, tmp_path):
    for kind in ("svg", "pdf"):
        (path,) = write_figures([PLOTS["synchrony"]], usual, tmp_path, formats=[kind])
        assert path.read_bytes() == (written[0].parent / path.name).read_bytes(), path.name


def test_a_figure_on_its_own_axes_is_the_same(usual, written, tmp_path):
    for name, of in FIGURES.items():
        path = save(PLOTS[name], usual[of], tmp_path / "a.png")
        assert path.read_bytes() == (written[0].parent / f"{name}.png").read_bytes(), name


def test_figures_of_a_run_are_pooled(usual, tmp_path):
    other = usual["profile"].assign(session_id="another")
    tables = {"profile": pd.concat([usual["profile"], other]), "responses": usual["responses"]}
    found = write_figures(run_figures(), tables, tmp_path, formats=["svg"])
    assert [path.name for path in found] == ["profile.svg", "thirds.svg", "responses.svg"]
    assert all("2 sessions, pooled" in path.read_text(encoding="utf-8") for path in found[:2])


def test_figures_without_their_table_are_left_out(usual, tmp_path):
    found = write_figures(session_figures(), {"parts": usual["parts"]}, tmp_path)
    assert [path.name for path in found] == ["synchrony.png"]
    lacking = {"parts": usual["parts"].drop(columns="null_sd")}
    assert write_figures(session_figures(), lacking, tmp_path) == []
    assert write_figures(session_figures(), usual, tmp_path, formats=[]) == []


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(BadOptionError, match=r"'gif' is no format of a figure.*png, svg, pdf"):
        check_formats(["png", "gif"])
    with pytest.raises(BadOptionError, match="gif"):
        write_figures(session_figures(), {}, tmp_path, formats=["gif"])
    with pytest.raises(BadOptionError, match="png, svg, pdf"):
        save(PLOTS["timeline"], None, tmp_path / "a.tiff")
    assert check_formats(["SVG", ".svg", "pdf"]) == ("svg", "pdf")


# What they say


def test_words_of_an_svg_are_words(written):
    for path in written:
        if path.suffix == ".svg":
            said = {"".join(text.itertext()).strip() for text in ET.parse(path).getroot().iter(f"{SVG}text")}
            figure = {"timeline": "Style matching (LSM)", "synchrony": "z from the null mean"}.get(path.stem)
            assert figure is None or figure in said
            assert len(said) > 15, path.name
            assert not [text for text in said if "  " in text], path.name


def test_a_row_of_numbers_keeps_its_columns_in_an_svg(written):
    root = ET.parse(next(path for path in written if path.name == "synchrony.svg")).getroot()
    cells = {"".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")}
    assert {"therapist", "client", "both"} <= cells
    assert any(cell.startswith("0.") and len(cell) < 7 for cell in cells)


def boxes(figure):
    """Return what is written on a figure, as text or as outlines: (text, height of the font in points, box)."""
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    found = [(text.get_text(), text.get_fontsize(), text.get_window_extent()) for text in texts]
    return found + [(text, high, Bbox.from_extents(*box)) for text, high, box in outlined(figure.axes[0])]


def overlaps(found, page):
    """Return which texts lie on another or leave the page; half a pixel is none."""
    wrong = []
    for text, _, box in found:
        if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1:
            wrong.append((text, "leaves the page"))
    for (text, _, box), (other, _, another) in itertools.combinations(found, 2):
        wide = min(box.x1, another.x1) - max(box.x0, another.x0)
        high = min(box.y1, another.y1) - max(box.y0, another.y0)
        if min(wide, high) > 0.5:
            wrong.append((text, other))
    return wrong


@pytest.mark.parametrize("name", list(ALL))
def test_no_text_lies_on_another_leaves_the_page_or_is_too_small(name, tables):
    figure = figure_of(name, tables)
    figure.draw_without_rendering()
    found = boxes(figure)
    assert len(found) > 3
    assert overlaps(found, figure.bbox) == []
    assert min(size for _, size, _ in found) >= 7


def test_overlaps_are_found(usual):
    figure = figure_of("timeline", usual)
    (ax,) = figure.axes
    left, right = ax.get_xlim()
    name = next(
        line
        for patch in figure.findobj(PathPatch)
        if isinstance(patch.get_path(), OutlinedText)
        for line in patch.get_path().lines
        if line[2] == "Question"
    )
    path = sentences([(name[0], name[1], "lies on it", "right")], ((right - left) / 60, 0.5))
    ax.add_artist(PathPatch(path, clip_on=False))
    outside = sentences([(right, name[1] + 0.2, "leaves the page", "left")], ((right - left) / 60, 0.5))
    ax.add_artist(PathPatch(outside, clip_on=False))
    wrong = overlaps(boxes(figure), figure.bbox)
    assert ("Question", "lies on it") in wrong
    assert ("leaves the page", "leaves the page") in wrong


@pytest.mark.parametrize("name", list(ALL))
def test_a_table_without_rows_is_a_sentence(name, usual):
    empty = {key: table.head(0) for key, table in usual.items()}
    found = boxes(figure_of(name, empty))
    assert len(found) == 1
    assert found[0][0].count(" ") >= 2


def test_the_two_speakers_differ_as_greys(usual):
    buffer = io.BytesIO()
    figure = figure_of("timeline", usual)
    figure.savefig(buffer, format="png")
    grey = np.asarray(Image.open(buffer).convert("L")).astype(int)
    shades = [int(np.median(_under(grey, patch))) for patch in figure.axes[0].patches if _is_turns(patch)]
    assert len(shades) == 2
    assert abs(shades[0] - shades[1]) > 60


def _is_turns(patch):
    return str(patch.get_gid()).startswith("turns")


def _under(grey, patch):
    # The widest bar, a pixel inside its edges; rows of a picture count from above.
    corners = patch.get_transform().transform(patch.get_path().vertices).reshape(-1, 5, 2)
    widest = corners[np.argmax(corners[:, 2, 0] - corners[:, 0, 0])]
    (left, low), (right, high) = widest.min(axis=0), widest.max(axis=0)
    return grey[int(grey.shape[0] - high) + 2 : int(grey.shape[0] - low) - 1, int(left) + 2 : int(right) - 1]


# Outlines


def test_outlines_know_what_they_say_and_end_where_they_should():
    lines = [(1.0, 2.0, "12", "left"), (5.0, 2.0, "3.4", "right")]
    path = sentences(lines, (1.0, 1.0), font=NUMBERS)
    assert path.lines == tuple(lines)
    assert path.font == NUMBERS
    assert 1 <= path.vertices[:, 0].min() < path.vertices[:, 0].max() <= 5
    assert abs(path.vertices[:, 1].mean() - 2) < 0.2


def test_turned_text_runs_upwards():
    flat, turned = (sentences([(0.0, 0.0, "upwards", "left")], (1, 1), turned=one).vertices for one in (False, True))
    assert turned[:, 1].max() == pytest.approx(flat[:, 0].max())
    assert turned[:, 0].min() == pytest.approx(-flat[:, 1].max())


def test_a_dollar_is_no_formula_and_what_is_no_letter_takes_its_place():
    assert length("$x$") == pytest.approx(2 * length("$") + length("x"))
    assert length("a\tb") == pytest.approx(length("a b"))
    assert len(sentences([(0, 0, "\t \n", "left")], (1, 1)).vertices) == 0


def test_scripts_of_other_letters_are_written():
    assert len(sentences([(0, 0, "Žofie é שלום", "left")], (1, 1)).vertices) > 50


def test_saving_needs_no_folder_of_its_own(usual, tmp_path):
    path = save(PLOTS["timeline"], usual["wide_turns"], str(tmp_path / "a.svg"))
    assert path == Path(tmp_path / "a.svg")
    assert b"session_of_60" in path.read_bytes()
