"""What tests of figures share: axes, what is written on them and where, and signs by their id."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from therapy_analytics.plots import INCH_MM, WIDTH_MM
from therapy_analytics.plots._outlines import OutlinedText, sentences

SIZE = (WIDTH_MM / INCH_MM, 5.0)
HALF = (85 / INCH_MM, 4.0)
SIZES = (SIZE, HALF)


def new_axes(size=SIZE):
    """Return axes as a figure of the package has them."""
    figure = Figure(figsize=size, dpi=110)
    FigureCanvasAgg(figure)
    return figure.add_axes((0, 0, 1, 1))


def outlined(ax):
    """Return (text, size of the font in points, box) for all that is written as outlines; boxes in dots."""
    found = []
    for patch in ax.figure.findobj(PathPatch):
        path, where = patch.get_path(), patch.get_transform()
        for line in path.lines if isinstance(path, OutlinedText) else ():
            own = sentences([line], path.size, font=path.font, turned=path.turned).vertices
            if len(own):
                corners = where.transform(own)
                high = abs(where.transform((0, path.size[1]))[1] - where.transform((0, 0))[1]) * 72 / ax.figure.dpi
                found.append((line[2], high, np.concatenate([corners.min(axis=0), corners.max(axis=0)])))
    return found


def written(ax):
    """Return (text, box) for all that is written; boxes (left, bottom, right, top) in dots."""
    ax.figure.draw_without_rendering()
    texts = [text for text in ax.figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    found = [(text.get_text(), text.get_window_extent().extents) for text in texts]
    return found + [(text, box) for text, _, box in outlined(ax)]


def texts(ax):
    """Return all that is written; what an axis without labels would say is not."""
    found = [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]
    return found + [text for text, _, _ in outlined(ax)]


def place(ax, text):
    """Return where the only text that says this is, in units of the axes: (x, y) of its middle."""
    (box,) = [box for said, box in written(ax) if said == text]
    return ax.transData.inverted().transform([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])


def drawn(ax, gid, corners):
    """Return what has an id: boxes (5 corners each), lines (2) or marks (1), (n, corners, 2)."""
    patches = [patch.get_path().vertices for patch in ax.patches if patch.get_gid() == gid]
    lines = [line.get_xydata() for line in ax.lines if line.get_gid() == gid]
    return np.concatenate([np.zeros((0, 2)), *patches, *lines]).reshape(-1, corners, 2)


def assert_no_overlaps(ax):
    """Fail where a text lies on another or leaves the figure."""
    names, boxes = zip(*written(ax), strict=True)
    left, bottom, right, top = np.array(boxes).T
    page = ax.figure.bbox
    outside = (left < page.x0) | (right > page.x1) | (bottom < page.y0) | (top > page.y1)
    assert not outside.any(), [name for name, out in zip(names, outside, strict=True) if out]
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    # Half a dot: outlines are drawn to whole dots.
    both = np.triu(np.minimum(across, along) > 0.5, 1)
    assert not both.any(), [(names[i], names[j]) for i, j in np.argwhere(both)[:9]]


def codes():
    """Return the codes that the package's own tagger gives, as they stand in ``profile.csv``."""
    from therapy_analytics.plots._codes import known_codes

    given = ("question", "question_open", "question_closed", "reflection", "input", "change", "sustain")
    return [one for one in known_codes() if one.startswith("bolt_")] + [f"mi_{one}" for one in given]
