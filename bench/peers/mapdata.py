"""Writes the data of two inputs for `bench tables`. It requires matplotlib and scikit-image.

    python mapdata.py FOLDER [SEEDS]

FOLDER/*.csv are maps, with the columns of two inputs and a value:

    jacksboro      50 000 random points of the elevation of the Jacksboro fault, Tennessee (USGS), from matplotlib
    topobathy      elevation and depth on a grid of longitudes and latitudes, from matplotlib
    camera, moon   every second pixel of every second line of photographs of scikit-image

FOLDER/fields has small fields as splits of two tables. The tests are random other rows and a hole of 22 % of both
ranges. The unit of the values is the standard deviation of the rows for training.

    made   draws from Gaussian processes, with noise, at scattered, gridded or clustered rows
    real   parts of the elevations and of photographs

A field depends on its seed. Tuning used other seeds than the default ones, 11,12.
"""

import sys
from pathlib import Path

import numpy as np

POINTS = 50_000  # of jacksboro
SIDE, WINDOW = 0.22, 200  # of the hole of a field, relative to the range, and of the window of an image, in pixels

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
    numbers = (sum((i + 1) * ord(c) for i, c in enumerate(k)) if isinstance(k, str) else k for k in key)
    return np.random.default_rng([seed, *numbers])


def made(seed, kind, rows, n, noise, tested=900):
    """Returns rows, values and parts of a draw from a Gaussian process."""
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
    return x * [10, 20], f + noise * rng.standard_normal(len(x)), part


def real(seed, name, image, rows, n, tested=1200):
    """Returns n pixels of a window of the image, their values and parts."""
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
    return x, image.ravel()[at], parts(rng, x / [h, w], tested)


def images():
    from skimage import data

    yield "dem", jacksboro()
    yield "topo", np.asarray(topobathy()["topo"], float)
    for name in ("camera", "moon", "coins", "brick", "grass", "gravel", "page", "text", "clock"):
        yield name, getattr(data, name)().astype(float)


def write_fields(folder, seeds):
    """Writes fields, and prints for each its path, seed, kind, layout, number of rows and noise."""
    folder.mkdir(parents=True, exist_ok=True)
    count = {"made": 0, "real": 0}

    def add(table, of, x, z, part):
        known = z[part == 0]
        z = (z - known.mean()) / known.std()
        path = folder / f"{table}.{count[table]}"
        for number, name in enumerate(("train", "test", "holes")):
            write(f"{path}.{name}.csv", ["a", "b", "z"], *x[part == number].T, z[part == number])
        print(path, *of)
        count[table] += 1
    for seed in seeds:
        i = 0
        for kind in KINDS:
            for n, noise in ((100, 0.1), (300, 0.01), (300, 0.3), (1000, 0.1), (1000, 1)):
                of = seed, kind, ["scatter", "grid", "cluster", "scatter"][stream(seed, i).integers(4)], n, noise
                i += 1
                if (i + seed) % 2 == 0:
                    add("made", of, *made(*of))
        for name, image in images():
            i += 1
            rows, n = ["scatter", "grid"][i % 2], [200, 1000, 3000][(i + seed) % 3]
            add("real", (seed, name, rows, n), *real(seed, name, image, rows, n))


def write(path, names, *columns):
    np.savetxt(path, np.stack(columns, 1), delimiter=",", header=",".join(names), comments="", fmt="%.9g")


def grid(a, step=1):
    a = np.asarray(a, float)[::step, ::step]
    row, column = np.indices(a.shape)
    return row.ravel(), column.ravel(), a.ravel()


def jacksboro():
    from matplotlib.cbook import get_sample_data

    return np.asarray(get_sample_data("jacksboro_fault_dem.npz")["elevation"], float)


def topobathy():
    from matplotlib.cbook import get_sample_data

    return get_sample_data("topobathy.npz")


def main(folder, seeds="11,12"):
    from skimage import data

    folder = Path(folder)
    write_fields(folder / "fields", [int(seed) for seed in seeds.split(",")])
    row, column, height = grid(jacksboro())
    some = np.random.default_rng(0).permutation(len(height))[:POINTS]
    write(folder / "jacksboro.csv", ["row", "column", "height"], row[some], column[some], height[some])
    sea = topobathy()
    latitude, longitude = (a.ravel() for a in np.meshgrid(sea["latitude"], sea["longitude"], indexing="ij"))
    write(folder / "topobathy.csv", ["latitude", "longitude", "height"], latitude, longitude, sea["topo"].ravel())
    for name, image in (("camera", data.camera()), ("moon", data.moon())):
        write(folder / f"{name}.csv", ["row", "column", "brightness"], *grid(image, 2))


if __name__ == "__main__":
    main(*sys.argv[1:])
