"""Compares the audio restoration of vssgp with other methods on the same damage, and prints Markdown tables.

    go build ./cmd/vssgp
    python bench/peers/restoration.py --vssgp ./vssgp FILE.wav …

The files are undamaged 16-bit recordings, of which the first channel is used. Gaps are filled by vssgp (the mixture, a draw of it, and ar),
by PHAIN (Tanaka, Yatabe and Oikawa 2024) and by gap-wise Janssen (Janssen, Veldhuis and Vries 1986). PHAIN is U-PHAIN. It is implemented
here from the paper, because the authors' code needs MATLAB, with the parameters and rounds of their code (window 63.5 ms). Janssen has ten
rounds, 93 ms of context before and after, and the order of the Audio Inpainting Toolbox (Adler et al. 2012), min(3h + 2, N/3) if h of N
samples are missing. The signals of the published comparisons (EBU SQAM) were not available, so the tables cannot be compared with
published ones. Clicks and clipping are repaired by vssgp and by ffmpeg's adeclick and adeclip with method save, because the default method
add changes all samples. Found is the fraction of damaged samples that a repair changes. False detections are the runs of samples that it
changes in undamaged recordings. Requires numpy and scipy, and optionally ffmpeg and visqol-python (MOS-LQO, 1 to 5).
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time
import wave

import numpy as np
from scipy.linalg import solve_toeplitz

LENGTHS = (10, 20, 40, 80)  # ms
GAPS = 8  # gaps of each length in a recording


def read(path):
    with wave.open(path) as f:
        if f.getsampwidth() != 2:
            raise SystemExit(f"{path}: {8 * f.getsampwidth()} bits, must be 16")
        x = np.frombuffer(f.readframes(f.getnframes()), "<i2").reshape(-1, f.getnchannels())[:, 0]
        return x / 32768.0, f.getframerate()


def write(path, x, rate):
    with wave.open(path, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(rate)
        f.writeframes(np.clip(np.round(x * 32768), -32768, 32767).astype("<i2").tobytes())


def snr(truth, estimate):
    return 10 * np.log10((truth @ truth + 1e-20) / (np.sum((truth - estimate) ** 2) + 1e-20))


def phain(x, lo, hi, rate, inner=100, outer=10):
    """U-PHAIN minimizes ‖D R_ω G u‖₁ over u that equal x outside the gap. G is an STFT with a tight window, R_ω removes the phase advance
    of the instantaneous frequencies ω, and D is the difference in time. Each outer round restarts with the ω of the last solution."""
    hop = round(rate * 700 / 44100)
    size = 4 * hop
    start = max(0, lo - 3 * size)
    frames = (hi + 3 * size - start) // hop
    n = (frames - 1) * hop + size
    seg = np.zeros(n)
    part = x[start:min(len(x), start + n)]
    seg[:len(part)] = part
    a, b = lo - start, hi - start
    seg[a:b] = 0
    peak = np.abs(seg).max() or 1
    seg /= peak
    t = np.arange(size)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (t + 0.5) / size)
    window /= np.sqrt(size * sum(np.roll(window**2, k * hop) for k in range(4)))  # tight: the adjoint is the inverse
    slope = np.gradient(window)
    at = np.arange(frames)[:, None] * hop + t
    bins = np.arange(size // 2 + 1) / size

    def analyze(u, w):
        return np.fft.rfft(u[at] * w, axis=1)

    def adjoint(z):
        out, parts = np.zeros(n), np.fft.irfft(z, size, axis=1) * size * window
        for k in range(0, size, hop):
            out[k:k + frames * hop] += parts[:, k:k + hop].ravel()
        return out

    def rotation(u):
        z, dz = analyze(u, window), analyze(u, slope)
        f = bins - np.imag(dz * np.conj(z) / (np.abs(z) ** 2 + 1e-12)) / (2 * np.pi)
        return np.exp(-2j * np.pi * hop * np.cumsum(np.vstack([np.zeros_like(f[:1]), f[:-1]]), axis=0))

    turn, last = rotation(seg), seg
    for _ in range(outer):
        u, dual = seg, np.zeros((frames - 1, size // 2 + 1), complex)
        for _ in range(inner):
            z = np.zeros((frames, size // 2 + 1), complex)
            z[:-1] += dual
            z[1:] -= dual
            p = u - 0.25 * adjoint(np.conj(turn) * z)
            p[:a], p[b:] = seg[:a], seg[b:]
            v = turn * analyze(2 * p - u, window)
            v = dual + v[:-1] - v[1:]
            dual = v / np.maximum(1, np.abs(v))
            u = p
        if np.linalg.norm(u - last) < 0.01:
            break
        turn, last = rotation(u), u
    return u[a:b] * peak


def janssen(x, lo, hi, rate, rounds=10):
    """Alternately estimates the autoregressive model of the excerpt and the most likely samples in the gap."""
    h, reach = hi - lo, 4096 * rate // 44100
    start, end = max(0, lo - reach), min(len(x), hi + reach)
    seg = x[start:end].copy()
    a, b = lo - start, hi - start
    seg[a:b] = 0
    order = min(3 * h + 2, (len(seg) - h) // 3)
    for _ in range(rounds):
        size = 1 << (2 * len(seg)).bit_length()
        r = np.fft.irfft(np.abs(np.fft.rfft(seg, size)) ** 2)[:order + 1] / len(seg)
        r[0] = r[0] * (1 + 1e-9) + 1e-15
        model = np.concatenate(([1.0], solve_toeplitz(r[:-1], -r[1:])))
        lags = np.correlate(model, model, "full")[order:]
        known = seg.copy()
        known[a:b] = 0
        both = np.concatenate((lags[:0:-1], lags))
        right = -np.convolve(known, both)[order + a:order + b]
        seg[a:b] = solve_toeplitz(np.concatenate((lags, np.zeros(max(0, h - len(lags)))))[:h], right)
    return seg[a:b]


class Tools:
    def __init__(self, folder, vssgp):
        self.folder, self.vssgp = folder, vssgp
        self.has_ffmpeg = subprocess.run(["sh", "-c", "command -v ffmpeg"], capture_output=True).returncode == 0
        try:
            from visqol import VisqolApi
            self.visqol = VisqolApi()
            self.visqol.create(mode="audio")
        except ImportError:
            self.visqol = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *args):
        """Runs a program and returns its CPU time in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(args, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def repair(self, x, rate, *args):
        write(self.path("in.wav"), x, rate)
        seconds = self.run(self.vssgp, "impute", self.path("in.wav"), "-o", self.path("out.wav"), "--overwrite", "--quiet", *args)
        return read(self.path("out.wav"))[0], seconds

    def ffmpeg(self, x, rate, filters):
        write(self.path("in.wav"), x, rate)
        seconds = self.run("ffmpeg", "-y", "-i", self.path("in.wav"), "-af", filters, "-c:a", "pcm_s16le", self.path("out.wav"))
        y = read(self.path("out.wav"))[0]
        return np.concatenate((y, x[len(y):]))[:len(x)], seconds

    def mos(self, truth, x, rate):
        if self.visqol is None:
            return float("nan")
        for name, y in (("truth.wav", truth), ("heard.wav", x)):
            write(self.path(name), y, rate)
            self.run("ffmpeg", "-y", "-i", self.path(name), "-ar", "48000", self.path("48" + name))
        return self.visqol.measure(self.path("48truth.wav"), self.path("48heard.wav")).moslqo


def draw_gaps(x, rate, length, rng):
    """Draws a gap that is not in silence in each of GAPS equal parts of the recording."""
    h, part = round(rate * length / 1000), len(x) // GAPS
    level, gaps = np.sqrt(np.mean(x**2)), []
    for i in range(GAPS):
        for _ in range(100):
            at = i * part + rng.integers(part // 8, part - h - part // 8)
            if np.sqrt(np.mean(x[at:at + h] ** 2)) > 0.1 * level:
                gaps.append((at, at + h))
                break
    return gaps


def by_vssgp(tools, *options):
    def fill(x, rate, gaps):
        y, seconds = tools.repair(x, rate, *options, *(a for lo, hi in gaps for a in ("--gap", f"{lo}:{hi}")))
        return read(tools.path("out-1.wav"))[0] if "--draws" in options else y, seconds
    return fill


def one_by_one(method):
    def fill(x, rate, gaps):
        y, began = x.copy(), time.process_time()
        for lo, hi in gaps:
            y[lo:hi] = method(x, lo, hi, rate)
        return y, time.process_time() - began
    return fill


def fills(tools, recordings):
    methods = {
        "silence": lambda x, rate, gaps: (x, 0),
        "mixture": by_vssgp(tools, "--method", "mixture"),
        "a draw": by_vssgp(tools, "--method", "mixture", "--draws", "1"),
        "ar": by_vssgp(tools, "--method", "ar"),
        "PHAIN": one_by_one(phain),
        "Janssen": one_by_one(janssen),
    }
    print("| gaps | " + " | ".join(f"{m}: SDR dB, MOS-LQO, s a gap" for m in methods) + " |")
    print("|---" * (len(methods) + 1) + "|")
    for length in LENGTHS:
        cells = []
        for fill in methods.values():
            sdr, mos, seconds, n = [], [], 0, 0
            for x, rate in recordings:
                gaps = draw_gaps(x, rate, length, np.random.default_rng(length))
                cut = x.copy()
                for lo, hi in gaps:
                    cut[lo:hi] = 0
                y, took = fill(cut, rate, gaps)
                sdr += [snr(x[lo:hi], y[lo:hi]) for lo, hi in gaps]
                mos.append(tools.mos(x, y, rate))
                seconds, n = seconds + took, n + len(gaps)
            cells.append(f"{np.mean(sdr):.1f}, {np.mean(mos):.2f}, {seconds / n:.2f}")
        print(f"| {length} ms | " + " | ".join(cells) + " |", flush=True)


def clicked(x, rate, every, level, rng):
    """Adds clicks of 1 to 40 samples (a decaying oscillation, a decaying step or noise), level decibels above the rms within 10 ms."""
    y, reach = x.copy(), round(0.01 * rate)
    for at in range(rate // 4, len(x) - rate // 4, round(rate / every)):
        at += rng.integers(0, rate // 50)
        t = np.arange(rng.integers(1, 41))
        kind = rng.integers(3)
        shape = (np.exp(-t / 10) * np.cos(rng.uniform(0.2, 2.7) * t), np.exp(-t / 10), rng.standard_normal(len(t)))[kind]
        power = np.sqrt(np.mean(x[at - reach:at + reach] ** 2)) + 3e-4
        y[at:at + len(t)] += rng.choice([-1, 1]) * shape / np.sqrt(np.mean(shape**2)) * power * 10 ** (level / 20)
    return np.round(np.clip(y, -1, 1 - 2**-15) * 32768) / 32768


def repairs(tools, recordings):
    print("\n| damage | method | found | SNR of the damage, dB | of the recording, dB | false detections per second | CPU time over duration |")
    print("|---" * 7 + "|")
    for name, damage, kind, filters in (
        ("clicks, 8 a second, −2 dB", lambda x, r, g: clicked(x, r, 8, -2, g), "clicks", "adeclick=m=s"),
        ("clicks, 8 a second, 12 dB", lambda x, r, g: clicked(x, r, 8, 12, g), "clicks", "adeclick=m=s"),
        ("clipped 6 dB below the peak", lambda x, r, g: np.clip(x, -np.abs(x).max() / 2, np.abs(x).max() / 2), "clipped", "adeclip=m=s"),
    ):
        methods = {"vssgp": (tools.repair, "--detect", kind)} | ({filters: (tools.ffmpeg, filters)} if tools.has_ffmpeg else {})
        for method, (mend, *options) in methods.items():
            values = []
            for x, rate in recordings:
                y = damage(x, rate, np.random.default_rng(1))
                bad, length = y != x, len(x) / rate
                z, seconds = mend(y, rate, *options)
                changed = np.abs(mend(x, rate, *options)[0] - x) > 1.5 / 32768
                runs = np.sum(changed[1:] & ~changed[:-1]) + changed[0]
                snrs = snr(x[bad], y[bad]), snr(x[bad], z[bad]), snr(x, y), snr(x, z)
                values.append((*snrs, runs / length, seconds / length, np.mean(np.abs(z - y)[bad] > 1.5 / 32768)))
            a, b, c, d, false, seconds, found = np.mean(values, axis=0)
            print(f"| {name} | {method} | {found:.2f} | {a:.1f} → {b:.1f} | {c:.1f} → {d:.1f} | {false:.2f} | {seconds:.2f} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--vssgp", default="./vssgp", help="path of vssgp")
    p.add_argument("--seconds", type=float, default=10, help="maximum duration of each recording; the rest is ignored")
    p.add_argument("files", nargs="+", metavar="FILE.wav")
    o = p.parse_args()
    recordings = [(x[:round(o.seconds * rate)], rate) for x, rate in map(read, o.files)]
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(folder, o.vssgp)
        fills(tools, recordings)
        repairs(tools, recordings)


if __name__ == "__main__":
    main()
