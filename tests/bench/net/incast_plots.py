#!/usr/bin/env python3
"""Draws what bench_net_incast_study wrote: incast_plots.py ROWS.json DIRECTORY.

One SVG a kind of traffic: the queue of the worst port that counts, over time, on a logarithmic
scale, for each cap. Standard library only; equal rows give equal files.
"""

import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 40
COLOURS = {"off": "#b03a2e", "fixed": "#b9770e", "adaptive": "#1f618d"}
LEAST_BYTES, MOST_BYTES = 1 << 16, 1 << 34
POINTS_MAX = 300


def name_of(scenario):
    return "incast_" + "".join(c if c.isalnum() else "_" for c in scenario).strip("_") + ".svg"


def size_text(size):
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= step:
            return f"{size // step} {unit}"
    return f"{size} B"


def y_of(size):
    low, high = math.log2(LEAST_BYTES), math.log2(MOST_BYTES)
    share = (math.log2(max(size, LEAST_BYTES)) - low) / (high - low)
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def thinned(points):
    """The largest of every few points, so that no peak is lost."""
    stride = max(1, math.ceil(len(points) / POINTS_MAX))
    return [max(points[i:i + stride], key=lambda p: p[1]) for i in range(0, len(points), stride)]


def axes(title, end_ms):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="16" font-size="13">{title}: longest queue</text>']
    for power in range(16, 35, 3):
        y = y_of(1 << power)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                   'stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{size_text(1 << power)}</text>')
    for part in range(5):
        x = LEFT + part / 4 * (WIDTH - LEFT - RIGHT)
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
                   f'{end_ms * part / 4:.1f} ms</text>')
    return out


def draw(scenario, rows):
    end_ms = max(row["queue"][-1][0] for row in rows)
    out = axes(scenario, end_ms)
    for index, row in enumerate(rows):
        colour = COLOURS[row["cap"]]
        line = " ".join(f"{LEFT + ms / end_ms * (WIDTH - LEFT - RIGHT):.1f},{y_of(size):.1f}"
                        for ms, size in thinned(row["queue"]))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" '
                   'stroke-width="1.5"/>')
        x = LEFT + 110 * index
        out.append(f'<text x="{x}" y="{HEIGHT - 6}" fill="{colour}">{row["cap"]}: goodput '
                   f'{100 * row["goodput_share"]:.0f} %</text>')
    out.append("</svg>\n")
    return "\n".join(out)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.split("\n", maxsplit=1)[0], file=sys.stderr)
        return 2
    rows = json.loads(Path(arguments[0]).read_text(encoding="ascii"))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    for scenario in scenarios:
        chosen = [row for row in rows if row["scenario"] == scenario and row["queue"]]
        if chosen:
            path = Path(arguments[1]) / name_of(scenario)
            path.write_text(draw(scenario, chosen), encoding="ascii")
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
