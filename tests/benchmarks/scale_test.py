# SPDX-License-Identifier: Apache-2.0
"""Where bars lie, and what is drawn where there is no number."""
import unittest

import benchmarks_page  # noqa: F401 - makes the modules of the benchmarks known
from plotting.chart import Group, Panel, Picture, Scale, bar
from plotting.drawing import draw


def panel(*bars, goal=None):
    return Panel("How long", "median", "ms", 1, [Group((), "", list(bars))], goal=goal)


class ScaleOfAPanel(unittest.TestCase):
    def test_begins_at_zero_where_bars_can_be_compared(self):
        scale = Scale(panel(bar("ours", [2, 3, 4]), bar("hydra", [30, 40, 45])))
        self.assertFalse(scale.is_log)
        self.assertEqual(scale.place(0), 0)
        self.assertEqual(scale.ticks, [0, 10, 20, 30, 40, 50])

    def test_is_logarithmic_where_one_bar_would_hide_another(self):
        scale = Scale(panel(bar("ours", [3]), bar("mpirun", [1010])))
        self.assertTrue(scale.is_log)
        self.assertEqual(scale.ticks, [1, 10, 100, 1000])
        self.assertAlmostEqual(scale.place(100) - scale.place(10), scale.place(10))

    def test_is_logarithmic_where_a_whisker_would(self):
        self.assertTrue(Scale(panel(bar("ours", [2]), bar("mpirun", [5, 6, 1010]))).is_log)

    def test_stays_linear_with_zero(self):
        self.assertFalse(Scale(panel(bar("ours", [0, 0]), bar("mpirun", [5, 5]))).is_log)

    def test_has_room_for_the_goal_and_for_less_than_nothing(self):
        scale = Scale(panel(bar("srun", [-120, -100]), goal=100))
        self.assertGreater(scale.base, 0)
        self.assertLessEqual(scale.place(100), 1)
        self.assertGreaterEqual(scale.place(-120), 0)


class APicture(unittest.TestCase):
    def test_says_failed_and_draws_no_bar(self):
        text = draw(Picture("one", "Start", 0, "Shorter is better", [
            panel(bar("hydra", [1, 2, 3]), bar("mpirun", [1], ["19 torn", "20 torn"]))]))
        self.assertIn("failed, 2 of 3", text)
        self.assertEqual(text.count('<rect class="peer"'), 2)  # the legend's, and hydra's
        self.assertIn("mpirun: failed", text)

    def test_can_be_drawn_of_zeros_and_of_failures_alone(self):
        for bars in ([bar("hydra", [0, 0])], [bar("mpirun", [], ["torn"])]):
            self.assertIn("</svg>", draw(Picture("one", "Start", 0, "Shorter is better", [panel(*bars)])))

    def test_says_that_a_scale_is_logarithmic(self):
        text = draw(Picture("one", "Start", 0, "Shorter is better", [panel(bar("a", [1]), bar("b", [100]))]))
        self.assertIn("ms, log scale", text)
