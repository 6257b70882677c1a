# SPDX-License-Identifier: Apache-2.0
"""How far apart two medians are, and how sure that is."""
import random
import statistics


def difference(ours, theirs):
    """Of the medians, and where 95 % of the differences lie when both are drawn again from what was measured."""
    ours, theirs = sorted(ours), sorted(theirs)  # so that the draws do not hang on their order
    dice = random.Random(1)
    drawn = sorted(statistics.median(dice.choices(ours, k=len(ours))) - statistics.median(
        dice.choices(theirs, k=len(theirs))) for _ in range(2000))
    return statistics.median(ours) - statistics.median(theirs), drawn[50], drawn[-51]
