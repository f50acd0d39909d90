/* SPDX-License-Identifier: Apache-2.0 */
/** @file Facts of the machine, from sysfs, sysconf and /proc/cpuinfo. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtimes/probe.h"

/* Extensions that decide which kernels a runtime picks; the names are those of /proc/cpuinfo.
 * Sorted bytewise. */
static const char* const kExtensions[] = {
    "amx_bf16", "amx_fp16", "amx_int8",    "amx_tile",    "asimd",       "asimddp",  "asimdhp",
    "avx",      "avx2",     "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx512bw", "avx512cd",
    "avx512dq", "avx512f",  "avx512vl",    "avx_vnni",    "bf16",        "f16c",     "fma",
    "fphp",     "i8mm",     "neon",        "sme",         "sme2",        "sse4_1",   "sse4_2",
    "ssse3",    "sve",      "sve2",        "svebf16",     "svei8mm",     "vfpv4",
};

/* The first line of a small file without its end; 0 where there is none. */
static int read_line(const char* path, char* line, size_t bytes) {
  FILE* file = fopen(path, "re");
  if (file == NULL) return 0;
  const int found = fgets(line, (int)bytes, file) != NULL;
  fclose(file);
  if (!found) return 0;
  line[strcspn(line, "\n")] = '\0';
  return 1;
}

/* "48K", "1024K", "32M", "33554432"; 0 for anything else. */
static int64_t parse_size(const char* text) {
  char* end = NULL;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (errno != 0 || end == text || number <= 0 || number > (1LL << 40)) return 0;
  int shift = 0;
  if (*end == 'K') shift = 10;
  if (*end == 'M') shift = 20;
  if (*end == 'G') shift = 30;
  if (shift > 0 && number > (1LL << 20)) return 0;
  return (int64_t)number << shift;
}

static void read_caches(struct oplat_probe_machine* out) {
  long highest = 0;
  for (int index = 0; index < 16; ++index) {
    char path[96];
    char line[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
    if (!read_line(path, line, sizeof line)) break;
    const int data = strcmp(line, "Instruction") != 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
    if (!data || !read_line(path, line, sizeof line)) continue;
    const long level = strtol(line, NULL, 10);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    const int64_t bytes = read_line(path, line, sizeof line) ? parse_size(line) : 0;
    if (bytes == 0) continue;
    if (level == 1) out->l1d_bytes = bytes;
    if (level == 2) out->l2_bytes = bytes;
    if (level > highest) {
      highest = level;
      out->llc_bytes = bytes;
    }
  }
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (out->l1d_bytes == 0 && l1 > 0) out->l1d_bytes = l1;
  if (out->l2_bytes == 0 && l2 > 0) out->l2_bytes = l2;
  if (out->llc_bytes == 0 && l3 > 0) out->llc_bytes = l3;
#endif
  if (out->llc_bytes == 0) out->llc_bytes = out->l2_bytes;
}

static int holds_word(const char* words, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = strstr(words, word); at != NULL; at = strstr(at + 1, word)) {
    const int begins = at == words || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return 1;
  }
  return 0;
}

static void copy_text(char* to, size_t bytes, const char* from) { snprintf(to, bytes, "%s", from); }

static void list_extensions(const char* words, struct oplat_probe_machine* out) {
  size_t used = 0;
  for (size_t i = 0; i < sizeof kExtensions / sizeof kExtensions[0]; ++i) {
    if (!holds_word(words, kExtensions[i])) continue;
    const int wrote = snprintf(out->isa + used, sizeof out->isa - used, "%s%s",
                               used == 0 ? "" : " ", kExtensions[i]);
    if (wrote < 0 || (size_t)wrote >= sizeof out->isa - used) break;
    used += (size_t)wrote;
  }
}

/* The first processor of /proc/cpuinfo speaks for all. */
static void read_cpuinfo(struct oplat_probe_machine* out) {
  static char line[16384];
  FILE* file = fopen("/proc/cpuinfo", "re");
  if (file == NULL) return;
  while (fgets(line, (int)sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char* colon = strchr(line, ':');
    if (colon == NULL) continue;
    const char* value = colon[1] == ' ' ? colon + 2 : colon + 1;
    while (colon > line && (colon[-1] == ' ' || colon[-1] == '\t')) --colon;
    *colon = '\0';
    const int model = strcmp(line, "model name") == 0 || strcmp(line, "Hardware") == 0;
    if (model && out->cpu[0] == '\0') copy_text(out->cpu, sizeof out->cpu, value);
    const int flags = strcmp(line, "flags") == 0 || strcmp(line, "Features") == 0;
    if (flags && out->isa[0] == '\0') list_extensions(value, out);
  }
  fclose(file);
}

int oplat_probe_read_machine(struct oplat_probe_machine* out) {
  if (out == NULL) return EINVAL;
  memset(out, 0, sizeof *out);
  read_caches(out);
  read_cpuinfo(out);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores > 0) out->cores = cores;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) out->memory_bytes = (int64_t)pages * (int64_t)page;
  struct utsname name;
  if (uname(&name) == 0)
    snprintf(out->architecture, sizeof out->architecture, "%.*s", 31, name.machine);
  return 0;
}
