"""Tables for every plot there is: usual ones, and those that figures find hard; none has words of a session."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd

from benchmarks.figures import tables_of

LONG = "Counselor_with_a_rather_long_name_of_the_north_western_clinic_session_"
made = functools.cache(tables_of)


def _several(table, n):
    """Return the table of n sessions that are alike but for their numbers."""
    rng = np.random.default_rng(n)
    tables = [table.assign(session_id=f"{LONG}{i:02}") for i in range(n)]
    if {"n", "n_turns"} <= set(table):
        tables = [one.assign(n=np.minimum(one["n_turns"], rng.poisson(one["n"] + 0.1))) for one in tables]
    if "z" in table:
        tables = [one.assign(z=one["z"] + rng.normal(0, 1, len(one))) for one in tables]
    return pd.concat(tables, ignore_index=True)


def _holes(table, columns):
    """Return the table with a third of some columns missing."""
    rng = np.random.default_rng(0)
    there = [name for name in columns if name in table]
    return table.assign(**{name: table[name].mask(rng.random(len(table)) < 1 / 3) for name in there})


STATISTICS = ("value", "null_mean", "null_sd", "z", "p", "surrogate_mean", "surrogate_z")


def _of_sessions(name, takes):
    """Return tables of a plot that takes a table of the package: one session, many, long names, missing values."""
    usual, short, long = (made(n)[takes] for n in (60, 5, 500))
    single = name in ("session", "synchrony", "synchrony_all")
    found = {"60 turns": usual, "5 turns": short, "500 turns": long, "long name": usual.assign(session_id=LONG * 3)}
    if takes == "wide_turns":
        codes = [one for one in usual if one.startswith(("mi_", "bolt_", "process_", "state_"))]
        found["missing values"] = _holes(usual, ["lsm_turn", "n_words", *codes])
        for n, case in ((60, "synchrony of 60 turns"), (5, "synchrony of 5"), (500, "synchrony of 500")):
            found[case] = SimpleNamespace(wide_turns=made(n)["wide_turns"], parts=made(n)["parts"])
        found["synchrony with holes"] = SimpleNamespace(wide_turns=usual, parts=_holes(made(60)["parts"], STATISTICS))
    elif takes == "parts":
        found["missing values"] = _holes(usual, STATISTICS)
        found["no surrogate pairs"] = usual.assign(surrogate_mean=np.nan, surrogate_z=np.nan, surrogate_p=np.nan)
    elif takes == "profile":
        found["missing values"] = _holes(usual, ["lo", "hi", "expected"])
        found["own codes"] = pd.concat(
            [usual, usual.assign(code=[f"my_own_code_with_a_rather_long_name_{i % 6}" for i in range(len(usual))])]
        ).drop_duplicates(["code", "part"])
    if not single:
        found["40 sessions"] = _several(usual, 40)
    return found


def _outcomes():
    def lines(n, clients=1, label="PHQ-9"):
        x = np.arange(1, n + 1, dtype=float)
        parts = []
        for client, (kind, name, unit) in itertools.product(
            range(clients), [("scale", label, "lower is better"), ("measure", "Reflections", "proportion")]
        ):
            value = (15 - x % 7 + client) if kind == "scale" else 0.1 * (x % 5)
            ends = (10.0, 22.0) if kind == "scale" else (value - 0.05, value + 0.1)
            parts.append(
                pd.DataFrame(
                    {"who": LONG, "client": f"{LONG}{client}", "number": x, "kind": kind, "name": name, "label": name,
                     "unit": unit, "value": value, "lo": ends[0], "hi": ends[1]}
                )
            )  # fmt: skip
        danger = parts[0].iloc[[n // 2]].assign(kind="danger", name="n_danger_turns", value=1.0)
        return pd.concat([*parts, parts[0].head(1).assign(kind="cutoff", value=10.0), danger], ignore_index=True)

    usual = lines(6)
    return {
        "6 sessions": usual,
        "1 session": lines(1),
        "40 sessions": lines(40),
        "9 clients": lines(5, 9),
        "long label": lines(6, label="How often the therapist reflects after a negative feeling that the client shows"),
        "missing values": _holes(usual, ["value", "lo", "hi"]),
    }


def _comparison():
    def groups(n, measures, name="Ash"):
        rng = np.random.default_rng(n)
        rows = []
        for measure in measures:
            mean = rng.uniform(0.05, 0.8, n)
            rows += [("group", f"{name}_{i}", measure, "proportion", 9, m, m - 0.04, m + 0.06, m, m)
                     for i, m in enumerate(mean)]  # fmt: skip
            rows += [("reference", ref, measure, "proportion", 60, 0.3, 0.2, 0.4, 0.1 + 0.1 * i, 0.4 + 0.1 * i)
                     for i, ref in enumerate(("human_high", "human_low"))]  # fmt: skip
        columns = ["kind", "group", "measure", "unit", "n_sessions", "mean", "mean_lo", "mean_hi", "q25", "q75"]
        return pd.DataFrame(rows, columns=columns)

    many = [f"therapist_measure_with_a_long_name_rate_{i}" for i in range(14)]
    return {
        "2 groups": groups(2, ["therapist_question_rate", "client_change_rate"]),
        "1 group": groups(1, many[:1]),
        "12 groups": groups(12, many, LONG),
        "40 groups": groups(40, many, LONG),
        "missing values": _holes(groups(6, many[:5]), ["mean_lo", "mean_hi"]),
    }


def _associations():
    def table(synchrony, disclosure):
        rng = np.random.default_rng(0)
        keys = list(itertools.product(synchrony, disclosure, ("after", "after_beyond_before", "before")))
        found = pd.DataFrame(keys, columns=["synchrony", "disclosure", "direction"])
        estimate = rng.normal(0, 0.05, len(found))
        about = {"n_sessions": 120, "n_turns": 4321, "null": 0.001, "null_sd": 0.02}
        return found.assign(estimate=estimate, lo=estimate - 0.04, hi=estimate + 0.05, **about)

    names = ["lsm_turn", "rlsm_turn", "semantic_similarity_turn"]
    usual = table(names, ["disclosure_informational_turn", "disclosure_emotional_turn"])
    return {
        "3 measures": usual,
        "long names": table([f"{LONG}{name}" for name in names], [LONG]),
        "missing values": _holes(usual, ["estimate"]),
    }


def _agreement(name):
    def codes(n):
        return [f"mi_code_with_a_long_name_{i}" if i else "mi_question" for i in range(n)]

    def counts(names, values):
        rows = [(code, a, b, 1000 // (i + 2 * j + 1)) for code in names
                for (i, a), (j, b) in itertools.product(enumerate(values), repeat=2)]  # fmt: skip
        return pd.DataFrame(rows, columns=["code", "human", "machine", "n"])

    def curve(names):
        rows = [(code, p, p**2, p**2 - 0.01, p**2 + 0.02) for code in names for p in (0.1, 0.5, 0.9)]
        return pd.DataFrame(rows, columns=["code", "p_mean", "observed", "observed_lo", "observed_hi"])

    def rates(names):
        x = np.linspace(0.1, 0.5, 40)
        return pd.concat(
            [pd.DataFrame({"code": code, "human": x, "machine": x + 0.1 * np.cos(9 * x)}) for code in names]
        )

    make = {
        "confusion_matrix": lambda names: counts(names, ["0", "1"]),
        "calibration_curve": curve,
        "limits_of_agreement": rates,
    }[name]
    found = {f"{n} codes": make(codes(n)) for n in (1, 13)}
    if name == "confusion_matrix":
        found["5 values"] = counts(["behaviour"], [f"mi_value_with_a_long_name_{i}" for i in range(5)])
    return found


def tables_for(plot):
    """Return tables that a plot takes, by what is hard in them."""
    name = plot.__name__
    if name in ("confusion_matrix", "calibration_curve", "limits_of_agreement"):
        return _agreement(name)
    others = {"client_course": _outcomes, "comparison": _comparison, "association": _associations}
    return others[name]() if name in others else _of_sessions(name, plot.takes)
