// SPDX-License-Identifier: Apache-2.0
/// Foreign files as tables, by content.
#include "app/table_source.hpp"

#include <algorithm>
#include <fstream>

#include "base/text.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/registry.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::app {
namespace {

namespace fs = std::filesystem;

/// As `oplat import` reads at most.
constexpr std::uint64_t kMaxTableBytes = std::uint64_t{128} << 20;
constexpr std::string_view kPaddleslim = "paddleslim";

std::string first_bytes(const fs::path& path) {
  std::string bytes(64, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Whether it is opened as PaddleSlim's. Of another system's file, the table says how to import it.
bool looks_pickled(const fs::path& path) {
  const std::string bytes = first_bytes(path);
  if (const table::TableCodec* likely = table::likely_codec(compat::codecs(), bytes))
    return likely == &compat::paddleslim::pickle_codec();
  return path.extension() == ".pkl" && !bytes.empty() && !bytes.starts_with("SQLite format 3");
}

/// The file's own precision: the asked one where its rows have that, else the first that they have.
std::string precision_of(std::string_view bytes, const std::optional<std::string>& asked) {
  if (asked && compat::paddleslim::states_paddle_precision(bytes, *asked)) return *asked;
  for (const std::string_view precision : compat::paddleslim::paddle_precisions())
    if (compat::paddleslim::states_paddle_precision(bytes, precision))
      return std::string(precision);
  return asked.value_or(std::string(compat::paddleslim::paddle_precisions().front()));
}

/// A pickle and what its rows were measured under.
struct Pickle {
  fs::path path;
  std::string bytes;
  std::string device;
  table::Setting setting;
};

Result<Pickle> open_pickle(const fs::path& path, const predict::RowFilter& rows) {
  const std::string name = path.filename().string();
  OPLAT_TRY(bytes, base::read_file(path, kMaxTableBytes));
  const table::TableCodec& codec = compat::paddleslim::pickle_codec();
  OPLAT_TRY(setting, codec.setting(name, ""));
  setting.precision = precision_of(bytes, rows.precision);
  const auto device = codec.device_of_file(name);
  if (!device && rows.threads) setting.threads = *rows.threads;
  return Pickle{path, std::move(bytes), device.value_or(path.stem().string()), setting};
}

Result<ForeignImport> read_pickle(const Pickle& pickle, const base::Hash128& hash,
                                  bool skip_bad_rows) {
  const table::TableCodec& codec = compat::paddleslim::pickle_codec();
  OPLAT_TRY(read, codec.read(pickle.bytes,
                             {pickle.path.string(), pickle.setting.precision, skip_bad_rows}));
  return ForeignImport{pickle.setting,
                       {std::string(kPaddleslim), pickle.path.filename().string(), hash},
                       std::move(read),
                       pickle.device};
}

/// Whatever decides the table's content.
std::string table_name(const Pickle& pickle, const OpenTableOptions& options) {
  base::Hasher hasher;
  hasher.add(fmt::format("{}\n{}\n{}\n{}{}\n", pickle.path.filename().string(),
                         pickle.setting.precision, pickle.setting.threads,
                         options.skip_bad_rows ? "skip " : "",
                         options.calibrate ? "" : "not calibrated"));
  hasher.add(pickle.bytes);
  return fmt::format("paddleslim-{}-{}.oplat", table::Table::schema_version(),
                     hasher.finish().hex());
}

}  // namespace

Result<OpenedTable> open_table(const std::string& path, const OpenTableOptions& options,
                               Events& events) {
  if (!looks_pickled(path)) {
    OPLAT_TRY(table, table::Table::open(path, table::Mode::Read, compat::codecs()));
    return OpenedTable{path, false, {std::nullopt, std::move(table)}};
  }
  OPLAT_TRY(pickle, open_pickle(path, options.rows));
  const base::Hash128 hash = base::hash128(pickle.bytes);
  OPLAT_TRY(cached,
            open_cached_table({path, table_name(pickle, options), hash,
                               [&] { return read_pickle(pickle, hash, options.skip_bad_rows); },
                               options.skip_bad_rows},
                              {.calibrate = options.calibrate, .fit = false}, events));
  return OpenedTable{path, true, std::move(cached)};
}

Status learn_for(OpenedTable& table, const predict::Selection& selection, const table::Plan& plan,
                 const OpenTableOptions& options, Events& events) {
  if (!table.foreign) return {};
  OPLAT_TRY(kernels, predict::Predictor::create(table.table(), selection, std::nullopt)
                         .and_then([&](const predict::Predictor& predictor) {
                           return predictor.estimate(plan.kernels, std::nullopt,
                                                     predict::MissingPolicy::Error, false);
                         }));
  if (std::all_of(kernels.begin(), kernels.end(),
                  [](const auto& kernel) { return kernel.latency_ns.has_value(); }))
    return {};
  return fit_cached_table(table.cached, {.calibrate = options.calibrate}, events);
}

Error with_path(const OpenedTable& table, Error error) {
  if (!table.foreign) return error;
  const std::string cached = table.table().path().string();
  for (std::size_t at = 0; (at = error.message.find(cached, at)) != std::string::npos;
       at += table.path.string().size())
    error.message.replace(at, cached.size(), table.path.string());
  return error;
}

Result<predict::Selection> select_rows(const table::Table& table, const predict::RowFilter& rows) {
  OPLAT_TRY(selection, predict::select_rows(table, rows, compat::catalogue()));
  const runtimes::KnownSumError known = runtimes::sum_error(selection.setting);
  selection.sum_spread = {known.sd_log, known.compared, known.evicted_byte_ns, known.kernel_ns};
  return selection;
}

Result<predict::Selection> select_stated(const table::Table& table, predict::RowFilter rows) {
  OPLAT_TRY(settings, table.settings());
  const auto is_asked = [&](const auto& setting) {
    return setting.second.precision == *rows.precision;
  };
  if (rows.precision && std::none_of(settings.begin(), settings.end(), is_asked)) {
    OPLAT_TRY(stated, stated_precisions(table));
    if (std::find(stated.begin(), stated.end(), *rows.precision) != stated.end())
      rows.precision.reset();
  }
  return select_rows(table, rows);
}

Result<std::vector<std::string>> stated_precisions(const table::Table& table) {
  std::vector<std::string> found;
  OPLAT_CHECK(table.each_row({}, [&](const table::StoredRow& stored) {
    for (const std::string_view precision : compat::paddleslim::paddle_precisions()) {
      if (!compat::paddleslim::states_paddle_precision(stored.row.key, precision)) continue;
      if (std::find(found.begin(), found.end(), precision) == found.end())
        found.emplace_back(precision);
    }
    return found.size() < compat::paddleslim::paddle_precisions().size();
  }));
  return found;
}

Status add_row_option(predict::RowFilter& rows, const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return fail(Code::Usage,
                "--option {}: expected NAME=VALUE, or NAME= for rows without the option",
                base::printable(text));
  }
  if (!rows.options.emplace(text.substr(0, at), text.substr(at + 1)).second)
    return fail(Code::Usage, "--option {} is given twice", base::printable(text.substr(0, at)));
  return {};
}

}  // namespace oplat::app
