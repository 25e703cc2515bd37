"""Write a report to disk: the page, and every table and figure as files beside it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from whybench.causal.whole_files import whole, write_whole
from whybench.report.page.cells import words
from whybench.report.page.pictures import png_of, svg_of
from whybench.report.page.render import check_names, render
from whybench.report.section import Figure, Report, Table


@dataclass(frozen=True, slots=True)
class Written:
    """Paths of the files that were written."""

    page: Path
    tables: tuple[Path, ...]
    """CSV and Parquet."""
    figures: tuple[Path, ...]
    """SVG, PNG, and the rows drawn as CSV."""

    @property
    def size(self) -> int:
        """Size of the page in bytes."""
        return self.page.stat().st_size


def write(report: Report, out: Path) -> Written:
    """Write the page to `out`, and tables and figures to the folder `<stem>_files` beside it."""
    check_names(report)
    folder = out.parent / f"{out.stem}_files"
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    parts = [part for section in report.sections for part in section.walk()]
    tables: list[Path] = []
    figures: list[Path] = []
    drawn: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=1) as aside:  # pixels are made while the next is drawn
        made = []
        for part in parts:
            if isinstance(part, Table):
                tables += _table(part, folder / "tables")
            elif isinstance(part, Figure):
                drawn[part.id] = svg_of(part, report.systems)
                made.append(aside.submit(_figure, part, drawn[part.id], folder / "figures"))
        page = render(report, drawn, folder.name)
        for one in made:
            figures += one.result()
    write_whole(out, page)  # last, so that all its links lead to files
    return Written(out, tuple(tables), tuple(figures))


def plain(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as an Arrow table; a column of mixed types becomes text."""
    columns = [_array(list(frame.iloc[:, place])) for place in range(frame.shape[1])]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _array(values: list[object]) -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        absent = pd.isna(pd.Series(values, dtype=object))
        return pa.array([None if no else words(v) for v, no in zip(values, absent, strict=True)])


def _table(table: Table, folder: Path) -> list[Path]:
    csv, parquet = folder / f"{table.id}.csv", folder / f"{table.id}.parquet"
    write_whole(csv, table.frame.to_csv(index=False))
    with whole(parquet) as draft:
        pq.write_table(plain(table.frame), draft)
    return [csv, parquet]


def _figure(figure: Figure, svg: str, folder: Path) -> list[Path]:
    made = [folder / f"{figure.id}.{kind}" for kind in ("svg", "png", "csv")]
    write_whole(made[0], svg)
    write_whole(made[1], png_of(figure, svg))
    write_whole(made[2], figure.frame.to_csv(index=False))
    return made
