"""Restores clipped sound by A-SPADE, for `bench clipped`.

    python spade.py IN OUT --rate 16000 --peak 1.7 [--window 0.064]

IN and OUT contain float64 samples of one channel. The samples of IN with the largest magnitude are clipped.

A-SPADE (Kitić, Bertin and Gribonval 2015) restores each window by ADMM: it alternates between keeping the k largest coefficients of a DFT
of twice the length and projecting the samples onto the consistent ones, which equal the known samples and are at or beyond the level
where the sound is clipped. k increases by one in every second iteration until the two differ by less than 0.1. The settings are the
published ones of Záviška, Rajmic, Ozerov and Rencker (2021): Hann windows that overlap by three quarters, and sound with a peak of 1, so
--peak is the largest magnitude of the undamaged sound. Their windows have 8192 samples at 44.1 kHz, 186 ms. Written from the papers. All
windows advance together, because NumPy is slow for single ones.
"""

import argparse

import numpy as np

EPSILON = 0.1


def keep(v, k):
    """Sets all but the k largest coefficients in each row to zero. A conjugate pair is one coefficient."""
    power = v.real**2 + v.imag**2
    if k >= v.shape[1]:
        return v
    least = np.partition(power, -k, axis=1)[:, [-k]]
    return np.where(power >= least, v, 0)


def restore(y, high, low):
    """Restores the rows of y. high and low mark the samples that are clipped above and below."""
    n = y.shape[1]
    pairs = np.full(n + 1, 2.0)
    pairs[[0, -1]] = 1  # the mean and the highest frequency have no conjugate
    least, most = np.where(low, -np.inf, y), np.where(high, np.inf, y)
    out, best, active = y.copy(), np.full(len(y), np.inf), np.arange(len(y))
    x, z = y, np.fft.rfft(y, 2 * n, norm="ortho")
    u = np.zeros_like(z)
    for i in range(1, 2 * (n + 1)):
        sparse = keep(z + u, 1 + i // 2)
        left = np.sqrt(np.sum(pairs * np.abs(z - sparse) ** 2, axis=1))
        better = left <= best[active]
        out[active[better]], best[active[better]] = x[better], left[better]
        more = left > EPSILON
        if not more.any():
            break
        active, sparse, u, least, most = active[more], sparse[more], u[more], least[more], most[more]
        x = np.clip(np.fft.irfft(sparse - u, 2 * n, norm="ortho")[:, :n], least, most)
        z = np.fft.rfft(x, 2 * n, norm="ortho")
        u += z - sparse
    return out


def spade(y, window):
    """Restores y from windows of the given number of samples, a multiple of four."""
    hop, level = window // 4, np.abs(y).max()
    w = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    padded = np.concatenate([np.zeros(window), y, np.zeros(2 * window)])
    starts = np.arange(0, len(padded) - window, hop)
    parts = np.stack([padded[s:s + window] for s in starts])
    high, low = parts == level, parts == -level
    clipped = (high | low).any(axis=1)
    done = parts * w
    done[clipped] = restore(done[clipped], high[clipped], low[clipped])
    out, scale = np.zeros(len(padded)), np.zeros(len(padded))
    for s, part in zip(starts, done):
        out[s:s + window] += part * w
        scale[s:s + window] += w * w
    out = np.divide(out, scale, out=np.zeros_like(out), where=scale > 1e-9)[window:window + len(y)]
    return np.where(np.abs(y) == level, out, y)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("input", metavar="IN")
    p.add_argument("output", metavar="OUT")
    p.add_argument("--rate", type=float, required=True, help="samples per second")
    p.add_argument("--peak", type=float, default=1, help="largest magnitude of the undamaged sound")
    p.add_argument("--window", type=float, default=0.064, help="seconds")
    o = p.parse_args()
    y = np.fromfile(o.input, "<f8") / o.peak
    window = 64 * round(o.window * o.rate / 64)  # has a fast DFT
    (o.peak * spade(y, window)).astype("<f8").tofile(o.output)


if __name__ == "__main__":
    main()
