"""The loss of connectionist temporal classification, and its gradient, by Graves' forward and backward recursions.

A target is extended with a blank before, between and behind its labels; L = 2 * (longest target) + 1 states. Shapes:
T time steps, B sequences, C classes. Lengths are part of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import lax
from lazycore_plugin_api import DType

from lazycore_xla.lowerings.operands import Array
from lazycore_xla.registry import INTEGRAL, lowering

__all__: list[str] = []

Lengths = Sequence[int]
_DTYPES = INTEGRAL | {DType.float32, DType.float64}


@dataclass(frozen=True)
class _Problem:
    """``labels`` (B, L): each state's class. ``scores`` (T, B, L): its log-probability. ``steps`` (B,): the lengths of
    the inputs; ``last`` (B, 1): each sequence's last state. ``skips`` (B, L): whether the state two before may
    lead here."""

    labels: Array
    scores: Array
    steps: Array
    last: Array
    skips: Array

    @property
    def states(self) -> Array:
        """(1, L): the states' numbers."""
        return jnp.arange(self.labels.shape[1])[None]

    @property
    def nothing(self) -> Array:
        """(B, L): the logarithm of 0."""
        return jnp.full(self.labels.shape, -jnp.inf, self.scores.dtype)


def _problem(log_probs: Array, targets: Array, inputs: Lengths, lengths: Lengths, blank: int) -> _Problem:
    labels = _extended(targets, lengths, blank)
    scores = jnp.take_along_axis(log_probs, jnp.broadcast_to(labels[None], (len(log_probs), *labels.shape)), axis=2)
    before = jnp.pad(labels[:, :-2], ((0, 0), (2, 0)), constant_values=blank)[:, : labels.shape[1]]
    skips = (labels != blank) & (labels != before) & (jnp.arange(labels.shape[1]) >= 2)
    return _Problem(labels, scores, jnp.asarray(inputs), 2 * jnp.asarray(lengths)[:, None], skips)


def _extended(targets: Array, lengths: Lengths, blank: int) -> Array:
    longest = max(lengths, default=0)
    if targets.ndim == 1:
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        places = starts[:, None] + np.arange(longest)
        padded = jnp.pad(targets, (0, longest), constant_values=blank)[jnp.asarray(places)]
    else:
        padded = targets[:, :longest]
    labels = jnp.full((len(lengths), 2 * longest + 1), blank, jnp.int64)
    return labels.at[:, 1::2].set(padded.astype(jnp.int64))


def _moved(x: Array, by: int) -> Array:
    """Along the states, with the logarithm of 0 coming in."""
    padded = jnp.pad(x, ((0, 0), (max(by, 0), max(-by, 0))), constant_values=-jnp.inf)
    return padded[:, : x.shape[1]] if by > 0 else padded[:, -by:]


def _forward(p: _Problem) -> Array:
    """(T, B, L): the log-probability of all ways to be in a state at a time."""
    first = jnp.where((p.states < 2) & (p.states <= p.last), p.scores[0], p.nothing)

    def step(alpha: Array, scores: Array) -> tuple[Array, Array]:
        ways = jnp.logaddexp(alpha, _moved(alpha, 1))
        ways = jnp.logaddexp(ways, jnp.where(p.skips, _moved(alpha, 2), -jnp.inf))
        alpha = jnp.where(p.states <= p.last, ways + scores, p.nothing)
        return alpha, alpha

    _, rest = lax.scan(step, first, p.scores[1:])
    return jnp.concatenate([first[None], rest])


def _backward(p: _Problem) -> Array:
    """(T, B, L): the log-probability of all ways to go on from a state at a time, that time's included."""
    ends = (p.states <= p.last) & (p.states >= p.last - 1)
    skips = jnp.pad(p.skips, ((0, 0), (0, 2)))[:, 2:]

    def step(beta: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        time, scores = now
        ways = jnp.logaddexp(beta, _moved(beta, -1))
        ways = jnp.logaddexp(ways, jnp.where(skips, _moved(beta, -2), -jnp.inf))
        here = jnp.where(time == p.steps[:, None] - 1, jnp.where(ends, 0.0, -jnp.inf), ways)
        beta = jnp.where((p.states <= p.last) & (time < p.steps[:, None]), here + scores, p.nothing)
        return beta, beta

    _, betas = lax.scan(step, p.nothing, (jnp.arange(len(p.scores)), p.scores), reverse=True)
    return betas


@lowering("aten._ctc_loss.default", dtypes=_DTYPES)
def _ctc_loss(
    log_probs: Array, targets: Array, inputs: Lengths, lengths: Lengths, blank: int, zero_infinity: bool
) -> tuple[Array, Array]:
    """Negative log-likelihoods (B,) and the forward log-probabilities (B, T, L)."""
    del zero_infinity  # torch's composite op sees to it
    p = _problem(log_probs, targets, inputs, lengths, blank)
    alphas = jnp.swapaxes(_forward(p), 0, 1)
    final = jnp.take_along_axis(alphas, jnp.maximum(p.steps - 1, 0)[:, None, None], axis=1)[:, 0]
    ends = jnp.where((p.states <= p.last) & (p.states >= p.last - 1), final, -jnp.inf)
    likelihood = jnp.logaddexp.reduce(ends, axis=1)
    empty = jnp.where(p.last[:, 0] == 0, 0.0, -jnp.inf).astype(likelihood.dtype)
    return -jnp.where(p.steps > 0, likelihood, empty), alphas


@lowering("aten._ctc_loss_backward.default", dtypes=_DTYPES)
def _ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    inputs: Lengths,
    lengths: Lengths,
    loss: Array,
    alphas: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """What a softmax before the loss passes on: probabilities less the share of the paths through each class."""
    p = _problem(log_probs, targets, inputs, lengths, blank)
    ahead = _backward(p)
    # Where no way goes on, the forward log-probabilities of another backend may be anything.
    through = jnp.where(jnp.isneginf(ahead), ahead, jnp.swapaxes(alphas, 0, 1) + ahead)
    shares = jnp.where(jnp.isneginf(through), 0, jnp.exp(through + loss[:, None] - p.scores))
    classes = (p.labels[..., None] == jnp.arange(log_probs.shape[2])).astype(log_probs.dtype)
    by_class = jnp.einsum("tbl,blc->tbc", shares, classes, precision=lax.Precision.HIGHEST)
    result = (jnp.exp(log_probs) - by_class) * grad[:, None]
    impossible = jnp.isposinf(loss)[:, None]
    result = jnp.where(impossible, 0 if zero_infinity else jnp.nan, result)
    inside = jnp.arange(len(log_probs))[:, None] < p.steps
    return jnp.where(inside[..., None], result, 0)
