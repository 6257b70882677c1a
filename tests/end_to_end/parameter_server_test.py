# SPDX-License-Identifier: Apache-2.0
"""Jobs with parameter servers on one node: who is started when, what they see, how the job ends."""

import json
import os
import signal
import socket
import unittest

from harness import DEADLINE, LauncherCase, free_port_run
from roles_case import RolesMixin, names, roles


class StartTest(RolesMixin, LauncherCase):
    def test_servers_first_workers_when_they_listen_and_servers_go_when_workers_are_done(self):
        run = self.run_launcher("--server_num=2", "--worker_num=3", *roles("server.1=late:1"))
        self.assert_status(run, 0)
        self.assert_lists(2, 3)
        first_worker = min(self.moment("started", name) for name in names("worker", 3))
        last_worker = max(self.moment("ended", name) for name in names("worker", 3))
        for name in names("server", 2):
            self.assertLess(self.moment("listens", name), first_worker)
            self.assertGreater(self.moment("stopped", name), last_worker)
        for name in names("worker", 3):
            self.assertEqual(self.read(f"reached.{name}"), "2\n")
        self.assert_told(run, "all workers have finished; stopping 2 here")
        self.assertNotIn("ABORT!!!", run.err)

    def test_a_missing_number_is_one(self):
        run = self.run_launcher("--run_mode=ps", *roles())
        self.assert_status(run, 0)
        self.assert_lists(1, 1)
        self.assert_told(run, "--server_num is not given: each node has one server")
        self.assert_told(run, "--trainer_num is not given: each node has one worker")

    def test_logs_and_endpoints_are_named_by_role(self):
        run = self.run_launcher("--server_num=1", "--worker_num=2", *roles())
        self.assert_status(run, 0)
        self.assertEqual(sorted(os.listdir(self.dir / "log")),
                         ["endpoints.log", "serverlog.0", "workerlog.0", "workerlog.1"])
        env = self.seen("server.0")
        self.assertEqual(self.read("log/endpoints.log").splitlines(),
                         ["PADDLE_TRAINER_ENDPOINTS:", *env["PADDLE_TRAINER_ENDPOINTS"].split(","),
                          "PADDLE_PSERVERS_IP_PORT_LIST:", *env["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")])
        self.assertIn("server.0 was stopped", self.read("log/serverlog.0"))
        self.assertIn("all workers have finished", self.read("log/serverlog.0"))

    def test_logs_are_appended_to_or_overwritten(self):
        for _ in range(2):
            self.assert_status(self.run_launcher("--server_num=1", "--worker_num=1", *roles()), 0)
        self.assertEqual(self.read("log/serverlog.0").count("server.0 of 1"), 2)
        self.assert_status(self.run_launcher("--server_num=1", "--worker_num=1", "--log_overwrite=1", *roles()), 0)
        self.assertEqual(self.read("log/serverlog.0").count("server.0 of 1"), 1)

    def test_the_console_shows_worker_0(self):
        run = self.run_launcher("--server_num=1", "--worker_num=2", *roles())
        self.assertEqual(run.out.decode().splitlines()[-1:], [f"worker.0 of 2 on {os.uname().nodename}"], run.told())
        shown = self.run_launcher("--server_num=1", "--worker_num=2", "--console=all", *roles()).out.decode()
        for name in ("server.0", "worker.0", "worker.1"):
            self.assertIn(f"{name} of 2", shown)
        self.assertIn("server 0", shown)

    def test_lists_on_this_node_give_their_ports(self):
        first = free_port_run(3)
        workers = f"--workers=127.0.0.1:{first + 1},127.0.0.1:{first + 2}"
        run = self.run_launcher(f"--servers=127.0.0.1:{first}", workers, *roles())
        self.assert_status(run, 0)
        self.assert_lists(1, 2)
        self.assertEqual(self.seen("worker.1")["PADDLE_PORT"], str(first + 2))

    def test_start_port_gives_servers_workers_and_gloo_their_ports_in_turn(self):
        first = free_port_run(4)
        run = self.run_launcher("--server_num=1", "--worker_num=2", *roles(), env={"FLAGS_START_PORT": str(first)})
        self.assert_status(run, 0)
        self.assertEqual(self.seen("server.0")["PADDLE_PORT"], str(first))
        self.assertEqual(self.seen("worker.1")["PADDLE_PORT"], str(first + 2))
        self.assertEqual(self.seen("worker.1")["PADDLE_GLOO_HTTP_ENDPOINT"], f"127.0.0.1:{first + 3}")

    def test_a_port_in_use_names_its_owner_and_starts_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            run = self.run_launcher(f"--servers=127.0.0.1:{port}", "--worker_num=1", *roles())
        self.assert_status(run, 1)
        self.assert_told(run, f"port {port} of server 0 (--servers) is in use by process {os.getpid()}")
        self.assertFalse((self.dir / "ready.server.0").exists())

    def test_a_server_that_does_not_listen_is_waited_for_and_told(self):
        run = self.run_launcher("--server_num=2", "--worker_num=1", "--server_wait=2.5", *roles("server.1=deaf"))
        self.assert_status(run, 0)
        self.assert_told(run, "waiting for servers to listen: server 1", "server 1 (127.0.0.1:", "--server_wait")
        # The wait begins when the servers are spawned; on a busy machine they say later that they have started.
        self.assertGreaterEqual(self.moment("started", "worker.0") - self.moment("started", "server.1"), 1.5)

    def test_with_gloo_workers_do_not_wait(self):
        run = self.run_launcher("--server_num=1", "--worker_num=1", "--with_gloo=1", "--server_wait=600",
                                *roles("server.0=deaf"))
        self.assert_status(run, 0)
        self.assertEqual(self.seen("worker.0")["PADDLE_WITH_GLOO"], "1")

    def test_heterogeneous_workers_run_by_stages_and_are_stopped(self):
        gate = self.gate()
        run = self.start("--server_num=1", "--worker_num=2", "--heter_worker_num=1;2", *roles("worker.1=hold"))
        self.wait_roles(names("heter", 3))
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assert_lists(1, 2, 3)
        self.assert_told(run, "cpu")
        self.assertEqual(self.seen("heter.2")["STAGE_ID"], "3")
        for name in names("heter", 3):
            self.assertTrue(self.was_stopped(name))
        self.assertTrue((self.dir / "log/heterlog.2").exists())

    def test_workers_take_the_cards_in_turns(self):
        run = self.run_launcher("--run_mode=ps", "--server_num=1", "--worker_num=3", "--gpus=4,5", *roles(),
                                env={"PADDLE_LAUNCH_ASSUME_GPUS": "1", "CUDA_VISIBLE_DEVICES": "5,4"})
        self.assert_status(run, 0)
        self.assertEqual([self.seen(name)["CUDA_VISIBLE_DEVICES"] for name in names("worker", 3)], ["4", "5", "4"])
        self.assertEqual(self.seen("worker.1")["FLAGS_selected_gpus"], "0")
        self.assertEqual(self.seen("server.0")["CUDA_VISIBLE_DEVICES"], "5,4")

    def test_no_server_and_one_worker_is_the_script_alone(self):
        run = self.run_launcher("--server_num=0", "--worker_num=1", "/bin/sh", "-c", "env")
        self.assert_status(run, 0)
        text = run.out.decode()
        self.assertNotIn("PADDLE_TRAINER", text)
        self.assertNotIn("TRAINING_ROLE", text)
        self.assert_told(run, "runs alone")

    def test_paddle_clouds_variables_stay_as_they_are(self):
        cloud = {"TRAINING_ROLE": "PSERVER", "PADDLE_PSERVERS_IP_PORT_LIST": "10.9.9.1:6170,10.9.9.2:6170",
                 "PADDLE_TRAINER_ENDPOINTS": "10.9.9.3:6170", "PADDLE_TRAINERS_NUM": "1", "POD_IP": "10.9.9.2",
                 "PADDLE_PORT": "6170", "http_proxy": "http://proxy"}
        run = self.run_launcher("/bin/sh", "-c", "env; exit 5", env=cloud)
        self.assert_status(run, 5)
        for name, value in cloud.items():
            self.assertIn(f"{name}={value}", run.out.decode())
        self.assertIn("exit 5", self.read("log/serverlog.1"))
        self.assert_told(run, "the server process with index=[1] was aborted")

    def test_a_worker_of_paddle_cloud_ends_by_itself(self):
        cloud = {"TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST": "10.9.9.1:6170",
                 "PADDLE_TRAINER_ENDPOINTS": "10.9.9.3:6170,10.9.9.4:6170", "PADDLE_TRAINERS_NUM": "2",
                 "PADDLE_TRAINER_ID": "1", "POD_IP": "10.9.9.4", "PADDLE_PORT": "6170"}
        run = self.run_launcher("/bin/sh", "-c", "echo done", env=cloud)
        self.assert_status(run, 0)
        self.assertIn("done", self.read("log/workerlog.1"))
        self.assert_told(run, "Local processes completed.")

    def test_dry_run_starts_nothing(self):
        run = self.run_launcher("--dry_run=json", "--server_num=1", "--worker_num=2", *roles())
        self.assert_status(run, 0)
        logs = [os.path.basename(process["log"]) for process in json.loads(run.out)["processes"]]
        self.assertEqual(logs, ["serverlog.0", "workerlog.0", "workerlog.1"])
        self.assertFalse((self.dir / "log").exists())

    def test_the_old_variables_are_there_on_request(self):
        run = self.run_launcher("--server_num=1", "--worker_num=1", "--legacy_env", *roles())
        self.assert_status(run, 0)
        server, worker = self.seen("server.0"), self.seen("worker.0")
        self.assertEqual(server["PADDLE_TRAINING_ROLE"], "PSERVER")
        self.assertEqual(server["PADDLE_CURRENT_IP"], "127.0.0.1")
        self.assertEqual((worker["PADDLE_PSERVER_IPS"], worker["PADDLE_PSERVER_PORT"], worker["PADDLE_TRAINERS"]),
                         ("127.0.0.1", server["PADDLE_PORT"], "1"))
        refused = self.run_launcher("--server_num=2", "--worker_num=1", "--legacy_env", *roles())
        self.assert_status(refused, 2)

    def test_rpc_has_its_own_names(self):
        run = self.run_launcher("--run_mode=rpc", "--nproc_per_node=2", "/bin/sh", "-c", "env >env.$PADDLE_TRAINER_ID")
        self.assert_status(run, 0)
        env = self.seen("1")
        self.assertEqual(env["PADDLE_WORKER_ENDPOINT"], env["PADDLE_CURRENT_ENDPOINT"])
        self.assertIn("PADDLE_MASTER_ENDPOINT", env)
        self.assertNotIn("PADDLE_MASTER", env)


class EndTest(RolesMixin, LauncherCase):
    def test_a_failing_worker_aborts_the_job_with_its_code(self):
        run = self.run_launcher("--server_num=1", "--worker_num=2", "--grace=0.5",
                                *roles("worker.1=exit:7", "worker.0=stubborn"))
        self.assert_status(run, 7)
        self.assert_told(run, self.abort_line(2, "worker", 1), "rank 1 failed: exit code 7")
        self.assertTrue(self.was_stopped("server.0"))

    def test_a_failing_server_aborts_the_job(self):
        self.gate()
        run = self.start("--server_num=3", "--worker_num=2", *roles("worker.0=hold", "worker.1=hold"))
        pids = self.wait_roles([*names("server", 3), *names("worker", 2)])
        os.kill(pids["server.2"], signal.SIGKILL)
        run.wait()
        self.assert_status(run, 137)
        self.assert_told(run, self.abort_line(2, "server", 2), "server 2 failed: killed by SIGKILL")
        self.assertTrue(self.was_stopped("server.0"))
        self.assertTrue(self.was_stopped("worker.1"))

    def test_a_server_that_fails_before_the_workers_start_ends_the_job(self):
        run = self.run_launcher("--server_num=2", "--worker_num=2", "--server_wait=600",
                                *roles("server.0=deaf", "server.1=exit:3"))
        self.assert_status(run, 3)
        self.assert_told(run, self.abort_line(2, "server", 1))
        self.assertFalse((self.dir / "ready.worker.0").exists())

    def test_a_failing_heterogeneous_worker_aborts_the_job(self):
        self.gate()
        run = self.run_launcher("--server_num=1", "--worker_num=1", "--heter_worker_num=2", "--heter_devices=cpu",
                                *roles("worker.0=hold", "heter.1=exit:9"))
        self.assert_status(run, 9)
        self.assert_told(run, self.abort_line(1, "heter", 1), "heter worker 1 failed: exit code 9")

    def test_a_server_that_ends_well_by_itself_is_no_failure(self):
        gate = self.gate()
        run = self.start("--server_num=1", "--worker_num=1", *roles("server.0=done", "worker.0=hold"))
        self.wait_roles(["server.0", "worker.0"])
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_a_stubborn_server_is_killed_and_that_is_success(self):
        run = self.run_launcher("--server_num=1", "--worker_num=1", "--grace=0.5", *roles("server.0=stubborn"))
        self.assert_status(run, 0)

    def test_an_interrupt_while_servers_are_waited_for_ends_the_job(self):
        run = self.start("--server_num=1", "--worker_num=1", "--server_wait=600", *roles("server.0=deaf"))
        self.wait_roles(["server.0"])
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assertFalse((self.dir / "ready.worker.0").exists())

    def test_the_launcher_killed_leaves_nothing(self):
        self.gate()
        run = self.start("--server_num=1", "--worker_num=2", *roles("worker.0=hold", "worker.1=hold"))
        self.wait_roles(["server.0", "worker.0", "worker.1"])
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_nothing_left(DEADLINE)

    def test_the_launcher_killed_while_workers_are_held_back_leaves_nothing(self):
        run = self.start("--server_num=1", "--worker_num=1", "--server_wait=600", *roles("server.0=deaf"))
        self.wait_roles(["server.0"])
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_nothing_left(DEADLINE)
        self.assertFalse((self.dir / "ready.worker.0").exists())


if __name__ == "__main__":
    unittest.main()
