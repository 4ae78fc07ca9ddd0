"""The encoder as onnxruntime runs it: each operation written out, weights and what they are multiplied by as bytes.

Needs onnx. Written by hand rather than exported, since onnxruntime then runs it in three quarters of the time: one
operation for the attention of a layer, and a normalisation that it computes faster than the one it would put there.
There are two graphs: the lower layers read texts, the upper ones read what the lower ones say of a text and of the end
of the turn before it.

What is multiplied by a matrix is put into eight bits by a scale that is fixed beforehand, found on texts
(`tagger_encoder`): a scale that is taken from what is read would make a text's vector depend on the texts beside it.
Columns that are far larger than others are first made even, and the rows of the matrix larger in turn (Xiao et al.,
2023, SmoothQuant, ICML, arXiv:2211.10438).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from therapy_analytics.codes.encoder import BEFORE, WIDTH

N_HEADS, N_LAYERS, N_LOWER = 12, 6, 3
EPSILON = 1e-12
LARGEST = 64
"""Weights of matrices are between -64 and 64: with more, older processors overflow where they add two products."""
_MICROSOFT = "com.microsoft"
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Eight:
    """Weights in eight bits: ``(values - zero) * scale`` gives them back.

    Attributes
    ----------
    values : int8 array (n_in, n_out), or uint8 array (n_rows, WIDTH)
        Of a matrix that is applied from the right, or of a table.
    scale : float32 array (n_out,), or ()
        Of each column of a matrix, or of the whole table.
    zero : int
        0 for a matrix.
    """

    values: NDArray[Any]
    scale: Floats
    zero: int = 0


def matrix(weights: Floats) -> Eight:
    """Return a matrix (n_in, n_out) in eight bits, with a scale for each column."""
    scale = np.maximum(np.abs(weights).max(axis=0), 1e-12) / LARGEST
    return Eight(np.round(weights / scale).astype(np.int8), scale.astype(np.float32))


def table(weights: Floats) -> Eight:
    """Return a table (n_rows, WIDTH) in eight bits, with one scale."""
    low, high = min(0.0, float(weights.min())), float(weights.max())
    scale = (high - low) / 255
    zero = round(-low / scale)
    values = np.clip(np.round(weights / scale) + zero, 0, 255).astype(np.uint8)
    return Eight(values, np.array(scale, dtype=np.float32), zero)


@dataclass(frozen=True)
class Site:
    """How what is multiplied by a matrix is put into eight bits: ``round(given * even / scale) + zero``.

    Attributes
    ----------
    even : float32 array (n_in,)
        Makes columns even; the matrix is divided by it.
    scale : float
    zero : int
    """

    even: Floats
    scale: float
    zero: int


@dataclass
class _Graph:
    """Operations and weights so far."""

    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Any] = field(default_factory=dict)

    def hold(self, name: str, values: NDArray[Any]) -> str:
        """Add weights, and return their name."""
        self.weights[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def add(self, kind: str, given: list[str], *found: str, domain: str = "", **options: Any) -> str:
        """Add an operation, and return the name of its first result."""
        self.nodes.append(helper.make_node(kind, given, list(found), domain=domain, **options))
        return found[0]

    def eight(self, given: str, site: Site, found: str) -> list[str]:
        """Put rows into eight bits, and return the names of the values, the scale and the zero."""
        self.add("Mul", [given, self.hold(f"{found}.even", site.even)], f"{found}.evened")
        scale = self.hold(f"{found}.given_scale", np.array(site.scale, dtype=np.float32))
        zero = self.hold(f"{found}.given_zero", np.array(site.zero, dtype=np.uint8))
        values = self.add("QuantizeLinear", [f"{found}.evened", scale, zero], f"{found}.given")
        return [values, scale, zero]

    def times(self, given: str, site: Site, weights: Floats, bias: Floats, found: str) -> str:
        """Multiply rows by a matrix (n_in, n_out), and add a bias (n_out,)."""
        values, scale, zero = self.eight(given, site, found)
        weight, its_scale, its_zero = self._held(matrix(weights / site.even[:, None]), found)
        bias = self.hold(f"{found}.bias", bias)
        all_given = [values, weight, scale, its_scale, zero, its_zero, bias]
        return self.add("MatMulIntegerToFloat", all_given, found, domain=_MICROSOFT)

    def attended(self, given: str, site: Site, weights: Floats, bias: Floats, found: str) -> str:
        """Let the rows of a text attend to each other; queries, keys and values stand side by side in the weights."""
        values, scale, zero = self.eight(given, site, found)
        weight, its_scale, its_zero = self._held(matrix(weights / site.even[:, None]), found)
        bias = self.hold(f"{found}.bias", bias)
        all_given = [values, weight, bias, scale, its_scale, "", zero, its_zero]
        return self.add("QAttention", all_given, found, domain=_MICROSOFT, num_heads=N_HEADS)

    def _held(self, weights: Eight, found: str) -> list[str]:
        zeros = np.zeros(weights.values.shape[1], dtype=np.int8)
        parts = {"weight": weights.values, "scale": weights.scale, "zero": zeros}
        return [self.hold(f"{found}.{name}", values) for name, values in parts.items()]

    def normed(self, given: str, beside: str, weights: tuple[Floats, Floats], found: str) -> str:
        """Add two, and normalise the rows of the sum by a weight and a bias (WIDTH,)."""
        self.add("Add", [given, beside], f"{found}.sum")
        held = [self.hold(f"{found}.{name}", one) for name, one in zip(("weight", "bias"), weights, strict=True)]
        return self.add("LayerNormalization", [f"{found}.sum", *held], found, axis=-1, epsilon=EPSILON)

    def rows(self, name: str, values: Eight, kind: str, *places: str) -> str:
        """Return some rows of a table, taken by an operation of a kind (Gather or Slice)."""
        parts = {"table": values.values, "scale": values.scale, "zero": np.array(values.zero, dtype=np.uint8)}
        table_, scale, zero = (self.hold(f"{name}.{part}", one) for part, one in parts.items())
        self.add(kind, [table_, *places], f"{name}.eight")
        return self.add("DequantizeLinear", [f"{name}.eight", scale, zero], name)


def lower(weights: Mapping[str, Floats], sites: Mapping[str, Site]) -> bytes:
    """Return the contents of the file of the lower layers: ``subwords`` (n_texts, n) to ``lower`` (n_texts, n, WIDTH).

    Parameters
    ----------
    weights : mapping of str to float32 array
        Named as in BERT: ``embeddings.word_embeddings.weight``, ...; those of layers as in `upper`, from 0.
    sites : mapping of str to Site
        As in `upper`.
    """
    graph = _Graph()
    found = _embedded(graph, weights)
    for layer in range(N_LOWER):
        name = f"layer.{layer}"
        mixed = weights[f"{name}.mix.weight"].T, weights[f"{name}.mix.bias"]
        gathered = graph.attended(found, sites[f"{name}.mix"], *mixed, f"{name}.attended")
        found = _fed(graph, found, gathered, name, weights, sites)
    graph.add("Identity", [found], "lower")
    return _model(graph, [("subwords", TensorProto.INT64, ["n_texts", "n"])], "lower", ["n_texts", "n", WIDTH])


def upper(weights: Mapping[str, Floats], sites: Mapping[str, Site]) -> bytes:
    """Return the contents of the file of the upper layers, see `therapy_analytics.codes.encoder`.

    Parameters
    ----------
    weights : mapping of str to float32 array
        ``layer.3.mix.weight`` (of queries, keys and values), ``.join``, ``.norm1``, ``.up``, ``.down``, ``.norm2`` and
        their biases, for each layer; ``mark`` (WIDTH,), which is added to what is read before.
    sites : mapping of str to Site
        How what comes in is put into eight bits: ``layer.3.mix``, ``.join``, ``.up``, ``.down``; ``before``.
    """
    graph = _Graph()
    layers = [f"layer.{layer}" for layer in range(N_LOWER, N_LAYERS)]
    others = [[f"{name}.before.{one}" for one in ("key", "value")] for name in layers]
    marked = graph.add("Add", ["before", graph.hold("mark", weights["mark"])], "marked")
    matrices = np.concatenate([weights[f"{name}.mix.weight"][WIDTH:] for name in layers]).T
    bias = np.concatenate([weights[f"{name}.mix.bias"][WIDTH:] for name in layers])
    mixed = graph.times(marked, sites["before"], matrices, bias, "mixed_before")
    graph.add("Split", [mixed, _widths(graph, 2 * len(layers))], *[name for pair in others for name in pair], axis=2)
    found = "lower"
    for name, before in zip(layers, others, strict=True):
        matrices, bias = weights[f"{name}.mix.weight"].T, weights[f"{name}.mix.bias"]
        mixed = graph.times(found, sites[f"{name}.mix"], matrices, bias, f"{name}.mixed")
        own = [f"{name}.{one}" for one in ("query", "key", "value")]
        graph.add("Split", [mixed, _widths(graph, 3)], *own, axis=2)
        both = [
            graph.add("Concat", [earlier, mine], f"{mine}.both", axis=1)
            for earlier, mine in zip(before, own[1:], strict=True)
        ]
        given = [own[0], *both, "", "there"]
        gathered = graph.add("MultiHeadAttention", given, f"{name}.attended", domain=_MICROSOFT, num_heads=N_HEADS)
        found = _fed(graph, found, gathered, name, weights, sites)
    _means(graph, found)
    given = [
        ("lower", TensorProto.FLOAT, ["n_texts", "n", WIDTH]),
        ("before", TensorProto.FLOAT, ["n_texts", BEFORE, WIDTH]),
        ("there", TensorProto.INT32, ["n_texts", "n_all"]),
    ]
    return _model(graph, given, "vector", ["n_texts", 3 * WIDTH])


def _widths(graph: _Graph, n: int) -> str:
    return graph.hold(f"widths.{n}", np.full(n, WIDTH, dtype=np.int64))


def _means(graph: _Graph, above: str) -> None:
    """Add the means over own subwords, over all, and over own ones of the lower layers: all but two marks and one."""
    one = graph.hold("one", np.array([1], dtype=np.int64))
    begin, end, axis = (graph.hold(f"own.{at}", np.array([at], dtype=np.int64)) for at in (2, -1, 1))
    own = [graph.add("Slice", [one, begin, end, axis], f"{one}.own") for one in (above, "lower")]
    for name, source in (("of_own", own[0]), ("of_all", above), ("of_own_lower", own[1])):
        # Means by products: a sum over an axis is rounded in another way where several texts stand side by side
        graph.add("Shape", [source], f"{name}.n", start=1, end=2)
        shape = graph.add("Concat", [one, f"{name}.n"], f"{name}.shape", axis=0)
        value = numpy_helper.from_array(np.array([1], dtype=np.float32))
        graph.add("ConstantOfShape", [shape], f"{name}.ones", value=value)
        graph.add("Cast", [f"{name}.n"], f"{name}.many", to=TensorProto.FLOAT)
        graph.add("Div", [f"{name}.ones", f"{name}.many"], f"{name}.share")
        graph.add("MatMul", [f"{name}.share", source], f"{name}.mean")
        graph.add("Squeeze", [f"{name}.mean", one], name)
    graph.add("Concat", ["of_own", "of_all", "of_own_lower"], "vector", axis=1)


def _embedded(graph: _Graph, weights: Mapping[str, Floats]) -> str:
    tables = {name: table(weights[f"embeddings.{name}_embeddings.weight"]) for name in ("word", "position")}
    words = graph.rows("words", tables["word"], "Gather", "subwords")
    begin = graph.hold("begin", np.array([0], dtype=np.int64))
    end = graph.add("Shape", ["subwords"], "end", start=1, end=2)
    places = graph.rows("places", tables["position"], "Slice", begin, end)
    kind = graph.hold("kind", weights["embeddings.token_type_embeddings.weight"][0])
    words = graph.add("Add", [words, kind], "words.kind")
    return graph.normed(words, places, _norm(weights, "embeddings.LayerNorm"), "embedded")


def _fed(
    graph: _Graph, given: str, gathered: str, name: str, weights: Mapping[str, Floats], sites: Mapping[str, Site]
) -> str:
    """Add the rest of a layer: what was gathered, and what the two matrices make of it, each added to what came in."""

    def times(rows: str, matrix_: str) -> str:
        of = f"{name}.{matrix_}"
        return graph.times(rows, sites[of], weights[f"{of}.weight"].T, weights[f"{of}.bias"], f"{of}.found")

    middle = graph.normed(times(gathered, "join"), given, _norm(weights, f"{name}.norm1"), f"{name}.middle")
    bent = graph.add("Gelu", [times(middle, "up")], f"{name}.gelu", domain=_MICROSOFT)
    return graph.normed(times(bent, "down"), middle, _norm(weights, f"{name}.norm2"), f"{name}.found")


def _norm(weights: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _model(graph: _Graph, given: list[tuple[str, int, list[Any]]], name: str, shape: list[Any]) -> bytes:
    """Return the whole as bytes; it has one result."""
    inputs = [helper.make_tensor_value_info(*one) for one in given]
    found = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    whole = helper.make_graph(graph.nodes, name, inputs, [found], list(graph.weights.values()))
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(whole, opset_imports=domains, ir_version=8)
    onnx.checker.check_model(model)
    raw: bytes = model.SerializeToString()
    return raw
