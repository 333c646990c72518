#!/usr/bin/env python3
"""Declips recordings by A-SPADE, to compare with.

    spade.py CLEAN.wav --sdr 3,7,15 --from 1.5 --seconds 1.5

A-SPADE (Kitić, Bertin & Gribonval 2015; in the form and with the settings of Záviška, Rajmic, Ozerov & Rencker 2021): Hann windows that
overlap by three quarters, each restored by ADMM on its discrete Fourier transform of twice the length. Of the transform the k largest
pairs are kept, one more in every second iteration, until what is left of it is below 0.1; in time the samples are projected to those
that the clipped ones allow. Their windows have 8192 samples at 44.1 kHz, and are as long in seconds here at other rates (--window).

The first channel is clipped so that signal over distortion is what --sdr says; --peak DB clips at so much below the peak instead. One
line of JSON for each: file, input_sdr, level, missing (share), gain (decibels over the whole signal), gain_clipped (over the clipped
samples), seconds_per_second.
"""

import argparse
import json
import sys
import time

import numpy as np


def read(path):
    """Samples of the first channel in [-1, 1) and the rate, of 16-bit WAV or SPHERE."""
    data = open(path, "rb").read()
    if data[:4] == b"NIST":
        size = int(data[8:16])
        head = data[:size].decode()
        field = {w[0]: w[-1] for w in (line.split() for line in head.splitlines()[2:]) if len(w) == 3}
        order = ">i2" if field["sample_byte_format"] == "10" else "<i2"
        return np.frombuffer(data[size:], order)[::int(field["channel_count"])] / 32768.0, int(field["sample_rate"])
    import wave
    with wave.open(path) as w:
        if w.getsampwidth() != 2:
            sys.exit(f"{path}: {8 * w.getsampwidth()} bits; want 16")
        return np.frombuffer(w.readframes(w.getnframes()), "<i2")[::w.getnchannels()] / 32768.0, w.getframerate()


def sdr(x, y):
    return 10 * np.log10(np.sum(x**2) / max(np.sum((x - y)**2), 1e-300))


def level_of(x, target):
    lo, hi = 0.0, np.abs(x).max()
    for _ in range(60):
        mid = (lo + hi) / 2
        lo, hi = (lo, mid) if sdr(x, np.clip(x, -mid, mid)) > target else (mid, hi)
    return hi


def restore(y, high, low, epsilon=0.1):
    """One window: y, and where it is clipped above and below."""
    n = len(y)
    reliable = ~(high | low)
    analyse = lambda v: np.fft.rfft(v, 2 * n) / np.sqrt(2 * n)
    both = np.full(n + 1, 2.0)  # of a bin and its conjugate
    both[[0, -1]] = 1
    x, z = y, analyse(y)
    u = np.zeros(n + 1, complex)
    best, out = np.inf, y
    for i in range(1, 2 * (n + 1)):
        k = 1 + i // 2
        v = z + u
        kept = np.zeros_like(v)
        top = np.argpartition(np.abs(v), -k)[-k:] if k < n + 1 else slice(None)
        kept[top] = v[top]
        left = np.sqrt(np.sum(both * np.abs(z - kept)**2))
        if left <= best:
            out, best = x, left
        if left <= epsilon:
            break
        x = np.fft.irfft((kept - u) * np.sqrt(2 * n), 2 * n)[:n]
        x = np.where(reliable, y, np.where(high, np.maximum(x, y), np.minimum(x, y)))
        z = analyse(x)
        u = u + z - kept
    return out


def spade(y, high, low, window):
    hop = window // 4
    window = 4 * hop
    w = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    pad = lambda v: np.concatenate([np.zeros(window, v.dtype), v, np.zeros(2 * window, v.dtype)])
    y, high, low = pad(y), pad(high), pad(low)
    out, scale = np.zeros(len(y)), np.zeros(len(y))
    for at in range(0, len(y) - window, hop):
        part = slice(at, at + window)
        done = y[part] * w
        if (high[part] | low[part]).any():
            done = restore(done, high[part], low[part])
        out[part] += done * w
        scale[part] += w * w
    out = np.divide(out, scale, out=np.zeros_like(out), where=scale > 1e-9)
    return np.where(high | low, out, y)[window:-2 * window]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--sdr", default="3,7,15")
    p.add_argument("--peak", type=float, help="decibels below the peak")
    p.add_argument("--window", type=float, default=8192 / 44100, help="seconds")
    p.add_argument("--from", dest="start", type=float, default=0, help="share of the recording to begin at")
    p.add_argument("--seconds", type=float, default=1e9)
    a = p.parse_args()
    for path in a.files:
        x, rate = read(path)
        x = x[int(a.start * len(x)):][:int(a.seconds * rate)]
        x = x / np.abs(x).max()  # as theirs are: the 0.1 is of samples with the peak 1
        levels = [np.abs(x).max() * 10**(-a.peak / 20)] if a.peak else [level_of(x, float(s)) for s in a.sdr.split(",")]
        for level in levels:
            y = np.clip(x, -level, level)
            high, low = x > level, x < -level
            clipped = high | low
            start = time.time()
            z = spade(y, high, low, int(a.window * rate))
            took = (time.time() - start) * rate / len(x)
            print(json.dumps({
                "file": path.rsplit("/", 1)[-1], "input_sdr": round(sdr(x, y), 2), "level": round(level, 4), "missing": round(clipped.mean(), 4),
                "gain": round(sdr(x, z) - sdr(x, y), 2), "gain_clipped": round(sdr(x[clipped], z[clipped]) - sdr(x[clipped], y[clipped]), 2),
                "seconds_per_second": round(took, 2)}), flush=True)


if __name__ == "__main__":
    main()
