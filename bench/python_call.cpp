// SPDX-License-Identifier: Apache-2.0
/// The C++ side of bench/python_call.py: ns of one call each of what that calls from Python.
/// python_call TABLE MODEL KEY CALLS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>

#include "app/predict.hpp"
#include "oplat/key.hpp"

namespace {

/// The fastest of these calls.
template <class Call>
double ns_of(int calls, const Call& call) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return fmt::print(stderr, "usage: python_call TABLE MODEL KEY CALLS\n"), 2;
  const int calls = std::atoi(argv[4]);
  oplat::app::CollectedEvents events;
  auto table = oplat::app::open_table(argv[1], {}, events);
  if (!table) return fmt::print(stderr, "{}\n", table.error().message), 1;
  oplat::app::PredictRequest request;
  request.model = argv[2];
  oplat::app::PredictMemo memo;  // as an open table of Python has it
  const auto predict = [&] { return oplat::app::predict(request, *table, memo, events); };
  if (const auto result = predict(); !result)
    return fmt::print(stderr, "{}\n", result.error().message), 1;
  const std::string key = argv[3];
  fmt::print("{{\"predict\": {}, \"key\": {}}}\n",
             ns_of(calls, [&] { static_cast<void>(predict()); }),
             ns_of(20 * calls, [&] { static_cast<void>(oplat::Key::parse(key)); }));
  return 0;
}
