// Shifts the time of day of a process that preloads it by the microseconds that
// stand in the file which ONCEWALL_TEST_CLOCK names, as one native 64-bit number.
// It asks the kernel itself and allocates nothing, so it may be called from
// within an allocator's start: libfaketime 0.9.10 may not, and a Redis with
// jemalloc hangs under it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none;
static const volatile int64_t *shift = &none;

__attribute__((constructor)) static void map_shift(void) {
  const char *file = getenv("ONCEWALL_TEST_CLOCK");
  int fd = file ? open(file, O_RDONLY) : -1;
  if (fd < 0) return;
  void *p = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (p != MAP_FAILED) shift = p;
}

int clock_gettime(clockid_t id, struct timespec *t) {
  if (syscall(SYS_clock_gettime, id, t) != 0) return -1;
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) {
    int64_t us = (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000 + *shift;
    t->tv_sec = us / 1000000;
    t->tv_nsec = us % 1000000 * 1000 + t->tv_nsec % 1000;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *t) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (t != NULL) *t = now.tv_sec;
  return now.tv_sec;
}
