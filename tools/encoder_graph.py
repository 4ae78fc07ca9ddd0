"""The encoder as onnxruntime runs it: each operation written out, weights and what they are multiplied by as bytes.

Needs onnx. Written by hand rather than exported, since onnxruntime then runs it in three quarters of the time: one
operation for the attention of a layer, and a normalisation that it computes faster than the one it would put there.

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

from therapy_analytics.behaviours.encoder import LOWER, WIDTH

N_HEADS, N_LAYERS, N_LOWER = 12, 6, 3
EPSILON = 1e-12
LARGEST = 64
"""Weights of matrices are between -64 and 64: with more, older processors overflow where they add two products."""
_MICROSOFT = "com.microsoft"
_MATRICES = ("query", "key", "value")
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


def encoder(weights: Mapping[str, Floats], sites: Mapping[str, Site]) -> bytes:
    """Return the contents of ``encoder.onnx``.

    Parameters
    ----------
    weights : mapping of str to float32 array
        Named as in BERT: ``embeddings.word_embeddings.weight``, ``layer.0.attention.self.query.weight``, ...
    sites : mapping of str to Site
        For each layer ``layer.0.attention.self``, ``layer.0.attention.output``, ``layer.0.intermediate`` and
        ``layer.0.output``: how what comes in is put into eight bits.
    """
    graph = _Graph()
    found = _embedded(graph, weights)
    for layer in range(N_LAYERS):
        found = _layer(graph, found, layer, weights, sites)
        if layer + 1 == N_LOWER:
            found = graph.add("Identity", [found], LOWER)
    one = graph.hold("one", np.array([1], dtype=np.int64))
    # Means by products: a sum over an axis is rounded in another way where several texts stand side by side
    graph.add("Shape", ["own"], "shape_of_own")
    everything = numpy_helper.from_array(np.array([1], dtype=np.float32))
    graph.add("ConstantOfShape", ["shape_of_own"], "every", value=everything)
    for name, source, mask in (("of_own", found, "own"), ("of_all", found, "every"), ("of_own_lower", LOWER, "own")):
        graph.add("ReduceSum", [mask, one], f"{name}.n", keepdims=1)
        graph.add("Div", [mask, f"{name}.n"], f"{name}.share")
        graph.add("Unsqueeze", [f"{name}.share", one], f"{name}.row")
        graph.add("MatMul", [f"{name}.row", source], f"{name}.mean")
        graph.add("Squeeze", [f"{name}.mean", one], name)
    graph.add("Concat", ["of_own", "of_all", "of_own_lower"], "vector", axis=1)
    return _model(graph)


def _embedded(graph: _Graph, weights: Mapping[str, Floats]) -> str:
    tables = {name: table(weights[f"embeddings.{name}_embeddings.weight"]) for name in ("word", "position")}
    words = graph.rows("words", tables["word"], "Gather", "subwords")
    begin = graph.hold("begin", np.array([0], dtype=np.int64))
    end = graph.add("Shape", ["subwords"], "end", start=1, end=2)
    places = graph.rows("places", tables["position"], "Slice", begin, end)
    kind = graph.hold("kind", weights["embeddings.token_type_embeddings.weight"][0])
    words = graph.add("Add", [words, kind], "words.kind")
    return graph.normed(words, places, _norm(weights, "embeddings.LayerNorm"), "embedded")


def _layer(graph: _Graph, given: str, at: int, weights: Mapping[str, Floats], sites: Mapping[str, Site]) -> str:
    name = f"layer.{at}"
    mixed = [f"{name}.attention.self.{one}" for one in _MATRICES]
    matrices = np.concatenate([weights[f"{one}.weight"].T for one in mixed], axis=1)
    bias = np.concatenate([weights[f"{one}.bias"] for one in mixed])
    found = graph.attended(given, sites[f"{name}.attention.self"], matrices, bias, f"{name}.attended")
    out = f"{name}.attention.output"
    found = _times(graph, found, (out, f"{out}.dense"), weights, sites)
    middle = graph.normed(found, given, _norm(weights, f"{out}.LayerNorm"), f"{name}.middle")
    found = _times(graph, middle, (f"{name}.intermediate", f"{name}.intermediate.dense"), weights, sites)
    found = graph.add("Gelu", [found], f"{name}.gelu", domain=_MICROSOFT)
    found = _times(graph, found, (f"{name}.output", f"{name}.output.dense"), weights, sites)
    return graph.normed(found, middle, _norm(weights, f"{name}.output.LayerNorm"), f"{name}.found")


def _times(
    graph: _Graph, given: str, names: tuple[str, str], weights: Mapping[str, Floats], sites: Mapping[str, Site]
) -> str:
    site, name = names
    return graph.times(given, sites[site], weights[f"{name}.weight"].T, weights[f"{name}.bias"], f"{name}.found")


def _norm(weights: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _model(graph: _Graph) -> bytes:
    """Return the whole as bytes; its results are ``vector`` and `LOWER`."""
    subwords = helper.make_tensor_value_info("subwords", TensorProto.INT64, ["n_texts", "n"])
    own = helper.make_tensor_value_info("own", TensorProto.FLOAT, [1, "n"])
    shapes = {"vector": ["n_texts", 3 * WIDTH], LOWER: ["n_texts", "n", WIDTH]}
    found = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    whole = helper.make_graph(graph.nodes, "encoder", [subwords, own], found, list(graph.weights.values()))
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(whole, opset_imports=domains, ir_version=8)
    onnx.checker.check_model(model)
    raw: bytes = model.SerializeToString()
    return raw
