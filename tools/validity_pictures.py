"""Pictures of the page on validity: ``python tools/validity_pictures.py [NAME ...]`` draws them from its CSV files.

Each function below draws one picture, ``docs/validity/<its name>.png``, from tables in the same folder. A picture is
as wide as the page of a journal (174 mm), its smallest letters have 7 points, and its colours are those of Okabe and
Ito, which stay apart for colour-blind readers; markers tell the same things apart in print without colour.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "validity"
WIDTH = 174 / 25.4
DPI = 150
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#595959"
STYLES = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (RED, "D"), (GREY, "v"), ("#CC79A7", "P"))
CORPORA = {
    "annomi": "AnnoMI",
    "hlqc": "HLQC",
    "mibot": "MIBot",
    "vera_mh": "VERA-MH",
    "mindeval": "MindEval",
    "spiral_bench": "Spiral-Bench",
}
FONT: Any = {
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
}


def table(name: str) -> pd.DataFrame:
    """Return a table of the page; a missing number is nan."""
    return pd.read_csv(FOLDER / f"{name}.csv", keep_default_na=True)


def panels(n: int, height_mm: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of the width of a page, and `n` panels beside each other."""
    figure, axes = plt.subplots(1, n, figsize=(WIDTH, height_mm / 25.4), layout="constrained", squeeze=False, **options)
    return figure, list(axes[0])


def rows(axes: Axes, names: list[str]) -> None:
    """Name the rows of a panel, the first at the top, with a pale line for each."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)


def intervals(
    axes: Axes, found: pd.DataFrame, names: list[str], value: str, *, key: str, series: tuple[int, int]
) -> None:
    """Draw one of several series: a marker a row, and its interval where it has one.

    `series` is which, and of how many that share a row beside each other; 0 puts all on the line of the row.
    """
    nth, of = series
    colour, marker = STYLES[nth]
    shift = (nth - (of - 1) / 2) * 0.7 / of if of else 0
    at = np.array([names.index(one) for one in found[key]]) + shift
    if "lo" in found:
        axes.hlines(at, found["lo"], found["hi"], color=colour, linewidth=1)
    axes.plot(found[value], at, marker, color=colour, markersize=3.6)


def key(styles: Sequence[tuple[str, str]]) -> list[Line2D]:
    """Return the markers of a legend."""
    return [Line2D([], [], color=colour, marker=marker, linestyle="", markersize=4) for colour, marker in styles]


def below(figure: Figure, labels: list[str], styles: Sequence[tuple[str, str]] = STYLES) -> None:
    """Explain the series of all panels in one line below them."""
    handles = key(styles[: len(labels)])
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), handletextpad=0.2)


def under(axes: Axes, labels: list[str]) -> None:
    """Explain the series of one panel below it."""
    axes.legend(key(STYLES[: len(labels)]), labels, loc="upper center", bbox_to_anchor=(0.5, -0.22), handletextpad=0.2)


def mark(axes: Axes, value: float, *, across: bool = False) -> None:
    """Draw the line to be compared with: no difference, or what an interval promises."""
    (axes.axhline if across else axes.axvline)(value, color="black", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)


def design(found: pd.DataFrame) -> list[str]:
    """Return the names of simulated studies: counselors, clients of each, sessions of each."""
    return [
        f"{a} x {b} x {c}" for a, b, c in zip(found.counselors, found.clients_each, found.sessions_each, strict=True)
    ]


def session_rates() -> Figure:
    """Draw how a session's rate by machine goes with its rate by human coders."""
    found = table("session_rates")
    names, coders = list(dict.fromkeys(found.measure)), ["accurate tagger", "fast tagger", "keywords"]
    figure, (axes,) = panels(1, 62)
    rows(axes, names)
    for nth, coder in enumerate(coders):
        intervals(axes, found[found.coder == coder], names, "rho_with_people", key="measure", series=(nth, len(coders)))
    mark(axes, 0)
    axes.set_xlabel("Rank correlation with the rate by human coders, 81 sessions of AnnoMI, 95% interval")
    below(figure, coders)
    return figure


def process_quality() -> Figure:
    """Draw how well measures tell sessions of high quality from sessions of low quality."""
    found = table("process_quality").rename(columns={"estimate": "auc"})
    found = found[found.statistic == "auc"]
    series = {
        ("annomi", "people"): "AnnoMI, codes by people",
        ("annomi", "accurate tagger"): "AnnoMI, accurate tagger",
        ("annomi", "fast tagger"): "AnnoMI, fast tagger",
        ("hlqc not seen", "fast tagger"): "HLQC not seen, fast tagger",
    }
    names = list(dict.fromkeys(found.value))
    figure, (axes,) = panels(1, 105)
    rows(axes, names)
    for nth, (corpus, codes) in enumerate(series):
        part = found[(found.corpus == corpus) & (found.codes_of == codes)]
        intervals(axes, part, names, "auc", key="value", series=(nth, len(series)))
    mark(axes, 0.5)
    axes.set_xlabel("Sessions of high against low quality: AUC, 95% interval")
    below(figure, list(series.values()))
    return figure


def answers_to_sustain() -> Figure:
    """Draw how therapists answer sustain talk, by the codes of people and of both taggers."""
    found = table("answers_to_sustain")
    found = found[found.codes_of != "people, main behaviour"]
    found["codes_of"] = found.codes_of.replace("people, all behaviours", "people")
    names = list(dict.fromkeys(found.codes_of))
    figure, axes = panels(2, 48, sharey=True)
    for one, what in zip(axes, ("input", "reflection"), strict=True):
        rows(one, names)
        for nth, quality in enumerate(("high", "low")):
            part = found[found.quality == quality].assign(lo=found[f"{what}_lo"], hi=found[f"{what}_hi"])
            intervals(one, part, names, f"{what}_after", key="codes_of", series=(nth, 2))
        one.set(xlim=(0, 0.8), xlabel=f"Share of answers with {what}")
    below(figure, ["sessions of high quality", "of low quality"])
    return figure


def turn_rates() -> Figure:
    """Draw how often intervals of rates hold, before and after the likeness of a session's turns is allowed for."""
    found = table("turn_rates")
    names = list(found.code)
    figure, (axes,) = panels(1, 150)
    rows(axes, names)
    axes.axvspan(0.93, 0.97, color="#dddddd", zorder=0, linewidth=0)
    at = np.arange(len(found))
    axes.hlines(at, found.coverage_before, found.coverage_held_out, color=GREY, linewidth=0.8)
    for nth, column in enumerate(("coverage_held_out", "coverage_before", "people_held_out")):
        intervals(axes, found, names, column, key="code", series=(nth, 0))
    axes.set_xlabel("Coverage of 95% intervals in recordings held out; grey: .93 to .97")
    below(figure, ["widened, held out", "turns taken as independent", "widened, codes by people, held out"])
    return figure


def agreement_coverage() -> Figure:
    """Draw how often intervals of kappa hold, by the number of sessions or counselors."""
    found = table("agreement_coverage")
    figure, axes = panels(2, 62, sharey=True)
    parts = (found[found.counselors.isna()], found[found.counselors.notna()])
    for one, part, name in zip(axes, parts, ("sessions", "counselors"), strict=True):
        for nth, column in enumerate(("coverage_now", "coverage_before")):
            colour, marker = STYLES[nth]
            one.plot(part[name], part[column], marker, color=colour, markersize=3.6)
        mark(one, 0.95, across=True)
        one.set(xlabel=f"Number of {name}", ylim=(0.74, 1), xscale="log")
        sizes = sorted({int(n) for n in part[name]})
        one.set_xticks(sizes, [str(n) for n in sizes])
        one.minorticks_off()
    axes[0].set_ylabel("Coverage of 95% intervals\nof kappa")
    below(figure, ["t over sessions or counselors (now)", "percentiles of drawn sessions (before)"])
    return figure


def coverage_mixed_models() -> Figure:
    """Draw how often intervals of mixed models hold, by the size of the study."""
    found = table("coverage_mixed_models")
    kinds = list(dict.fromkeys(found.scores))
    titles = ["People differ", "People alike", "Skewed scores", "Slopes differ"]
    figure, axes = panels(4, 62, sharey=True)
    names = list(dict.fromkeys(design(found)))
    for one, kind, title in zip(axes, kinds, titles, strict=True):
        part = found[found.scores == kind]
        part = part.assign(row=design(part))
        rows(one, names)
        for nth, level in enumerate(("within_clients", "between_clients", "between_counselors")):
            intervals(one, part, names, f"{level}_percent", key="row", series=(nth, 3))
        mark(one, 95)
        one.set(xlim=(86, 100), title=title, xlabel="Coverage (%)")
    axes[0].set_ylabel("counselors x clients x sessions")
    below(figure, ["within clients", "between clients", "between counselors"])
    return figure


def shuffled_names() -> Figure:
    """Draw how often shuffled names of counselors give a claim, and how often points added to one code are found."""
    found, power = table("shuffled_names"), table("shuffled_names_power")
    figure, (left, right) = panels(2, 80)
    found["row"] = [
        f"{a} counselors x {b}" if a != "all" else "all runs"
        for a, b in zip(found.counselors, found.sessions_each, strict=True)
    ]
    names = list(found.row)
    rows(left, names)
    columns = ("page", "compare", "synchrony", "reference")
    for nth, column in enumerate(columns):
        found[column] = 100 * found[f"{column}_claims"] / found.runs
        intervals(left, found, names, column, key="row", series=(nth, len(columns)))
    mark(left, 5)
    left.set(xlim=(-0.5, 15), xlabel="Shuffled names: runs with a claim (%)")
    under(left, ["report page", "compare", "of synchrony", "beside skilled people"])
    power["row"] = [f"{code}, {n} against {n}" for code, n in zip(power.code, power.sessions_each_of_two, strict=True)]
    names = list(power.row)
    rows(right, names)
    for nth, column in enumerate(("compare_percent", "code_alone_percent")):
        intervals(right, power, names, column, key="row", series=(nth, 2))
    right.set(xlim=(0, 100), xlabel="20 points added: found in (% of runs)")
    under(right, ["four codes tested (the default)", "this code alone"])
    return figure


def synchrony_sessions() -> Figure:
    """Draw in how many sessions synchrony exceeds its null distributions."""
    found = table("synchrony_sessions")
    names = ["semantic_similarity", "lexical_alignment", "lexical_alignment_2", "coordination", "rlsm", "lsm_turn_mean"]
    found = found[found.measure.isin(names)]
    figure, axes = panels(2, 88, sharey=True)
    kinds = {
        "above_shuffles_percent": "shuffled turns",
        "above_surrogate_pairs_percent": "surrogate pairs of version 0.3",
    }
    for one, (column, title) in zip(axes, kinds.items(), strict=True):
        rows(one, names)
        for nth, corpus in enumerate(CORPORA):
            intervals(one, found[found.corpus == corpus], names, column, key="measure", series=(nth, 6))
        mark(one, 5)
        one.set(xlim=(-3, 103), title=f"Above {title}", xlabel="Sessions with p < .05 (%); line: 5%")
    below(figure, list(CORPORA.values()))
    return figure


def chimeras() -> Figure:
    """Draw how often dialogues of unrelated halves exceed surrogate pairs."""
    found = table("chimeras").rename(columns={"now_lo": "lo", "now_hi": "hi"})
    names = list(found.measure)
    figure, (axes,) = panels(1, 80)
    rows(axes, names)
    mark(axes, 5)
    intervals(axes, found, names, "now_percent", key="measure", series=(0, 0))
    rest = found.drop(columns=["lo", "hi"])
    for nth, column in enumerate(("kokoro_percent", "vera_mh_percent"), start=1):
        intervals(axes, rest, names, column, key="measure", series=(nth, 0))
    axes.set(xlim=(-0.2, 14), xlabel="Unrelated halves with p < .05 beside surrogate pairs (%); line: 5%")
    below(figure, ["AnnoMI, HLQC and MIBot, 95% interval", "KokoroChat", "VERA-MH"])
    return figure


def planted_strength() -> Figure:
    """Draw how often planted synchrony is found, by its strength."""
    found = table("planted_strength")
    kinds = {
        "share_p_below_05": (
            "beside shuffled turns",
            "lexical_alignment semantic_similarity lexical_alignment_2 coordination lsm_turn_mean rlsm",
        ),
        "surrogate_share_p_below_05": (
            "beside surrogate pairs of version 0.3",
            "lexical_alignment semantic_similarity expression_variety coordination lsm_turn_mean rlsm",
        ),
    }
    figure, axes = panels(2, 72, sharey=True)
    for one, (column, (title, measures)) in zip(axes, kinds.items(), strict=True):
        for (colour, marker), name in zip(STYLES, measures.split(), strict=True):
            part = found[found.measure == name]
            one.plot(part.strength, part[column], marker=marker, color=colour, markersize=4, linewidth=1, label=name)
        mark(one, 0.05, across=True)
        one.set(title=f"Found {title}", xlabel="Strength planted", xticks=[0, 0.15, 0.3, 0.6])
        one.legend(loc="upper left", bbox_to_anchor=(0, -0.22), ncols=2, handletextpad=0.4, columnspacing=1)
    axes[0].set_ylabel("Share of dialogues with p < .05")
    return figure


def outcomes_prediction() -> Figure:
    """Draw how well clients' scores are predicted, and which families of measures carry it."""
    found, families = table("outcomes_prediction"), table("outcomes_families")
    figure, (left, right) = panels(2, 66)
    names = list(dict.fromkeys(found["columns"]))
    rows(left, names)
    left.set_yticklabels(["length alone", "core measures", "core without\nlength", "all measures"])
    for nth, who in enumerate(("counselors", "clients")):
        intervals(left, found[found.unseen == who], names, "r", key="columns", series=(nth, 2))
    left.set(xlim=(0, 0.7), xlabel="r with clients' scores, 95% interval")
    below(figure, ["unseen counselors", "unseen clients"])
    names = list(families.family)
    rows(right, names)
    right.barh(range(len(names)), families.r_lost, color=BLUE, height=0.6)
    mark(right, 0)
    right.set_xlabel("r lost when a family is shuffled")
    return figure


def outcome_ledger() -> Figure:
    """Draw what clients' scores, confidence and skill have to do with each core measure."""
    found = table("outcome_ledger")
    measures = list(dict.fromkeys(found.measure))
    signs = found.drop_duplicates("measure").set_index("measure").expected.fillna("")
    names = [f"{name} ({signs[name]})" if signs[name] else name for name in measures]
    found_styles = ((BLUE, "o"), (GREY, "v"), (RED, "D"))
    kinds = {
        "beyond length": "Clients' score beyond length",
        "confidence": "Confidence after",
        "skilled": "Skilled above unskilled",
    }
    figure, axes = panels(3, 118, sharey=True)
    for one, (kind, title) in zip(axes, kinds.items(), strict=True):
        part = found[found.comparison == kind]
        rows(one, names)
        for nth, wanted in enumerate(("as expected", "", "against")):
            side = np.where(part.lo > 0, "+", np.where(part.hi < 0, "-", ""))
            against = (side != "") & (part.expected.fillna("") != "") & (side != part.expected)
            kept = {"as expected": (side != "") & (side == part.expected), "against": against}
            chosen = part[kept.get(wanted, ~(kept["as expected"] | against))]
            chosen = chosen.assign(row=[names[measures.index(name)] for name in chosen.measure])
            colour, marker = found_styles[nth]
            at = [names.index(name) for name in chosen.row]
            one.hlines(at, chosen.lo, chosen.hi, color=colour, linewidth=1)
            one.plot(chosen.value, at, marker, color=colour, markersize=3.6)
        mark(one, 0)
        one.set(xlim=(-1, 1), title=title, xlabel="2 AUC - 1" if kind == "skilled" else "Rank correlation")
    labels = ["as expected", "no sign expected, or 0 in the interval", "against what was expected"]
    below(figure, labels, found_styles)
    return figure


def alliance_quality() -> Figure:
    """Draw how well alliance proxies tell sessions of high quality from sessions of low quality."""
    found = table("alliance_quality")
    found = found[~found.proxy.str.contains("early|middle|late|slope")]
    names = list(dict.fromkeys(found.proxy))
    figure, (axes,) = panels(1, 75)
    rows(axes, names)
    for nth, corpus in enumerate(("annomi", "hlqc")):
        intervals(axes, found[found.corpus == corpus], names, "auc", key="proxy", series=(nth, 2))
    mark(axes, 0.5)
    axes.set(xlim=(0, 1), xlabel="Sessions of high against low quality: AUC, 95% interval")
    below(figure, ["AnnoMI", "HLQC"])
    return figure


def disclosure_after_synchrony() -> Figure:
    """Draw what the client's disclosure has to do with the synchrony of the reply between."""
    found = table("disclosure_after_synchrony")
    found["row"] = [
        f"{a.removeprefix('disclosure_').removesuffix('_turn')}, {b.removesuffix('_turn')}"
        for a, b in zip(found.disclosure, found.synchrony, strict=True)
    ]
    names = list(dict.fromkeys(found.row))
    figure, axes = panels(2, 92, sharey=True)
    kinds = {"after beyond before": "After the reply, beyond the turn before", "before": "Before the reply"}
    for one, (when, title) in zip(axes, kinds.items(), strict=True):
        rows(one, names)
        for nth, corpus in enumerate(("annomi", "hlqc", "mibot")):
            part = found[(found.when == when) & (found.corpus == corpus)]
            intervals(one, part, names, "estimate", key="row", series=(nth, 3))
        mark(one, 0)
        one.set(xlim=(-0.12, 0.18), title=title, xlabel="Slope, standard deviations, 95% interval")
    below(figure, ["AnnoMI", "HLQC", "MIBot"])
    return figure


def advice_after_feelings() -> Figure:
    """Draw how often people and language models advise, and name feelings, after a feeling and elsewhere."""
    found = table("advice_after_feelings")
    found["row"] = [f"{name} ({n})" for name, n in zip(found.group, found.turns_with_negative_feeling, strict=True)]
    names = list(dict.fromkeys(found.row))
    figure, axes = panels(2, 70, sharey=True)
    for one, answer in zip(axes, ("advises", "names the feeling"), strict=True):
        part = found[found.answer == answer]
        rows(one, names)
        one.hlines(range(len(part)), part.share_after_feelings, part.share_after_others, color=GREY, linewidth=0.8)
        for nth, column in enumerate(("share_after_feelings", "share_after_others")):
            intervals(one, part.drop(columns=["lo", "hi"]), names, column, key="row", series=(nth, 0))
        one.set(xlim=(-0.03, 1), xlabel=f"Share of answers: {answer}")
    below(figure, ["after a negative feeling (number of turns in brackets)", "after other turns"])
    return figure


def unlike_training() -> Figure:
    """Draw how far rates are off by how unlike a corpus is to the training."""
    found = table("unlike_training")
    figure, (axes,) = panels(1, 62)
    axes.plot(found.median_distance, found.off_by_corpus_left_out, "o", color=BLUE, markersize=4.5)
    beside = {"MindEval": (-2, 8), "HLQC": (-28, 3)}
    for _, one in found.iterrows():
        name = one.corpus.split(" (")[0]
        at = (one.median_distance, one.off_by_corpus_left_out)
        axes.annotate(name, at, xytext=beside.get(name, (6, 3)), textcoords="offset points")
    mark(axes, 1)
    axes.set(xlim=(0.5, 2.75), ylim=(0, 0.16), xlabel="Median distance_from_training of the corpus' sessions")
    axes.set_ylabel("Mean error of a code's rate,\ncorpus left out of training")
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    one.__name__: one
    for one in (
        *(session_rates, process_quality, answers_to_sustain, turn_rates, agreement_coverage),
        *(coverage_mixed_models, shuffled_names, synchrony_sessions, chimeras, planted_strength),
        *(outcomes_prediction, outcome_ledger, alliance_quality, disclosure_after_synchrony, advice_after_feelings),
        unlike_training,
    )
}


def main(names: list[str], folder: Path = FOLDER) -> None:
    """Draw the pictures named, or all of them."""
    mpl.use("Agg")
    for name in names or PICTURES:
        with mpl.rc_context(FONT):
            figure = PICTURES[name]()
            figure.set_dpi(DPI)
            figure.canvas.draw()
            picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")  # type: ignore[attr-defined]
            picture.quantize(128).save(folder / f"{name}.png", dpi=(DPI, DPI), optimize=True)
            plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
