// SPDX-License-Identifier: Apache-2.0
/// with_predicted_table COMMAND [ARGUMENT...]: runs the command with OPLAT_SAMPLE_TABLE,
/// OPLAT_SAMPLE_MODEL and OPLAT_SAMPLE_MODEL_WITHOUT_PLAN in its environment. The model takes 5 us
/// by the table; everything is deleted afterwards.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "unit/app/predicted_table.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: with_predicted_table COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  const oplat::app::testing::PredictedTable made;
  ::setenv("OPLAT_SAMPLE_TABLE", made.path().c_str(), 1);
  ::setenv("OPLAT_SAMPLE_MODEL", made.model().c_str(), 1);
  ::setenv("OPLAT_SAMPLE_MODEL_WITHOUT_PLAN", made.without_plan().c_str(), 1);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    ::_exit(127);
  }
  int status = 1;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
