"""What every plot must do, as a figure in a file and in a notebook, with each table that is hard for it."""

import itertools
import subprocess
import sys
import warnings
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, boxes, figure_of, points, texts, written
from commands import tanalyze
from figure_tables import made, tables_for
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import therapy_analytics as ta
from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots.files import (
    FORMATS,
    check_formats,
    check_width,
    run_figures,
    save,
    session_figures,
    write_figures,
)
from therapy_analytics.run import Writing

SVG = "{http://www.w3.org/2000/svg}"
INCH = 25.4
CASES = [(name, case) for name in PLOTS.names() for case in tables_for(PLOTS[name])]
every_plot = pytest.mark.parametrize("name", PLOTS.names())


def usual(name):
    """Return the first table of a plot."""
    return next(iter(tables_for(PLOTS[name]).values()))


# What is drawn


@pytest.mark.parametrize(("name", "case"), CASES)
def test_text_can_be_read_and_lies_neither_on_another_nor_outside(name, case):
    # The first tables at both widths, of the others every second one at each.
    at = [one for _, one in CASES if _ == name].index(case)
    for width in (85, 174) if at == 0 else ((85,) if at % 2 else (174,)):
        figure = figure_of(PLOTS[name], tables_for(PLOTS[name])[case], width)
        assert len(texts(figure)) > 2
        assert_no_overlaps(figure)
        assert {round(text.get_fontsize(), 1) for text in written(figure)} == {7.2}
        assert figure.get_figwidth() * INCH == pytest.approx(width)


@every_plot
def test_a_table_without_rows_is_a_picture_with_a_sentence_and_has_a_caption(name):
    table = usual(name).head(0)
    (said,) = texts(figure_of(PLOTS[name], table))
    assert said.count(" ") >= 2
    assert PLOTS[name].caption(table).endswith(".")


@every_plot
def test_the_caption_says_what_is_shown(name):
    caption = PLOTS[name].caption(usual(name))
    assert len(caption.split()) >= 12
    assert caption.endswith(".")
    assert "  " not in caption


@every_plot
def test_it_draws_on_the_axes_that_it_is_given_and_leaves_the_table(name):
    table = usual(name)
    before, figures = table.copy(deep=True), plt.get_fignums()
    figure = Figure(figsize=(8, 6))
    left, right = figure.subplots(1, 2)
    assert PLOTS[name](table, ax=right) is right
    assert tuple(figure.get_size_inches()) == (8, 6)
    assert not left.texts
    assert plt.get_fignums() == figures
    pd.testing.assert_frame_equal(table, before)


@every_plot
def test_it_opens_a_pyplot_figure_as_high_as_it_needs_when_given_none(name):
    with plt.rc_context({"backend": "agg"}):
        ax = PLOTS[name](usual(name))
    height = figure_of(PLOTS[name], usual(name)).get_figheight()
    assert plt.fignum_exists(ax.figure.number)
    assert ax.figure.get_figheight() == pytest.approx(height)
    plt.close(ax.figure)


@every_plot
def test_missing_columns_are_named(name):
    with pytest.raises(BadOptionError) as caught:
        PLOTS[name](pd.DataFrame({"unrelated": [1]}))
    assert all(column in str(caught.value) for column in PLOTS[name].needs)


def test_a_plot_with_scales_of_its_own_axes_gets_room_for_them(monkeypatch):
    monkeypatch.setattr(PLOTS, "add", lambda *_, **__: None)

    @plots.plot(needs=("who", "n"))
    def bars_of_a_test(table, *, ax=None):
        """Draw bars."""
        ax = plots.axes_or_new(ax)
        ax.barh(table["who"], table["n"])
        return ax

    table = pd.DataFrame({"who": ["a name of some length", "b"], "n": [1, 2]})
    figure = figure_of(bars_of_a_test, table)
    assert_no_overlaps(figure)
    assert "a name of some length" in texts(figure)
    assert bars_of_a_test.caption(table) == "Draw bars."


def test_more_than_one_session_is_an_error_that_quotes_none():
    for name in ("session", "synchrony", "synchrony_all"):
        two = pd.concat([usual(name), usual(name).assign(session_id="s2")])
        with pytest.raises(BadOptionError, match="one session and the table holds 2"):
            PLOTS[name](two)


def test_a_plot_is_an_attribute_of_the_package_and_nothing_else_is():
    assert all(getattr(plots, name) is PLOTS[name] for name in PLOTS.names())
    assert set(PLOTS.names()) <= set(dir(plots))
    with pytest.raises(AttributeError, match="no_such_plot"):
        plots.no_such_plot  # noqa: B018


def test_neither_the_package_nor_saving_imports_pyplot():
    code = (
        "import sys; from therapy_analytics import plots; import therapy_analytics.plots.files;"
        "assert 'matplotlib' not in sys.modules; plots.session; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The figures of a session and of a run in every format."""
    tables, folder = made(60), tmp_path_factory.mktemp("figures")
    before = {name: table.copy(deep=True) for name, table in tables.items()}
    found = write_figures([*session_figures(), *run_figures()[1:]], tables, folder, formats=FORMATS)
    for name, table in before.items():
        pd.testing.assert_frame_equal(tables[name], table)
    return found


def test_each_figure_is_written_in_each_format_and_says_what_it_is(files):
    names = ["session", "profile", "synchrony", "thirds", "responses"]
    assert [path.name for path in files] == [f"{name}.{kind}" for name in names for kind in FORMATS]
    for path in files:
        caption = PLOTS[path.stem].caption(ta_like(made(60)))
        if path.suffix == ".png":
            with Image.open(path) as image:
                image.load()
                assert image.size[0] == pytest.approx(174 / INCH * 300, abs=1)
                assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
                assert image.info["Description"] == caption
                assert set(image.info) == {"dpi", "Description"}
        elif path.suffix == ".svg":
            root = ET.parse(path).getroot()
            said = {"".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")}
            assert len(said) > 8
            assert caption in "".join(root.itertext())
        else:
            content = path.read_bytes()
            assert content.startswith(b"%PDF")
            assert b"/FontFile2" in content
            assert b"/Subtype /Type3" not in content
            assert b"/Subject" in content
        assert not [word for word in (b"Matplotlib", b"CreationDate", b"Software") if word in path.read_bytes()]


def ta_like(tables):
    """Return a result that has some tables."""
    return type("Result", (), tables)


def test_the_same_bytes_twice_whatever_the_style_the_way_and_the_other_formats(files, tmp_path):
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "svg.fonttype": "path", "text.color": "white"}):
        again = write_figures(session_figures(), made(60), tmp_path, formats=["svg", "pdf", "png"])
    for path in again:
        assert path.read_bytes() == (files[0].parent / path.name).read_bytes(), path.name
    alone = save(PLOTS["session"], ta_like(made(60)), str(tmp_path / "alone.png"))
    assert alone.read_bytes() == (tmp_path / "session.png").read_bytes()


def test_one_figure_a_session_or_all():
    assert [one.__name__ for one in session_figures("session")] == ["session"]
    assert [one.__name__ for one in session_figures("all")] == ["session", "profile", "synchrony"]
    assert session_figures("none") == []
    assert [one.__name__ for one in run_figures()] == ["profile", "thirds", "responses"]


def test_figures_without_their_table_are_left_out(tmp_path):
    tables = made(5)
    found = write_figures(session_figures(), {"parts": tables["parts"]}, tmp_path)
    assert [path.name for path in found] == ["synchrony.png"]
    lacking = {"parts": tables["parts"].drop(columns="null_sd")}
    assert write_figures(session_figures(), lacking, tmp_path) == []
    assert write_figures(session_figures(), tables, tmp_path, formats=[]) == []


def test_an_unknown_format_and_a_width_that_no_page_has_are_refused(tmp_path):
    with pytest.raises(BadOptionError, match=r"'gif' is no format of a figure.*png, svg, pdf"):
        check_formats(["png", "gif"])
    with pytest.raises(BadOptionError, match="gif"):
        write_figures(session_figures(), {}, tmp_path, formats=["gif"])
    with pytest.raises(BadOptionError, match="png, svg, pdf"):
        save(PLOTS["session"], None, tmp_path / "a.tiff")
    assert check_formats(["SVG", ".svg", "pdf"]) == ("svg", "pdf")
    for width in (0, 20, 1000, -85):
        with pytest.raises(BadOptionError, match="85, two have 174"):
            check_width(width)


def test_names_in_other_scripts_and_with_signs_of_formulas_are_drawn_without_a_warning(tmp_path):
    table = usual("comparison").replace({"Ash_0": "\u05e9\u05dc\u05d5\u05dd $\\odd{$", "Ash_1": "\u4f60\u597d\t"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "$\\odd{$" in save(PLOTS["comparison"], table, tmp_path / "a.svg").read_text(encoding="utf-8")


# Colours

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


def lab(colour, sight="usual"):
    """Return CIE L*a*b* (D65) of a colour as somebody sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def colours_of(figure, labels):
    """Return the colour of what has each of some labels."""
    found = {one.get_label(): one for one in figure.findobj(lambda one: one.get_label() in labels)}
    get = [getattr(found[label], "get_color", None) or found[label].get_facecolor for label in labels]
    return [one() if isinstance(one(), str) else np.atleast_2d(one())[0] for one in get]


def test_colours_that_stand_together_differ_for_all_and_as_grey():
    assert np.linalg.norm(lab("white") - lab("black")) == pytest.approx(100, abs=0.1)
    session, overview = figure_of(PLOTS["session"], usual("session")), figure_of(*_overview())
    for figure, labels in (
        (session, ["turns of therapist", "turns of client"]),
        (overview, ["z from shuffles", "z from surrogates"]),
    ):
        colours = colours_of(figure, labels)
        assert abs(lab(colours[0])[0] - lab(colours[1])[0]) > 15
        for sight, (one, other) in itertools.product(SIGHT, itertools.combinations(colours, 2)):
            assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > 20, (labels, sight)
    assert len(boxes(session, "turns of client")) > 5
    assert len(points(overview, "z from shuffles")) > 5


def _overview():
    table = tables_for(PLOTS["synchrony_overview"])["40 sessions"]
    return PLOTS["synchrony_overview"], table.assign(surrogate_z=table["z"] - 1)


# A run


def test_a_run_draws_one_figure_a_session_and_others_where_they_are_asked_for(samples, tmp_path):
    fast = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))

    def drawn(**writing):
        ta.run([samples / "nair_yuki.txt"], tmp_path / "r", settings=fast, writing=Writing(report=False, **writing))
        return {str(path.relative_to(tmp_path / "r")) for path in (tmp_path / "r").rglob("*.png")}

    of_run, session = {"profile.png", "responses.png", "thirds.png"}, "sessions/nair_yuki/"
    assert drawn() == {*of_run, f"{session}session.png"}
    assert drawn(plots="all") == {*of_run, *(f"{session}{name}.png" for name in ("profile", "session", "synchrony"))}
    assert drawn(plots="none") == set()
    for width, pixels in ((85, 1003), (None, 2055)):
        assert drawn(figure_width=width) == {*of_run, f"{session}session.png"}
        for name in ("thirds.png", f"{session}session.png"):
            with Image.open(tmp_path / "r" / name) as image:
                assert image.size[0] == pytest.approx(pixels, abs=1), name


def test_the_command_refuses_figures_that_contradict_each_other_or_that_there_are_not(samples, tmp_path):
    words = ("run", str(samples / "nair_yuki.txt"), "--out", str(tmp_path / "r"), "--tagger", "fast")
    for option, value in (("--plots", "all"), ("--figure-width", "85"), ("--figure-format", "svg")):
        done = tanalyze(*words, "--no-plots", option, value)
        assert f"--no-plots and {option} contradict each other" in " ".join(done.text.split())
    done = tanalyze(*words, "--plots", "some")
    assert "there are no figures named 'some'" in done.text
    assert not (tmp_path / "r").exists()
