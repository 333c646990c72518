"""Counts the impulses in recordings of a record, before and after a repair.

python impulses.py BEFORE AFTER ... prints, for each recording, the number of impulses beyond 8 robust standard
deviations above 10 kHz, the number beyond 16, the peak, and the share of samples that differ from BEFORE. It reads the
first channel of files that soundfile reads, and needs NumPy, SciPy and soundfile.
"""

import sys

import numpy as np
import soundfile
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

CUTOFF = 10_000  # Hz
BLOCK = 0.05  # seconds for the scale, the median of |x| in a block, after a median filter of 5 blocks
APART = 0.001  # seconds between impulses
SIGMA = 8


def impulses(x: np.ndarray, rate: int) -> list[float]:
    """Returns the largest value of each impulse in robust standard deviations."""
    high = np.abs(sosfiltfilt(butter(4, min(CUTOFF, 0.3 * rate), "high", fs=rate, output="sos"), x))
    size = int(BLOCK * rate)
    blocks = len(high) // size
    scale = median_filter(np.median(high[: blocks * size].reshape(blocks, size), axis=1) / 0.6745, 5)
    scale = np.repeat(scale, size)
    z = high / np.pad(scale, (0, len(high) - len(scale)), mode="edge")
    at = np.flatnonzero(z > SIGMA)
    groups = np.split(at, np.flatnonzero(np.diff(at) > APART * rate) + 1)
    return [z[group].max() for group in groups if len(group)]


def main() -> None:
    """Prints a line for each file."""
    before = None
    for path in sys.argv[1:]:
        samples, rate = soundfile.read(path, always_2d=True)
        x = samples[:, 0]
        before = x if before is None else before
        n = min(len(x), len(before))
        found = impulses(x[:n], rate)
        changed = np.mean(np.abs(x[:n] - before[:n]) > 1e-7)
        peak = 20 * np.log10(np.abs(x).max())
        loud = sum(v > 2 * SIGMA for v in found)
        print(f"{path}: {len(found)} impulses, {loud} loud, peak {peak:.1f} dB, {100 * changed:.2f} % changed")


if __name__ == "__main__":
    main()
