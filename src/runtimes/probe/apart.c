/* SPDX-License-Identifier: Apache-2.0 */
/** @file Whether the cores of a kernel on several threads are its alone, different ones and near
 * each other (docs/adr/0021). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "runtimes/probe.h"
#include "runtimes/probe/probe_internal.h"

/* kMaxWaitNs: a thread that is not on its CPU by then finds another program there. */
enum { kMaxThreads = 64, kLooks = 4, kLookRounds = 16384, kMaxWaitNs = 20000000 };
/* The least of so many batches of round trips. */
enum { kBatches = 8, kTrips = 40 };
/* Shared: 1.3 to 2 times the least time of a look. Far: on an EPYC 85 to 145 ns within one
 * last-level cache, 400 between two. */
static const double kMaxOfLook = 1.15;
static const double kMaxOfTrip = 2.5;

/* Threads that look at the same time, one on each core. */
struct gathering {
  int32_t threads;
  atomic_int arrived;
  atomic_int done; /* have looked; all of them keep their cores busy until everybody has */
  atomic_int called_off;
};

struct place {
  struct gathering* gathering;
  double issue_ns;
  _Alignas(128)
      atomic_int ball; /* on lines of its own. Odd: thrown by the caller, even: thrown back */
};

static double min_look(void) {
  double least = 0;
  for (int i = 0; i < kLooks; ++i) {
    const int64_t begin = oplat_probe_now_ns();
    oplat_probe_kernel_issue(kLookRounds);
    const double ns = (double)(oplat_probe_now_ns() - begin);
    if (i == 0 || ns < least) least = ns;
  }
  return least;
}

/* 0 where it was called off. */
static int look_with_the_others(struct gathering* all, double* issue_ns) {
  atomic_fetch_add(&all->arrived, 1);
  while (atomic_load(&all->arrived) < all->threads) {
    if (atomic_load(&all->called_off)) return 0;
  }
  *issue_ns = min_look();
  atomic_fetch_add(&all->done, 1);
  while (atomic_load(&all->done) < all->threads) oplat_probe_kernel_issue(kLookRounds / 16);
  return 1;
}

static void* look_elsewhere(void* argument) {
  struct place* place = argument;
  if (!look_with_the_others(place->gathering, &place->issue_ns)) return NULL;
  for (int i = 1; i <= kBatches * kTrips; ++i) {
    while (atomic_load_explicit(&place->ball, memory_order_acquire) != 2 * i - 1) {
    }
    atomic_store_explicit(&place->ball, 2 * i, memory_order_release);
  }
  return NULL;
}

/* From the caller to the core and back. */
static double min_trip(struct place* place) {
  double least = 0;
  int ball = 1;
  for (int batch = 0; batch < kBatches; ++batch) {
    const int64_t begin = oplat_probe_now_ns();
    for (int i = 0; i < kTrips; ++i, ball += 2) {
      atomic_store_explicit(&place->ball, ball, memory_order_release);
      while (atomic_load_explicit(&place->ball, memory_order_acquire) != ball + 1) {
      }
    }
    const double ns = (double)(oplat_probe_now_ns() - begin) / kTrips;
    if (batch == 0 || ns < least) least = ns;
  }
  return least;
}

/* The first number in a file that the system keeps of a CPU; `otherwise` where there is none. */
static long number_of(int cpu, const char* name, long otherwise) {
  char path[96];
  long number = otherwise;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
  FILE* file = fopen(path, "re");
  if (file == NULL) return otherwise;
  if (fscanf(file, "%ld", &number) != 1) number = otherwise;
  fclose(file);
  return number;
}

/* The hardware threads of one core have its first one in common; a CPU of which the system says
 * nothing is its own. */
static long first_of_core(int cpu) { return number_of(cpu, "topology/thread_siblings_list", cpu); }

/* What the system says of a CPU's speed, in units of its own; 0 where it says nothing. */
static long speed_of(int cpu) {
  const long capacity = number_of(cpu, "cpu_capacity", 0);
  return capacity != 0 ? capacity : number_of(cpu, "cpufreq/cpuinfo_max_freq", 0);
}

/* A look on a slower core takes longer, whoever uses it. */
static int are_alike(const int* cpus, int count) {
  for (int i = 1; i < count; ++i) {
    if (speed_of(cpus[i]) != speed_of(cpus[0])) return 0;
  }
  return 1;
}

int oplat_probe_usable_cpus_alike(void) {
  static int known = -1;
  if (known >= 0) return known;
  cpu_set_t usable;
  CPU_ZERO(&usable);
  (void)oplat_probe_usable_cpus(&usable);
  int cpus[CPU_SETSIZE];
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET((size_t)cpu, &usable)) cpus[count++] = cpu;
  }
  known = are_alike(cpus, count);
  return known;
}

/* One CPU of each core among `cpus`, that of the caller first; how many, `most` at most. */
static int cores_among(const cpu_set_t* cpus, int here, int* out, int most) {
  cpu_set_t known;
  CPU_ZERO(&known);
  CPU_SET((size_t)first_of_core(here), &known);
  out[0] = here;
  int count = 1;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < most; ++cpu) {
    if (!CPU_ISSET((size_t)cpu, cpus)) continue;
    const long first = first_of_core(cpu);
    if (first < 0 || first >= CPU_SETSIZE || CPU_ISSET((size_t)first, &known)) continue;
    CPU_SET((size_t)first, &known);
    out[count++] = cpu;
  }
  return count;
}

static int judge(const double* looks, int32_t count, double handoff_ns,
                 struct oplat_probe_cores* best) {
  double longest = looks[0];
  for (int32_t i = 0; i < count; ++i) {
    if (looks[i] > longest) longest = looks[i];
    if (looks[i] <= 0 || (best->issue_ns > 0 && looks[i] >= best->issue_ns)) continue;
    /* So much better than before: the cores were shared until now, maybe by one another, and nearer
     * than two can be. */
    if (best->issue_ns > kMaxOfLook * looks[i]) best->handoff_ns = 0;
    best->issue_ns = looks[i];
  }
  if (longest > kMaxOfLook * best->issue_ns) return 0;
  /* Only of cores that are different ones: hardware threads of one are nearer still. */
  if (best->handoff_ns <= 0 || handoff_ns < best->handoff_ns) best->handoff_ns = handoff_ns;
  return handoff_ns <= kMaxOfTrip * best->handoff_ns;
}

/* On its CPU from the start: the caller keeps its own busy. */
static int make_helper(pthread_t* made, int cpu, struct place* place) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  error = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  if (error == 0) error = pthread_create(made, &attributes, look_elsewhere, place);
  (void)pthread_attr_destroy(&attributes);
  return error;
}

int32_t oplat_probe_apart(int32_t threads, struct oplat_probe_cores* best) {
  int cpus[kMaxThreads + 1];
  cpu_set_t usable;
  cpu_set_t before;
  const int here = sched_getcpu();
  if (best == NULL || threads < 2 || threads > kMaxThreads || here < 0) return 1;
  if (oplat_probe_usable_cpus(&usable) != 0 || sched_getaffinity(0, sizeof before, &before) != 0)
    return 1;
  /* With cores to spare nobody knows which the threads are on; with fewer they share, whatever the
   * neighbours do. */
  if (cores_among(&usable, here, cpus, threads + 1) != threads || !are_alike(cpus, threads))
    return 1;
  struct gathering all = {.threads = threads};
  struct place places[kMaxThreads];
  pthread_t made[kMaxThreads];
  double looks[kMaxThreads];
  int count = 0;
  (void)oplat_probe_pin(here);
  for (; count < threads - 1; ++count) {
    places[count] = (struct place){.gathering = &all};
    if (make_helper(&made[count], cpus[count + 1], &places[count]) != 0) break;
  }
  const int made_all = count == threads - 1;
  const int64_t begin = oplat_probe_now_ns();
  while (made_all && atomic_load(&all.arrived) < threads - 1 &&
         oplat_probe_now_ns() - begin < kMaxWaitNs) {
  }
  int apart = !made_all; /* a look that is not available is held against nobody */
  if (made_all && atomic_load(&all.arrived) == threads - 1) {
    double handoff_ns = 0;
    (void)look_with_the_others(&all, &looks[threads - 1]);
    for (int i = 0; i < count; ++i) {
      const double ns = min_trip(&places[i]);
      if (ns > handoff_ns) handoff_ns = ns;
      looks[i] = places[i].issue_ns;
    }
    apart = judge(looks, threads, handoff_ns, best);
  } else {
    atomic_store(&all.called_off, 1);
  }
  for (int i = 0; i < count; ++i) (void)pthread_join(made[i], NULL);
  (void)sched_setaffinity(0, sizeof before, &before);
  return apart;
}
