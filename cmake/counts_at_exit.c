// SPDX-License-Identifier: Apache-2.0
// Only in builds that count lines (PADDLE_LAUNCH_COVERAGE): a process that ends with _exit() writes its counts first.
// The linker puts this in place of every call (--wrap=_exit).
extern void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
