# SPDX-License-Identifier: Apache-2.0
"""Wrong use is one paragraph, exit 2, nothing started and nothing made; right use of the command line."""

import os
import socket
import subprocess
import sys
import unittest

from harness import OTHER_UID, SH, LauncherCase, binary

OK = [SH, "-c", ": >started"]


class WrongUseCase(LauncherCase):
    def refuse(self, *args, names=(), **how):
        """Runs with wrong arguments; each of `names` must stand in the message."""
        with self.subTest(args=args, env=how.get("env")):
            before = sorted(os.listdir(self.dir))
            run = self.run_launcher(*args, **how)
            self.assert_status(run, 2)
            self.assertEqual(run.out, b"")
            self.assertTrue(run.err.startswith("paddle-launch: error: "), run.told())
            self.assertTrue(run.err.endswith("\n"), run.told())
            self.assertNotIn("\n\n", run.err)
            for name in names:
                self.assertIn(name, run.err)
            self.assertEqual(sorted(os.listdir(self.dir)), before, run.told())


class WrongUseTest(WrongUseCase):
    def test_unknown_options_come_with_the_nearest_one(self):
        self.refuse("--gpuss=0,1", *OK, names=["--gpuss", "--gpus"])
        self.refuse("--logdir", "x", *OK, names=["--logdir", "--log_dir"])
        self.refuse("--log", "x", *OK, names=["--log", "--log_dir or --log_level"])
        self.refuse("--max_restarts=2", *OK, names=["--max_restarts", "--max_restart"])
        self.refuse("--absolutely_unlike_anything", *OK, names=["--absolutely_unlike_anything"])
        self.refuse("-x", *OK, names=["-x"])

    def test_help_takes_all_and_nothing_else(self):
        self.refuse("--help=every", names=["--help=every", "--help=all"])
        self.refuse("--help=", *OK, names=["--help=all"])

    def test_a_missing_script(self):
        self.refuse(names=["training_script"])
        self.refuse("--nproc_per_node=2", names=["training_script"])
        self.refuse("", names=["training_script"])
        self.refuse("-m", names=["-m"])

    def test_scripts_that_cannot_be_run(self):
        self.write("not_executable", "#!/bin/sh\n")
        (self.dir / "directory").mkdir()
        (self.dir / "directory.py").mkdir()
        os.symlink("nowhere", self.dir / "dangling")
        self.refuse("no_such_script.py", names=["no_such_script.py"])
        self.refuse("no/such/program", names=["no/such/program"])
        self.refuse("./not_executable", names=["not_executable"])
        self.refuse("./directory", names=["directory"])
        self.refuse("./directory.py", names=["directory.py"])
        self.refuse("./dangling", names=["dangling"])
        self.refuse("--python=/no/such/python", "-m", "http", names=["/no/such/python"])

    def test_a_script_that_may_not_be_read(self):
        script = self.write("train.py", "print('hi')\n")
        other = self.as_other_user()
        os.chmod(script, 0)
        self.refuse("train.py", names=["train.py"], env={"PATH": self.python_on_path()}, **other)

    def test_a_path_without_python(self):
        self.write("train.py", "print('hi')\n")
        empty = self.base / "empty"
        empty.mkdir()
        self.refuse("train.py", env={"PATH": str(empty)}, names=["python"])

    def test_card_lists(self):
        for option in ("--gpus", "--devices", "--selected_gpus"):
            self.refuse("--assume_gpus", f"{option}=", *OK, names=[option])
            self.refuse("--assume_gpus", f"{option}=0,,1", *OK, names=[f"{option}=0,,1"])
            self.refuse("--assume_gpus", f"{option}=0,1,0", *OK, names=[f"{option}=0,1,0"])
        self.refuse("--assume_gpus", "--gpus=0,1,", *OK, names=["--gpus=0,1,"])
        self.refuse("--assume_gpus", "--gpus=0,x", *OK, names=["--gpus=0,x"])
        self.refuse("--assume_gpus", "--gpus=-1", *OK, names=["--gpus=-1"])
        self.refuse("--assume_gpus", "--gpus=0", "--devices=0", *OK, names=["--gpus", "--devices"])

    def test_cards_that_are_not_there(self):
        self.refuse("--gpus=997,998", *OK, names=["997", "--gpus", "--assume_gpus", "found"])
        self.refuse("--xpus=997", *OK, names=["997", "--xpus", "/dev/xpu"])
        self.refuse(*OK, env={"CUDA_VISIBLE_DEVICES": "997"}, names=["CUDA_VISIBLE_DEVICES", "997"])
        self.refuse("--assume_gpus", "--gpus=0,4", *OK, env={"CUDA_VISIBLE_DEVICES": "0,1,2,3"},
                    names=["4", "CUDA_VISIBLE_DEVICES"])

    def test_trainers_that_do_not_divide_the_cards(self):
        self.refuse("--assume_gpus", "--gpus=0,1,2,3", "--nproc_per_node=3", *OK, names=["--nproc_per_node", "3", "4"])
        self.refuse("--assume_gpus", "--gpus=0,1", "--nproc_per_node=4", *OK, names=["--nproc_per_node", "4", "2"])

    def test_bad_numbers(self):
        for option in ("--nproc_per_node", "--start_port", "--grace", "--max_restart", "--bootstrap_port",
                       "--bootstrap_timeout", "--heartbeat", "--restart_pause", "--elastic_timeout", "--elastic_settle",
                       "--elastic_ttl", "--elastic_level"):
            for value in ("abc", "1x", "-5", "99999999999999999999", ""):
                self.refuse(f"{option}={value}", *OK, names=[option])
        self.refuse("--nproc_per_node=0", *OK, names=["--nproc_per_node"])
        self.refuse("--nproc_per_node=1.5", *OK, names=["--nproc_per_node"])
        self.refuse("--start_port=0", *OK, names=["--start_port"])
        self.refuse("--start_port=65536", *OK, names=["--start_port"])
        self.refuse("--start_port=65530", "--nproc_per_node=10", *OK, names=["--start_port"])
        self.refuse("--nproc_per_node", names=["--nproc_per_node"])
        self.refuse("--nproc_per_node", "--quiet", *OK, names=["--nproc_per_node"])
        self.refuse("--grace=nan", *OK, names=["--grace"])

    def test_bad_numbers_in_variables_name_the_variable(self):
        self.refuse(*OK, env={"PADDLE_NPROC_PER_NODE": "many"}, names=["PADDLE_NPROC_PER_NODE", "many"])
        self.refuse(*OK, env={"FLAGS_START_PORT": "x"}, names=["FLAGS_START_PORT"])

    def test_unknown_words_list_the_known_ones(self):
        self.refuse("--run_mode=colective", *OK, names=["--run_mode", "colective", "collective", "ps", "ps-heter"])
        self.refuse("--console=some", *OK, names=["--console", "all", "none"])
        self.refuse("--log_level=LOUD", *OK, names=["--log_level", "DEBUG", "ERROR"])
        self.refuse("--dry_run=xml", *OK, names=["--dry_run", "json"])
        self.refuse("--backend=tcp", *OK, names=["--backend", "nccl", "gloo"])

    def test_conflicts_name_both_options(self):
        self.refuse("--ips=127.0.0.1", "--server_num=1", "--worker_num=1", *OK, names=["--ips", "--server_num"])
        self.refuse("--nproc_per_node=2", "--servers=127.0.0.1:7000", "--workers=127.0.0.1:7001", *OK,
                    names=["--nproc_per_node", "--servers"])
        self.refuse("--run_mode=collective", "--worker_num=2", *OK, names=["--run_mode", "--worker_num"])

    def test_what_belongs_to_paddles_own_launcher_is_refused(self):
        for option in ("--auto_tuner_json=x", "--auto_parallel_config=x", "--coordinators=127.0.0.1:1"):
            self.refuse(option, *OK, names=[option.split("=")[0], "paddle.distributed.launch"])

    def test_an_address_of_another_machine(self):
        self.refuse("--ips=192.0.2.77", *OK, names=["192.0.2.77", "127.0.0.1"])
        self.refuse("--ips=127.0.0.1,127.0.0.1", *OK, names=["--ips"])
        self.refuse("--ips=,", *OK, names=["--ips"])

    def test_nodes_that_cannot_be(self):
        self.refuse("--nnodes=2", *OK, names=["--nnodes=2", "--ips=", "--master="])
        self.refuse("--ips=10.0.0.1,10.0.0.2", "--nnodes=3", *OK, names=["--nnodes=3", "--ips=10.0.0.1,10.0.0.2"])
        self.refuse("--ips=127.0.0.1,10.0.0.2", *OK, names=["--ips=127.0.0.1,10.0.0.2", "127.0.0.1 names each node"])
        self.refuse("--ips=10.0.0.1,10.0.0.2", "--master=10.0.0.1:6768", *OK, names=["--ips", "--master"])
        self.refuse("--master=http://10.0.0.1:6768", "--nnodes=2", *OK, names=["--master=http://", "HOST:PORT"])
        self.refuse("--master=10.0.0.1:6768", "--nnodes=2", "--rank=2", *OK, names=["--rank=2", "2 nodes"])
        self.refuse("--check", *OK, names=["--check", "--ips", "--master"])
        self.refuse("--check", "--dry_run", "--ips=10.0.0.1,10.0.0.2", *OK, names=["--check", "--dry_run"])

    def test_a_cloud_whose_variables_contradict_each_other(self):
        cloud = {"PADDLE_TRAINERS": "10.0.0.1,10.0.0.2", "POD_IP": "10.0.0.2", "PADDLE_TRAINER_ID": "0",
                 "TRAINER_PORTS_NUM": "1"}
        self.refuse(*OK, env=cloud, names=[f"{name}={cloud[name]}" for name in sorted(cloud) if name[0] == "P"])
        self.refuse("--ips=10.0.0.2", *OK, env=cloud, names=["--ips=10.0.0.2", "PADDLE_TRAINERS=10.0.0.1,10.0.0.2"])

    def test_log_directories_that_cannot_be_written(self):
        self.write("a_file", "text")
        self.refuse("--log_dir=a_file", *OK, names=["a_file"])
        self.refuse("--log_dir=a_file/below", *OK, names=["a_file/below"])
        self.refuse("--log_dir=/proc/no/such", *OK, names=["/proc/no/such"])
        self.refuse("--log_dir=", *OK, names=["--log_dir"])

    def test_a_log_directory_of_somebody_else(self):
        other = self.as_other_user()
        locked = self.dir / "locked"
        locked.mkdir(mode=0o555)
        locked.chmod(0o555)
        self.refuse("--log_dir=locked", *OK, names=["locked"], **other)
        self.refuse("--log_dir=locked/new", *OK, names=["locked/new"], **other)

    def test_a_log_that_cannot_be_written(self):
        other = self.as_other_user()
        (self.dir / "log").mkdir()
        log = self.dir / "log/workerlog.1"
        log.write_text("somebody else's\n")
        log.chmod(0o444)
        if os.geteuid() == 0:
            os.chown(self.dir / "log", OTHER_UID, OTHER_UID)
        self.refuse("--nproc_per_node=2", *OK, names=["workerlog.1"], **other)

    def test_a_value_for_a_flag(self):
        self.refuse("--quiet=1", *OK, names=["--quiet"])
        self.refuse("--assume_gpus=yes", *OK, names=["--assume_gpus"])


class WrongElasticTest(WrongUseCase):
    SERVER = "--elastic_server=127.0.0.1:2379"
    JOB = [SERVER, "--job_id=job1"]

    def test_what_is_no_server(self):
        for value in ("127.0.0.1", "127.0.0.1:", ":2379", "127.0.0.1:0", "127.0.0.1:x", "a b:2379", "a:1,,b:1",
                      "ftp://127.0.0.1:2379", "http://a:1,https://b:1"):
            self.refuse(f"--elastic_server={value}", "--job_id=job1", "--np=2", *OK, names=[f"--elastic_server={value}"])
        self.refuse("--master=etcd://127.0.0.1", "--nnodes=2", *OK, names=["--master=etcd://127.0.0.1", "HOST:PORT"])

    def test_parts_that_are_missing(self):
        self.refuse(self.SERVER, "--np=2", *OK, names=[self.SERVER, "--job_id=NAME"])
        self.refuse(*self.JOB, *OK, names=[self.SERVER, "--np=N"])
        self.refuse("--master=etcd://127.0.0.1:2379", *OK, names=["--master=etcd://127.0.0.1:2379", "--nnodes=N"])
        self.refuse("--np=2", *OK, names=["--np=2", "--elastic_server=HOST:PORT"])
        self.refuse("--nnodes=2:4", *OK, names=["--nnodes=2:4", "etcd"])
        self.refuse("--nnodes=2:4", "--master=10.0.0.1:6768", *OK, names=["--nnodes=2:4", "--master=etcd://HOST:PORT"])
        self.refuse(*OK, env={"PADDLE_ELASTIC_NP": "2"}, names=["PADDLE_ELASTIC_NP=2", "--elastic_server=HOST:PORT"])

    def test_numbers_of_nodes_that_cannot_be(self):
        for value in ("0", "x", "-1", "4:2", "0:2", "2:", "1.5", ""):
            self.refuse(*self.JOB, f"--np={value}", *OK, names=[f"--np={value}"])
        self.refuse(*self.JOB, "--np=2", "--nnodes=3", *OK, names=["--np=2", "--nnodes=3"])

    def test_what_cannot_be_elastic(self):
        for option in ("--ips=10.0.0.1,10.0.0.2", "--master=10.0.0.1:6768", "--master=etcd://10.0.0.1:2379",
                       "--bootstrap=mpi", "--check", "--run_mode=ps", "--server_num=1"):
            self.refuse(*self.JOB, "--np=2", option, *OK, names=[self.SERVER, option])
        self.refuse(self.SERVER, "--np=2", "--job_id=a/b", *OK, names=["--job_id=a/b", "slash"])

    def test_the_way_into_etcd(self):
        for option in ("--etcd_user=root:x", "--etcd_cacert=f", "--etcd_cert=f", "--etcd_key=f"):
            self.refuse(option, *OK, names=[option.split(":")[0], "--elastic_server=HOST:PORT"])
        self.refuse(*self.JOB, "--np=2", "--etcd_cert=f", *OK, names=["--etcd_cert=f", "--etcd_key=FILE"])
        self.refuse(*self.JOB, "--np=2", "--etcd_key=f", *OK, names=["--etcd_key=f", "--etcd_cert=FILE"])
        self.refuse(*self.JOB, "--np=2", "--etcd_user=root", *OK, names=["--etcd_user=root", "PADDLE_ETCD_PASSWORD"])

    def test_causes_that_are_none(self):
        for value in ("", "0", "256", "segfault", "code,,signal"):
            self.refuse("--max_restart=1", f"--restart_on={value}", *OK, names=[f"--restart_on={value}"])

    def test_orders_without_a_job(self):
        for order in ("--status", "--status=json", "--scale=2", "--stop"):
            self.refuse(order, names=[order, "--elastic_server=HOST:PORT"])
            self.refuse(order, "--job_id=job1", names=[order, "--elastic_server=HOST:PORT"])
            self.refuse(order, self.SERVER, names=[self.SERVER, "--job_id=NAME"])

    def test_orders_that_cannot_be(self):
        self.refuse(*self.JOB, "--scale=0", names=["--scale=0", "--stop"])
        self.refuse(*self.JOB, "--scale=x", names=["--scale=x"])
        self.refuse(*self.JOB, "--status=xml", names=["--status=xml", "json"])
        self.refuse(*self.JOB, "--stop=now", names=["--stop=now"])
        self.refuse(*self.JOB, "--scale=2", "--stop", names=["--scale=2", "--stop"])
        self.refuse(*self.JOB, "--status", "--stop", names=["--status", "--stop"])
        self.refuse(*self.JOB, "--stop", "--np=2", names=["--stop", "--np=2"])
        for order in ("--status", "--scale=2", "--stop"):
            self.refuse(*self.JOB, order, *OK, names=[order, "acts on a running job and starts none", f"leave out {SH}"])


class WrongServersTest(WrongUseCase):
    def test_collective_jobs_have_no_servers(self):
        for option in ("--servers=10.0.0.1:6170", "--worker_num=2", "--heter_worker_num=1", "--http_port=8900"):
            self.refuse("--run_mode=collective", option, *OK, names=["--run_mode=collective", option])

    def test_roles_that_are_missing(self):
        for options, missing, remedy in (
                (["--servers=10.0.0.1:6170"], "no workers", "--workers=HOST:PORT"),
                (["--server_num=0", "--worker_num=2"], "--server_num=0", "--servers=HOST:PORT"),
                (["--server_num=1", "--worker_num=0"], "--worker_num=0", "--workers=HOST:PORT"),
                (["--run_mode=ps-heter", "--server_num=1", "--worker_num=1"], "no heterogeneous workers",
                 "--heter_worker_num=N")):
            self.refuse(*options, *OK, names=[options[0], missing, remedy])

    def test_numbers_that_do_not_match(self):
        lists = ["--servers=10.0.0.1:1,10.0.0.1:2", "--workers=10.0.0.1:3"]
        self.refuse(*lists, "--server_num=3", *OK, names=["--server_num=3", lists[0], "2 servers"])
        self.refuse(*lists, "--worker_num=2", *OK, names=["--worker_num=2", lists[1]])
        heter = "--heter_workers=10.0.0.1:4,10.0.0.1:5;10.0.0.1:6"
        self.refuse(*lists, heter, "--heter_worker_num=1;2", *OK, names=["--heter_worker_num=1;2", heter])
        self.refuse(*lists, heter, "--heter_devices=gpu", *OK, names=["--heter_devices=gpu", heter])
        self.refuse("--server_num=1", "--worker_num=2", "--trainer_num=3", *OK, names=["--worker_num=2", "--trainer_num=3"])
        self.refuse("--server_num=1", "--worker_num=2", "--http_port=1", "--gloo_port=2", *OK,
                    names=["--http_port=1", "--gloo_port=2"])

    def test_numbers_that_cannot_be(self):
        for option in ("--server_num", "--worker_num", "--trainer_num", "--heter_worker_num", "--http_port",
                       "--gloo_port", "--server_wait"):
            for value in ("x", "-1", "99999"):
                self.refuse(f"{option}={value}", *OK, names=[f"{option}={value}"])

    def test_malformed_endpoints(self):
        for entry in ("10.0.0.1", "10.0.0.1:", ":6170", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x", "10.0.0.300:6170",
                      "a b:6170", "::1:6170", "10.0.0.1:6170,", "10.0.0.1:1,,10.0.0.1:2"):
            for option in ("--servers", "--heter_workers"):
                self.refuse(f"{option}={entry}", "--worker_num=1", *OK, names=[f"{option}={entry}"])
        self.refuse("--server_num=1", "--workers=10.0.0.1:x", *OK, names=["--workers=10.0.0.1:x"])
        self.refuse("--servers=10.0.0.1:1", "--workers=10.0.0.1:2,10.0.0.2", *OK,
                    names=["--workers=10.0.0.1:2,10.0.0.2", "10.0.0.2 has none"])

    def test_endpoints_of_two_processes(self):
        self.refuse("--servers=10.0.0.1:1,10.0.0.1:1", "--worker_num=1", *OK, names=["--servers", "10.0.0.1:1 is there twice"])
        self.refuse("--servers=10.0.0.1:1", "--workers=10.0.0.2:1,10.0.0.1:1", *OK,
                    names=["--servers", "--workers", "10.0.0.1:1 is an endpoint of both"])
        self.refuse("--servers=10.0.0.1:1", "--workers=10.0.0.1:2", "--heter_workers=10.0.0.1:3;10.0.0.1:2", *OK,
                    names=["--workers", "--heter_workers", "10.0.0.1:2 is an endpoint of both"])

    def test_nodes_that_cannot_be(self):
        lists = ["--servers=10.0.0.1:1", "--workers=10.0.0.2:1"]
        self.refuse(*lists, "--nnodes=3", *OK, names=["--nnodes=3", "--servers=10.0.0.1:1", "2 nodes"])
        self.refuse(*lists, "--master=10.0.0.1:6768", *OK, names=["--master=10.0.0.1:6768", "--servers"])
        self.refuse(*lists, "--start_port=7000", *OK, names=["--start_port=7000", "--servers"])
        self.refuse("--servers=10.0.0.1:1,10.0.0.2:1", "--worker_num=2", *OK, names=["--worker_num=2", "--workers="])
        self.refuse("--servers=127.0.0.1:1", "--workers=10.0.0.2:1", *OK, names=["--servers", "127.0.0.1 names each node"])

    def test_the_role_of_a_cloud(self):
        cloud = {"TRAINING_ROLE": "PSERVER", "PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:6170", "POD_IP": "10.0.0.1",
                 "PADDLE_PORT": "6171"}
        self.refuse(*OK, env=cloud, names=["POD_IP=10.0.0.1", "PADDLE_PORT=6171", "PADDLE_PSERVERS_IP_PORT_LIST"])
        self.refuse(*OK, env={**cloud, "TRAINING_ROLE": "TRAINER"}, names=["TRAINING_ROLE=TRAINER", "PADDLE_TRAINER_ID"])
        self.refuse(*OK, env={**cloud, "TRAINING_ROLE": "BOSS"}, names=["TRAINING_ROLE=BOSS"])


class WrongOldRoleTest(WrongUseCase):
    SERVER = {"PADDLE_TRAINING_ROLE": "PSERVER", "PADDLE_PSERVER_IPS": "10.0.0.1,10.0.0.2", "PADDLE_TRAINERS": "2",
              "PADDLE_CURRENT_IP": "10.0.0.2", "PADDLE_PSERVER_PORT": "6174"}
    TRAINER = {"PADDLE_TRAINING_ROLE": "TRAINER", "PADDLE_PSERVER_IPS": "10.0.0.1,10.0.0.2", "PADDLE_TRAINERS": "2",
               "PADDLE_TRAINER_ID": "0"}

    def refuse_variable(self, name, value, *names, of=None):
        self.refuse(*OK, env={**(of or self.TRAINER), name: value}, names=[f"{name}={value}", *names])

    def test_values_that_cannot_be(self):
        self.refuse_variable("PADDLE_TRAINING_ROLE", "MASTER", "PSERVER or TRAINER")
        for index in ("2", "-1", "x"):
            self.refuse_variable("PADDLE_TRAINER_ID", index, "PADDLE_TRAINERS=2")
        self.refuse_variable("PADDLE_CURRENT_IP", "10.0.0.3", "PADDLE_PSERVER_IPS=10.0.0.1,10.0.0.2", of=self.SERVER)
        self.refuse_variable("PADDLE_PSERVER_PORT", "65536", of=self.SERVER)
        self.refuse_variable("PADDLE_PSERVER_IPS", "10.0.0.1,10.0.0.1", "twice")
        self.refuse_variable("PADDLE_PSERVER_IPS", "127.0.0.1,10.0.0.1", "127.0.0.1 names each node")
        for number in ("0", "many"):
            self.refuse_variable("PADDLE_TRAINERS", number)

    def test_variables_that_are_missing(self):
        for whole, needed in ((self.SERVER, ("PADDLE_TRAINING_ROLE", "PADDLE_PSERVER_IPS", "PADDLE_TRAINERS",
                                             "PADDLE_CURRENT_IP")),
                              (self.TRAINER, ("PADDLE_TRAINING_ROLE", "PADDLE_PSERVER_IPS", "PADDLE_TRAINERS",
                                              "PADDLE_TRAINER_ID"))):
            for name in needed:
                rest = {key: value for key, value in whole.items() if key != name}
                self.refuse(*OK, env=rest, names=[f"{name} is not set"])

    def test_numbers_of_trainers_that_contradict_each_other(self):
        self.refuse_variable("PADDLE_TRAINERS_NUM", "3", "PADDLE_TRAINERS=2")
        self.refuse(*OK, env={**self.TRAINER, "PADDLE_TRAINERS": "10.0.0.3,10.0.0.4", "PADDLE_TRAINERS_NUM": "3"},
                    names=["PADDLE_TRAINERS=10.0.0.3,10.0.0.4", "PADDLE_TRAINERS_NUM=3"])


class RightUseTest(LauncherCase):
    def echo_args(self, *before, after=(), **how):
        """Starts a program that prints its arguments, one a line in brackets."""
        program = self.write("program", "#!/bin/sh\nfor a in \"$@\"; do echo \"[$a]\"; done\n", 0o755)
        run = self.run_launcher("--nproc_per_node=1", *before, program, *after, **how)
        self.assert_status(run, 0)
        return run.out.decode().replace("]\n", "]").strip()

    def test_help_is_on_stdout(self):
        everyday = ("usage", "--gpus", "--ips", "--log_dir", "--run_mode", "--servers", "--worker_num",
                    "--elastic_server", "--dry_run", "training_script", "exit status")
        groups = ("Base Parameters", "Collective Parameters", "Parameter-Server Parameters", "Elastic Parameters")
        for option, words in (("-h", everyday), ("--help", everyday), ("--help=all", everyday + groups)):
            run = self.run_launcher(option)
            self.assertEqual((run.status, run.err), (0, ""), run.told())
            for word in words:
                self.assertIn(word.lower(), run.out.decode().lower())
            self.assertEqual(run.out.decode().count("\n") <= 48, words == everyday, run.told())
        self.assertEqual(os.listdir(self.dir), [])

    def test_the_version_is_on_stdout(self):
        run = self.run_launcher("--version")
        self.assertEqual((run.status, run.err), (0, ""), run.told())
        self.assertRegex(run.out.decode(), r"\d+\.\d+")

    def test_arguments_after_the_script_are_untouched(self):
        words = ["--gpus=9", "--nproc_per_node", "7", "-h", "--help", "a b", "", "*", "$HOME", "--", "-", "\\", "ünï"]
        self.assertEqual(self.echo_args(after=words), "".join(f"[{word}]" for word in words))

    def test_options_with_and_without_equals(self):
        run = self.run_launcher("--nproc_per_node", "2", "--log_dir", "here", "/bin/true")
        self.assert_status(run, 0)
        self.assertTrue((self.dir / "here/workerlog.1").exists())

    def test_abbreviations_and_dashes_in_names(self):
        run = self.run_launcher("--gpu", "0,1", "--assume-gpus", SH, "-c", "echo $FLAGS_selected_gpus $@", "x", "--gpu", "7")
        self.assertEqual((run.status, run.out), (0, b"0 --gpu 7\n"), run.told())
        self.assert_told(run, "--gpu is taken for --gpus")

    def test_a_file_with_options(self):
        self.write("job.toml", "nproc_per_node = 2\nlog_dir = \"from file\"\nquiet = true\n")
        run = self.run_launcher("--config", "job.toml", SH, "-c", "echo $PADDLE_TRAINERS_NUM")
        self.assertEqual((run.status, run.out), (0, b"2\n"), run.told())
        self.assertTrue((self.dir / "from file/workerlog.1").exists())

    def test_a_token_is_made_and_found(self):
        run = self.run_launcher("--make_token")
        self.assert_status(run, 0)
        token = self.base / ".config/paddle-launch/token"
        self.assertEqual(token.stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(token.read_text()), 65)
        self.assertNotIn(token.read_text().strip(), run.out.decode())
        command = run.out.decode().splitlines()[2].replace("ssh NODE", "env -i HOME=/nowhere /bin/sh -c")
        kept = token.read_text()
        subprocess.run(command.replace(f"> {token}", f"> {token}.copy"), shell=True, check=True)
        copy = self.base / ".config/paddle-launch/token.copy"
        self.assertEqual((copy.read_text(), copy.stat().st_mode & 0o777), (kept, 0o600))

    def test_two_dashes_end_the_options(self):
        program = self.write("-program", "#!/bin/sh\necho \"$@\"\n", 0o755)
        run = self.run_launcher("--nproc_per_node=1", "--", "./-program", "x", "--gpus")
        self.assertEqual((run.status, run.out), (0, b"x --gpus\n"), run.told())
        self.assertTrue(program.exists())

    def test_a_python_script_runs_under_the_first_python_on_path_unbuffered(self):
        self.write("train.py", "import sys\nprint(sys.executable, sys.argv, sys.stdout.write_through)\n")
        path = self.python_on_path()
        run = self.run_launcher("--nproc_per_node=1", "train.py", "--gpus", "5", env={"PATH": path})
        expected = f"{path.split(':')[0]}/python ['train.py', '--gpus', '5'] True\n"
        self.assertEqual((run.status, run.out.decode()), (0, expected), run.told())

    def test_python_names_another_interpreter(self):
        self.write("train.py", "import sys\nprint(sys.executable)\n")
        run = self.run_launcher("--nproc_per_node=1", f"--python={sys.executable}", "train.py",
                                env={"PATH": "/nowhere"})
        self.assertEqual((run.status, run.out.decode().strip()), (0, sys.executable), run.told())

    def test_a_module_runs_as_under_python(self):
        (self.dir / "package").mkdir()
        self.write("package/__init__.py", "")
        self.write("package/train.py", "import sys\nprint(__name__, sys.argv[1:])\n")
        run = self.run_launcher("--nproc_per_node=1", "-m", "package.train", "-x", "--gpus=1",
                                env={"PATH": self.python_on_path()})
        self.assertEqual((run.status, run.out), (0, b"__main__ ['-x', '--gpus=1']\n"), run.told())

    def test_a_program_without_a_slash_is_looked_for_on_path_and_then_here(self):
        self.write("only_here", "#!/bin/sh\necho here\n", 0o755)
        for name, status, out in (("true", 0, b""), ("only_here", 0, b"here\n"), ("./true", 2, b"")):
            with self.subTest(name=name):
                run = self.run_launcher("--nproc_per_node=1", name)
                self.assertEqual((run.status, run.out), (status, out), run.told())

    def test_fleetrun_is_the_same_program(self):
        link = self.base / "fleetrun"
        os.symlink(binary(), link)
        run = self.run_launcher("--nproc_per_node=2", SH, "-c", "exit 7", program=str(link))
        self.assert_status(run, 7)
        run = self.run_launcher("--no_such", program=str(link))
        self.assert_status(run, 2)

    def test_legacy_is_accepted_with_a_notice(self):
        run = self.run_launcher("--legacy=1", "--nproc_per_node=1", "/bin/true")
        self.assert_status(run, 0)
        self.assert_told(run, "legacy")

    def test_run_mode_collective_and_one_own_address(self):
        run = self.run_launcher("--run_mode=collective", "--nproc_per_node=1", "/bin/true")
        self.assert_status(run, 0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))
            except OSError:
                self.skipTest("this machine has no address besides loopback")
            address = probe.getsockname()[0]
        run = self.run_launcher(f"--ips={address}", "--nproc_per_node=2", SH, "-c", "echo $PADDLE_TRAINER_ENDPOINTS")
        self.assert_status(run, 0)
        self.assertRegex(run.out.decode(), rf"^{address}:\d+,{address}:\d+\n$".replace(".", r"\."))

    def test_cards_beside_a_list_of_one_node_are_no_conflict(self):
        run = self.run_launcher("--assume_gpus", "--gpus=0", "--ips=127.0.0.1", "/bin/true")
        self.assert_status(run, 0)


if __name__ == "__main__":
    unittest.main()
