# SPDX-License-Identifier: Apache-2.0
"""The variables by which platforms on Kubernetes name the nodes of a job, as their sources set them, on four hosts:
Kubeflow's training operator (pkg/controller.v1/paddlepaddle/envvar.go, 8d8ddba) and paddle-operator
(controllers/paddlejob_helper.go, 11fa710). docs/kubernetes.md has the jobs that lead to them."""

import unittest

from cluster_case import ClusterCase

from harness import SH

RECORD = (SH, "-c", "env >env.$PADDLE_TRAINER_ID; hostname >host.$PADDLE_TRAINER_ID")
JOB = "resnet"


class PlatformCase(ClusterCase):
    # A headless service gives the pods names.
    HOSTS = {"aliases": tuple(f"n{place + 1}={JOB}-worker-{place}" for place in range(4))}

    def start_pods(self, variables, *command):
        """variables(place) of each host."""
        return {host: self.start_on(host, f"--log_dir=log.{host}", *(command or RECORD), env=variables(place))
                for place, host in enumerate(self.names)}

    def assert_ranks_on(self, hosts):
        for rank, host in enumerate(hosts):
            env = self.environment_of(rank)
            self.assertEqual(self.read(f"host.{rank}"), f"{host}\n")
            self.assertEqual((env["PADDLE_TRAINERS_NUM"], env["PADDLE_NNODES"]), ("4", "4"))


class KubeflowTest(PlatformCase):
    def collective(self, place):
        master = self.addresses[0] if place == 0 else f"{JOB}-worker-0"  # the first pod alone knows its address
        return {"PYTHONUNBUFFERED": "0", "PADDLE_JOB_ID": JOB, "PADDLE_NNODES": "4", "PADDLE_MASTER": f"{master}:36543"}

    def test_a_job_with_workers_alone_is_collective(self):
        self.assert_all_end(self.start_pods(self.collective), 0)
        self.assertEqual(self.read("host.0"), "n1\n")
        self.assertEqual(sorted(self.read(f"host.{rank}") for rank in range(4)), [f"{host}\n" for host in self.names])
        self.assertEqual(self.environment_of(0)["PADDLE_LAUNCH_JOB"], JOB)

    def test_a_failed_worker_ends_all_pods_with_its_code(self):
        runs = self.start_pods(self.collective, SH, "-c", "[ $(hostname) = n3 ] && exit 7; exec sleep 1000")
        self.assert_all_end(runs, 7)


class PaddleOperatorTest(PlatformCase):
    def collective(self, place):
        workers = [f"{address}:2379" for address in self.addresses]
        return {"POD_IP": self.addresses[place], "PADDLE_TRAINER_ID": str(place), "TRAINING_ROLE": "TRAINER",
                "PADDLE_TRAINING_ROLE": "TRAINER", "TRAINER_PORTS_NUM": "20", "PADDLE_PORT": "2379",
                "PADDLE_TRAINER_ENDPOINTS": ",".join(workers), "PADDLE_TRAINERS": self.ips, "PADDLE_TRAINERS_NUM": "4"}

    def test_a_job_with_workers_alone_is_collective(self):
        self.assert_all_end(self.start_pods(self.collective), 0)
        self.assert_ranks_on(self.names)
        self.assertEqual(self.environment_of(2)["PADDLE_CURRENT_ENDPOINT"], "10.77.0.3:2379")

    def test_numbers_that_do_not_follow_the_addresses_are_kept(self):
        numbers = (2, 0, 3, 1)
        def shuffled(place):
            by_number = sorted(range(4), key=lambda other: numbers[other])
            return {**self.collective(place), "PADDLE_TRAINER_ID": str(numbers[place]),
                    "PADDLE_TRAINERS": ",".join(self.addresses[other] for other in by_number)}
        self.assert_all_end(self.start_pods(shuffled), 0)
        self.assert_ranks_on(["n2", "n4", "n1", "n3"])

    def test_a_process_of_a_job_with_servers_runs_as_the_platform_says(self):
        def server(place):
            return {**self.collective(place), "TRAINING_ROLE": "PSERVER", "PADDLE_TRAINING_ROLE": "PSERVER",
                    "PADDLE_PSERVERS_IP_PORT_LIST": f"{self.addresses[0]}:2379"}
        run = self.start_on("n1", SH, "-c", "env >env.server; exit 5", env=server(0))
        run.wait()
        self.assert_status(run, 5)
        self.assertIn("PADDLE_PSERVERS_IP_PORT_LIST=10.77.0.1:2379\n", self.read("env.server"))


class EndpointsTest(PlatformCase):
    def test_a_number_beside_a_master_is_the_nodes_place(self):
        numbers = (0, 2, 1, 3)
        runs = {host: self.start_on(host, "--master=10.77.0.1:7777", "--nnodes=4", "--nproc_per_node=1",
                                    f"--log_dir=log.{host}", *RECORD, env={"PADDLE_TRAINER_ID": str(numbers[place])})
                for place, host in enumerate(self.names)}
        self.assert_all_end(runs, 0)
        self.assert_ranks_on(["n1", "n3", "n2", "n4"])

    def test_endpoints_of_several_hosts_are_a_meeting_point(self):
        for name in ("PADDLE_TRAINER_ENDPOINTS", "DISTRIBUTED_TRAINER_ENDPOINTS"):
            with self.subTest(name):
                runs = self.start_pods(lambda place, name=name: {
                    name: ",".join(f"{address}:{7000 + i}" for i, address in enumerate(self.addresses)),
                    "POD_IP": self.addresses[place], "PADDLE_TRAINER_ID": str(place)})
                self.assert_all_end(runs, 0)
                self.assert_ranks_on(self.names)
                self.assert_all_told(runs, f"{name} names 4 hosts, which meet at its first endpoint, 10.77.0.1:7000")

    def test_one_endpoint_a_node_says_nothing_of_ports(self):
        runs = self.start_pods(lambda place: {
            "DISTRIBUTED_TRAINER_ENDPOINTS": ",".join(f"{address}:8001" for address in self.addresses),
            "PADDLE_TRAINERS": self.ips, "POD_IP": self.addresses[place], "PADDLE_TRAINER_ID": str(place),
            "TRAINER_PORTS_NUM": "8"})
        self.assert_all_end(runs, 0)
        self.assert_ranks_on(self.names)


if __name__ == "__main__":
    unittest.main()
