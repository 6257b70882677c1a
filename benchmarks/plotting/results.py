# SPDX-License-Identifier: Apache-2.0
"""Results as they are kept: every single time of every row, and nothing about whose machine it was.

The programs in Python write it themselves. launch_benchmark's file is Google Benchmark's, with aggregates, paths and the
host's name; `trimmed` makes the same of it.
"""
import json
import re

DIGITS = 9  # of a second: the clock has no more
# What Google Benchmark says of each run by itself. The rest are counters, which launch_benchmark gave it.
GOOGLE = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index",
          "threads", "iterations", "real_time", "cpu_time", "time_unit", "error_occurred", "error_message"}
PER_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}


def read_results(path):
    document = json.loads(path.read_text())
    return rounded(trimmed(document) if "benchmarks" in document else document)


def trimmed(google):
    context = google["context"]
    machine = {"date": context["date"], "CPUs": context["num_cpus"], "load before": context["load_avg"]}
    runs = [run for run in google["benchmarks"] if run["run_type"] == "iteration"]
    rows = {}
    # They come in the order in which they happened to end; this one is that of the program.
    for run in sorted(runs, key=lambda run: (run["family_index"], run.get("repetition_index", 0))):
        case = re.sub(r"/iterations:1/.*", "", run["name"])
        row = rows.setdefault(case, {"case": case, "seconds": [], "failures": []})
        if run.get("error_occurred"):
            row["failures"].append(run["error_message"])
            continue
        row["seconds"].append(run["real_time"] / PER_SECOND[run["time_unit"]])
        for counter in sorted(run.keys() - GOOGLE):
            row.setdefault(counter, []).append(run[counter])
    return {"machine": machine, "rows": list(rows.values())}


def as_text(document):
    """A line for each row, so that two runs can be compared line by line."""
    head = {key: value for key, value in document.items() if key != "rows"}
    lines = [f"{json.dumps(key)}: {in_one_line(value)}" for key, value in head.items()]
    rows = ",\n".join("  " + in_one_line(row) for row in document["rows"])
    return "{\n" + "".join(f"{line},\n" for line in lines) + f'"rows": [\n{rows}\n]\n}}\n'


def in_one_line(value):
    return json.dumps(value, ensure_ascii=False)


def rounded(value):
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, DIGITS)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
