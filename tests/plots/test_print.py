"""What every plot must be in print: at the widths of journals, with letters of 7 points, in colour and in grey."""

import itertools

import numpy as np
import pytest
from boards import assert_no_overlaps, outlined
from figure_tables import tables_for
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image
from typer import BadParameter

import therapy_analytics as ta
from therapy_analytics.cli._measure import _figures
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import FONT, PLOTS, _colours
from therapy_analytics.plots._figures import check_width, write_figures
from therapy_analytics.plots._save import draw, package_style, save
from therapy_analytics.run import Writing

WIDTHS = (85, 174)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PLOTS.names())
def test_text_can_be_read_and_lies_neither_on_another_nor_outside(name, width):
    plot = PLOTS[name]
    for case, table in tables_for(plot).items():
        with package_style():
            figure = draw(plot, table, width_mm=width)
            figure.draw_without_rendering()
        (ax,) = [one for one in figure.axes if one in figure.get_axes()][:1]
        try:
            assert_no_overlaps(ax)
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from None
        sizes = [size for _, size, _ in outlined(ax)]
        sizes += [one.get_fontsize() for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip()]
        assert min(sizes) >= 7, case
        assert max(sizes) <= 9, case


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PLOTS.names())
def test_files_have_the_width_300_dots_an_inch_and_the_caption(name, width, tmp_path):
    plot = PLOTS[name]
    table = next(iter(tables_for(plot).values()))
    with Image.open(save(plot, table, tmp_path / "a.png", width_mm=width)) as image:
        image.load()
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert image.size[0] / 300 * 25.4 == pytest.approx(width, rel=0.01)
        assert image.info["Description"] == plot.caption(table)
    assert len(plot.caption(table).split()) >= 12
    assert plot.caption(table).endswith(".")


@pytest.mark.parametrize("name", PLOTS.names())
def test_the_caption_of_a_table_without_rows_is_still_a_sentence(name):
    plot = PLOTS[name]
    table = next(iter(tables_for(plot).values())).head(0)
    assert plot.caption(table).endswith(".")


def test_vector_files_hold_the_caption_and_their_letters(tmp_path):
    plot = PLOTS["timeline"]
    table = next(iter(tables_for(plot).values()))
    svg = save(plot, table, tmp_path / "a.svg", width_mm=85).read_text(encoding="utf-8")
    assert "Style matching is" not in svg
    assert "is not a quality score" in svg
    assert "<text" in svg
    assert svg.split('width="')[1].startswith("240.9")  # points
    pdf = save(plot, table, tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Subtype /Type3" not in pdf
    assert b"/Subject" in pdf


def test_a_run_takes_the_width_that_is_asked_for(tmp_path):
    tables = {"wide_turns": next(iter(tables_for(PLOTS["timeline"]).values()))}
    for width in (85, 120, None):
        (path,) = write_figures([PLOTS["timeline"]], tables, tmp_path, width_mm=width)
        with Image.open(path) as image:
            assert image.size[0] == pytest.approx((width or 174) / 25.4 * 300, abs=1)


@pytest.mark.parametrize("width", [0, 20, 1000, -85])
def test_a_width_that_no_page_has_is_refused(width):
    with pytest.raises(BadOptionError, match="85, two have 174"):
        check_width(width)


# Colours

TOGETHER = [
    list(_colours.ROLES.values()),
    [_colours.POSITIVE, _colours.NEGATIVE],
    list(_colours.NULLS.values()),
    [_colours.DATA, _colours.BAND, _colours.DANGER],
]
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour, sight):
    """Return CIE L*a*b* (D65) of a colour as somebody sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_known_distance_of_black_and_white_is_100():
    assert np.linalg.norm(lab("white", "usual") - lab("black", "usual")) == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize("sight", list(SIGHT))
def test_colours_that_stand_together_differ_for_all(sight):
    for colours in TOGETHER:
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > 20, (one, other)


def test_what_has_no_sign_of_its_own_differs_as_grey():
    # Feelings and change talk point up or down; the others also have shapes.
    for colours in (TOGETHER[0][:2], TOGETHER[2], TOGETHER[3][:2]):
        light = [lab(colour, "usual")[0] for colour in colours]
        assert min(abs(a - b) for a, b in itertools.combinations(light, 2)) > 15


def test_letters_have_at_least_7_points():
    assert 7 <= FONT <= 9


# A run


def test_a_run_into_the_same_folder_draws_anew_where_another_width_is_asked_for(samples, tmp_path):
    path = samples / "nair_yuki.txt"
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
    for width, pixels in ((85, 1003), (None, 2055), (85, 1003)):
        ta.run([path], tmp_path / "r", settings=settings, writing=Writing(figure_width=width, report=False))
        for one in (tmp_path / "r" / "sessions" / "nair_yuki" / "timeline.png", tmp_path / "r" / "thirds.png"):
            with Image.open(one) as image:
                assert image.size[0] == pixels, one.name


def test_the_command_refuses_a_width_without_figures_and_one_that_no_page_has():
    with pytest.raises(BadParameter, match="contradict"):
        _figures(False, None, 85)
    assert _figures(None, None, 85) == ("png",)
    assert _figures(None, None, None) is None
