# SPDX-License-Identifier: Apache-2.0
"""A page of docs/ that is tried word by word: its blocks of commands and programs, and what it shows of their output."""

import re

RECORDING = re.compile(r"(?ms)^```\n(.*?)^```\n")


class Page:
    """`signs`: a word of its own for each block, by the block's name and in the page's order."""

    def __init__(self, text, languages, signs):
        self.text, self.signs = text, signs
        self._blocks = list(re.finditer(rf"(?ms)^```(?:{'|'.join(languages)})\n(.*?)^```\n", text))

    def _place(self, name):
        return self._blocks[list(self.signs).index(name)]

    def block(self, name):
        return self._place(name)[1]

    def recording_after(self, name):
        return RECORDING.search(self.text, self._place(name).end())[1]

    def assert_every_block_is_known(self, case):
        blocks = [block[1] for block in self._blocks]
        case.assertEqual(len(blocks), len(self.signs), "\n".join(blocks))
        for words, (name, sign) in zip(blocks, self.signs.items()):
            case.assertIn(sign, words, name)
