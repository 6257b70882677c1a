# SPDX-License-Identifier: Apache-2.0
"""Every message of the program is found, read, and speaks with one voice."""

import unittest

import not_messages
from messages import Message, all_messages, kind_of
from rules import faults_of
from texts_of_c import texts_of_c
from texts_of_python import texts_of_python


def c_texts(source):
    return [text.text for text in texts_of_c(source)]


class Messages(unittest.TestCase):
    def test_each_speaks_with_the_same_voice(self):
        faults = [f"{message.where()}: {why}\n    {message.text.strip()}" for message in all_messages()
                  for why in faults_of(message, not_messages.NO_REMEDY)]
        self.assertFalse(faults, "\n" + "\n".join(faults))

    def test_every_exception_is_needed_and_has_a_reason(self):
        used = set()
        texts = {message.text for message in all_messages(used)}
        for entries in (not_messages.NO_MESSAGES_IN, not_messages.TAKES_NO_MESSAGE, not_messages.READ_BY_PROGRAMS,
                        not_messages.WORDS_OF_PADDLE):
            self.assertLessEqual(set(entries), used)
            self.assertTrue(all(entries.values()))
        self.assertLessEqual(set(not_messages.NO_REMEDY), texts)

    def test_the_list_has_the_messages_of_every_language(self):
        found = {message.text: message.kind for message in all_messages()}
        self.assertEqual(found["spawn was given no function: give one that can be called"], "error")
        self.assertEqual(found["training_script {} is a directory; give the script inside it"], "wrong use")
        self.assertEqual(found["MPI is not open"], "reason")
        self.assertEqual(found["nprocs={}: give 1 or more, or -1 for all visible cards"], "wrong use")


class Reading(unittest.TestCase):
    def test_texts_that_belong_together_are_one(self):
        self.assertEqual(c_texts('f("a " // no\n "b");'), ["a b"])
        self.assertEqual(c_texts('f(std::string("at ") + g(x, 1) + ": " + why);'), ["at {}: {}"])
        self.assertEqual(c_texts('return path + ": gone";'), ["{}: gone"])
        self.assertEqual(c_texts('fail(VARIABLE " is not set");'), ["{} is not set"])
        self.assertEqual(c_texts('f("a" + (x ? "b" : "c"));'), ["a{}", "b", "c"])

    def test_what_is_no_text_is_left_out(self):
        self.assertEqual(c_texts('/* "a" */ char c = \'"\'; // "b"\n#include "c.h"\n'), [])

    def test_raw_and_escaped_texts(self):
        self.assertEqual(c_texts(r'f(R"(a "b")", "\"c\"\n");'), ['a "b"', '"c"\n'])

    def test_the_call_tells_the_kind(self):
        for source, kind in (('throw UsageError(fmt::format("{} is", x));', "wrong use"),
                             ('voice.warning("x y");', "warning"),
                             ('throw LaunchError(fmt::format("{}", x ? "a b" : y));', "part"),
                             ('run([this] { stage->voice.info("x y"); });', "note")):
            self.assertEqual([kind_of(text) for text in texts_of_c(source)][-1], kind, source)

    def test_python(self):
        source = '"""No."""\nraise ValueError(f"a {b!r}: "\n"c")\n'
        self.assertEqual([(text.text, kind_of(text)) for text in texts_of_python(source)], [("a {}: c", "wrong use")])


class Rules(unittest.TestCase):
    def faults(self, text, kind="note"):
        return list(faults_of(Message("launcher/x.cc", 1, kind, text)))

    def test_what_deviates_is_found(self):
        for text in ("Nothing there", "nothing there.", "please look", "nothing there!", "an invalid port", 'the "x"',
                     "leave --x out", "--np {} is", "after 10s", "two  blanks", "blank at the end ", "can't see",
                     "a. B c"):
            self.assertEqual(len(self.faults(text)), 1, text)

    def test_what_fits_is_left_alone(self):
        for text in ("nothing there", "{} is gone. Start it.", "--np={} is", "MPI is gone", "after {} s"):
            self.assertFalse(self.faults(text), text)

    def test_an_error_says_what_to_do(self):
        self.assertTrue(self.faults("port {} is taken", "error"))
        self.assertFalse(self.faults("port {} is taken; choose another", "error"))
        self.assertFalse(self.faults("port {} is taken", "warning"))


if __name__ == "__main__":
    unittest.main()
