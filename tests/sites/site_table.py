# SPDX-License-Identifier: Apache-2.0
"""The table site × shape, from the results that tests/sites/run keeps, and docs/tested-with.md made of it. What the page
is made of stays in seen.json, since nobody runs everything at once."""

import json

RELEASES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid",
            "trixie-cgroup": "Debian 13, cgroups"}
GOOD = "good"
NO_PMIX = "asks srun for PMIx, which this Slurm was built without"
# What a site cannot do, and no mend of ours changes.
REASONS = dict.fromkeys([("sid", name) for name in (
    "test_each_way_that_is_asked_for_works_under_srun", "test_the_launcher_says_which_library_it_took",
    "test_a_node_without_mpi_is_named_and_the_others_carry_the_ids_without_it")], NO_PMIX)

PAGE = """# Tested with

What `tests/sites/run --write` saw, this time and earlier, and wrote here: the same tests and the same starts on clusters
of four nodes with four stand-ins of cards each, made of four Debian releases. All hosts of a run share one machine and
its kernel.

## Versions

{versions}

## Starts

*ok* and how often: the job ended with its code, and its 16 trainers, four on a node, had the same NCCL id, made by the
real libnccl. Else how many starts ended how; *died*: trainers did not begin, or not with that id. Where a program of
plain MPI under the same starter fails as well, its own count stands below.

{shapes}

## Tests

The tests of `tests/cluster/scheduler_*_test.py`, as they run on Debian 12 for each commit.

{tests}
{notes}"""


def load(folder):
    return {site: json.loads((folder / f"{site}.json").read_text()) for site in RELEASES
            if (folder / f"{site}.json").exists()}


def table(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def names_of(sites, kind):
    """In the order in which they were run."""
    return list(dict.fromkeys(name for told in sites.values() for name in told[kind]))


def shape_cell(told):
    if told is None:
        return ""
    seen = told["seen"]
    total = sum(seen.values())
    if set(seen) == {GOOD}:
        return f"ok, {total}"
    bad = ", ".join(f"{count} {how}" for how, count in seen.items() if how != GOOD)
    text = f"{seen.get(GOOD, 0)} of {total}; {bad}"
    plain = told.get("plain")
    if plain:
        text += f"; plain MPI: {plain.get(GOOD, 0)} of {sum(plain.values())}"
    return text


def test_cell(told):
    if told is None:
        return ""
    bad, skipped, ran = told["bad"], told["skipped"], told["ran"]
    if ran == 0:
        return "skipped"
    tests = {name.partition(" ")[0] for name in bad}
    text = f"{ran - len(tests) - len(skipped)} of {ran}"
    return text if not (bad or skipped) else text + (f", {len(skipped)} skipped" if skipped else "")


def notes(sites):
    lines = []
    for site, told in sites.items():
        for one in told["tests"].values():
            for name, reason in {**one["bad"], **one["skipped"]}.items():
                test = name.rpartition(".")[2].partition(" ")[0]
                lines.append(f"- {RELEASES[site]}, `{test}`: "
                             + (reason if isinstance(reason, str) else REASONS.get((site, test), "failed")))
    lines = list(dict.fromkeys(lines))
    return "\nNot good, or not run:\n\n" + "\n".join(lines) + "\n" if lines else ""


def parts(sites):
    heads = [f"{RELEASES[site]}" for site in sites]
    programs = dict.fromkeys(name for told in sites.values() for name in told["versions"])
    versions = [[name, *(told["versions"].get(name, "-") for told in sites.values())] for name in programs]
    versions.append(["date", *(told["date"] for told in sites.values())])
    shapes = [[f"`{name}`", *(shape_cell(told["shapes"].get(name)) for told in sites.values())]
              for name in names_of(sites, "shapes")]
    tests = [[f"`{name.removesuffix('_test')}`", *(test_cell(told["tests"].get(name)) for told in sites.values())]
             for name in names_of(sites, "tests")]
    return {"versions": table(["", *heads], versions), "shapes": table(["", *heads], shapes),
            "tests": table(["", *heads], tests), "notes": notes(sites)}


def text(folder):
    sites = load(folder)
    return "\n\n".join(filter(None, parts(sites).values())) + "\n" if sites else ""


def merged(old, new):
    """Of one site: what was run again is new, the rest stays."""
    return {**old, **new, **{kind: {**old.get(kind, {}), **new[kind]} for kind in ("tests", "shapes")}}


def write(folder, seen, page):
    known = json.loads(seen.read_text()) if seen.exists() else {}
    known.update({site: merged(known.get(site, {}), told) for site, told in load(folder).items()})
    sites = {site: known[site] for site in RELEASES if site in known}
    seen.write_text(json.dumps(sites, indent=1) + "\n")
    page.write_text(PAGE.format(**parts(sites)))
