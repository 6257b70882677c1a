# SPDX-License-Identifier: Apache-2.0
"""Which pictures there are of which results. Results are known by the name of their file."""
import pathlib

from plotting import launch_pictures, script_pictures
from plotting.drawing import draw

MAKERS = {"start": launch_pictures.start, "failure": launch_pictures.failure, "logs": launch_pictures.logs,
          "idle": launch_pictures.idle, "rendezvous": launch_pictures.rendezvous, "ending": launch_pictures.ending,
          "scheduler_layer": script_pictures.scheduler_layer, "next_round": script_pictures.next_round,
          "first_step": script_pictures.first_step}


def pictures_of(name, document):
    if name not in MAKERS:
        raise SystemExit(f"{name}.json: no results of a benchmark are called so; known are {', '.join(MAKERS)}")
    return MAKERS[name](document)


def write_pictures(name, document, folder):
    """The files that were written."""
    written = []
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for picture in pictures_of(name, document):
        written.append(pathlib.Path(folder, picture.name + ".svg"))
        written[-1].write_text(draw(picture))
    return written
