"""Gaps in recordings: found and filled, on arrays of samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine, _files
from ._engine import Buffer, Progress
from ._flags import flags

Gaps = Iterable[Sequence[int]] | NDArray

_IN, _OUT, _GAPS, _SD, _REFERENCE = "in.wav", "out.wav", "gaps.csv", "sd.npy", "reference.wav"


@dataclass(frozen=True)
class Repair:
    """A recording whose gaps are filled.

    `samples` has the shape and type of the input; outside the gaps it is the input, bit for bit. `sd` has the same
    shape and the samples' units: the fill's standard deviation, 0 outside the gaps.
    `gaps` are (start, end, channel), the end exclusive, channel None for all of them, from 0. `found` is what `detect`
    found, `doubts` the gaps whose fill should not be trusted, with the reason; `draws` are further plausible fills;
    `scores` compare with `reference`, in full scale 1, beside silence, linear interpolation and an autoregressive fill.
    """

    samples: NDArray
    sd: NDArray = field(repr=False)
    rate: int
    gaps: list[tuple[int, int, int | None]]
    method: str
    doubts: list[dict[str, Any]]
    found: list[dict[str, Any]] | None = None
    draws: list[NDArray] = field(repr=False, default_factory=list)
    scores: dict[str, dict[str, float]] | None = field(repr=False, default=None)
    seconds: float = 0.0


def impute(
    samples: ArrayLike,
    rate: int,
    gaps: Gaps | None = None,
    *,
    detect: str | Sequence[str] | None = None,
    sensitivity: float | None = None,
    method: str | None = None,
    draws: int = 0,
    reference: ArrayLike | None = None,
    seed: int = 0,
    device: str | None = None,
    progress: Progress = None,
) -> Repair:
    """Fill gaps in a recording.

    samples are [n] or [n, channels], float32 or float64 in full scale 1, or int16, int32 or uint8; rate is in samples
    a second. gaps are (start, end) or (start, end, channel), the end exclusive and channels from 0, or a mask, True
    where samples are missing, [n] or of samples' shape. Without gaps and detect, they are where samples are NaN.
    detect is of clicks, dropouts, zeros, clipped; sensitivity (0 to 10, default 5) how much of it is found.

    method is mixture (the default), ar, vssgp, ssgp or rp. draws is a number of further plausible fills; reference
    the undamaged samples, to score the fill. `vssgp impute --help` explains each.

    Raises ValueError, with what would be right, for samples or gaps that cannot be; RuntimeError if the Go side fails.
    A KeyboardInterrupt ends the work at once.
    """
    a = _samples(samples, "samples")
    args = ["impute", _IN, "-o", _OUT, "--sd", _SD, "--json"]
    args += flags(detect=detect, sensitivity=sensitivity, method=method, draws=draws or None, seed=seed, device=device)
    missing = np.isnan(a) if a.dtype.kind == "f" else np.zeros(a.shape, dtype=bool)
    if gaps is None and detect is None and missing.any():
        gaps = missing
    if gaps is None and detect is None:
        raise ValueError("no gaps: want gaps, detect, or samples that are NaN where they are missing")
    if not (isinstance(rate, (int, np.integer)) and 0 < rate < 1 << 31):
        raise ValueError(f"rate is {rate!r}; want a whole number of samples a second")
    files: dict[str, Buffer | Sequence[Buffer]] = {}
    if gaps is not None:
        listed = _listed(gaps, a.shape)
        files[_GAPS] = "\n".join(["start,end,channel", *listed, ""]).encode()
        args += ["--gaps", _GAPS]
    if missing.any():
        a = np.where(missing, a.dtype.type(0), a)
    files[_IN] = _files.wav(a, rate)
    if reference is not None:
        files[_REFERENCE] = _files.wav(_samples(reference, "reference"), rate)
        args += ["--reference", _REFERENCE]
    answer = _engine.call(args, files, progress=progress)
    r = answer.result
    channels = r.get("gap_channels") or [0] * len(r["gaps"])
    own = [(start, end, c - 1 if c else None) for (start, end), c in zip(r["gaps"], channels, strict=True)]
    filled = _files.from_wav(answer.files[_OUT], a)
    _check_known(missing, own)
    sd = np.zeros(a.shape)
    if _SD in answer.files:
        at, channel, value = _files.from_npy(answer.files[_SD]).T
        sd.reshape(len(a), -1)[at.astype(int), channel.astype(int)] = value * _full_scale(a)
    return Repair(
        samples=filled,
        sd=sd,
        rate=rate,
        gaps=own,
        method=r.get("method", "none"),
        doubts=[_from_zero(d) for d in r["doubts"]],
        found=[_from_zero(f) for f in r["found"]] if "found" in r else None,
        draws=[_files.from_wav(answer.files[f"out-{i + 1}.wav"], a) for i in range(draws)] if r["gaps"] else [],
        scores=r.get("scores"),
        seconds=r.get("seconds", 0.0),
    )


def _samples(samples: ArrayLike, what: str) -> NDArray:
    a = np.asarray(samples)
    if a.ndim not in (1, 2) or 0 in a.shape:
        raise ValueError(f"{what} have the shape {a.shape}; want [n] or [n, channels], with at least a sample")
    if a.ndim == 2 and a.shape[1] > a.shape[0]:
        raise ValueError(f"{what} have the shape {a.shape}; want [n, channels], so their transpose")
    return a


def _full_scale(a: NDArray) -> float:
    """What the command calls 1."""
    return 1.0 if a.dtype.kind == "f" else float(1 << 8 * a.itemsize - 1)


def _listed(gaps: Gaps, shape: tuple[int, ...]) -> list[str]:
    """The lines of a gaps file."""
    mask = np.asarray(gaps) if isinstance(gaps, np.ndarray) else None
    if mask is None or mask.dtype != bool:
        lines = []
        for gap in gaps:
            start, end, *channel = gap
            if len(channel) > 1 or not all(v is None or v == int(v) for v in gap):
                raise ValueError(f"gap {gap!r}: want (start, end) or (start, end, channel) in samples")
            own = channel and channel[0] is not None
            if own and channel[0] < 0:
                raise ValueError(f"gap {gap!r}: channel {channel[0]}; want one from 0 on")
            lines.append(f"{int(start)},{int(end)},{int(channel[0]) + 1 if own else ''}")
        return lines
    if mask.shape != shape and mask.shape != shape[:1]:
        raise ValueError(f"the mask of gaps has the shape {mask.shape} and the samples {shape}; want the same, or [n]")
    if mask.ndim == 1 or (mask == mask[:, :1]).all():
        mask = mask.reshape(len(mask), -1)[:, :1]
    lines = []
    for c, column in enumerate(mask.T):
        edges = np.flatnonzero(np.diff(column, prepend=False, append=False))
        own = c + 1 if mask.shape[1] > 1 else ""
        lines += [f"{start},{end},{own}" for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return lines


def _check_known(missing: NDArray, gaps: list[tuple[int, int, int | None]]) -> None:
    """Refuse samples that are NaN outside the gaps."""
    if not missing.any():
        return
    left = missing.reshape(len(missing), -1).copy()
    for start, end, channel in gaps:
        left[start:end, slice(None) if channel is None else channel] = False
    if left.any():
        n, c = np.argwhere(left)[0]
        raise ValueError(f"sample {n} of channel {c} is NaN and in no gap; want it among the gaps, or a number")


def _from_zero(of: dict[str, Any]) -> dict[str, Any]:
    """The same with a channel from 0, None for all."""
    return {**of, "channel": of["channel"] - 1 if of.get("channel") else None}
