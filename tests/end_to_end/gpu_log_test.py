# SPDX-License-Identifier: Apache-2.0
"""JOB_ID.gpu.log: what the cards of the job's trainers do, by a stand-in of NVML that plays a load."""

import os
import signal
import unittest

from harness import HOLD, SH, LauncherCase, alive, children, comm, status_field, wait_until

HEADER = ("time,host,index,utilization.gpu [%],memory.used [MiB],memory.total [MiB],power.draw [W],temperature.gpu [C],"
          "clocks.sm [MHz],clocks.mem [MHz]")


class GpuLogTest(LauncherCase):
    def start_on_cards(self, *args, **variables):
        return self.start(*args, SH, "-c", HOLD,
                          env={"PADDLE_LAUNCH_NVML_LIBRARY": os.environ["FAKE_NVML_LIBRARY"], **variables})

    def lines(self, name="default.gpu.log"):
        path = self.dir / "log" / name
        return path.read_text().splitlines() if path.exists() else []

    def sampler(self, run):
        return next((pid for pid in children(run.pid) if comm(pid) == "pl-gpu-log"), None)

    def wake_ups(self, run):
        """Of launcher, guard and console: how often each has slept until now."""
        parts = [run.pid, run.guard(), run.part("pl-console")]
        return [status_field(pid, "voluntary_ctxt_switches") for pid in parts]

    def test_each_card_of_the_job_has_a_line_every_few_seconds_and_nobody_else_wakes(self):
        gate = self.gate()
        run = self.start_on_cards("--gpus=1,3", "--job_id=a/b")
        self.wait_ready(2)
        name = "a_b.gpu.log"
        wait_until(lambda: len(self.lines(name)) == 5, run.told)  # the start has settled meanwhile
        before = self.wake_ups(run)
        wait_until(lambda: len(self.lines(name)) == 7, run.told)
        self.assertEqual(self.wake_ups(run), before)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        header, *samples = self.lines(name)
        self.assertEqual(header, HEADER)
        for card, line in zip("131313", samples, strict=True):
            self.assertRegex(line, rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}},[^,]*,{card},9{card},100{card},80000,30{card},6{card},"
                             rf"100{card},200{card}$")

    def test_it_is_written_on_by_the_next_job_and_ends_with_each(self):
        for count in (3, 5):
            gate = self.gate()
            run = self.start_on_cards("--gpus=0,1")
            self.wait_ready(2)
            wait_until(lambda: len(self.lines()) == count, run.told)
            sampler = self.sampler(run)
            gate.open()
            run.wait()
            self.assertFalse(alive(sampler))
            for rank in range(2):
                (self.dir / f"ready.{rank}").unlink()
        self.assertEqual(self.lines().count(HEADER), 1)

    def test_it_ends_with_a_killed_launcher_and_its_own_end_is_nobodys_trouble(self):
        gate = self.gate()
        run = self.start_on_cards("--gpus=0,1")
        self.wait_ready(2)
        wait_until(lambda: self.lines(), run.told)
        os.kill(self.sampler(run), signal.SIGKILL)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.gate()
        run = self.start_on_cards("--gpus=0,1", "--grace=0", "--log_dir=killed")
        self.wait_file("killed/default.gpu.log")
        sampler = self.sampler(run)
        run.send(signal.SIGKILL)
        run.wait()
        wait_until(lambda: not alive(sampler), "the sampler lives on")

    def test_there_is_none_without_cards_or_where_nobody_wants_it(self):
        for options in (("--nproc_per_node=2",), ("--gpus=0,1", "--enable_gpu_log=False"),
                        ("--gpus=0,1", "--console=direct")):
            with self.subTest(options):
                gate = self.gate()
                run = self.start_on_cards(*options, FAKE_NVML_CARDS="0" if options[0].startswith("--nproc") else "4")
                self.wait_ready(2)
                self.assertIsNone(self.sampler(run))
                gate.open()
                run.wait()
                self.assertEqual(self.lines(), [])
                for rank in range(2):
                    (self.dir / f"ready.{rank}").unlink()

    def test_a_dead_driver_delays_nothing(self):
        gate = self.gate()
        run = self.start_on_cards("--gpus=0,1", "--assume_gpus", FAKE_NVML_HANG="1")
        self.wait_ready(2)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(self.lines(), [])


if __name__ == "__main__":
    unittest.main()
