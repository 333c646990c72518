"""Functions of two inputs for `bench fields`: writes them, and fits scikit-learn's Gaussian processes to them.

    python fields.py -write DIR -seeds 1,2          # a CSV file each: a, b, z, z without noise, part
    python fields.py -out FILE.jsonl DIR/*.csv      # on at most 1000 rows

Parts are 0 (fitted), 1 (random other rows) and 2 (a hole of 22 % of both ranges). Made fields are draws from Gaussian processes on scattered,
gridded and clustered rows; real ones are elevations (matplotlib) and photographs (scikit-image). Tuning used other
seeds than 11 and 12.
"""

import argparse
import json
import os
import time
import warnings

import numpy as np

import peer

SIDE, WINDOW = 0.22, 200

# Parts of made fields: form, standard deviation, lengths on the unit square.
KINDS = {
    "smooth": [("rbf", 1, (0.25, 0.25))],
    "fine": [("rbf", 1, (0.1, 0.1))],
    "m32": [("m32", 1, (0.25, 0.25))],
    "m12": [("m12", 1, (0.4, 0.4))],
    "aniso": [("rbf", 1, (0.08, 0.5))],
    "anisom": [("m32", 1, (0.1, 0.6))],
    "two": [("rbf", 1, (0.5, 0.4)), ("rbf", 0.4, (0.08, 0.08))],
    "trend": [("m32", 0.6, (0.15, 0.15)), ("plane", 3, None)],
}


def covariance(form, x, lengths):
    from scipy.spatial.distance import cdist

    r = cdist(x / lengths, x / lengths)
    if form == "rbf":
        return np.exp(-0.5 * r * r)
    if form == "m12":
        return np.exp(-r)
    return (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)


def layout(rng, name, n):
    """Returns rows in the unit square."""
    if name == "scatter":
        return rng.random((n, 2))
    if name == "grid":
        g = (np.arange(round(np.sqrt(n))) + 0.5) / round(np.sqrt(n))
        return np.stack(np.meshgrid(g, g, indexing="ij"), -1).reshape(-1, 2)
    near = rng.random((6, 2))[rng.integers(6, size=4 * n)] + 0.12 * rng.standard_normal((4 * n, 2))
    near = near[(near > 0).all(1) & (near < 1).all(1)]
    return np.concatenate([near[: n - n // 4], rng.random((n // 4, 2))])


def parts(rng, unit, tested):
    """Returns the parts of rows in the unit square, of which the last ones are not fitted."""
    hole = (np.abs(unit - (0.15 + 0.7 * rng.random(2))) < SIDE / 2).all(1)
    part = np.where(hole, 2, 0)
    part[-tested:] = np.where(hole[-tested:], 2, 1)
    return part


def stream(seed, *key):
    """Returns random numbers that depend on a key of numbers and names."""
    number = lambda k: sum((i + 1) * ord(c) for i, c in enumerate(k)) if isinstance(k, str) else k
    return np.random.default_rng([seed, *map(number, key)])


def write(path, x, z, f, part):
    np.savetxt(path, np.column_stack([x, z, f, part]), delimiter=",", header="a,b,z,f,part", comments="", fmt="%.9g")


def made(directory, seed, kind, rows, n, noise, tested=900):
    rng = stream(seed, kind, rows, n, int(noise * 100))
    x = np.concatenate([layout(rng, rows, n), rng.random((tested, 2))])
    part = parts(rng, x, tested)
    f = np.zeros(len(x))
    for form, sd, lengths in KINDS[kind]:
        if form == "plane":
            f += sd * (x @ rng.standard_normal(2))
            continue
        k = sd**2 * covariance(form, x, np.array(lengths)) + 1e-8 * np.eye(len(x))
        f += np.linalg.cholesky(k) @ rng.standard_normal(len(x))
    z = f + noise * rng.standard_normal(len(x))
    write(os.path.join(directory, f"{kind}-{rows}-{n}-{noise}-{seed}.csv"), x * [10, 20], 5 + 3 * z, 5 + 3 * f, part)


def images():
    from matplotlib import cbook
    from skimage import data

    yield "dem", np.asarray(cbook.get_sample_data("jacksboro_fault_dem.npz")["elevation"], float)
    yield "topo", np.asarray(cbook.get_sample_data("topobathy.npz")["topo"], float)
    for name in ("camera", "moon", "coins", "brick", "grass", "gravel", "page", "text", "clock"):
        yield name, getattr(data, name)().astype(float)


def real(directory, seed, name, image, rows, n, tested=1200):
    """Writes n pixels of a window of the image."""
    rng = stream(seed, name, n)
    h, w = image.shape
    if min(h, w) > 100:
        size = min(h, w, WINDOW)
        i, j = rng.integers(h - size + 1), rng.integers(w - size + 1)
        image = image[i : i + size, j : j + size]
    h, w = image.shape
    if rows == "grid":
        step = max(1, round(np.sqrt(h * w / n)))
        at = (np.arange(0, h, step)[:, None] * w + np.arange(0, w, step)).ravel()
    else:
        at = rng.choice(h * w, n, replace=False)
    at = np.concatenate([at, rng.choice(np.setdiff1d(np.arange(h * w), at), tested, replace=False)])
    x = np.stack([at // w, at % w], 1).astype(float)
    z = image.ravel()[at]
    write(os.path.join(directory, f"{name}-{rows}-{n}-0-{seed}.csv"), x, z, z, parts(rng, x / [h, w], tested))


def write_all(directory, seeds):
    os.makedirs(directory, exist_ok=True)
    for seed in seeds:
        i = 0
        for kind in KINDS:
            for n, noise in ((100, 0.1), (300, 0.01), (300, 0.3), (1000, 0.1), (1000, 1)):
                rows = ["scatter", "grid", "cluster", "scatter"][stream(seed, i).integers(4)]
                i += 1
                if (i + seed) % 2 == 0:
                    made(directory, seed, kind, rows, n, noise)
        for name, image in images():
            i += 1
            real(directory, seed, name, image, ["scatter", "grid"][i % 2], [200, 1000, 3000][(i + seed) % 3])


def predictions(kernel, train, at):
    """Returns means and standard deviations of z at rows, and the number of fitted rows."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    train = train[np.random.default_rng(0).permutation(len(train))[:1000]]
    shift, scale = train.mean(0), train.std(0)
    train, at = (train - shift) / scale, (at - shift[:2]) / scale[:2]
    mean, sd = GaussianProcessRegressor(kernel).fit(train[:, :2], train[:, 2]).predict(at, return_std=True)
    return shift[2] + scale[2] * mean, scale[2] * sd, len(train)


def fit_all(files, out):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

    bounds = (1e-2, 1e2)
    noise = WhiteKernel(0.1, (1e-7, 10))
    two = ConstantKernel(0.5) * RBF([1.4, 1.4], bounds) + ConstantKernel(0.5) * RBF([0.35, 0.35], bounds)
    matern = ConstantKernel(1.0) * Matern([0.7, 0.7], bounds, nu=1.5)
    for path in files:
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        part, name = rows[:, 4], os.path.basename(path)[: -len(".csv")]
        for method, kernel in (("sklearn two RBF", two + noise), ("sklearn Matern 3/2", matern + noise)):
            began = time.perf_counter()
            mean, sd, n = predictions(kernel, rows[part == 0, :3], rows[:, :2])
            for number, label in ((1, "random"), (2, "hole")):
                at = part == number
                line = {"bench": "fields", "field": name, "part": label, "method": method, "N": n}
                line["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                line.update(peer.scores(rows[at, 2] - mean[at], sd[at]))
                line["rmse"] /= rows[part == 0, 2].std()
                line.update(seconds=time.perf_counter() - began, status="ok")
                if at.any():
                    with open(out, "a") as f:
                        f.write(json.dumps(line) + "\n")


def main():
    warnings.filterwarnings("ignore")  # about length-scales at their limits
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("-write", metavar="DIR")
    flags.add_argument("-seeds", default="11,12")
    flags.add_argument("-out")
    flags.add_argument("files", nargs="*")
    o = flags.parse_args()
    if o.write:
        write_all(o.write, [int(s) for s in o.seeds.split(",")])
    if o.files:
        fit_all(o.files, o.out)


if __name__ == "__main__":
    main()
