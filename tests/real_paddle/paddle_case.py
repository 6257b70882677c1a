# SPDX-License-Identifier: Apache-2.0
"""Real Paddle under the launcher: which Python, which script, and what its ranks wrote down. PaddleMixin goes before
LauncherCase (one node) or ClusterCase (test hosts)."""

import json
import os
import pathlib
import re
import statistics
import sys
import unittest

from harness import Launch, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENVIRONMENTS = ROOT / "build" / "paddle"
REQUIRED = "PADDLE_LAUNCH_REQUIRE_PADDLE"  # 1: a machine without the wheels fails the tests, as in CI
SECONDS = 240.0  # for a whole run; two cores may have more than one test
CLOSE = 1e-4  # relative: sums of the same numbers, perhaps in another order

# Nobody listens there: whoever asked it for a host of the job would fail.
PROXIES = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY")}

# Of a failure report: whom it is about, and who began it where another was dead first.
VERDICT = re.compile(r"(?m)^  rank      (\d+) \(")
PROBABLY = re.compile(r"(?m)^  probably  rank (\d+)(?: on .*?)? began it")


def require_paddle(environment):
    """The interpreter of that environment. Where there is none the tests are skipped, which is said; they fail instead
    where Paddle is required."""
    folder = ENVIRONMENTS / environment
    if (folder / "stamp").exists():
        return str(folder / "bin" / "python")
    refusal = f"real Paddle is missing: there is no build/paddle/{environment} (scripts/paddle_environments makes it)"
    if os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {refusal}")
    print(f"skipped: {refusal}", file=sys.stderr)  # tests/CMakeLists.txt knows a skipped test by these words
    raise unittest.SkipTest(refusal)


class PaddleMixin:
    ENVIRONMENT = "collective"
    SHARED = (str(ENVIRONMENTS), str(EXAMPLES))  # of test hosts

    @classmethod
    def setUpClass(cls):
        cls.python = require_paddle(cls.ENVIRONMENT)
        super().setUpClass()

    def environment(self, extra=None):
        return super().environment({"PYTHONDONTWRITEBYTECODE": "1", **(extra or {})})

    def script(self, name, *args):
        """The command line of an example."""
        return [self.python, str(EXAMPLES / f"{name}.py"), *map(str, args)]

    def train(self, *args, **how):
        """A launcher that was started and ended."""
        return self.run_launcher(*args, seconds=SECONDS, **how)

    def paddles_own(self, *args):
        """The same under Paddle's own launcher; its logs do not meet ours."""
        run = Launch(self, ["-m", "paddle.distributed.launch", "--log_dir", "log.paddle", *args], program=self.python)
        run.wait(SECONDS)
        self.assert_status(run, 0)

    def wait_line(self, rank, text, log_dir="log"):
        """Until the rank's log has it."""
        def look():
            for launch in self.launches[-1:]:
                self.assertTrue(launch.running(), launch.told())
            path = self.dir / log_dir / f"workerlog.{rank}"
            return path.exists() and text in path.read_text(errors="replace")
        wait_until(look, lambda: f"{text!r} in the log of rank {rank}\n{self.launches[-1].told()}", SECONDS)

    # what the ranks wrote

    def results(self, out, world):
        return [json.loads((self.dir / out / f"rank.{rank}.json").read_text()) for rank in range(world)]

    def assert_loss_falls(self, results):
        for result in results:
            first, last = (statistics.mean(part) for part in (result["losses"][:8], result["losses"][-8:]))
            self.assertLess(last, first / 3, result)

    def assert_trained(self, out, world):
        """All ranks learned, and hold the same parameters. Returns what can be compared with other runs."""
        results = self.results(out, world)
        self.assert_loss_falls(results)
        self.assertEqual(len({result["digest"] for result in results}), 1, results)
        return results

    def assert_same_result(self, ours, theirs):
        """Losses and parameters, as far as floats allow."""
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assert_close(one["losses"], other["losses"])
            for mine, yours in zip(one["sums"], other["sums"]):
                self.assert_close(mine, yours, at_least=mine[1])

    def assert_close(self, values, others, at_least=1.0):
        self.assertEqual(len(values), len(others))
        for value, other in zip(values, others):
            self.assertAlmostEqual(value, other, delta=CLOSE * max(at_least, abs(value)))
