"""What every plot must do, each with a table that it takes."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from boards import new_axes, texts
from matplotlib import pyplot as plt

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots._save import save

DIRECTIONS = ("both", "therapist", "client")


def a_table(needs, n=8):
    """Return rows of one session with any columns that plots need: numbers from 0 to 1, names that are known."""
    rng = np.random.default_rng(n)
    known = {
        "session_id": ["session_017"] * n,
        "turn": range(n),
        "role": ["therapist", "client"] * (n // 2),
        "n_words": range(5, 5 + n),
        "code": np.repeat(["mi_question", "mi_change"], n // 2),
        "part": (["whole", "third_1", "third_2", "third_3"] * n)[:n],
        "direction": (["both", "therapist", "client", "after"] * n)[:n],
        "measure": ["rlsm"] * n,
        "first_turn": [0] * n,
        "last_turn": [29] * n,
        "n_turns": [20] * n,
        "n_sessions": [9] * n,
        "client_code": ["mi_change", "mi_sustain"] * (n // 2),
        "therapist_code": np.repeat(["mi_question", "mi_reflection", "mi_input", "bolt_planning"], 2)[:n],
        "n_client": [10] * n,
        "n_client_other": [10] * n,
        "kind": ["group"] * n,
        "group": ["a", "b"] * (n // 2),
        "unit": ["proportion"] * n,
        "synchrony": ["rlsm_turn"] * n,
        "disclosure": ["depth_turn"] * n,
    }
    if {"human", "machine", "n"} <= set(needs):
        known |= {"human": ["0", "0", "1", "1"] * 2, "machine": ["0", "1"] * 4}
    if {"who", "kind"} <= set(needs):
        known |= {"who": ["p01"] * n, "client": ["p01"] * n, "number": np.tile(range(1, n // 2 + 1), 2)}
        known |= {"kind": np.repeat(["scale", "measure"], n // 2), "name": np.repeat(["ors", "rate"], n // 2)}
        known |= {"label": np.repeat(["ORS", "Asks"], n // 2)}
    return pd.DataFrame({name: known.get(name, rng.uniform(0.1, 0.9, n).round(2)) for name in needs})


@pytest.fixture(params=PLOTS.names())
def any_plot(request):
    return PLOTS[request.param]


@pytest.fixture
def table(any_plot):
    return a_table(any_plot.needs)


def test_it_draws_on_the_axes_that_it_is_given_and_leaves_the_table(any_plot, table):
    before, figures, ax = table.copy(deep=True), plt.get_fignums(), new_axes()
    assert any_plot(table, ax=ax) is ax
    assert len(texts(ax)) > 2
    assert plt.get_fignums() == figures
    pd.testing.assert_frame_equal(table, before)


def test_it_opens_a_pyplot_figure_when_given_none(any_plot, table):
    with plt.rc_context({"backend": "agg"}):
        ax = any_plot(table)
    assert plt.fignum_exists(ax.figure.number)
    assert tuple(ax.figure.get_size_inches()) == pytest.approx(any_plot.size(table))
    plt.close(ax.figure)


def test_an_empty_table_gives_a_picture_that_says_so(any_plot):
    ax = new_axes()
    assert any_plot(pd.DataFrame(columns=list(any_plot.needs)), ax=ax) is ax
    assert len(texts(ax)) == 1


def test_missing_columns_are_named(any_plot):
    with pytest.raises(BadOptionError) as caught:
        any_plot(pd.DataFrame({"unrelated": [1]}), ax=new_axes())
    assert all(column in str(caught.value) for column in any_plot.needs)


def test_it_writes_the_same_bytes_twice_whatever_the_style(any_plot, table, tmp_path):
    first = save(any_plot, table, tmp_path / "a.png").read_bytes()
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "font.family": "serif", "text.color": "white"}):
        second = save(any_plot, table, tmp_path / "b.png").read_bytes()
    assert first == second
    assert b"Software" not in first


def test_it_is_an_attribute_of_the_package(any_plot):
    assert getattr(plots, any_plot.__name__) is any_plot
    assert any_plot.__name__ in dir(plots)


def test_neither_the_package_nor_saving_imports_pyplot():
    code = (
        "import sys; from therapy_analytics import plots; assert 'matplotlib' not in sys.modules;"
        "plots.timeline; from therapy_analytics.plots import _save, session_timeline;"
        "assert plots.timeline is session_timeline.timeline; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_plot_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_plot"):
        plots.no_such_plot  # noqa: B018
