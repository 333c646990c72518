"""Writes the maps of `bench tables -holes 12`: python mapdata.py FOLDER writes FOLDER/*.csv, with the columns of two inputs and a value.

It requires matplotlib and scikit-image, which contain the data.
jacksboro: 50 000 random points of the elevation of the Jacksboro fault, Tennessee (USGS), matplotlib's jacksboro_fault_dem.npz.
topobathy: elevation and depth on a grid of longitudes and latitudes, matplotlib's topobathy.npz.
camera, moon: every second pixel of every second line of photographs of scikit-image.
"""

import sys
from pathlib import Path

import numpy as np

POINTS = 50_000


def write(path, names, *columns):
    np.savetxt(path, np.stack(columns, 1), delimiter=",", header=",".join(names), comments="", fmt="%.9g")


def grid(a, step=1):
    a = np.asarray(a, float)[::step, ::step]
    row, column = np.indices(a.shape)
    return row.ravel(), column.ravel(), a.ravel()


def main(folder):
    from matplotlib.cbook import get_sample_data
    from skimage import data

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    row, column, height = grid(get_sample_data("jacksboro_fault_dem.npz")["elevation"])
    some = np.random.default_rng(0).permutation(len(height))[:POINTS]
    write(folder / "jacksboro.csv", ["row", "column", "height"], row[some], column[some], height[some])
    sea = get_sample_data("topobathy.npz")
    latitude, longitude = (a.ravel() for a in np.meshgrid(sea["latitude"], sea["longitude"], indexing="ij"))
    write(folder / "topobathy.csv", ["latitude", "longitude", "height"], latitude, longitude, sea["topo"].ravel())
    for name, image in (("camera", data.camera()), ("moon", data.moon())):
        write(folder / f"{name}.csv", ["row", "column", "brightness"], *grid(image, 2))


if __name__ == "__main__":
    main(*sys.argv[1:])
