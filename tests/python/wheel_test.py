# SPDX-License-Identifier: Apache-2.0
"""From this tree to a source distribution, from that to a wheel, and from there into a fresh virtual environment.

Needs the network once, for pip and what it builds with. With ccache on PATH, and the build in build/release made with
it (CCACHE_BASEDIR this tree, CCACHE_NOHASHDIR=1, CCACHE_IGNOREOPTIONS=-Werror), nothing is compiled twice.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile

from harness import Launch, LauncherCase
from program_case import HEADER, ROOT

VERSION = re.search(r"project\(paddle-launch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
PLUGIN = re.compile(r"lib/paddle-launch/[\w-]+\.so")
WORK = """\
def work(word):
    print(f"rank {RANK} {word} {sys.prefix}", flush=True)
    return int(RANK)
if __name__ == "__main__":
    context = paddle_launch.spawn(work, ("spawned in",), nprocs=2)
    print([queue.get() for queue in context.return_queues])
    try:
        paddle_launch.spawn(sys.exit, (7,), nprocs=1)
    except paddle_launch.SpawnError as error:
        print(error)
"""


def page_block():
    """The command of docs/spawn.md that installs."""
    return re.search(r"(?m)^```sh\n(pip install .*)\n```", (ROOT / "docs" / "spawn.md").read_text())[1]


def files_below(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if not path.is_dir()}


class WheelTest(LauncherCase):
    def environment(self, extra=None):
        """Of a user who has nothing of this tree on any path; pip's own settings stay."""
        own = {name: value for name, value in os.environ.items()
               if name.startswith(("PIP_", "CCACHE_", "CMAKE_")) or name.lower().endswith("_proxy")}
        own["CCACHE_DIR"] = os.environ.get("CCACHE_DIR") or os.path.expanduser("~/.cache/ccache")
        own["PIP_CACHE_DIR"] = os.environ.get("PIP_CACHE_DIR") or os.path.expanduser("~/.cache/pip")
        return super().environment({**own, **(extra or {})})

    def do(self, *command, cwd=None, seconds=3000, env=None):
        run = Launch(self, command[1:], program=str(command[0]), cwd=cwd, env=env)
        run.wait(seconds)
        self.assert_status(run, 0)
        return run.out.decode()

    def fresh_environment(self, name):
        self.do(sys.executable, "-m", "venv", self.base / name)
        return self.base / name

    def unpacked_source(self):
        """The tree of the source distribution, and the names of its files."""
        builder = self.fresh_environment("builder")
        requirement = re.search(r'requires = \["(.*)"\]', (ROOT / "pyproject.toml").read_text())[1]
        self.do(builder / "bin" / "python", "-m", "pip", "install", "-q", requirement)
        self.do(builder / "bin" / "python", "-c", "import scikit_build_core.build as backend, sys\n"
                "backend.build_sdist(sys.argv[1])", self.base, cwd=ROOT)
        name = f"paddle_launch-{VERSION}"
        with tarfile.open(self.base / f"{name}.tar.gz") as archive:
            archive.extractall(self.base)
        return self.base / name

    def build_settings(self):
        """The very commands of the preset release, so that ccache knows them."""
        settings = {"SKBUILD_BUILD_DIR": "build/release", "CC": "cc", "CXX": "c++"}
        if shutil.which("ccache"):
            settings.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache",
                            CCACHE_BASEDIR=str(self.base), CCACHE_NOHASHDIR="1")
        return settings

    def test_from_the_tree_to_a_fresh_environment(self):
        source = self.unpacked_source()
        self.check_source(files_below(source))
        building = self.build_settings()
        environment = self.fresh_environment("environment")
        python, before = environment / "bin" / "python", files_below(environment)
        self.do(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", self.base, ".", cwd=source, env=building)
        wheel = self.base / f"paddle_launch-{VERSION}-py3-none-linux_x86_64.whl"
        self.check_wheel(zipfile.ZipFile(wheel).namelist())
        self.do(python, "-m", "pip", "install", "-q", "--no-index", wheel)
        self.use(environment)
        self.do(python, "-m", "pip", "uninstall", "-q", "-y", "paddle-launch")
        self.assertEqual(files_below(environment) - before, set())

        # As the page says, from the same tree.
        path = f"{environment / 'bin'}:{self.environment()['PATH']}"
        self.do("/bin/sh", "-c", page_block(), cwd=source, env={**building, "PATH": path})
        self.use(environment)

    def check_source(self, names):
        self.assertLessEqual({"CMakeLists.txt", "LICENSE", "README.md", "launcher/main.cc", "plugin/bootstrap_abi.h",
                              "pyproject.toml", "python/paddle_launch/_child.py", "PKG-INFO"}, names)
        listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        known = {name for name in listing.stdout.decode().splitlines() if (ROOT / name).exists()}
        if not known:  # this tree is an unpacked source distribution itself
            known = files_below(ROOT) - {"PKG-INFO"}
        self.assertEqual(names, {name for name in known if not name.startswith((".ci/", ".git"))} | {"PKG-INFO"})

    def check_wheel(self, names):
        data = {name.split(".data/data/")[1] for name in names if ".data/data/" in name}
        self.assertLessEqual({"bin/paddle-launch", "share/man/man1/paddle-launch.1",
                              "share/man/man1/fleetrun.1", "share/bash-completion/completions/paddle-launch",
                              "share/zsh/site-functions/_paddle-launch",
                              "share/fish/vendor_completions.d/fleetrun.fish"}, data)
        self.assertNotIn("bin/fleetrun", data)  # Paddle's wheel has that file
        self.assertEqual({name for name in names if name.startswith("paddle_launch/")},
                         {f"paddle_launch/{path.name}" for path in (ROOT / "python" / "paddle_launch").glob("*.py")})
        self.plugins = {name for name in data if PLUGIN.fullmatch(name)}

    def use(self, environment):
        programs = environment / "bin"
        self.write("train.py", "import os, sys\nprint(os.environ['PADDLE_TRAINERS_NUM'], sys.prefix)\n")
        self.assertIn(VERSION, self.do(programs / "paddle-launch", "--version"))
        self.do(programs / "python", "-c", "import paddle_launch; paddle_launch.install()")
        for program in ("paddle-launch", "fleetrun"):  # by their paths: the environment is not active
            words = ["--quiet", "--nproc_per_node=2", "train.py"]
            self.assertEqual(self.do(programs / program, *words), f"2 {environment}\n")
            words.insert(0, f"--python={sys.executable}")
            self.assertEqual(self.do(programs / program, *words), f"2 {sys.prefix}\n")
        self.do(programs / "python", "-c", "import paddle_launch; paddle_launch.uninstall()")
        words = ["-m", "paddle_launch", "--quiet", "--nproc_per_node=2", "train.py"]
        self.assertEqual(self.do(programs / "python", *words), f"2 {environment}\n")
        self.write("program.py", HEADER + WORK)
        lines = self.do(programs / "python", "program.py").splitlines()
        self.assertEqual(sorted(lines[:2]), [f"rank {rank} spawned in {environment}" for rank in range(2)])
        self.assertEqual(lines[2:], ["[0, 1]", "Process 0 terminated with exit code 7."])
        self.use_plugins(programs / "paddle-launch")

    def use_plugins(self, program):
        """The launcher finds them from where it lies."""
        self.assertLessEqual(self.plugins, files_below(program.parent.parent))
        mpirun = shutil.which("mpirun.openmpi")
        if mpirun and "lib/paddle-launch/pmix.so" in self.plugins:
            told = self.do(mpirun, "--oversubscribe", "-np", "2", program, "--quiet", "--console=all", "/bin/sh", "-c",
                           "echo $PADDLE_TRAINERS_NUM",
                           env={"NO_COLOR": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
            self.assertEqual(sorted(told.splitlines()), ["[0] 2", "[1] 2"])


if __name__ == "__main__":
    unittest.main()
