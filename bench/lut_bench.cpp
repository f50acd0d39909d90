// SPDX-License-Identifier: Apache-2.0
/// How long a look-up table of 100,000 records takes to open, as text and as a table, and a query
/// of each. usage: lut_bench [RECORDS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "compat/mobile_vision/codec.hpp"
#include "compat/mobile_vision/lut_rows.hpp"
#include "table/exchange.hpp"

namespace {

using namespace oplat;

constexpr int kRounds = 5;
constexpr std::size_t kQueries = 10'000;

/// A 3x3 or 1x1 convolution; another one for each `number` below 2^20.
compat::mobile_vision::LutRecord made_record(std::int64_t number) {
  const std::int64_t in = 8 + number % 64 * 8;
  const std::int64_t out = 8 + number / 64 % 64 * 8;
  const std::int64_t side = 7 + number / 4096;
  const std::int64_t kernel = number % 2 == 0 ? 1 : 3;
  compat::mobile_vision::LutRecord record;
  record.query.op_type = number % 3 == 0 ? "Int8Conv" : "Int8ConvRelu";
  for (const auto& [name, value] : {std::pair("kernel", kernel), std::pair("pad", kernel / 2),
                                    std::pair("stride", std::int64_t{1})}) {
    record.query.op_args.push_back(fmt::format("name: \"{}\"\ni: {}\n", name, value));
  }
  record.query.op_args.insert(record.query.op_args.begin() + 1, "name: \"order\"\ns: \"NHWC\"\n");
  record.query.input_shapes = {{1, side, side, in}, {out, kernel, kernel, in}, {out}};
  record.query.input_dtypes = {6, 6, 2};
  record.device = "phone";
  const double ns = 1000 * (20 + static_cast<double>(number % 977));
  record.p0 = record.p10 = record.p50 = compat::mobile_vision::lut_time_of_ns(ns);
  record.p90 = record.p100 = compat::mobile_vision::lut_time_of_ns(1.2 * ns);
  return record;
}

template <class Work>
double milliseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// The fastest of some rounds.
template <class Work>
double best(const Work& work) {
  double least = milliseconds(work);
  for (int i = 1; i < kRounds; ++i) least = std::min(least, milliseconds(work));
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? base::parse_int(argv[1]).value_or(0) : 100'000;
  if (count < 1 || count > 1'000'000) {
    fmt::print(stderr, "usage: lut_bench [RECORDS, 1 to 1000000]\n");
    return 2;
  }
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes += compat::mobile_vision::lut_line(made_record(i));
  std::vector<formats::caffe2::LutQuery> queries;
  for (std::size_t i = 0; i < kQueries; ++i)
    queries.push_back(made_record(static_cast<std::int64_t>(i) * 7919 % count).query);
  fmt::print("{} records, {:.1f} MB\n", count, static_cast<double>(bytes.size()) / 1e6);

  std::size_t found = 0;
  fmt::print("open as text: {:.0f} ms\n", best([&] {
               const auto lut = compat::mobile_vision::read_lut(bytes, "bench").value();
               const compat::mobile_vision::LutIndex index(lut.records);
               found += index.find(queries.front(), "phone").size();
             }));
  const auto lut = compat::mobile_vision::read_lut(bytes, "bench").value();
  const compat::mobile_vision::LutIndex index(lut.records);
  const double text_ms = best([&] {
    for (const formats::caffe2::LutQuery& query : queries)
      found += index.find(query, "phone").size();
  });
  fmt::print("a query of the text: {:.2f} us\n", text_ms * 1e3 / static_cast<double>(kQueries));

  const auto folder = base::TemporaryFolder::create("oplat-lut-bench").value();
  const auto path = folder.path() / "t.oplat";
  const table::TableCodec& codec = compat::mobile_vision::lut_codec();
  const auto setting = codec.setting("bench", "").value();
  fmt::print("import into a table: {:.0f} ms\n", milliseconds([&] {
               auto table = table::Table::open(path, table::Mode::Create).value();
               const auto read = codec.read(bytes, {"bench", "model", false}).value();
               table::import_foreign(table, codec,
                                     {{"lut", "bench", base::hash128(bytes)}, "phone", setting},
                                     read.file)
                   .value();
             }));
  fmt::print("open as a table, with one look-up: {:.1f} ms\n", best([&] {
               const auto table = table::Table::open(path, table::Mode::Read).value();
               const auto device = table.find_device("phone").value().value();
               found += compat::mobile_vision::LutRows(
                            table, device, {table.find_setting(setting).value().value()})
                            .find(queries.front())
                            .value()
                            .times.size();
             }));
  const auto table = table::Table::open(path, table::Mode::Read).value();
  const auto device = table.find_device("phone").value().value();
  const auto setting_id = table.find_setting(setting).value().value();
  compat::mobile_vision::LutRows rows(table, device, {setting_id});
  for (const char* const when : {"first", "second"}) {
    const double ms = milliseconds([&] {
      for (const formats::caffe2::LutQuery& query : queries)
        found += rows.find(query).value().times.size();
    });
    fmt::print("a query of the table, the {} time: {:.2f} us\n", when,
               ms * 1e3 / static_cast<double>(kQueries));
  }
  return found > 0 ? 0 : 1;
}
