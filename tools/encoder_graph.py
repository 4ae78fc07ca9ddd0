"""The encoder as onnxruntime runs it: each operation written out, weights in eight bits.

Needs onnx. Written by hand rather than exported, since onnxruntime then runs it in three quarters of the time: one
operation for the attention of a layer, and a normalisation that it computes faster than the one it would put there.
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

    def times(self, given: str, weights: Eight, bias: Floats, found: str) -> str:
        """Multiply rows, put into eight bits, by a matrix, and add a bias."""
        parts = self._held(weights, found)
        all_given = [given, *parts, self.hold(f"{found}.bias", bias)]
        return self.add("DynamicQuantizeMatMul", all_given, found, domain=_MICROSOFT)

    def attended(self, given: str, weights: Eight, bias: Floats, found: str) -> str:
        """Let the rows of a text attend to each other; queries, keys and values stand side by side in the weights."""
        names = [f"{found}.{one}" for one in ("given", "given_scale", "given_zero")]
        self.add("DynamicQuantizeLinear", [given], *names)
        values, scale, zero = self._held(weights, found)
        bias = self.hold(f"{found}.bias", bias)
        all_given = [names[0], values, bias, names[1], scale, "", names[2], zero]
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


def encoder(eight: Mapping[str, Eight], floats: Mapping[str, Floats]) -> bytes:
    """Return the contents of ``encoder.onnx``.

    Parameters
    ----------
    eight : mapping of str to Eight
        Tables and matrices: ``embeddings.word_embeddings``, ``embeddings.position_embeddings``,
        ``layer.0.attention.self.query``, ..., ``layer.5.output.dense``, ``head``.
    floats : mapping of str to float32 array
        ``embeddings.token_type_embeddings.weight``, and all biases and norms, named as in BERT.
    """
    graph = _Graph()
    found = _embedded(graph, eight, floats)
    for layer in range(N_LAYERS):
        found = _layer(graph, found, layer, eight, floats)
        if layer + 1 == N_LOWER:
            found = graph.add("Identity", [found], LOWER)
    one = graph.hold("one", np.array([1], dtype=np.int64))
    graph.add("ReduceSum", ["own", one], "n_own", keepdims=1)
    graph.add("Unsqueeze", ["own", one], "own_row")
    for name, source in (("of_own", found), ("of_own_lower", LOWER)):
        graph.add("MatMul", ["own_row", source], f"{name}.row")
        graph.add("Squeeze", [f"{name}.row", one], f"{name}.sum")
        graph.add("Div", [f"{name}.sum", "n_own"], name)
    graph.add("ReduceMean", [found], "of_all", axes=[1], keepdims=0)
    graph.add("Concat", ["of_own", "of_all"], "read", axis=1)
    graph.add("Concat", ["read", "of_own_lower"], "vector", axis=1)
    graph.times("read", eight["head"], floats["head.bias"], "scores")
    return _model(graph, n_scores=len(floats["head.bias"]))


def _embedded(graph: _Graph, eight: Mapping[str, Eight], floats: Mapping[str, Floats]) -> str:
    words = graph.rows("words", eight["embeddings.word_embeddings"], "Gather", "subwords")
    begin = graph.hold("begin", np.array([0], dtype=np.int64))
    end = graph.add("Shape", ["subwords"], "end", start=1, end=2)
    places = graph.rows("places", eight["embeddings.position_embeddings"], "Slice", begin, end)
    kind = graph.hold("kind", floats["embeddings.token_type_embeddings.weight"][0])
    words = graph.add("Add", [words, kind], "words.kind")
    return graph.normed(words, places, _norm(floats, "embeddings.LayerNorm"), "embedded")


def _layer(graph: _Graph, given: str, at: int, eight: Mapping[str, Eight], floats: Mapping[str, Floats]) -> str:
    name = f"layer.{at}"
    mixed = [f"{name}.attention.self.{one}" for one in _MATRICES]
    values, scale = (np.concatenate([getattr(eight[one], part) for one in mixed], -1) for part in ("values", "scale"))
    bias = np.concatenate([floats[f"{one}.bias"] for one in mixed])
    found = graph.attended(given, Eight(values, scale), bias, f"{name}.attended")
    out = f"{name}.attention.output"
    found = graph.times(found, eight[f"{out}.dense"], floats[f"{out}.dense.bias"], f"{name}.joined")
    middle = graph.normed(found, given, _norm(floats, f"{out}.LayerNorm"), f"{name}.middle")
    up, down = f"{name}.intermediate.dense", f"{name}.output.dense"
    found = graph.times(middle, eight[up], floats[f"{up}.bias"], f"{name}.up")
    found = graph.add("Gelu", [found], f"{name}.gelu", domain=_MICROSOFT)
    found = graph.times(found, eight[down], floats[f"{down}.bias"], f"{name}.down")
    return graph.normed(found, middle, _norm(floats, f"{name}.output.LayerNorm"), f"{name}.found")


def _norm(floats: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    return floats[f"{name}.weight"], floats[f"{name}.bias"]


def _model(graph: _Graph, *, n_scores: int) -> bytes:
    """Return the whole as bytes; its results are ``scores``, ``vector`` and `LOWER`."""
    given = [
        helper.make_tensor_value_info(name, kind, [1, "n"])
        for name, kind in (("subwords", TensorProto.INT64), ("own", TensorProto.FLOAT))
    ]
    shapes = {"scores": [1, n_scores], "vector": [1, 3 * WIDTH], LOWER: [1, "n", WIDTH]}
    found = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    whole = helper.make_graph(graph.nodes, "encoder", given, found, list(graph.weights.values()))
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(whole, opset_imports=domains, ir_version=8)
    onnx.checker.check_model(model)
    raw: bytes = model.SerializeToString()
    return raw
