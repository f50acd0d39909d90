/* SPDX-License-Identifier: Apache-2.0 */
/** @file Whether the core is this process's alone (docs/adr/0016): asked between calls, and by a
 * timer within them. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtimes/probe.h"
#include "runtimes/probe/probe_internal.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* On a core of Zen 4, by itself: 8.9 us, one in a hundred above 1.1 times that; with a busy
 * thread 1.3 to 2 times. */
enum { kFirstCalls = 100, kMaxPercent = 115, kPeriodNs = 2000000 };
/* To find what an interruption costs besides its look: runs of some milliseconds with and without.
 */
enum { kTrials = 8, kTrialSteps = 2000000, kTrialPeriodNs = 300000 };

/* Rounds of a look between calls, and of one within a call. */
enum { kIssueRounds = 16384, kIssueRoundsWithin = 8192 };

/* Of kIssueRounds: in this process, and in others; 0: not known. */
static int64_t min_ns;
static int64_t elsewhere_min_ns;

/* A neighbour costs no more than a factor of two: what was told may be of another kind of core. */
static const double kMaxOfElsewhere = 2.2;

static int64_t best_ns(void) {
  const int is_better = elsewhere_min_ns != 0 && elsewhere_min_ns < min_ns &&
                        (double)min_ns < kMaxOfElsewhere * (double)elsewhere_min_ns;
  return is_better ? elsewhere_min_ns : min_ns;
}

/* Whether a look that took `ns` found the core shared, by the least time of looks of so many
 * rounds. */
static int is_shared(int64_t ns, int rounds) {
  return 100 * ns * kIssueRounds > kMaxPercent * best_ns() * rounds;
}

int32_t oplat_probe_alone(void) {
  int64_t last_ns = 0;
  const int calls = min_ns == 0 ? kFirstCalls : 1;
  for (int i = 0; i < calls; ++i) {
    const int64_t begin = oplat_probe_now_ns();
    oplat_probe_kernel_issue(kIssueRounds);
    last_ns = oplat_probe_now_ns() - begin;
    if (last_ns > 0 && (min_ns == 0 || last_ns < min_ns)) min_ns = last_ns;
  }
  return is_shared(last_ns, kIssueRounds) ? 0 : 1;
}

double oplat_probe_alone_best(double elsewhere_ns) {
  /* Nobody looks for less than a nanosecond or more than a second. */
  const int is_time = elsewhere_ns >= 1 && elsewhere_ns < 1e9;
  elsewhere_min_ns = is_time && oplat_probe_usable_cpus_alike() ? (int64_t)elsewhere_ns : 0;
  if (min_ns == 0) (void)oplat_probe_alone();
  return (double)best_ns();
}

static timer_t timer;
static pid_t watched; /* thread; 0: no timer yet */
static int watching;
static volatile struct oplat_probe_watch seen;
static double interruption_ns; /* beyond the look itself: a virtual machine leaves and enters for
                                  it, some 20 us */

static void look(int signal_number) {
  (void)signal_number;
  const int64_t begin = oplat_probe_now_ns();
  oplat_probe_kernel_issue(kIssueRoundsWithin);
  const int64_t ns = oplat_probe_now_ns() - begin;
  seen.looks += 1;
  seen.shared += is_shared(ns, kIssueRoundsWithin);
  seen.own_ns += ns;
}

static int make_timer(pid_t thread) {
  const int number = SIGRTMIN + 6;
  struct sigaction old;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &old) != 0) return errno;
  if (old.sa_handler != SIG_DFL && old.sa_handler != look) return ENOTSUP;
  if (sigaction(number, &action, NULL) != 0) return errno;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = number;
  event.sigev_notify_thread_id = thread;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return errno;
  watched = thread;
  return 0;
}

static int set_period(long ns) {
  const struct itimerspec period = {{0, ns}, {0, ns}};
  return timer_settime(timer, 0, &period, NULL) == 0 ? 0 : errno;
}

static void begin_looking(void) { seen.looks = seen.shared = seen.own_ns = 0; }

/* The least of several trials, each next to one without looks: whatever else disturbs them makes
 * them longer. */
static void price_interruption(void) {
  int64_t plain_ns = 0;
  double least = -1;
  for (int i = 0; i < 2 * kTrials; ++i) {
    const int looking = i >= kTrials;
    begin_looking();
    if (looking && set_period(kTrialPeriodNs) != 0) return;
    const int64_t begin = oplat_probe_now_ns();
    oplat_probe_kernel_chain(kTrialSteps);
    const int64_t ns = oplat_probe_now_ns() - begin;
    (void)set_period(0);
    if (!looking && (plain_ns == 0 || ns < plain_ns)) plain_ns = ns;
    if (!looking || seen.looks == 0) continue;
    const double each = (double)(ns - seen.own_ns - plain_ns) / (double)seen.looks;
    if (least < 0 || each < least) least = each;
  }
  interruption_ns = least > 0 ? least : 0;
}

int oplat_probe_watch_begin(void) {
  const pid_t thread = (pid_t)syscall(SYS_gettid);
  if (watched != 0 && watched != thread) return ENOTSUP;
  if (watched == 0) {
    const int error = make_timer(thread);
    if (error != 0) return error;
    if (min_ns == 0) (void)oplat_probe_alone();
    price_interruption();
  }
  begin_looking();
  const int error = set_period(kPeriodNs);
  watching = error == 0;
  return error;
}

int oplat_probe_watch_end(struct oplat_probe_watch* out) {
  if (!watching || out == NULL) return EINVAL;
  watching = 0;
  const int error = set_period(0);
  out->looks = seen.looks;
  out->shared = seen.shared;
  out->own_ns = seen.own_ns + (int64_t)(interruption_ns * (double)seen.looks);
  return error;
}
