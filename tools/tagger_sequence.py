"""The sequence model of the accurate tagger, trained: what `therapy_analytics.codes.sequence` runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from therapy_analytics.codes.encoder import WIDTH as ENCODER_WIDTH
from therapy_analytics.codes.sequence import N_HEADS, N_LAYERS, PLACES, REACH, VECTOR, WIDTH

DROPOUT = 0.2
UPPER = 2 * ENCODER_WIDTH


class Attention(nn.Module):
    """Each part attends to parts of its own turn and of turns before it; turns further back count less at first."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.join, self.drop = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.Dropout(DROPOUT)
        slopes = torch.tensor([0.0, 0.15, 0.4, 1.0])[:N_HEADS]
        self.distance = nn.Parameter(-torch.arange(REACH + 1)[None] * slopes[:, None])

    def forward(self, given: Any, distance: Any, seen: Any) -> Any:
        """Return what each part gathers (n, n_parts, WIDTH)."""
        n, length, _ = given.shape
        query, key, value = self.mix(given).view(n, length, 3, N_HEADS, WIDTH // N_HEADS).permute(2, 0, 3, 1, 4)
        fit = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // N_HEADS)
        fit = (fit + self.distance[:, distance].permute(1, 0, 2, 3)).masked_fill(~seen[:, None], -1e4)
        return self.join((self.drop(fit.softmax(-1)) @ value).transpose(1, 2).reshape(n, length, WIDTH))


class Layer(nn.Module):
    """Attention, then two linear layers, each added to what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.up, self.down, self.drop = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH), nn.Dropout(DROPOUT)

    def forward(self, given: Any, distance: Any, seen: Any) -> Any:
        """Return vectors (n, n_parts, WIDTH)."""
        given = given + self.drop(self.attention(self.norm1(given), distance, seen))
        return given + self.drop(self.down(nn.functional.gelu(self.up(self.norm2(given)))))


class Sequence(nn.Module):
    """Scores of parts, as `therapy_analytics.codes.sequence.SequenceModel` computes them."""

    def __init__(self, n_codes: int) -> None:
        super().__init__()
        self.upper, self.lower = nn.LayerNorm(UPPER), nn.LayerNorm(VECTOR - UPPER)
        self.enter, self.place, self.role = nn.Linear(VECTOR, WIDTH), nn.Linear(PLACES, WIDTH), nn.Embedding(3, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(N_LAYERS)])
        self.norm, self.out, self.skip = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, n_codes), nn.Linear(VECTOR, n_codes)
        self.drop = nn.Dropout(DROPOUT)
        nn.init.normal_(self.out.weight, std=0.02)
        nn.init.normal_(self.skip.weight, std=0.01)
        nn.init.zeros_(self.skip.bias)

    def forward(self, vectors: Any, beside: Any, roles: Any, turns: Any, there: Any) -> Any:
        """Return scores (n, n_parts, n_codes); ``there`` is False at what only fills up."""
        read = torch.cat([self.upper(vectors[..., :UPPER]), self.lower(vectors[..., UPPER:])], -1)
        found = self.enter(self.drop(read)) + self.place(beside) + self.role(roles)
        distance = turns[:, :, None] - turns[:, None, :]
        seen = (distance >= 0) & (distance < REACH) & there[:, None, :]
        seen = seen | torch.eye(seen.shape[1], dtype=torch.bool, device=seen.device)[None]
        for layer in self.layers:
            found = layer(found, distance.clamp(0, REACH), seen)
        return self.out(self.drop(self.norm(found))) + self.skip(self.drop(read))

    def arrays(self, centre: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Return the weights as the package reads them; ``centre`` is the mean of the third layer (ENCODER_WIDTH,)."""
        found = {"centre": torch.from_numpy(centre), "role": self.role.weight}
        for name, norm in (("upper.norm", self.upper), ("lower.norm", self.lower), ("out.norm", self.norm)):
            found[name] = torch.stack([norm.weight, norm.bias])
        linear = {"in": self.enter, "place": self.place, "out": self.out, "skip": self.skip}
        for at, layer in enumerate(self.layers):
            found |= {f"{at}.norm{i}": torch.stack([n.weight, n.bias]) for i, n in ((1, layer.norm1), (2, layer.norm2))}
            found[f"{at}.distance"] = layer.attention.distance
            linear |= {f"{at}.mix": layer.attention.mix, f"{at}.join": layer.attention.join}
            linear |= {f"{at}.up": layer.up, f"{at}.down": layer.down}
        for name, one in linear.items():
            found |= {f"{name}.weight": one.weight.T, f"{name}.bias": one.bias}
        return {name: one.detach().cpu().numpy().astype(np.float32) for name, one in found.items()}
