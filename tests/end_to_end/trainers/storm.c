// SPDX-License-Identifier: Apache-2.0
// A fork storm: a few chains of processes, each in a session of its own, in which every generation forks the next and
// ends. It bounds itself: so many generations, so many seconds.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int chains = argc > 1 ? atoi(argv[1]) : 4;
  const time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 40);
  const int beat = open("beat", O_WRONLY | O_CREAT | O_APPEND, 0644);
  for (int chain = 0; chain < chains; chain++) {
    if (fork() != 0) continue;
    for (long generation = 0; generation < 400000 && time(NULL) < end; generation++) {
      setsid();
      prctl(PR_SET_NAME, generation % 2 ? "kworker/0:1" : "bash");
      if (generation % 64 == 0 && write(beat, ".", 1) < 0) _exit(1);
      const pid_t next = fork();
      if (next > 0) _exit(0);
      if (next < 0) usleep(1000);
    }
    _exit(0);
  }
  const int code = argc > 3 ? atoi(argv[3]) : -1;
  if (code < 0) {
    for (;;) pause();
  }
  usleep(300000);
  return code;
}
