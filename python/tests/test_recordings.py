import csv
import wave as wave_module

import numpy as np
import pytest
from conftest import TESTDATA

from vssgp import impute


def speech():
    with wave_module.open(str(TESTDATA / "speech.wav")) as w:
        return np.frombuffer(w.readframes(w.getnframes()), "<i2")


@pytest.fixture(scope="module")
def clean():
    return speech()[:30000]


@pytest.fixture(scope="module")
def gaps():
    with open(TESTDATA / "speech_gaps.csv") as f:
        return [(int(a), int(b)) for a, b, *_ in list(csv.reader(f))[1:] if int(b) < 30000]


def inside(n, gaps):
    mask = np.zeros(n, dtype=bool)
    for start, end in gaps:
        mask[start:end] = True
    return mask


def test_fill(clean, gaps):
    mask = inside(len(clean), gaps)
    cut = np.where(mask, 0, clean).astype("i2")
    r = impute(cut, 16000, gaps, reference=clean, draws=2)
    assert r.samples.dtype == clean.dtype and (r.samples[~mask] == clean[~mask]).all() and (r.samples[mask] != 0).any()
    assert (r.sd[~mask] == 0).all() and (r.sd[mask] > 0).all() and r.gaps == [(a, b, None) for a, b in gaps]
    off = (r.samples - clean.astype(float))[mask] / r.sd[mask]
    assert 0.85 < np.mean(np.abs(off) < 1.96) and r.scores["vssgp"]["test_rmse"] < r.scores["ar"]["test_rmse"]
    assert len(r.draws) == 2 and (r.draws[0] != r.draws[1]).any() and (r.draws[0][~mask] == clean[~mask]).all()


def test_gap_formats(clean, gaps):
    """A list of gaps, a mask and NaN give the same result, which does not depend on the full scale."""
    mask = inside(len(clean), gaps)
    cut = np.where(mask, 0, clean / 2.0**15)
    r = impute(cut, 16000, gaps)
    for other in (
        impute(np.where(mask, np.nan, cut), 16000),
        impute(cut, 16000, mask),
        impute(cut, 16000, np.array(gaps)),
    ):
        assert (other.samples == r.samples).all() and (other.sd == r.sd).all() and other.gaps == r.gaps
    single = impute(np.where(mask, np.nan, cut).astype("f4"), 16000)
    assert single.samples.dtype == np.float32
    np.testing.assert_allclose(single.samples, r.samples, atol=1e-4)
    whole = impute(np.where(mask, 0, clean).astype("i2"), 16000, gaps)  # in units of the samples
    np.testing.assert_allclose(whole.sd, r.sd * 2**15, rtol=1e-9)


def test_channels(clean):
    stereo = np.column_stack([clean[:8000], np.roll(clean[:8000], 3)]) / 2.0**15
    stereo[5000:5080, 1] = np.nan
    r = impute(stereo, 16000)
    assert r.gaps == [(5000, 5080, 1)] and (r.samples[:, 0] == stereo[:, 0]).all() and (r.sd[:, 0] == 0).all()
    assert (r.sd[5000:5080, 1] > 0).all() and r.samples.shape == stereo.shape
    assert impute(np.nan_to_num(stereo), 16000, [(5000, 5080, 1)]).gaps == r.gaps
    both = np.zeros(8000, dtype=bool)
    both[5000:5010] = True
    for mask in (both, np.column_stack([both, both])):
        assert impute(np.nan_to_num(stereo), 16000, mask).gaps == [(5000, 5010, None)]


def test_repr(clean):
    stereo = np.column_stack([clean[:8000], clean[:8000]]) / 2.0**15
    for samples, size in ((stereo[:, 0], "8000 samples"), (stereo, "8000 samples of 2 channels")):
        want = f"Repair of {size} at 16000 Hz, gaps: 1, doubts: 0, method: mixture; .samples, .sd, .gaps, .doubts"
        assert repr(impute(samples, 16000, [(5000, 5010)])) == want


def test_channel_warnings():
    random = np.random.default_rng(0)
    tone_and_noise = np.column_stack([np.sin(np.arange(8000) / 9), random.normal(size=8000)]) / 4
    doubts = impute(tone_and_noise, 16000, [(4000, 4100), (6000, 6100, 1)]).doubts
    assert [(d["start"], d["channel"]) for d in doubts] == [(4000, 1), (6000, 1)]


def test_detect(clean):
    clicked = clean.copy()
    clicked[20000:20006] = [30000, -30000, 30000, -30000, 30000, -30000]
    r = impute(clicked, 16000, detect=["clicks"])
    assert any(f["start"] <= 20000 and f["end"] >= 20006 and f["kind"] == "clicks" for f in r.found)
    right = impute(np.column_stack([clean, clicked]), 16000, detect="clicks")
    assert [f["channel"] for f in right.found if f["start"] <= 20000 < f["end"]] == [1]
    noise = np.random.default_rng(0).normal(scale=100, size=8000)
    noise[500::500] += 800
    few, many = (len(impute(noise.astype("i2"), 16000, detect="clicks", sensitivity=s).found) for s in (1, 10))
    assert few < many
    nothing = impute(np.round(1000 * np.sin(np.arange(4000) / 9)).astype("i2"), 16000, detect="zeros")
    assert nothing.found == [] and nothing.gaps == [] and nothing.method == "none" and (nothing.sd == 0).all()
