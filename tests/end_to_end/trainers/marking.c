// SPDX-License-Identifier: Apache-2.0
// A trainer, or a server, that leaves marks:  marking FILE SECONDS HABIT [BYTES]
//
// Each mark is a line of FILE: NAME ROUND PID EVENT MONOTONIC_NANOSECONDS HOST. NAME is worker.N or server.N. EVENT is
// "begin"; "end" just before it ends with 0 by itself, after so many SECONDS; "term" when SIGTERM came. A server listens
// and stays until SIGTERM. HABIT says what SIGTERM does: "mortal" dies of it, "saves" takes 0.2 s and ends with 0,
// "stubborn" goes on. BYTES are printed while it runs.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int marks;
static char name[64];
static char host[64];
static const char* habit;
static struct timespec its_end;

static const char* env(const char* variable) {
  const char* value = getenv(variable);
  return value ? value : "";
}

static void mark(const char* event) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char line[256];
  const char* number = env("PADDLE_LAUNCH_ROUND");
  const int size = snprintf(line, sizeof line, "%s %s %d %s %lld %s\n", name, *number ? number : "0", (int)getpid(), event,
                            (long long)now.tv_sec * 1000000000 + now.tv_nsec, host);
  if (write(marks, line, (size_t)size) != size) _exit(99);
}

static void on_term(int signal_number) {
  (void)signal_number;
  mark("term");
  if (strcmp(habit, "mortal") == 0) {
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  } else if (strcmp(habit, "saves") == 0) {
    const struct timespec a_while = {0, 200000000};
    nanosleep(&a_while, NULL);
    _exit(0);
  }
}

// The place of POD_IP:PADDLE_PORT in the list of servers.
static int place_of_server(void) {
  char own[128];
  char list[4096];
  snprintf(own, sizeof own, "%s:%s", env("POD_IP"), env("PADDLE_PORT"));
  snprintf(list, sizeof list, "%s", env("PADDLE_PSERVERS_IP_PORT_LIST"));
  int place = 0;
  for (char* entry = strtok(list, ","); entry; entry = strtok(NULL, ","), place++) {
    if (strcmp(entry, own) == 0) return place;
  }
  return -1;
}

static void serve(void) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(env("PADDLE_PORT")))};
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 64) != 0) _exit(98);
  for (;;) pause();
}

static void print_bytes(long count) {
  char line[101];
  memset(line, '.', sizeof line);
  line[100] = '\n';
  for (; count > 0; count -= (long)sizeof line) {
    if (write(1, line, sizeof line) < 0 && errno != EINTR) return;  // the disk is full: work goes on
  }
}

static void work(double seconds, long bytes) {
  clock_gettime(CLOCK_MONOTONIC, &its_end);
  const long long end = (long long)its_end.tv_sec * 1000000000 + its_end.tv_nsec + (long long)(seconds * 1e9);
  its_end.tv_sec = end / 1000000000;
  its_end.tv_nsec = end % 1000000000;
  print_bytes(bytes);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &its_end, NULL) != 0) continue;
}

int main(int argc, char** argv) {
  if (argc < 4) return 97;
  marks = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  habit = argv[3];
  gethostname(host, sizeof host - 1);
  const int serves = strcmp(env("TRAINING_ROLE"), "PSERVER") == 0;
  snprintf(name, sizeof name, serves ? "server.%d" : "worker.%d", serves ? place_of_server() : atoi(env("PADDLE_TRAINER_ID")));
  struct sigaction action = {.sa_handler = on_term};
  sigaction(SIGTERM, &action, NULL);
  printf("%s begins round %s\n", name, env("PADDLE_LAUNCH_ROUND"));
  fflush(stdout);
  mark("begin");  // whoever has the mark has the line
  if (serves) serve();
  work(atof(argv[2]), argc > 4 ? atol(argv[4]) : 0);
  mark("end");
  return 0;
}
