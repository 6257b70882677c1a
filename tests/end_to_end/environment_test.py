# SPDX-License-Identifier: Apache-2.0
"""What a trainer inherits: variables, ports, descriptors, signals, limits, directory."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

from harness import HOLD, SH, LauncherCase, binary, free_port_run, stat_fields, status_field, wait_until

SAVE = "cat /proc/$$/environ >env.$PADDLE_TRAINER_ID"


def cpus_of(text):
    """The set that the kernel writes as 0-3,8."""
    result = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        result |= set(range(int(first), int(last or first) + 1))
    return result


class VariablesTest(LauncherCase):
    def env_of(self, rank):
        text = (self.dir / f"env.{rank}").read_bytes()
        return dict(part.decode(errors="replace").split("=", 1) for part in text.split(b"\0") if part)

    def run_and_read(self, world, *args, env=None):
        run = self.run_launcher(*args, SH, "-c", SAVE, env=env)
        self.assert_status(run, 0)
        return run, [self.env_of(rank) for rank in range(world)]

    def test_every_rank_knows_who_it_is(self):
        _, envs = self.run_and_read(4, "--nproc_per_node=4")
        endpoints = envs[0]["PADDLE_TRAINER_ENDPOINTS"].split(",")
        self.assertEqual(len(set(endpoints)), 4)
        for rank, env in enumerate(envs):
            for name in ("PADDLE_TRAINER_ID", "PADDLE_GLOBAL_RANK", "PADDLE_LOCAL_RANK", "PADDLE_RANK_IN_NODE"):
                self.assertEqual(env[name], str(rank), name)
            for name in ("PADDLE_TRAINERS_NUM", "PADDLE_GLOBAL_SIZE", "PADDLE_LOCAL_SIZE"):
                self.assertEqual(env[name], "4", name)
            self.assertEqual(env["PADDLE_NNODES"], "1")
            self.assertEqual(env["PADDLE_CURRENT_ENDPOINT"], endpoints[rank])
            self.assertEqual(env["PADDLE_TRAINER_ENDPOINTS"], ",".join(endpoints))
            self.assertRegex(env["PADDLE_MASTER"], r"^127\.0\.0\.1:\d+$")
            self.assertNotIn(env["PADDLE_MASTER"], endpoints)
            self.assertEqual(env["PADDLE_MASTER"] == envs[1]["PADDLE_MASTER"], rank > 0)  # rank 0 is behind the relay
            self.assertEqual(env["PADDLE_DISTRI_BACKEND"], "gloo")
            self.assertEqual(env["PADDLE_LOG_DIR"], str(self.dir / "log"))
            self.assertNotIn("FLAGS_selected_gpus", env)

    def test_every_card_has_its_variables(self):
        _, envs = self.run_and_read(4, "--assume_gpus", "--gpus=0,1,2,3")
        for rank, env in enumerate(envs):
            self.assertEqual(env["FLAGS_selected_gpus"], str(rank))
            self.assertEqual(env["PADDLE_LOCAL_DEVICE_IDS"], str(rank))
            self.assertEqual(env["PADDLE_WORLD_DEVICE_IDS"], "0,1,2,3")
            self.assertNotIn("CUDA_VISIBLE_DEVICES", env)

    def test_physical_cards_keep_the_given_order(self):
        _, envs = self.run_and_read(2, "--assume_gpus", "--gpus=7,2")
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["7", "2"])

    def test_visible_cards_become_logical_numbers(self):
        _, envs = self.run_and_read(2, "--assume_gpus", "--gpus=7,5", env={"CUDA_VISIBLE_DEVICES": "4,5,6,7"})
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["3", "1"])
        self.assertEqual({env["CUDA_VISIBLE_DEVICES"] for env in envs}, {"4,5,6,7"})

    def test_without_gpus_all_visible_cards_are_used(self):
        _, envs = self.run_and_read(3, "--assume_gpus", env={"CUDA_VISIBLE_DEVICES": "4,5,6"})
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["0", "1", "2"])

    def test_the_assume_variable_does_what_the_option_does(self):
        _, envs = self.run_and_read(2, "--gpus=0,1", env={"PADDLE_LAUNCH_ASSUME_GPUS": "1"})
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["0", "1"])

    def test_uuids_are_cards_too(self):
        uuids = "GPU-8f2c1c9e-0000-0000-0000-000000000001,MIG-11111111-0000-0000-0000-000000000002"
        _, envs = self.run_and_read(2, "--assume_gpus", env={"CUDA_VISIBLE_DEVICES": uuids})
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["0", "1"])
        self.assertEqual({env["CUDA_VISIBLE_DEVICES"] for env in envs}, {uuids})

    def test_xpus_have_their_own_variables(self):
        _, envs = self.run_and_read(2, "--assume_gpus", "--xpus=0,1")
        self.assertEqual([env["FLAGS_selected_xpus"] for env in envs], ["0", "1"])
        self.assertNotIn("FLAGS_selected_gpus", envs[0])

    def test_custom_devices_have_their_own_variables(self):
        run, envs = self.run_and_read(2, "--devices=0,1", env={"PADDLE_XCCL_BACKEND": "custom_cpu"})
        self.assertEqual([env["FLAGS_selected_custom_cpus"] for env in envs], ["0", "1"])
        self.assertEqual((envs[0]["PADDLE_DISTRI_BACKEND"], envs[0]["PADDLE_XCCL_BACKEND"]), ("xccl", "custom_cpu"))
        self.assertNotIn("FLAGS_selected_gpus", envs[0])
        self.assertRegex(run.err, r"(?m)^devices: 0,1$")

    def test_cards_are_shared_out_to_fewer_trainers(self):
        run, envs = self.run_and_read(2, "--assume_gpus", "--gpus=0,1,2,3", "--nproc_per_node=2")
        self.assertEqual([env["FLAGS_selected_gpus"] for env in envs], ["0,1", "2,3"])
        self.assertEqual(envs[0]["PADDLE_WORLD_DEVICE_IDS"], "0:1,2:3")
        self.assertIn("rank 0 on 0 of 0,1, rank 1 on 2 of 2,3", run.err)

    def test_proxies_are_kept_and_not_for_the_hosts_of_the_job(self):
        given = {"http_proxy": "http://a", "HTTPS_PROXY": "http://d", "no_proxy": "x"}
        _, envs = self.run_and_read(1, "--nproc_per_node=1", env=given)
        for name, value in {**given, "no_proxy": "x,127.0.0.1", "NO_PROXY": "x,127.0.0.1"}.items():
            self.assertEqual(envs[0][name], value)
        _, envs = self.run_and_read(1, "--nproc_per_node=1")
        self.assertNotIn("no_proxy", envs[0])

    def test_proxies_are_put_aside_on_request(self):
        given = {"http_proxy": "http://a", "HTTP_PROXY": "http://b", "https_proxy": "http://c",
                 "HTTPS_PROXY": "http://d", "all_proxy": "e"}
        _, envs = self.run_and_read(1, "--proxy=drop", "--nproc_per_node=1", env={**given, "no_proxy": "x"})
        for name, value in given.items():
            self.assertNotIn(name, envs[0])
            self.assertEqual(envs[0][name + "_original"], value)
        self.assertEqual(envs[0]["no_proxy"], "x")

    def test_proxies_are_put_aside_with_a_word_where_no_proxy_would_be_too_long(self):
        given = {"http_proxy": "http://a", "no_proxy": "x" * 65536}
        run, envs = self.run_and_read(1, "--nproc_per_node=1", env=given)
        self.assertNotIn("http_proxy", envs[0])
        self.assertRegex(run.err, r"(?m)^WARNING .*http_proxy and its like are not passed on: .* 64 KiB")

    def test_other_variables_pass_through_whatever_they_hold(self):
        given = {"PLAIN": "x", "EMPTY": "", "EQUALS": "a=b=c", "LINES": "a\nb", "ÜMLAUT": "ß", "LONG": "x" * 100000}
        _, envs = self.run_and_read(1, "--nproc_per_node=1", env=given)
        for name, value in given.items():
            self.assertEqual(envs[0][name], value)

    def test_bytes_that_are_not_utf8_pass_through(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", SAVE, env={"RAW": os.fsdecode(b"\xff\xfe=\x80")})
        self.assert_status(run, 0)
        self.assertIn(b"\0RAW=\xff\xfe=\x80\0", b"\0" + (self.dir / "env.0").read_bytes())

    def test_values_of_an_outer_job_are_replaced(self):
        _, envs = self.run_and_read(2, "--nproc_per_node=2",
                                    env={"PADDLE_TRAINER_ID": "77", "PADDLE_CURRENT_ENDPOINT": "x:1"})
        self.assertEqual([env["PADDLE_TRAINER_ID"] for env in envs], ["0", "1"])
        names = (self.dir / "env.0").read_bytes().split(b"\0")
        self.assertEqual(len([part for part in names if part.startswith(b"PADDLE_TRAINER_ID=")]), 1)

    def test_variables_are_defaults_and_options_beat_them_with_one_warning(self):
        _, envs = self.run_and_read(3, env={"PADDLE_NPROC_PER_NODE": "3"})
        self.assertEqual(envs[2]["PADDLE_TRAINERS_NUM"], "3")
        run, envs = self.run_and_read(2, "--nproc_per_node=2", env={"PADDLE_NPROC_PER_NODE": "3"})
        self.assertEqual(envs[0]["PADDLE_TRAINERS_NUM"], "2")
        warnings = [line for line in run.err.splitlines() if "PADDLE_NPROC_PER_NODE" in line]
        self.assertEqual(len(warnings), 1, run.told())
        self.assertTrue(warnings[0].startswith("WARNING "), run.told())
        run, _ = self.run_and_read(2, "--nproc_per_node=2", env={"PADDLE_NPROC_PER_NODE": "2"})
        self.assertNotIn("PADDLE_NPROC_PER_NODE", run.err)

    def test_log_dir_may_come_from_its_variable(self):
        self.run_and_read(1, "--nproc_per_node=1", env={"PADDLE_LOG_DIR": "from_env"})
        self.assertTrue((self.dir / "from_env/workerlog.0").exists())

    def test_a_launcher_inside_a_trainer_starts_a_job_of_its_own(self):
        inner = f"exec '{binary()}' --quiet --log_dir=inner --nproc_per_node=2 /bin/sh -c '{SAVE}'"
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", inner)
        self.assert_status(run, 0)
        self.assertEqual([self.env_of(rank)["PADDLE_TRAINERS_NUM"] for rank in range(2)], ["2", "2"])
        self.assertTrue((self.dir / "inner/workerlog.1").exists())


class ThreadsTest(LauncherCase):
    """Paddle's launcher sets OMP_NUM_THREADS by loading Paddle."""

    def threads(self, *options, env=None):
        run = self.run_launcher(*options, "--nproc_per_node=2", SH, "-c", "echo ${OMP_NUM_THREADS-unset}",
                                env={"OMP_NUM_THREADS": None, "SLURM_CPUS_PER_TASK": None, **(env or {})})
        self.assert_status(run, 0)
        return run, run.out.decode().split()

    def test_a_trainer_has_one_thread_and_the_start_says_so(self):
        run, threads = self.threads()
        self.assertEqual(threads, ["1"])
        self.assertRegex(run.err, r"(?m)^OMP_NUM_THREADS +1$")

    def test_what_the_user_has_set_stays(self):
        self.assertEqual(self.threads(env={"OMP_NUM_THREADS": "4,2"})[1], ["4,2"])

    def test_the_option_says_how_many_or_that_nothing_is_touched(self):
        run, threads = self.threads("--omp=3", env={"OMP_NUM_THREADS": "8"})
        self.assertEqual(threads, ["3"])
        self.assertIn("OMP_NUM_THREADS=8 is not used: the command line says --omp=3", run.err)
        self.assertEqual(self.threads("--omp=keep")[1], ["unset"])
        self.assertEqual(self.threads("--omp=keep", env={"OMP_NUM_THREADS": "8"})[1], ["8"])

    def test_another_value_is_refused(self):
        run = self.run_launcher("--omp=all", SH)
        self.assert_status(run, 2)
        self.assertIn("it takes a whole number from 1 to 1000000, or keep", run.err)


class DryRunTest(LauncherCase):
    def test_a_dry_run_tells_the_plan_as_text_and_makes_nothing(self):
        run = self.run_launcher("--dry_run", "--assume_gpus", "--gpus=0,1", SH, "-c", ": >started", "a b")
        self.assert_status(run, 0)
        text = run.out.decode()
        for word in ("rank 0", "rank 1", "PADDLE_TRAINER_ENDPOINTS", "FLAGS_selected_gpus", "/bin/sh", "a b",
                     "127.0.0.1"):
            self.assertIn(word, text)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_dry_run_tells_the_plan_as_json_and_makes_nothing(self):
        run = self.run_launcher("--dry_run=json", "--assume_gpus", "--gpus=0,1", SH, "-c", ": >started", "a b\"\\\n")
        self.assert_status(run, 0)
        plan = json.loads(run.out)
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual([process["rank"] for process in plan["processes"]], [0, 1])
        for rank, process in enumerate(plan["processes"]):
            self.assertEqual(process["environment"]["PADDLE_TRAINER_ID"], str(rank))
            self.assertEqual(process["environment"]["FLAGS_selected_gpus"], str(rank))
            self.assertEqual(process["cards"], [str(rank)])
            self.assertEqual(process["command"], ["/bin/sh", "-c", ": >started", "a b\"\\\n"])

    def test_a_dry_run_of_several_nodes_asks_nobody(self):
        run = self.run_launcher("--dry_run=json", "--ips=127.0.0.2,127.0.0.3", "--host=127.0.0.3",
                                "--nproc_per_node=2", SH)
        self.assert_status(run, 0)
        plan = json.loads(run.out)
        self.assertEqual([process["rank"] for process in plan["processes"]], [2, 3])
        self.assertEqual((plan["world_size"], plan["host"]), (4, "127.0.0.3"))
        self.assertIn("asked no other node", run.err)

    def test_a_dry_run_with_a_master_elsewhere_names_an_address_of_this_machine(self):
        run = self.run_launcher("--dry_run=json", "--master=192.0.2.1:7000", "--nnodes=2", "--rank=1",
                                "--nproc_per_node=1", SH)
        self.assert_status(run, 0)
        plan = json.loads(run.out)
        self.assertEqual(plan["processes"][0]["rank"], 1)
        self.assertRegex(plan["processes"][0]["endpoint"], r"^[^:]+:\d+$")

    def test_wrong_use_is_wrong_in_a_dry_run_as_well(self):
        run = self.run_launcher("--dry_run", "no_such_script.py")
        self.assert_status(run, 2)


class BindingTest(LauncherCase):
    def test_bind_numa_shares_out_the_cpus_that_the_launcher_was_given(self):
        mine = os.sched_getaffinity(0)
        if len(mine) < 2:
            self.skipTest("there is only one CPU")
        text = "exec grep Cpus_allowed_list /proc/self/status"
        run = self.run_launcher("--quiet", "--console=all", "--bind=numa", "--nproc_per_node=2", SH, "-c", text)
        self.assert_status(run, 0)
        told = dict(re.findall(r"^\[(\d)\] Cpus_allowed_list:\s*(\S+)$", run.out.decode(), re.M))
        sets = [cpus_of(told[rank]) for rank in ("0", "1")]
        self.assertEqual(sets[0] & sets[1], set())
        self.assertTrue(sets[0] and sets[1] and sets[0] | sets[1] <= mine, told)

    def test_the_plan_tells_the_binding(self):
        run = self.run_launcher("--dry_run=json", "--bind=numa", "--nproc_per_node=1", SH)
        self.assert_status(run, 0)
        self.assertEqual(set(json.loads(run.out)["processes"][0]["cpus"]), os.sched_getaffinity(0))


class PortsTest(LauncherCase):
    def test_ports_are_outside_the_ephemeral_range(self):
        with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
            low, high = map(int, file.read().split())
        if low <= 1100 and high >= 64000:
            self.skipTest("the ephemeral range covers all ports here")
        run = self.run_launcher("--nproc_per_node=8", SH, "-c", "echo $PADDLE_TRAINER_ENDPOINTS,$PADDLE_MASTER")
        ports = [int(port) for port in re.findall(r":(\d+)", run.out.decode())]
        self.assertEqual(len(set(ports)), 9)
        self.assertEqual([port for port in ports if low <= port <= high or port < 1024], [])

    def test_ports_are_free_for_the_trainers(self):
        code = ("import os, socket\n"
                "host, port = os.environ['PADDLE_CURRENT_ENDPOINT'].split(':')\n"
                "s = socket.socket(); s.bind((host, int(port))); s.listen()\n"
                "if os.environ['PADDLE_TRAINER_ID'] == '0':\n"
                "    host, port = os.environ['PADDLE_MASTER'].split(':')\n"
                "    m = socket.socket(); m.bind((host, int(port))); m.listen()\n"
                "open('bound.' + os.environ['PADDLE_TRAINER_ID'], 'w').close()\n")
        run = self.run_launcher("--nproc_per_node=3", sys.executable, "-IS", "-c", code)
        self.assert_status(run, 0)
        for rank in range(3):
            self.assertTrue((self.dir / f"bound.{rank}").exists())

    def test_launchers_at_once_never_share_a_port(self):
        gate = self.gate()
        # Trainers that do not bind their ports: only the launchers' reservation keeps them apart.
        hold = HOLD.replace("ready.$", "ready.$N.$").replace(".tmp.$", ".tmp.$N.$")
        text = "[ $PADDLE_TRAINER_ID = 0 ] || exit 0; echo $PADDLE_TRAINER_ENDPOINTS,$PADDLE_MASTER >>ports; " + hold
        runs = [self.start(f"--log_dir=log.{n}", "--nproc_per_node=8", SH, "-c", text, env={"N": str(n)})
                for n in range(12)]
        for n in range(12):
            self.wait_file(f"ready.{n}.0")
        gate.open()
        for run in runs:
            run.wait()
            self.assert_status(run, 0)
        ports = re.findall(r":(\d+)", self.read("ports"))
        self.assertEqual(len(ports), 12 * 9)
        self.assertEqual(len(set(ports)), 12 * 9)

    def test_start_port_names_the_first(self):
        for how in ("option", "variable"):
            start = free_port_run(3)
            args, env = ([f"--start_port={start}"], {}) if how == "option" else ([], {"FLAGS_START_PORT": str(start)})
            run = self.run_launcher("--nproc_per_node=3", *args, SH, "-c", "echo $PADDLE_TRAINER_ENDPOINTS", env=env)
            self.assert_status(run, 0)
            self.assertEqual(run.out.decode().strip(), ",".join(f"127.0.0.1:{start + n}" for n in range(3)))

    def test_an_occupied_port_is_a_launch_error_that_names_the_owner(self):
        start = free_port_run(3)
        with socket.create_server(("127.0.0.1", start + 1)):
            run = self.run_launcher("--nproc_per_node=3", f"--start_port={start}", SH, "-c", ": >started")
        self.assert_status(run, 1)
        self.assert_told(run, str(start + 1), str(os.getpid()))
        self.assertFalse((self.dir / "started").exists())

    def test_a_port_that_another_launcher_holds_is_occupied(self):
        gate = self.gate()
        start = free_port_run(2)
        first = self.start("--nproc_per_node=2", f"--start_port={start}", SH, "-c", HOLD)
        self.wait_ready(2)
        second = self.run_launcher("--nproc_per_node=2", "--log_dir=other", f"--start_port={start + 1}", "/bin/true")
        self.assert_status(second, 1)
        self.assert_told(second, str(start + 1))
        gate.open()
        first.wait()
        self.assert_status(first, 0)
        again = self.run_launcher("--nproc_per_node=2", f"--start_port={start}", "/bin/true")
        self.assert_status(again, 0)

    def test_not_enough_ports_is_a_launch_error(self):
        start = free_port_run(4)
        run = self.run_launcher("--nproc_per_node=8", f"--port_range={start}:{start + 3}", SH, "-c", ": >started")
        self.assert_status(run, 1)
        self.assert_told(run, "not enough free ports")
        self.assertFalse((self.dir / "started").exists())

    def test_a_port_range_is_kept(self):
        start = free_port_run(12)
        run = self.run_launcher("--nproc_per_node=4", f"--port_range={start}:{start + 11}", SH, "-c",
                                "echo $PADDLE_TRAINER_ENDPOINTS")
        self.assert_status(run, 0)
        ports = [int(port) for port in re.findall(r":(\d+)", run.out.decode())]
        self.assertEqual(len(ports), 4, run.told())
        self.assertEqual([port for port in ports if not start <= port <= start + 11], [], run.told())


class InheritanceTest(LauncherCase):
    def test_directory_and_umask_are_inherited(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "pwd; umask; : >made",
                                preexec_fn=lambda: os.umask(0o027))
        self.assert_status(run, 0)
        self.assertEqual(run.out.decode().split(), [str(self.dir), "0027"])
        self.assertEqual((self.dir / "made").stat().st_mode & 0o777, 0o640)

    def test_signal_dispositions_and_mask_are_those_of_a_direct_start(self):
        read = ["/bin/grep", "-E", "^Sig(Blk|Ign|Cgt|Pnd)|^ShdPnd", "/proc/self/status"]

        def odd():
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH, signal.SIGUSR1, signal.SIGRTMIN + 3})

        for prepare in (None, odd):
            direct = subprocess.run(read, capture_output=True, preexec_fn=prepare, restore_signals=prepare is None)
            run = self.run_launcher("--log_overwrite=1", "--nproc_per_node=1", *read, preexec_fn=prepare,
                                    restore_signals=prepare is None)
            self.assert_status(run, 0)
            self.assertEqual(run.out.decode(), direct.stdout.decode())

    def test_limits_are_inherited(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "ulimit -Sn; ulimit -Hn", preexec_fn=few)
        self.assert_status(run, 0)
        self.assertEqual(run.out.decode().split(), ["200", "300"])

    def test_there_may_be_more_trainers_than_open_files(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        run = self.run_launcher("--nproc_per_node=100", "--console=all", SH, "-c", "ulimit -Sn", preexec_fn=few)
        self.assert_status(run, 0)
        self.assertEqual(len(re.findall(r"\] +64$", run.out.decode(), re.M)), 100)

    def test_trainers_inherit_no_descriptor_above_2(self):
        extra = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(extra, True)
        self.addCleanup(os.close, extra)
        run = self.run_launcher("--nproc_per_node=4", "--console=all", "/bin/ls", "/proc/self/fd", pass_fds=(extra,))
        self.assert_status(run, 0)
        for rank in range(4):
            # ls itself opens the directory as the lowest free descriptor
            self.assertEqual(self.trainer_bytes(rank).split(), [b"0", b"1", b"2", b"3"])

    def test_each_trainer_leads_its_own_group_below_the_guard(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=3", SH, "-c", HOLD)
        pids = self.wait_ready(3)
        guard = run.guard()
        for pid in pids.values():
            self.assertEqual(int(stat_fields(pid)[2]), pid)
            self.assertEqual(int(stat_fields(pid)[1]), guard)
        self.assertNotEqual(stat_fields(guard)[3], stat_fields(run.pid)[3])
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_stdout_and_stderr_are_the_log_opened_to_append(self):
        text = ('links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2); info=$(cat /proc/$$/fdinfo/2); '
                'echo "$links" >links; echo "$info" >info')
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", text)
        self.assert_status(run, 0)
        self.assertEqual(self.read("links").split(), [str(self.dir / "log/workerlog.0")] * 2)
        flags = int(re.search(r"flags:\s*(\d+)", self.read("info")).group(1), 8)
        self.assertTrue(flags & os.O_APPEND)
        self.assertFalse(flags & os.O_NONBLOCK)

    def test_our_own_descriptors_stay_blocking(self):
        read, write = os.pipe()
        run = self.run_launcher("--nproc_per_node=1", "/bin/true", stdin=read, stdout=write, stderr=write)
        self.assert_status(run, 0)
        self.assertTrue(os.get_blocking(read))
        self.assertTrue(os.get_blocking(write))
        os.close(read)
        os.close(write)

    def test_an_idle_launcher_does_not_wake(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", HOLD)
        self.wait_ready(2)
        parts = [run.pid, run.guard(), run.part("pl-console")]
        def switches():
            return [int(status_field(pid, "voluntary_ctxt_switches")) for pid in parts]
        def asleep():
            before = switches()
            time.sleep(0.5)
            return switches() == before
        wait_until(asleep, "launcher, guard and console to fall asleep")
        before = switches()
        time.sleep(2)  # in which nothing happens
        self.assertEqual(switches(), before)
        gate.open()
        run.wait()
        self.assert_status(run, 0)


if __name__ == "__main__":
    unittest.main()
