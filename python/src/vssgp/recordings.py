"""Repair of recordings: detection of damage and filling of gaps in arrays of samples."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _engine, _files
from ._engine import Buffer, Progress
from ._files import Array
from ._flags import flags
from ._table import not_text

Gaps = Iterable[Sequence[int | None]] | Array

_IN, _OUT, _GAPS, _SD, _REFERENCE = "in.wav", "out.wav", "gaps.csv", "sd.npy", "reference.wav"


@dataclass(frozen=True, repr=False)
class Repair:
    """A repaired recording, as returned by `impute`.

    Attributes
    ----------
    samples : array with the shape and dtype of the input, [n] or [n, channels]. Outside the gaps it equals the input,
        bit for bit.
    sd : standard deviation of the fill, with the shape and in the units of samples. It is 0 outside the gaps.
    rate : sample rate in Hz.
    gaps : list of (start, end, channel), in samples. The end is exclusive. Channels are counted from 0; None means
        all channels.
    method : name of the method that filled the gaps; "none" if there were no gaps.
    doubts : list of gaps whose fill is not reliable, each a dict with start, end, channel and reason.
    found : list of the damage found by `detect`, each a dict with start, end, channel, kind, log_odds and confidence;
        None without `detect`.
    draws : list of recordings like samples, whose fills are draws from the posterior.
    scores : errors of the fill, silence, linear interpolation and an autoregressive fill compared with `reference`,
        with full scale 1; None without `reference`.
    seconds : run time in seconds.

    """

    samples: Array
    sd: Array
    rate: int
    gaps: list[tuple[int, int, int | None]]
    method: str
    doubts: list[dict[str, Any]]
    found: list[dict[str, Any]] | None = None
    draws: list[Array] = field(default_factory=list)
    scores: dict[str, dict[str, float]] | None = None
    seconds: float = 0.0

    def __repr__(self) -> str:
        channels = f" of {self.samples.shape[1]} channels" if self.samples.ndim > 1 else ""
        gaps = f"gaps: {len(self.gaps)}, doubts: {len(self.doubts)}, method: {self.method}"
        names = ".samples, .sd, .gaps, .doubts"
        return f"Repair of {len(self.samples)} samples{channels} at {self.rate} Hz, {gaps}; {names}"


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

    Parameters
    ----------
    samples : array [n] or [n, channels] of float32 or float64 with full scale 1, or of int16, int32 or uint8.
    rate : sample rate in Hz, a whole number.
    gaps : list of (start, end) or (start, end, channel), in samples. The end is exclusive and channels are counted from
        0. Or a boolean mask, [n] or with the shape of samples, that is True for missing samples. If neither gaps nor
        detect is given, the gaps are the samples that are NaN.
    detect : kinds of damage to find: "clicks", "dropouts", "zeros", "clipped" or "all", or a list of them.
        Restored peaks of integer samples are clipped at full scale; use floats to keep them.
    sensitivity : sensitivity of detect, from 0 to 10. Higher values find more damage and more false
        positives. Default: 5.
    method : "mixture", "natural", "ar", "vssgp", "ssgp" or "rp". Default: "mixture".
    draws : number of further fills to draw from the posterior.
    reference : the undamaged samples, with the shape of samples, to score the fill.
    seed : seed of the random number generator.
    device : "auto", "cpu" or "cuda:0".
    progress : whether to show progress, or a function that is called with each progress message. None shows progress
        on a terminal and in a notebook.

    `vssgp impute --help` describes the options.

    Returns
    -------
    A Repair.

    Raises
    ------
    ValueError or TypeError for invalid samples, gaps or options. RuntimeError if the command fails. KeyboardInterrupt
    stops the call immediately.

    """
    a = _samples(samples, "samples")
    args = ["impute", _IN, "-o", _OUT, "--sd", _SD, "--gain=0", "--json"]
    args += flags(detect=detect, sensitivity=sensitivity, method=method, draws=draws or None, seed=seed, device=device)
    missing = np.isnan(a) if a.dtype.kind == "f" else np.zeros(a.shape, dtype=bool)
    if gaps is None and detect is None and missing.any():
        gaps = missing
    if gaps is None and detect is None:
        raise ValueError("no gaps; must have gaps, detect, or samples with NaN for missing values")
    if detect is None and sensitivity is not None:
        raise ValueError(f"sensitivity={sensitivity!r} requires detect")
    if not (isinstance(rate, (int, np.integer)) and 0 < rate < 1 << 31):
        raise ValueError(f"rate={rate!r}: must be a whole number of samples per second")
    files: dict[str, Buffer | Sequence[Buffer]] = {}
    if gaps is not None:
        if not (listed := _listed(gaps, a.shape)):
            raise ValueError("gaps is empty; must have at least one gap")
        files[_GAPS] = "\n".join(["start,end,channel", *listed, ""]).encode()
        args += ["--gaps", _GAPS]
    if missing.any():
        a = np.where(missing, a.dtype.type(0), a)
    files[_IN] = _files.wav(_finite(a, "samples"), rate)
    if reference is not None:
        files[_REFERENCE] = _files.wav(_finite(_samples(reference, "reference"), "reference"), rate)
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


def _samples(samples: ArrayLike, what: str) -> Array:
    not_text(samples, what, "scipy.io.wavfile.read({})[1]")
    a = np.asarray(samples)
    if a.ndim not in (1, 2) or 0 in a.shape:
        raise ValueError(f"{what} has the shape {a.shape}; must be [n] or [n, channels], with at least one sample")
    if a.ndim == 2 and a.shape[1] > a.shape[0]:
        raise ValueError(f"{what} has the shape {a.shape}; must be [n, channels], the transpose")
    return a


def _finite(a: Array, what: str) -> Array:
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        n, *c = np.argwhere(~np.isfinite(a))[0]
        raise ValueError(f"{what} is {a[(n, *c)]} at sample {n}{f' of channel {c[0]}' if c else ''}; must be finite")
    return a


def _full_scale(a: Array) -> float:
    """Return the full scale in units of the samples: 1 for floats, 2^(bits-1) for integers."""
    return 1.0 if a.dtype.kind == "f" else float(1 << 8 * a.itemsize - 1)


def _listed(gaps: Gaps, shape: tuple[int, ...]) -> list[str]:
    """Return the lines of a gaps file, without the header, for a list of gaps or a mask."""
    what = "must be a mask of bool, or a list of (start, end) or (start, end, channel) in samples, channels from 0"
    listed: list[Any] = list(np.asarray(gaps)) if hasattr(gaps, "__array__") else list(gaps)
    lines = []
    if not listed or np.asarray(listed[0]).dtype.kind != "b":
        for gap in listed:
            try:
                start, end, channel = (None if v is None else operator.index(v) for v in (*gap, None)[:3])
                if len(gap) > 3 or start is None or end is None or channel is not None and channel < 0:
                    raise ValueError
            except (TypeError, ValueError):
                raise ValueError(f"gaps has {gap!r}: {what}") from None
            lines.append(f"{start},{end},{'' if channel is None else channel + 1}")
        return lines
    mask = np.array(listed, dtype=bool)
    if mask.shape != shape and mask.shape != shape[:1]:
        raise ValueError(f"the mask of gaps has the shape {mask.shape}; must be [n] or the shape of samples {shape}")
    if mask.ndim == 1 or (mask == mask[:, :1]).all():
        mask = mask.reshape(len(mask), -1)[:, :1]
    for c, column in enumerate(mask.T):
        edges = np.flatnonzero(np.diff(column, prepend=False, append=False))
        own = c + 1 if mask.shape[1] > 1 else ""
        lines += [f"{start},{end},{own}" for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return lines


def _check_known(missing: Array, gaps: list[tuple[int, int, int | None]]) -> None:
    """Raise ValueError if samples outside the gaps are NaN."""
    if not missing.any():
        return
    left = missing.reshape(len(missing), -1).copy()
    for start, end, channel in gaps:
        left[start:end, slice(None) if channel is None else channel] = False
    if left.any():
        n, c = np.argwhere(left)[0]
        raise ValueError(f"sample {n} of channel {c} is NaN and not in a gap; must be finite outside the gaps")


def _from_zero(of: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the command's result with its channel counted from 0, or None for all channels."""
    return {**of, "channel": of["channel"] - 1 if of.get("channel") else None}
