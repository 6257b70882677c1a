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


BREAKS = [
    Break("plan", "launcher/plan/world.cc", "each launcher of a node counts its local ranks from 0",
          "if (i > 0 && node != node_of(roster, i - 1)) local_rank = 0;", "if (i > 0) local_rank = 0;",
          ("plan_test",), "unit.plan"),
    Break("cli", "launcher/cli/nodes_of_job.cc", "a list of nodes shrinks to one for a typed --master",
          "number_of_nodes(given) == 1", "number_of_nodes(given) == 0", ("cli_test",), "unit.cli"),
    Break("job", "launcher/job/pod.cc", "heterogeneous workers are counted pod by pod",
          "one.offer->stage < other.offer->stage", "one.pod < other.pod", ("job_test",), "unit.job"),
    Break("text", "launcher/text/utf8.cc", "overlong UTF-8 of three bytes is taken",
          "length == 3 && code < 0x800", "length == 3 && code < 0x80", ("text_test",), "unit.text"),
    Break("tell", "launcher/tell/probable_cause.cc", "who lost a neighbour a moment earlier is named as the cause",
          "candidate.written_ns + kTickNs <", "candidate.written_ns <", ("tell_test",), "unit.tell"),
    Break("run", "launcher/run/guard_process.cc", "SIGTERM goes to a trainer's children too",
          "kill(worker.pid, SIGTERM);", "kill(-worker.pid, SIGTERM);", ("run_test",), "unit.run"),
    Break("os", "launcher/os/child.cc", "a child that somebody else reaped counts as alive",
          "waitpid(child, status, WNOHANG) != 0", "waitpid(child, status, WNOHANG) > 0", ("os_test",), "unit.os"),
    Break("channel", "launcher/channel/fields.h", "whether a node has settled is not sent",
          "  wire.flag(next.has_settled);\n", "", ("channel_test",), "unit.channel"),
    Break("rendezvous", "launcher/rendezvous/gathering.cc", "a refusal that came early is not heard",
          "if (refusal != nullptr && is_needed) refuse(*refusal);",
          "if (refusal != nullptr && is_needed && hub_.has(member)) refuse(*refusal);",
          ("rendezvous_test",), "unit.rendezvous"),
    Break("etcd", "launcher/etcd/lease.cc", "a lease that others may have is given back",
          "if (id != 0 && is_ours_) revoke", "if (is_ours_) revoke", ("etcd_test",), "unit.etcd"),
    Break("site", "launcher/site/own_node.cc", "a node whose name is loopback listens there alone",
          "own.size() != 1 || is_loopback(own.front())", "own.size() != 1", ("site_test",), "unit.site"),
    Break("nccl", "launcher/nccl/id_keeper_process.cc", "NCCL may take every interface whose name begins the same",
          '("=" + name).c_str()', "name.c_str()", ("nccl_test",), "unit.nccl"),
    Break("launch", "launcher/launch.cc", "trainers get the launcher's own limit on open files",
          "inherited = what_was_inherited();", "inherited = (raise_open_files(), what_was_inherited());",
          ("paddle-launch",), "end_to_end.restart"),
    Break("plugin", "plugin/nccl/hand_over.c", "a trainer's own libnccl is loaded a second time",
          "  if (library != NULL) return library;\n", "",
          ("plugin/all", "fake_nccl", "paddle-launch"), "contract.nccl_library"),
    Break("spawn", "spawn/launcher_process.cc", "a program that ignores SIGTERM has a launcher that does so too",
          "action.sa_handler == SIG_IGN && signal != SIGTERM", "action.sa_handler == SIG_IGN",
          ("spawn_program",), "end_to_end.cpp_spawn"),
    Break("python", "python/paddle_launch/_child.py", "what multiprocessing shares is not handed over",
          "multiprocessing.resource_tracker._resource_tracker._fd = tracker.detach()", "tracker.detach()",
          ("paddle-launch",), "python.spawn"),
]
