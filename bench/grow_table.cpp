// SPDX-License-Identifier: Apache-2.0
/// grow_table TABLE ROWS: adds made rows under the table's first device and setting until it holds
/// that many.
#include <cstdio>
#include <string>

#include "base/result.hpp"
#include "base/text.hpp"
#include "made_rows.hpp"

namespace {

constexpr std::int64_t kMaxAtOnce = 5000;

oplat::Status grow(const std::string& path, std::int64_t rows) {
  OPLAT_TRY(table, oplat::table::Table::open(path, oplat::table::Mode::Write));
  OPLAT_TRY(contexts, table.contexts());
  if (contexts.empty())
    return oplat::fail(oplat::Code::Input, "{}: has no row whose device and setting could be taken",
                       path);
  std::int64_t held = 0;
  for (const auto& context : contexts) held += context.rows;
  std::int64_t missing = (rows - held + 1) / 2;
  for (std::int64_t first = 0; missing > 0;) {
    const std::int64_t numbers = std::min(missing, kMaxAtOnce);
    OPLAT_CHECK(oplat::bench::put_made_rows(table, contexts.front().device,
                                            contexts.front().setting, first, numbers));
    first += numbers;
    missing -= numbers;
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: grow_table TABLE ROWS\n", stderr);
    return 2;
  }
  const auto rows = std::strtoll(arguments[2], nullptr, 10);
  if (const auto status = grow(arguments[1], rows); !status) {
    std::fprintf(stderr, "grow_table: %s\n", status.error().message.c_str());
    return 1;
  }
  return 0;
}
