# SPDX-License-Identifier: Apache-2.0
"""A launcher in namespaces of its own, where a test may mount, hide and limit what it likes."""

import shutil

from harness import OTHER_UID, SH, LauncherCase

SETUP_FAILED = 97


class NamespaceCase(LauncherCase):
    def namespace(self, options, setup):
        """A prefix for start(): new namespaces, the shell text `setup` in them, then the launcher."""
        tool = self.need_namespace(*options)
        return [tool, *options, SH, "-c", f'{{ {setup} ; }} && exec "$@"; exit {SETUP_FAILED}', "sh"]

    def check_setup(self, run):
        if not run.running() and run.status == SETUP_FAILED:
            self.skipTest(f"the namespace could not be set up: {run.err.strip()}")

    def wait_ready(self, *args):
        try:
            return super().wait_ready(*args)
        except AssertionError:
            self.check_setup(self.launches[-1])
            raise

    def to_other_user(self):
        """A command that becomes an ordinary user, for use inside a namespace."""
        tool = shutil.which("setpriv")
        if tool is None:
            self.skipTest("setpriv is not installed")
        return f"{tool} --reuid={OTHER_UID} --regid={OTHER_UID} --clear-groups"
