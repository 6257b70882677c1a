# SPDX-License-Identifier: Apache-2.0
"""The pictures of launch_benchmark's sections. A row's case is section/subject/what else, as the program names it."""
from plotting.chart import Bar, Group, Panel, Picture, bar

MS = 1e3
MEBI = 1024.0


def values(row, counter, factor):
    return [value * factor for value in row.get(counter, [])]


def bars(rows, counter="seconds", factor=MS):
    return [bar(row["case"].split("/")[1], values(row, counter, factor), row["failures"]) for row in rows]


def by_size(rows, what, counter="seconds", factor=MS):
    """Groups of the rows whose case ends with the same number."""
    sizes = {}
    for row in rows:
        sizes.setdefault(int(row["case"].rsplit("/", 1)[1]), []).append(row)
    return [Group((str(size),), f"{size} {what if size > 1 else what.removesuffix('s')}",
                  bars(sizes[size], counter, factor)) for size in sorted(sizes)]


def alone(all_bars):
    return [Group((), "", all_bars)]


def start(document):
    panel = Panel("Wall time of the whole job", "median", "ms", 1, by_size(document["rows"], "trainers"))
    return [Picture("start", "Start", 0, "Start: N trainers of /bin/true. Shorter is better", [panel])]


def failure(document):
    def picture(name, table, others, title, notes):
        rows = [row for row in document["rows"] if row["case"].endswith("/" + others)]
        whole = Panel("From the trainer's death to the launcher's end", "death → end", "ms", 1, alone(bars(rows)))
        after = Panel("From the last trainer's end to the launcher's", "last trainer gone → end", "ms", 2,
                      alone(bars(rows, "after_last")), goal=5)
        return Picture(name, "Failure", table, title, [whole, after], notes)
    return [
        picture("failure", 0, "obey", "One of 8 trainers dies, the others obey SIGTERM. Shorter is better", []),
        picture("failure-grace", 1, "ignore", "One of 8 trainers dies, the others ignore SIGTERM. Shorter is better",
                ["paddle-launch was asked for a grace of 1 s and grants it; hydra sends SIGKILL at once."]),
    ]


def logs(document):
    """Lines a second: the slowest run is the low end."""
    def one_bar(row):
        _, label, _, count = row["case"].split("/")
        thousands = 8 * int(count) / 1000
        times = bar(label, row["seconds"], row["failures"])
        if times.failed:
            return times
        return Bar(label, thousands / times.middle, thousands / times.high, thousands / times.low, times.runs)

    def picture(name, table, writers, title):
        rows = [row for row in document["rows"] if f"/{writers}/" in row["case"] and not row["case"].endswith("/0")]
        panel = Panel("The whole job", "lines/s, whole job", "thousand lines/s", 0, alone([one_bar(row) for row in rows]),
                      short_unit="k/s")
        return Picture(name, "Logs", table, title, [panel])
    return [picture("logs-unbuffered", 0, "python3 -u", "Logs of 8 trainers, one write a line. Longer is better"),
            picture("logs-buffered", 1, "buffered", "Logs of 8 trainers, buffered. Longer is better")]


def idle(document):
    rows = document["rows"]
    memory = Panel("Private memory of all processes but the trainers", "private memory, MiB", "MiB", 2,
                   by_size(rows, "sleeping trainers", "memory", 1 / MEBI))
    switches = Panel("Context switches within 10 s", "context switches", "", 0,
                     by_size(rows, "sleeping trainers", "switches", 1))
    return [Picture("idle", "Idle", 0, "Idle: what a launcher costs while its trainers sleep. Shorter is better",
                    [memory, switches])]


def rendezvous(document):
    panel = Panel("Until the last pod has the roster", "median", "ms", 1, by_size(document["rows"], "pods"))
    return [Picture("rendezvous", "Rendezvous", 0, "Rendezvous: M pods meet over loopback. Shorter is better", [panel])]


def ending(document):
    rows = document["rows"]
    whole = Panel("From the trainer's death to the last launcher's end", "death → last launcher's end", "ms", 1,
                  alone(bars(rows)))
    after = Panel("From the last trainer's end to the last launcher's", "last trainer gone → last launcher's end", "ms", 1,
                  alone(bars(rows, "after_last")), goal=20)
    return [Picture("ending", "Ending", 0, "Ending: a trainer fails on one of 4 nodes. Shorter is better", [whole, after])]
