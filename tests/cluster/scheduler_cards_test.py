# SPDX-License-Identifier: Apache-2.0
"""Cards of nodes with one launcher and with several: Slurm says which a task sees, and nobody here has a real one."""

import unittest

from scheduler_case import MESH, NODES, PER_NODE, SINGLE, SchedulerCase

ASSUMED = ("--assume_gpus", "--start_port=6170")
THREE = ("-N4", "--ntasks-per-node=3")


class CardsTest(SchedulerCase):
    def assert_cards(self, world, cards):
        """Those of a node's trainers, in their order; the same on all nodes."""
        for rank, env in world.environments.items():
            card = cards[rank % PER_NODE]
            self.assertEqual((env["FLAGS_selected_gpus"], env["PADDLE_LOCAL_DEVICE_IDS"]), (card, card), rank)
            self.assertEqual(env["PADDLE_WORLD_DEVICE_IDS"], ",".join(cards * NODES))

    def test_launchers_of_a_node_share_the_cards_that_one_would_have(self):
        single = self.assert_ran(self.srun("--gpus-per-node=4", *SINGLE, *self.command("single", *ASSUMED)), "single")
        self.assert_cards(single, ["0", "1", "2", "3"])
        mesh = self.assert_ran(self.srun("--gpus-per-node=4", *MESH, *self.command("mesh", *ASSUMED)), "mesh")
        self.assertEqual(mesh, single)
        self.assertEqual({env["CUDA_VISIBLE_DEVICES"] for env in self.environments("mesh").values()}, {"0,1,2,3"})
        step = self.srun("--mpi=none", "--gpus-per-node=4", *MESH, *self.command("step", *ASSUMED))
        self.assertEqual(self.assert_ran(step, "step"), single)

    def test_a_list_names_the_cards_of_the_node(self):
        words = ("--gpus=0,1,2,3", *ASSUMED)
        single = self.assert_ran(self.srun(*SINGLE, *self.command("single", *words)), "single")
        self.assert_cards(single, ["0", "1", "2", "3"])
        self.assertEqual(self.assert_ran(self.srun(*MESH, *self.command("mesh", *words)), "mesh"), single)
        mpirun = self.openmpi(*self.command("mpirun", *words), per_host=4)
        self.assertEqual(self.assert_ran(mpirun, "mpirun"), single)

    def test_the_order_of_the_list_is_that_of_the_ranks(self):
        done = self.srun("--gpus-per-node=4", *MESH, *self.command("job", "--gpus=3,1,2,0", *ASSUMED))
        self.assert_cards(self.assert_ran(done, "job"), ["3", "1", "2", "0"])

    def test_a_card_of_its_own_for_each_task_is_used_with_a_warning(self):
        done = self.srun("--gpus-per-task=1", *MESH, *self.command("job", *ASSUMED))
        self.assert_cards(self.assert_ran(done, "job"), ["0"] * PER_NODE)  # each counts in what it sees
        seen = self.environments("job")
        self.assertEqual([seen[rank]["CUDA_VISIBLE_DEVICES"] for rank in sorted(seen)], ["0", "1", "2", "3"] * NODES)
        self.assert_once(done, "each launcher sees only gpus of its own", "(peer-to-peer, NVLink)")

    def test_the_remedy_of_the_warning_helps(self):
        # Slurm then hides no card and names none; without real ones the list has to.
        done = self.srun("--gpus-per-node=4", "--gpu-bind=none", *MESH,
                         *self.command("job", "--gpus=0,1,2,3", *ASSUMED))
        self.assert_cards(self.assert_ran(done, "job"), ["0", "1", "2", "3"])
        self.assertNotIn("peer-to-peer", done.stderr)


class RefusalTest(SchedulerCase):
    """What is wrong is said once, and nothing starts. mpirun stops the others when one has failed; that one must not
    be faster than the word."""

    def ways(self, shape, *options):
        """(name, what starts these words) under srun with and without PMIx, and under mpirun."""
        per_host = int(shape[1].rpartition("=")[2])
        return (("pmix", lambda words: self.srun(*shape, *options, *words)),
                ("step", lambda words: self.srun("--mpi=none", *shape, *options, *words)),
                ("mpirun", lambda words: self.openmpi(*words, per_host=per_host)))

    def test_three_launchers_for_four_cards(self):
        for way, start in self.ways(THREE):
            with self.subTest(way):
                done = start(self.command(way, "--gpus=0,1,2,3", "--assume_gpus"))
                self.assert_refused(done, way, 2, "n1: ", "4 cards (0,1,2,3) and 3 launchers")

    def test_three_launchers_for_the_four_cards_that_slurm_gave(self):
        done = self.srun(*THREE, "--gpus-per-node=4", *self.command("job", "--assume_gpus"))
        self.assert_refused(done, "job", 2, "n1: ", "4 cards (0,1,2,3) and 3 launchers")

    def test_three_launchers_for_four_processes(self):
        done = self.srun(*THREE, *self.command("job", "--nproc_per_node=4"))
        self.assert_refused(done, "job", 2, "n1: ", "--nproc_per_node=4: this node has 3 launchers")

    def test_one_node_whose_cards_cannot_be_shared_out(self):
        odd = self.only_on("n3", 'set -- --gpus=0,1,2 "$@"')
        for way, start in self.ways(MESH, "--gpus-per-node=4"):
            if way == "mpirun":
                continue
            with self.subTest(way):
                done = start(self.command(way, "--assume_gpus", program=odd))
                self.assertNotEqual(done.returncode, 0)
                self.assert_refused(done, way, done.returncode, "n3", "3 cards (0,1,2) and 4 launchers")

    def test_nodes_with_different_numbers_of_cards(self):
        less = self.only_on("n3", 'set -- --gpus=0,1 "$@"')
        done = self.srun("--gpus-per-node=4", *SINGLE, *self.command("job", "--assume_gpus", program=less))
        self.assert_refused(done, "job", 1, "the numbers of trainers differ: n1 has 4 and n3 has 2;", "--gpus")

    def test_nodes_with_different_numbers_of_processes(self):
        less = self.wrapper("less", 'test "$(hostname)" = n3 && set -- --nproc_per_node=2 "$@" '
                                    '|| set -- --nproc_per_node=4 "$@"')
        for way, start in self.ways(SINGLE):
            with self.subTest(way):
                done = start(self.command(way, program=less))
                self.assert_refused(done, way, 1, "the numbers of trainers differ: n1 has 4 and n3 has 2;",
                                    "--nproc_per_node")


if __name__ == "__main__":
    unittest.main()
