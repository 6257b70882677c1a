# SPDX-License-Identifier: Apache-2.0
"""The pictures of the benchmark programs in Python: scheduler_layer, next_round and first_step."""
from difference import difference
from plotting.chart import Bar, Group, Panel, Picture, bar

MS = 1e3
PLAIN_MPI, OURS = "MPI_Init + MPI_Finalize", "paddle-launch"


def in_ms(seconds):
    return [value * MS for value in seconds]


def scheduler_layer(document):
    by_start = {}
    for row in document["rows"]:
        by_start.setdefault((str(row["tasks"]), row["front_end"]), []).append(row)
    groups = [Group(start, f"{start[1]}, {start[0]} tasks",
                    [bar(row["runs"], in_ms(row["wall"]), row["failures"]) for row in rows])
              for start, rows in by_start.items()]
    whole = Panel("Wall time of the whole command", "median, ms", "ms", 0, groups)
    return [
        Picture("scheduler-beyond", "Schedulers", 0, "What paddle-launch adds to MPI_Init. Shorter is better",
                beyond_mpi(by_start), ["Below 0: sooner than an MPI_Init with Open MPI's own choice of transports."],
                "difference of the medians", "95 % interval"),
        Picture("scheduler-layer", "Schedulers", 1, "What paddle-launch adds below srun and mpirun. Shorter is better",
                [whole]),
    ]


def beyond_mpi(by_start):
    panels = {}
    for (tasks, front_end), rows in by_start.items():
        ours, mpi = (next(row for row in rows if row["runs"] == way) for way in (OURS, PLAIN_MPI))
        failed = len(ours["failures"]) + len(mpi["failures"])
        if failed or not ours["wall"]:
            one = Bar(front_end, runs=len(ours["wall"]) + failed, failed=failed)
        else:
            one = Bar(front_end, *in_ms(difference(ours["wall"], mpi["wall"])), len(ours["wall"]), is_ours=True)
        panels.setdefault(tasks, []).append(one)
    return [Panel(f"{tasks} tasks: wall time beyond that of MPI_Init", f"{tasks} tasks", "ms", 0, [Group((), "", bars)],
                  goal=100) for tasks, bars in panels.items()]


def next_round(document):
    def group(seconds_of):
        return [Group((), "", [bar(row["launcher"], in_ms(map(seconds_of, row["seconds"])), row["failures"])
                               for row in document["rows"]])]
    whole = Panel("From the kill until all trainers run again", "kill → all run again: median, ms", "ms", 0,
                  group(lambda pair: pair[0]))
    without = Panel("The same without the pause that was asked for",
                    "without the pause that was asked for: median, ms", "ms", 0, group(lambda pair: pair[0] - pair[1]),
                    goal=500)
    return [Picture("next-round", "The next round", 0,
                    "A trainer is killed on one of 4 nodes, the job starts again. Shorter is better", [whole, without])]


def first_step(document):
    def panel(heading, column, kind, time):
        ranks = {}
        for row in document["rows"]:
            if row["kind"] == kind:
                ranks.setdefault(row["ranks"], []).append(
                    bar(row["launcher"], [times[time] for times in row["times"]], row["failures"]))
        groups = [Group((str(count),), f"{count} ranks", bars) for count, bars in ranks.items()]
        return Panel(heading, column, "s", 2, groups)
    return [Picture("first-step", "The first step", 0, "Real Paddle under both launchers. Shorter is better", [
        panel("From the command to rank 0's first training step", "first step, s", "whole run", "first step"),
        panel("From the command to the launcher's end, after 20 steps", "end, s", "whole run", "end"),
        panel("From the kill of a trainer to the launcher's end", "kill → end, s", "killed", "abort")])]
