# SPDX-License-Identifier: Apache-2.0
"""The table of its rounds, which a job that was started again ends with."""

import re

TABLE = re.compile(r"(?m)^Rounds of this job, as this node saw them:\n"
                   r"  round +restarts +nodes +trainers +lasted +ended by\n((?:  .*\n)+)")
ROW = re.compile(r"  (\d+) +(\d+) +(\d+) +(\d+) +(?:[\d.]+ s|\d+ min \d+ s) +(.*)")


def tables_in(text):
    """Each with (round, restarts, nodes, trainers, how it ended) of every round."""
    return [[_row(line) for line in rows.splitlines()] for rows in TABLE.findall(text)]


def only_table(case, run):
    """That of a launcher which told exactly one."""
    tables = tables_in(run.err)
    case.assertEqual(len(tables), 1, run.told())
    return tables[0]


def _row(line):
    row = ROW.fullmatch(line)
    if row is None:
        raise AssertionError(f"no row of a table of rounds: {line!r}")
    *numbers, cause = row.groups()
    return (*map(int, numbers), cause)
