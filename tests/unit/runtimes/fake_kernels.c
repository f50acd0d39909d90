/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * A worker of kernels that only pretend, written in C on liboplat_worker.
 * tests/python/fake_kernels.py is the same worker in Python; a recorded session must give the same
 * answers with both. Its argument is a mode: "real", "virtual" (recorded times), "old" (of another
 * version of the library), `absent` (its runtime does not load). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtimes/worker.h"

enum { kMaxHandles = 64, kTiredAfter = 2 };

/** What open() prepared. */
struct kernel {
  int open;
  int tired; /**< fails after some calls */
  int calls;
  long copies;
  void (*dies)(void); /**< how it takes the worker along; NULL: not at all */
};
static struct kernel kernels[kMaxHandles];
static int count;
static long calls; /* of all kernels: a session has one sequence of times */

static void hang(void) {
  for (;;) pause();
}

static void hello(void* context, oplat_worker_reply* reply) {
  (void)context;
  oplat_worker_answer(
      reply,
      "{\"runtime\": \"fake\", \"version\": \"1\", \"build\": \"b\", \"most_threads\": 2,"
      " \"options\": {\"level\": {\"values\": [\"0\", \"1\"], \"default\": \"1\"}}}");
}

static void plan(void* context, const char* request, oplat_worker_reply* reply) {
  (void)context;
  printf("a runtime that prints\n");
  fflush(stdout);
  if (strstr(request, "\"model\":\"net\"") == NULL) {
    oplat_worker_refuse(reply, "input", "no such model");
    return;
  }
  char* key = NULL;
  const int status = oplat_worker_print_key(
      "{\"op\": \"Conv\", \"since\": 11, \"attributes\": {\"pads\": [1, 1], \"alpha\": 0.5, "
      "\"ceil\": true},"
      " \"operands\": [{\"dtype\": \"f32\", \"dims\": [1, 3, 8]}, null, {\"alias\": 0}],"
      " \"results\": [{\"alias\": 0}]}",
      &key);
  if (status != 0) {
    oplat_worker_refuse(reply, "internal", key);
  } else {
    char answer[1024];
    snprintf(answer, sizeof answer,
             "{\"model\": \"net\", \"source\": \"runtime\", \"batch\": 1, \"weight_bytes\": 8,"
             " \"kernels\": [{\"name\": \"n0\", \"key\": \"%s\"}]}",
             key);
    oplat_worker_answer(reply, answer);
  }
  oplat_worker_free(key);
}

/** Whether the request's key begins with the operator `op`. */
static int is_op(const char* request, const char* op) {
  char begin[64];
  snprintf(begin, sizeof begin, "\"key\":\"%s", op);
  return strstr(request, begin) != NULL;
}

static void open_kernel(void* context, const char* request, oplat_worker_reply* reply) {
  (void)context;
  if (is_op(request, "Unsupported")) {
    oplat_worker_refuse(reply, "unsupported", "not such a kernel");
  } else if (is_op(request, "Skipped")) {
    oplat_worker_refuse(reply, "skipped", "not on this machine");
  } else if (is_op(request, "Failed")) {
    oplat_worker_refuse(reply, "failed", "it tried");
  } else if (is_op(request, "Wrong")) {
    oplat_worker_refuse(reply, "usage", "there is no option 'x'");
  } else if (count + 1 >= kMaxHandles) {
    oplat_worker_refuse(reply, "skipped", "too many handles");
  } else {
    const char* copies = strstr(request, "\"copies\":");
    struct kernel* kernel = &kernels[++count];
    kernel->open = 1;
    kernel->copies = copies == NULL ? 1 : strtol(copies + strlen("\"copies\":"), NULL, 10);
    kernel->tired = is_op(request, "Tired");
    kernel->dies = is_op(request, "Crash") ? abort : is_op(request, "Hang") ? hang : NULL;
    char answer[128];
    snprintf(answer, sizeof answer, "{\"handle\": %d, \"bytes\": %ld, \"topology\": \"%s\"}", count,
             64 * kernel->copies, kernel->copies > 1 ? "fan" : "single");
    oplat_worker_answer(reply, answer);
  }
}

static double run(void* context, int64_t handle, oplat_worker_reply* reply) {
  (void)context;
  if (handle < 1 || handle > count || !kernels[handle].open) {
    oplat_worker_refuse(reply, "failed", "no such handle");
    return 0;
  }
  struct kernel* kernel = &kernels[handle];
  if (kernel->dies != NULL) kernel->dies();
  if (++kernel->calls > kTiredAfter && kernel->tired) {
    oplat_worker_refuse(reply, "failed", "kernel returned error 7");
    return 0;
  }
  return 1000.0 * (double)kernel->copies + 0.5 * (double)(++calls % 7);
}

static void close_kernel(void* context, int64_t handle, oplat_worker_reply* reply) {
  (void)context;
  if (handle < 1 || handle > count || !kernels[handle].open) {
    oplat_worker_refuse(reply, "usage", "no such handle");
    return;
  }
  kernels[handle].open = 0;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "real";
  const int output = oplat_worker_claim_output();
  if (strcmp(mode, "absent") == 0)
    return oplat_worker_serve_failure("runtime", "libfake is not installed", output);
  const struct oplat_worker worker = {
      strcmp(mode, "old") == 0 ? OPLAT_WORKER_ABI + 1 : OPLAT_WORKER_ABI,
      strcmp(mode, "virtual") == 0,
      NULL,
      hello,
      plan,
      open_kernel,
      run,
      close_kernel};
  return oplat_worker_serve(&worker, output);
}
