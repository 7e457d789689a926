"""What the tests of the report share: a problem with known directions, hostile names, and a reader of pages."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from skmoe.report.records import Cards, Figure, Regime, Table, Text
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", '"><b>', "$\\frac{$ &amp; <!--"]
EMPTY = {"meta", "link", "img", "br"}


def problem(n=600, seed=0, names=("dose", "age", "weight", "treated")):
    """Expert 'up' where dose is high, 'down' where it is low; age has a weaker effect of the other sign."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [2.0, 10.0, 1.0, 1.0]
    X[:, 3] = rng.random(n) < 0.5
    up = rng.random(n) < 1 / (1 + np.exp(-(1.5 * X[:, 0] - 0.15 * X[:, 1])))
    y = np.where(up, 3.0 * X[:, 2] + 5.0, -2.0 * X[:, 2] - 5.0 + 4.0 * X[:, 3]) + 0.5 * rng.normal(size=n)
    return pd.DataFrame(X, columns=list(names)), pd.Series(y, name="yield")


def table_with_text(n=400, seed=2):
    """Salaries whose law depends on the rank, a column of text, as a table that was encoded."""
    rng = np.random.default_rng(seed)
    rank, sex = rng.choice(["assistant", "full", "lecturer"], n), rng.choice(["female", "male"], n)
    years, full = rng.gamma(3, 5, n), rank == "full"
    y = np.where(full, 90 + 0.8 * years, 60 + 0.3 * years + 4 * (sex == "male")) + rng.normal(size=n) * (1 + 9 * full)
    columns = (
        Column("rank", "category", ("assistant", "full", "lecturer")),
        Column("sex", "category", ("female", "male")),
        Column("years", "number"),
    )
    encoder = TableEncoder("salary", columns)
    X = np.column_stack([full, rank == "lecturer", sex == "male", years]).astype(float)
    return EncodedTable(X, encoder.features, encoder), y


def up_expert(model):
    return int(np.argmax(model.expert_coef_[:, 2]))


def texts(blocks, style=""):
    return [block.text for block in blocks if isinstance(block, Text) and block.style == style]


def cards(blocks):
    (found,) = (block.cards for block in blocks if isinstance(block, Cards))
    return found


def regime_blocks(blocks):
    return [block for block in blocks if isinstance(block, Regime)]


def captioned(blocks, start, kind=Table | Figure):
    """The table or figure whose caption begins so, or None."""
    found = [block for block in blocks if isinstance(block, kind) and block.caption.startswith(start)]
    assert len(found) <= 1
    return found[0] if found else None


class Outline(HTMLParser):
    """Elements of a page, and whether they are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.text, self.headings = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in EMPTY:
            self.open.append(name)
        if re.fullmatch(r"h[1-6]", name):
            self.headings.append(int(name[1]))

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(text)

    def all(self, name):
        return [attributes for element, attributes in self.elements if element == name]


def words_of(page):
    return " ".join("".join(Outline(page).text).split())
