// SPDX-License-Identifier: Apache-2.0
/// Foreign files as tables, by content.
#include "cli/any_table.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "cli/learning.hpp"
#include "oplat/table/codec.hpp"

namespace oplat::cli {
namespace {

namespace fs = std::filesystem;

/// As `oplat import` reads at most.
constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;
constexpr std::string_view kPaddleslim = "paddleslim";

/// What keys of PaddleSlim's tables say of a product's precision.
struct Stated {
  std::string_view precision;
  std::string_view in_key;
};
constexpr std::array kStated = {Stated{"fp32", "bit_length=None"}, Stated{"fp16", "bit_length=16"}, Stated{"int8", "bit_length=8"}};

std::string first_bytes(const fs::path& path) {
  std::string bytes(16, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool looks_pickled(const fs::path& path) {
  const std::string bytes = first_bytes(path);
  if (table::likely_format(bytes) == kPaddleslim) return true;
  return path.extension() == ".pkl" && !bytes.empty() && !bytes.starts_with("SQLite format 3");
}

bool states(std::string_view key, std::string_view precision) {
  return std::any_of(kStated.begin(), kStated.end(), [&](const Stated& stated) {
    return stated.precision == precision && key.find(stated.in_key) != std::string_view::npos;
  });
}

/// The file's own precision: the asked one where its rows have that, else the first that they have.
std::string precision_of(std::string_view bytes, const std::optional<std::string>& asked) {
  if (asked && states(bytes, *asked)) return *asked;
  for (const Stated& stated : kStated)
    if (states(bytes, stated.precision)) return std::string(stated.precision);
  return asked.value_or(std::string(kStated.front().precision));
}

/// A pickle and what its rows were measured under.
struct Pickle {
  fs::path path;
  std::string bytes;
  std::string device;
  table::Setting setting;
};

Result<Pickle> open_pickle(const fs::path& path, const predict::Question& question) {
  const std::string name = path.filename().string();
  OPLAT_TRY(bytes, base::read_file(path, kMostBytes));
  OPLAT_TRY(codec, table::make_codec(kPaddleslim));
  OPLAT_TRY(setting, codec->setting(name, ""));
  setting.precision = precision_of(bytes, question.precision);
  const auto device = table::device_of_file(kPaddleslim, name);
  if (!device && question.threads) setting.threads = *question.threads;
  return Pickle{path, std::move(bytes), device.value_or(path.stem().string()), setting};
}

Result<ForeignImport> read_pickle(const Pickle& pickle, const base::Hash128& hash, bool skip_bad_rows, std::vector<std::string>& warnings) {
  OPLAT_TRY(codec, table::make_codec(kPaddleslim));
  OPLAT_TRY(read, codec->read(pickle.bytes, {pickle.path.string(), pickle.setting.precision, skip_bad_rows}));
  warn_of_skipped(pickle.path, read.skipped, read.notes, warnings);
  return ForeignImport{pickle.setting, {std::string(kPaddleslim), pickle.path.filename().string(), hash}, std::move(read.file), pickle.device};
}

/// Whatever decides the table's content.
std::string table_name(const Pickle& pickle, const AnyTableWish& wish) {
  base::Hasher hasher;
  hasher.add(fmt::format("{}\n{}\n{}\n{}{}\n", pickle.path.filename().string(), pickle.setting.precision, pickle.setting.threads,
                         wish.skip_bad_rows ? "skip " : "", wish.calibrate ? "" : "not calibrated"));
  hasher.add(pickle.bytes);
  return fmt::format("paddleslim-{}-{}.oplat", table::Table::schema_version(), hasher.finish().hex());
}

}  // namespace

void add_foreign_options(const Command& command, AnyTableWish& to) {
  command.add_flag("--skip-bad-rows", to.skip_bad_rows, "of a --table of another system, leave malformed rows out, and name them");
  add_calibrate(command, to.calibrate);
}

Result<AnyTable> open_any_table(const std::string& path, const AnyTableWish& wish, std::vector<std::string>& warnings) {
  if (!looks_pickled(path)) {
    OPLAT_TRY(table, table::Table::open(path, table::Mode::Read));
    return AnyTable{path, false, {std::nullopt, std::move(table)}};
  }
  OPLAT_TRY(pickle, open_pickle(path, wish.question));
  const base::Hash128 hash = base::hash128(pickle.bytes);
  OPLAT_TRY(kept, kept_table({path, table_name(pickle, wish), hash, [&] { return read_pickle(pickle, hash, wish.skip_bad_rows, warnings); }},
                             {wish.loudness, wish.calibrate, false}, warnings));
  return AnyTable{path, true, std::move(kept)};
}

Status learn_for(AnyTable& table, const predict::Selection& selection, const table::Plan& plan, const AnyTableWish& wish,
                 std::vector<std::string>& warnings) {
  if (!table.foreign) return {};
  OPLAT_TRY(kernels, predict::Predictor::create(table.table(), selection, std::nullopt).and_then([&](const predict::Predictor& predictor) {
    return predictor.estimate(plan.kernels, std::nullopt, predict::MissingPolicy::Error, false);
  }));
  if (std::all_of(kernels.begin(), kernels.end(), [](const auto& kernel) { return kernel.latency_ns.has_value(); })) return {};
  return fit_kept_table(table.kept, {wish.loudness, wish.calibrate, true}, warnings);
}

Error with_path(const AnyTable& table, Error error) {
  if (!table.foreign) return error;
  const std::string kept = table.table().path().string();
  for (std::size_t at = 0; (at = error.message.find(kept, at)) != std::string::npos; at += table.path.string().size())
    error.message.replace(at, kept.size(), table.path.string());
  return error;
}

Result<std::vector<std::string>> stated_precisions(const table::Table& table) {
  std::vector<std::string> found;
  OPLAT_CHECK(table.each_row([&](const table::StoredRow& stored) {
    for (const Stated& one : kStated) {
      if (!states(stored.row.key, one.precision)) continue;
      if (std::find(found.begin(), found.end(), one.precision) == found.end()) found.emplace_back(one.precision);
    }
    return found.size() < kStated.size();
  }));
  return found;
}

}  // namespace oplat::cli
