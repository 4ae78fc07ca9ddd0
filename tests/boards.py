"""What tests of figures share: figures, what is written on them and where, and what is drawn under a label."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text

from therapy_analytics.plots.files import draw


def figure_of(plot, table, width=174):
    """Return the figure of a table, laid out, with 100 dots an inch."""
    figure = draw(plot, table, width_mm=width, dpi=100)
    figure.draw_without_rendering()
    return figure


def written(figure):
    """Return the texts that can be seen; empty ticks are none."""
    hidden = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [one for one in axis.get_major_ticks() if not (axes.axison and low <= one.get_loc() <= high)]
            hidden.update(label for tick in ticks for label in (tick.label1, tick.label2))
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in found if text not in hidden]


def texts(figure):
    """Return all that is written, lines of a text as one."""
    return [text.get_text().replace("\n", " ") for text in written(figure)]


def panels(figure):
    """Return the axes that the first ones hold, in the order in which they were made."""
    return figure.axes[0].child_axes


def panel_with(figure, label):
    """Return the only axes on which something has this label."""
    (found,) = [one for one in panels(figure) if any(str(a.get_label()) == label for a in one.get_children())]
    return found


def points(figure, label):
    """Return where marks with a label stand, (n, 2), in units of their axes."""
    lines = [line.get_xydata() for line in figure.findobj(Line2D) if line.get_label() == label and line.axes]
    return np.concatenate([np.zeros((0, 2)), *(np.asarray(one, dtype=float) for one in lines)])


def segments(figure, label):
    """Return the ends of lines with a label, (n, 2, 2)."""
    found = [one for one in figure.findobj(LineCollection) if one.get_label() == label]
    return np.array([line for one in found for line in one.get_segments()], dtype=float).reshape(-1, 2, 2)


def boxes(figure, label):
    """Return left, bottom, right and top of boxes with a label, (n, 4), in units of their axes."""
    bars = [bar for axes in panels(figure) for some in axes.containers if some.get_label() == label for bar in some]
    found = [(bar.get_x(), bar.get_y(), bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height()) for bar in bars]
    shapes = [one for one in figure.findobj(lambda one: one.get_label() == label) if hasattr(one, "get_paths")]
    for one in shapes:
        if not isinstance(one, (LineCollection, PathCollection)):
            ends = [(path.vertices.min(axis=0), path.vertices.max(axis=0)) for path in one.get_paths()]
            found += [(*low, *high) for low, high in ends]
    return np.array(found, dtype=float).reshape(-1, 4)


def assert_no_overlaps(figure):
    """Fail where a text lies on another or leaves the figure."""
    found = written(figure)
    names = [text.get_text() for text in found]
    left, bottom, right, top = np.array([text.get_window_extent().extents for text in found]).T
    page = figure.bbox
    outside = (left < page.x0 - 1) | (right > page.x1 + 1) | (bottom < page.y0 - 1) | (top > page.y1 + 1)
    assert not outside.any(), [name for name, out in zip(names, outside, strict=True) if out]
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    # A dot and a half of 100 an inch: boxes have space around their letters.
    both = np.triu(np.minimum(across, along) > 1.5, 1)
    assert not both.any(), [(names[i], names[j]) for i, j in np.argwhere(both)[:9]]
