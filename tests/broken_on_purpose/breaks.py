"""Places where the program can be broken, one line each, and the test that must notice."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Break:
    room: str
    file: str
    what: str  # in words, for the table
    before: str  # stands in the file once
    after: str
    targets: tuple  # what has to be built for the test
    test: str  # its name for ctest


def broken(one, text):
    return text.replace(one.before, one.after, 1)


BREAKS = []
