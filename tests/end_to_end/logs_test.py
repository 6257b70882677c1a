# SPDX-License-Identifier: Apache-2.0
"""The files in the log directory, and what reaches stdout and stderr."""

import concurrent.futures
import hashlib
import os
import re
import time
import unittest

from harness import HOLD, READY, SH, LauncherCase, Terminal, variables_in, wait_until

START = re.compile(rb"^==== paddle-launch .*$", re.M)
STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} paddle-launch\] "
RULE = 87


class FilesTest(LauncherCase):
    def test_each_rank_has_its_log_and_the_endpoints_are_listed(self):
        run = self.run_launcher("--nproc_per_node=3", SH, "-c",
                                "echo out $PADDLE_TRAINER_ID; echo $PADDLE_TRAINER_ENDPOINTS >eps")
        self.assert_status(run, 0)
        self.assertEqual(sorted(os.listdir(self.dir / "log")),
                         ["endpoints.log", "workerlog.0", "workerlog.1", "workerlog.2"])
        for rank in range(3):
            self.assertEqual(self.trainer_bytes(rank), f"out {rank}\n".encode())
        endpoints = self.read("eps").strip().split(",")
        self.assertEqual(self.read("log/endpoints.log"), "\n".join(["PADDLE_TRAINER_ENDPOINTS:", *endpoints, ""]))

    def test_a_start_line_has_date_rank_and_command(self):
        self.run_launcher("--nproc_per_node=2", SH, "-c", "exit 0 # a mark in the command")
        first = self.log(1).decode().splitlines()[0]
        self.assertRegex(first, r"^==== paddle-launch .*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
        self.assertRegex(first, r"rank 1\b")
        self.assertIn("/bin/sh", first)
        self.assertIn("a mark in the command", first)

    def test_a_newline_in_the_command_does_not_break_the_start_line(self):
        self.run_launcher("--nproc_per_node=1", SH, "-c", "echo one\necho two")
        lines = self.log(0).splitlines()
        self.assertEqual([line for line in lines if not line.startswith(b"==== paddle-launch")], [b"one", b"two"])

    def test_logs_append_and_start_lines_separate_the_runs(self):
        for word in ("first", "second"):
            run = self.run_launcher("--nproc_per_node=1", SH, "-c", f"echo {word}; printf unfinished")
            self.assertEqual(run.out, f"{word}\nunfinished".encode())
        data = self.log(0)
        self.assertEqual(len(START.findall(data)), 2, data)
        lines = data.splitlines()
        self.assertTrue(lines[0].startswith(b"==== paddle-launch"))
        self.assertLess(lines.index(b"first"), lines.index(b"second"))

    def test_log_overwrite_empties_the_log(self):
        self.run_launcher("--nproc_per_node=1", SH, "-c", "echo first")
        run = self.run_launcher("--nproc_per_node=1", "--log_overwrite=1", SH, "-c", "echo second")
        self.assertEqual(run.out, b"second\n")
        self.assertEqual(self.trainer_bytes(0), b"second\n")
        self.assertEqual(len(START.findall(self.log(0))), 1)

    def test_log_dir_is_made_with_its_parents_and_told_to_trainers(self):
        run = self.run_launcher("--nproc_per_node=1", "--log_dir", "a/b/c", SH, "-c", "echo $PADDLE_LOG_DIR")
        self.assert_status(run, 0)
        self.assertEqual(run.out.decode().strip(), str(self.dir / "a/b/c"))
        self.assertTrue((self.dir / "a/b/c/workerlog.0").exists())

    def test_endpoints_log_is_replaced_not_appended(self):
        os.mkdir(self.dir / "log")
        (self.dir / "log/endpoints.log").write_text("old\n" * 100)
        self.run_launcher("--nproc_per_node=1", "/bin/true")
        self.assertRegex(self.read("log/endpoints.log"), r"\APADDLE_TRAINER_ENDPOINTS:\n127\.0\.0\.1:\d+\n\Z")

    def test_a_log_that_a_program_truncates_is_still_appended_to(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "echo gone; : >log/workerlog.0; echo kept")
        self.assert_status(run, 0)
        self.assertTrue(self.log(0).endswith(b"kept\n"))


class StdoutTest(LauncherCase):
    def test_rank_0s_bytes_and_nothing_else(self):
        data = bytes(range(256)) * 3 + b"\xff\xfe broken utf8 \xc3 \x00 no end"
        (self.dir / "data").write_bytes(data)
        run = self.run_launcher("--nproc_per_node=2", SH, "-c",
                                "[ $PADDLE_TRAINER_ID = 0 ] && exec cat data; echo not me")
        self.assert_status(run, 0)
        self.assertEqual(run.out, data)
        self.assertTrue(self.log(0).endswith(data))

    def test_lines_that_look_like_ours_are_passed_on(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "echo '==== paddle-launch is not ours'; echo end")
        self.assertEqual(run.out, b"==== paddle-launch is not ours\nend\n")

    def test_stderr_of_rank_0_is_in_its_log_and_on_stdout(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "echo one; echo two >&2; echo three")
        self.assertEqual(run.out, b"one\ntwo\nthree\n")
        self.assertNotIn("two", [line.strip() for line in run.err.splitlines()])

    def test_a_hundred_mebibytes_arrive_whole(self):
        block = os.urandom(1 << 20)
        (self.dir / "block").write_bytes(block)
        text = "i=0; while [ $i -lt 25 ]; do cat block block block block; i=$((i+1)); done"
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", text, seconds=120)
        self.assert_status(run, 0)
        expected = hashlib.sha256()
        for _ in range(100):
            expected.update(block)
        with open(run.out_path, "rb") as file:
            self.assertEqual(hashlib.file_digest(file, "sha256").hexdigest(), expected.hexdigest())
        self.assertEqual(run.out_path.stat().st_size, 100 << 20)

    def test_nothing_is_lost_when_a_trainer_prints_and_ends_at_once(self):
        for index in range(20):
            run = self.run_launcher(f"--log_dir=log.{index}", "--nproc_per_node=2", SH, "-c",
                                    "echo line $PADDLE_TRAINER_ID; printf end")
            self.assertEqual(run.out, b"line 0\nend", run.told())

    def test_nothing_is_lost_when_a_trainer_is_killed(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "seq 1 20000; kill -KILL $$")
        self.assert_status(run, 137)
        self.assertEqual(run.out, b"".join(b"%d\n" % n for n in range(1, 20001)))

    def test_what_a_victim_says_at_the_end_arrives(self):
        gate = self.gate()
        text = ("trap 'seq 1 5000; echo saved; exit 0' TERM; " + HOLD
                + "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; while :; do sleep 0.05; done")
        run = self.start("--nproc_per_node=2", SH, "-c", text)
        self.wait_ready(2)
        gate.open()
        run.wait()
        self.assert_status(run, 7)
        self.assertEqual(run.out, b"".join(b"%d\n" % n for n in range(1, 5001)) + b"saved\n")

    def test_output_is_shown_while_the_job_runs(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=1", SH, "-c", "echo early; printf half; " + HOLD + "echo; echo late")
        wait_until(lambda: run.out == b"early\nhalf", run.told)
        self.assertTrue(run.running())
        self.wait_ready(1)
        gate.open()
        run.wait()
        self.assertEqual(run.out, b"early\nhalf\nlate\n")

    def test_slow_output_comes_piece_by_piece(self):
        gate = self.gate()
        text = READY + "while read line <&3; do echo got $line; done"
        run = self.start("--nproc_per_node=1", SH, "-c", text)
        self.wait_ready(1)
        with open(self.dir / "gate", "w") as pipe:
            for number in range(5):
                pipe.write(f"{number}\n")
                pipe.flush()
                expected = "".join(f"got {n}\n" for n in range(number + 1)).encode()
                wait_until(lambda: run.out == expected, run.told)
                time.sleep(0.15)  # lets the launcher fall asleep between the pieces
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_a_pipe_gets_the_same_bytes(self):
        read, write = os.pipe()
        run = self.start("--nproc_per_node=1", SH, "-c", "seq 1 200000", stdout=write)
        os.close(write)
        with open(read, "rb") as pipe:
            data = pipe.read()
        run.wait()
        self.assertEqual(data, b"".join(b"%d\n" % n for n in range(1, 200001)))

    def test_stdout_that_appends_to_a_file_keeps_what_is_there(self):
        path = self.base / "both"
        path.write_bytes(b"before\n")
        with open(path, "ab") as file:
            run = self.run_launcher("--quiet", "--nproc_per_node=1", SH, "-c", "echo after", stdout=file, stderr=file)
        self.assert_status(run, 0)
        self.assertEqual(path.read_bytes(), b"before\nafter\n")


class ConsoleTest(LauncherCase):
    def test_all_prefixes_every_line_with_its_rank(self):
        run = self.run_launcher("--console", "all", "--nproc_per_node=3", SH, "-c", "echo a; echo b >&2; printf c")
        self.assert_status(run, 0)
        lines = run.out.decode().splitlines()
        for rank in range(3):
            self.assertEqual([line for line in lines if line.startswith(f"[{rank}] ")],
                             [f"[{rank}] {letter}" for letter in "abc"])
        self.assertEqual(len(lines), 9)
        self.assertNotIn(b"\x1b", run.out)

    def test_all_never_tears_or_loses_a_line(self):
        text = "seq -f \"$PADDLE_TRAINER_ID:%05g:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\" 1 5000"
        run = self.run_launcher("--console=all", "--nproc_per_node=8", SH, "-c", text, seconds=120)
        self.assert_status(run, 0)
        whole = re.compile(r"\[(\d)\] \1:(\d{5}):(?:abcdefghijklmnopqrstuvwxyz){2}")
        seen = {rank: [] for rank in range(8)}
        for line in run.out.decode().splitlines():
            match = whole.fullmatch(line)
            self.assertIsNotNone(match, line)
            seen[int(match.group(1))].append(int(match.group(2)))
        for rank in range(8):
            self.assertEqual(seen[rank], list(range(1, 5001)))

    def test_all_with_small_unbuffered_pieces(self):
        text = ("i=0; while [ $i -lt 200 ]; do "
                "printf $PADDLE_TRAINER_ID; printf '%s' -middle-; echo $i; i=$((i+1)); done")
        run = self.run_launcher("--console=all", "--nproc_per_node=4", SH, "-c", text)
        self.assert_status(run, 0)
        self.assertEqual(sorted(run.out.decode().splitlines()),
                         sorted(f"[{rank}] {rank}-middle-{i}" for rank in range(4) for i in range(200)))

    def test_all_takes_carriage_return_as_a_line_end(self):
        run = self.run_launcher("--console=all", "--nproc_per_node=1", SH, "-c",
                                r"printf '10%%\r20%%\rdone\nnext\r\nlast'")
        shown = [line for line in re.split(r"[\r\n]+", run.out.decode()) if line]
        self.assertEqual(shown, ["[0] 10%", "[0] 20%", "[0] done", "[0] next", "[0] last"])

    def test_all_shows_an_unfinished_line_after_a_while(self):
        gate = self.gate()
        run = self.start("--console=all", "--nproc_per_node=2", SH, "-c", "printf waiting; " + HOLD + "echo ' no more'")
        wait_until(lambda: b"[0] waiting" in run.out and b"[1] waiting" in run.out, run.told)
        self.wait_ready(2)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertIn(b" no more", run.out)

    def test_all_passes_invalid_utf8_and_long_lines_on(self):
        run = self.run_launcher("--console=all", "--nproc_per_node=1", SH, "-c",
                                r"printf 'bad \377\376\n'; head -c 2000000 /dev/zero | tr '\0' x; echo")
        self.assertIn(b"[0] bad \xff\xfe\n", run.out)
        self.assertEqual(run.out.count(b"x"), 2000000)

    def test_all_with_ranks_of_two_digits(self):
        run = self.run_launcher("--console=all", "--nproc_per_node=12", SH, "-c", "echo hello")
        self.assertEqual(sorted(re.sub(r"\[ *(\d+)\] +", r"\1 ", line) for line in run.out.decode().splitlines()),
                         sorted(f"{rank} hello" for rank in range(12)))

    def test_none_shows_nothing_of_the_trainers(self):
        run = self.run_launcher("--console", "none", "--nproc_per_node=2", SH, "-c", "echo hidden")
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"")
        self.assertNotIn("hidden", run.err.split("=" * RULE)[-1])
        self.assertEqual(self.trainer_bytes(0), b"hidden\n")

    def test_quiet_leaves_only_the_trainers(self):
        run = self.run_launcher("--quiet", "--nproc_per_node=2", SH, "-c", "echo shown")
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"shown\n")
        self.assertEqual(run.err, "")

    def test_quiet_and_console_none_is_silence(self):
        run = self.run_launcher("--quiet", "--console=none", "--nproc_per_node=1", SH, "-c", "echo hidden")
        self.assertEqual((run.status, run.out, run.err), (0, b"", ""))

    def test_log_level_error_leaves_out_information(self):
        run = self.run_launcher("--log_level=ERROR", "--nproc_per_node=4", "/bin/true")
        self.assert_status(run, 0)
        self.assertNotRegex(run.err, r"(?m)^(DEBUG|INFO|WARNING) ")


class ColourTest(LauncherCase):
    def screen(self, *args, env=None):
        terminal = Terminal(self, ["--nproc_per_node=2", *args, SH, "-c", "echo hello"], env=env)
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])
        return terminal

    def test_a_terminal_gets_coloured_prefixes(self):
        terminal = self.screen("--console", "all")
        terminal.wait_screen(b"\x1b[")
        self.assertRegex(terminal.screen, rb"\x1b\[[0-9;]+m.*\[?0\]?.*\x1b\[0?m")

    def test_no_color_is_respected(self):
        terminal = self.screen("--console", "all", env={"NO_COLOR": "1"})
        terminal.wait_screen(b"[0] hello")
        terminal.wait_screen(b"[1] hello")
        self.assertNotIn(b"\x1b", terminal.screen)

    def test_a_file_gets_no_colour(self):
        run = self.run_launcher("--nproc_per_node=2", "--console=all", SH, "-c", "echo hello; exit 3",
                                env={"TERM": "xterm"})
        self.assertNotIn(b"\x1b", run.out)
        self.assertNotIn("\x1b", run.err)


class BannerTest(LauncherCase):
    def banner(self, run):
        match = re.search(r"(?m)^-----------  Configuration Arguments -----------\n((?:.*\n)*?)-{48}$", run.err)
        self.assertIsNotNone(match, run.told())
        self.assertTrue(run.err.startswith("-----------  Configuration Arguments -----------\n"), run.told())
        return match.group(1).splitlines()

    def table(self, run):
        rule, thin = "=" * RULE, "-" * RULE
        match = re.search(rf"(?m)^(.*)\n{rule}\n(.*)\n{thin}\n((?:.*\n)*?){rule}$", run.err)
        self.assertIsNotNone(match, run.told())
        return match.group(1), match.group(2), match.group(3).splitlines()

    def test_the_banner_shows_resolved_arguments_sorted(self):
        run = self.run_launcher("--assume_gpus", SH, "-c", "exit 0", env={"CUDA_VISIBLE_DEVICES": "0,1,2,3"})
        self.assert_status(run, 0)
        lines = self.banner(run)
        keys = [line.split(":")[0] for line in lines]
        self.assertEqual(keys, sorted(keys))
        for line in ("gpus: 0,1,2,3", "ips: 127.0.0.1", "log_dir: log", "server_num: None", "worker_num: None",
                     "training_script: /bin/sh", "training_script_args: ['-c', 'exit 0']"):
            self.assertIn(line, lines)
        self.assertTrue({"servers", "workers"} <= set(keys))

    def test_the_table_has_the_documents_layout(self):
        run = self.run_launcher("--assume_gpus", "--gpus=0,1,2,3", SH, "-c", "env >env.$PADDLE_TRAINER_ID")
        before, head, rows = self.table(run)
        self.assertRegex(before, r"^INFO " + STAMP + r"Local start 4 processes\. "
                         r"First process distributed environment info \(Only For Debug\):\s*$")
        self.assertEqual(head.split(), ["Distributed", "Envs", "Value"])
        self.assertEqual(head.index("Value"), 42)
        values = variables_in(self.read("env.0"))
        shown = {}
        for row in rows:
            key, value = row[:42].rstrip(), row[42:].rstrip()
            self.assertLessEqual(len(row.rstrip()), RULE, row)
            self.assertIn(key, values)
            shown[key] = value
            # Where libnccl is there, its id is a secret of the job.
            whole = "(not shown)" if key == "PADDLE_LAUNCH_NCCL_ID" else values[key]
            self.assertEqual(value, whole if len(whole) < 45 else "... " + whole[-41:])
        for key in ("PADDLE_CURRENT_ENDPOINT", "PADDLE_TRAINERS_NUM", "FLAGS_selected_gpus", "PADDLE_TRAINER_ENDPOINTS",
                    "PADDLE_TRAINER_ID"):
            self.assertIn(key, shown)
        self.assertTrue(shown["PADDLE_TRAINER_ENDPOINTS"].startswith("... "))

    def test_own_lines_have_level_date_and_name(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "exit 3")
        own = [line for line in run.err.splitlines() if "paddle-launch]" in line]
        self.assertTrue(own)
        for line in own:
            self.assertRegex(line, r"^(DEBUG|INFO|WARNING|ERROR) " + STAMP + r"\S")

    def test_the_banner_comes_before_the_trainers_output(self):
        def one(number):
            path = self.base / f"both.{number}"
            with open(path, "ab") as file:
                self.run_launcher(f"--log_dir=log.{number}", "--nproc_per_node=1", SH, "-c", "echo the trainer",
                                  stdout=file, stderr=file)
            return path.read_text()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # crowded, so that the order is tried in many ways
            for text in pool.map(one, range(40)):
                lines = text.splitlines()
                self.assertEqual(lines.count("the trainer"), 1, text)
                self.assertEqual(lines[0], "-----------  Configuration Arguments -----------", text)
                last_rule = max(number for number, line in enumerate(lines) if line == "=" * RULE)
                self.assertLess(last_rule, lines.index("the trainer"), text)


if __name__ == "__main__":
    unittest.main()
