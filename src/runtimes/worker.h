/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * liboplat_worker: everything of a worker except its runtime, as a C library. A worker in any
 * language gives it five functions and gets the loop of docs/reference/worker-protocol.md: reading
 * and checking requests, uploads, blocks and rounds, reference kernels, cache eviction, waiting for
 * quiet cores, answers and errors. It also exports the functions of probe.h.
 *
 *     int output = oplat_worker_claim_output();      // before the runtime is loaded
 *     struct oplat_worker worker = {OPLAT_WORKER_ABI, 0, context, hello, plan, open, run, close};
 *     return oplat_worker_serve(&worker, output);
 *
 * Threads: oplat_worker_serve() calls the functions of the worker on the thread that called it, one
 * at a time. The library has no locks: call it from one thread. The key functions may be called
 * from any thread.
 *
 * Ownership: texts are UTF-8 and end in NUL. Texts that the library passes to a function of the
 * worker belong to the library and are valid until that function returns. Texts that the worker
 * passes are copied. Only oplat_worker_parse_key() and oplat_worker_print_key() return memory; give
 * it back with oplat_worker_free().
 *
 * Errors: a function of the worker reports an error with oplat_worker_refuse(). No exception may
 * leave it. A worker that crashes or hangs is killed and restarted by the client.
 */
#ifndef OPLAT_RUNTIMES_WORKER_H
#define OPLAT_RUNTIMES_WORKER_H

#include <stdint.h>

#if defined(__GNUC__)
#define OPLAT_WORKER_API __attribute__((visibility("default")))
#else
#define OPLAT_WORKER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Increases whenever a function or structure below changes its meaning or layout. It is also the
 * number in the file name: liboplat_worker.so.1. */
#define OPLAT_WORKER_ABI 1

/** OPLAT_WORKER_ABI of the loaded library. Compare it before any other call. */
OPLAT_WORKER_API int32_t oplat_worker_abi(void);

/** Where a function of the worker puts its answer; valid until that function returns. */
typedef struct oplat_worker_reply oplat_worker_reply;

/** Answers with a JSON object. The last call of oplat_worker_answer() or oplat_worker_refuse()
 * counts. */
OPLAT_WORKER_API void oplat_worker_answer(oplat_worker_reply* reply, const char* json);

/** Answers with a reason instead of a result. `kind` is
 * - in open: "unsupported" (the runtime cannot run such a kernel), "skipped" (it can, but not on
 *   this machine, memory for example) or "failed" (it tried). A campaign records it and goes on.
 * - in run: "failed". The block ends with it; any other kind counts as "failed".
 * - anywhere else, and in open: an error code of the protocol, such as "usage", "input", "runtime"
 *   or "internal". An unknown kind counts as "internal".
 * `reason` is lower case, without a full stop, and says what is wrong, where, and what to do. */
OPLAT_WORKER_API void oplat_worker_refuse(oplat_worker_reply* reply, const char* kind,
                                          const char* reason);

/** A worker: its functions and a pointer that each of them receives. Requests and answers are the
 * JSON objects of docs/reference/worker-protocol.md. In requests every optional field is filled
 * in. */
struct oplat_worker {
  int32_t abi; /**< OPLAT_WORKER_ABI of the header that the worker was written against */
  /** 0, or 1 if run() returns recorded times without waiting. A block then counts these times
   * instead of the clock and does without references and cache eviction. */
  int32_t virtual_time;
  void* context;

  /** Answers {"runtime", "version"} and whatever else of `hello` differs from its default. The
   * library adds "protocol" and, if it is missing, "device" with the facts of this machine. */
  void (*hello)(void* context, oplat_worker_reply* reply);
  /** Answers the plan of a model, with keys as text (see oplat_worker_print_key). */
  void (*plan)(void* context, const char* request, oplat_worker_reply* reply);
  /** Prepares a kernel ("key") or a whole model ("model"), whichever the request holds. Answers
   * {"handle": 1, "bytes": 64, "topology": "chain"}. */
  void (*open)(void* context, const char* request, oplat_worker_reply* reply);
  /** Runs what `handle` holds once and returns the time in ns, finite and not negative. Time it
   * with oplat_probe_now_ns() as closely as possible around the call of the runtime. */
  double (*run)(void* context, int64_t handle, oplat_worker_reply* reply);
  /** Frees what `handle` holds. No answer is needed. */
  void (*close)(void* context, int64_t handle, oplat_worker_reply* reply);
};

/** Keeps what is standard output for the protocol, and sends what anyone prints there from now on
 * to standard error. Returns the descriptor for oplat_worker_serve(), or -1. Call it once, before
 * the runtime is loaded. */
OPLAT_WORKER_API int oplat_worker_claim_output(void);

/** Answers the requests on standard input until `shutdown` or the end of input. Sets the process up
 * as a worker (killed together with its parent; SIGPIPE is ignored; SIGINT and SIGTERM end it).
 * `worker` must stay valid and unchanged meanwhile. Returns the exit status for the process: 0, or
 * 1 if it could not serve. If `worker->abi` is not the library's, every request is answered with an
 * error that names both versions. */
OPLAT_WORKER_API int oplat_worker_serve(const struct oplat_worker* worker, int output);

/** For a worker whose runtime does not load: answers every request with this error, so that the
 * client can show the reason. `code` is an error code of the protocol, usually "runtime". Returns
 * 1. */
OPLAT_WORKER_API int oplat_worker_serve_failure(const char* code, const char* message, int output);

/** Reads the text of a key (docs/reference/keys.md) into JSON:
 *
 *     {"domain": "", "op": "Conv", "since": 11, "tags": {}, "attributes": {"group": 1},
 *      "operands": [{"dtype": "f32", "dims": [1, null]},
 *                   {"dtype": "i64", "dims": [2], "constant": true, "value": [3, 4]},
 *                   {"alias": 0}, null],
 *      "results": [{"alias": 0}]}
 *
 * An operand or result is a tensor, the alias of an operand, or null if missing. "since" is null if
 * not given, "dims" is null if the rank is unknown, and an unknown dimension or value is null.
 * "value" is present only if the key has one. Values are integers, floats, texts (also true and
 * false) and lists; {"float": "nan"}, "inf" and "-inf" stand for floats that JSON lacks.
 *
 * Returns 0 and the JSON in `*out`, or an errno value (EINVAL, ENOMEM) and the reason in `*out`,
 * which is NULL if memory is short. */
OPLAT_WORKER_API int oplat_worker_parse_key(const char* key, char** out);

/** The reverse: prints the canonical text of a key. Names may come in any order, fields other than
 * "op" and the "dtype" of a tensor may be missing, and true and false stand for these words.
 * Returns as above. */
OPLAT_WORKER_API int oplat_worker_print_key(const char* json, char** out);

/** Frees a text that the library returned. NULL is allowed. */
OPLAT_WORKER_API void oplat_worker_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
