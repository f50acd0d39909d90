// SPDX-License-Identifier: Apache-2.0
#include "app/suggestions.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "formats/format_reader.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::app {
namespace {

/// A name as NAME=VALUE takes it (base/name_value.hpp).
std::string quoted_name(const std::string& name) {
  if (name.find('=') == std::string::npos && !name.starts_with('"')) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void add(std::vector<std::string>& words, std::string flag, std::string value) {
  words.push_back(std::move(flag));
  words.push_back(std::move(value));
}

}  // namespace

std::vector<std::string> input_words(const ModelInputs& inputs) {
  std::vector<std::string> words;
  for (const auto& [name, dims] : inputs.shapes.shapes)
    add(words, "--shape", fmt::format("{}={}", quoted_name(name), fmt::join(dims, "x")));
  if (inputs.shapes.batch) add(words, "--batch", std::to_string(*inputs.shapes.batch));
  for (const auto& [name, data] : inputs.data)
    add(words, "--input", fmt::format("{}={}", quoted_name(name), data));
  return words;
}

std::string profile_command(const std::string& model, const ModelInputs& inputs,
                            const std::string& table, const table::Setting& setting,
                            const predict::RowFilter& asked) {
  const std::string runtime = asked.runtime.value_or(setting.runtime);
  const std::int64_t threads = asked.threads.value_or(setting.threads);
  const std::string precision = asked.precision.value_or(setting.precision);
  if (runtimes::find_runtime(runtime) == nullptr) return {};
  std::vector<std::string> words = {"oplat", "profile", "--model", model};
  for (std::string& word : input_words(inputs)) words.push_back(std::move(word));
  add(words, "--table", table);
  add(words, "--runtime", runtime);
  if (threads != 1) add(words, "--threads", std::to_string(threads));
  if (precision != "model") add(words, "--precision", precision);
  if (asked.device) add(words, "--device", *asked.device);
  for (const auto& [name, value] : asked.options)
    if (!value.empty()) add(words, "--option", fmt::format("{}={}", name, value));
  return base::shell_command(words);
}

std::string suggested_runtime(const std::string& model) {
  // A message is not worth reading more.
  constexpr std::uint64_t kMaxRead = std::uint64_t{256} << 20;
  std::string format;
  if (auto bytes = base::read_file(model, kMaxRead)) {
    const auto reader = formats::reader_for(base::Source::from_bytes(model, *std::move(bytes)));
    if (reader) format = (*reader)->name();
  }
  const std::string extension = std::filesystem::path(model).extension().string();
  if (format.empty() && extension == ".pdmodel") format = "paddle";
  if (format.empty() && !extension.empty()) format = extension.substr(1);
  for (const runtimes::RuntimeEntry& entry : runtimes::runtimes()) {
    if (std::find(entry.reads.begin(), entry.reads.end(), format) != entry.reads.end())
      return std::string(entry.name);
  }
  return "onnxruntime";
}

std::string table_suggestion(const std::string& model) {
  return fmt::format(
      "it names a latency table, as OPLAT_TABLE does; make one with: oplat profile --model {} "
      "--table net.oplat --runtime {}",
      base::shell_word(base::printable(model, 400)), suggested_runtime(model));
}

Result<std::string> fit_command(const table::Table& table, const predict::Selection& selection) {
  std::vector<std::string> words = {"oplat", "fit", table.path().string()};
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(devices, table.devices());
  const auto differ = [&](const auto& field) {
    return std::any_of(settings.begin(), settings.end(), [&](const auto& one) {
      return one.second.*field != selection.setting.*field;
    });
  };
  if (devices.size() > 1) add(words, "--device", selection.device.name);
  if (differ(&table::Setting::runtime)) add(words, "--runtime", selection.setting.runtime);
  if (differ(&table::Setting::version)) add(words, "--runtime-version", selection.setting.version);
  if (differ(&table::Setting::precision)) add(words, "--precision", selection.setting.precision);
  if (differ(&table::Setting::threads))
    add(words, "--threads", std::to_string(selection.setting.threads));
  return base::shell_command(words);
}

}  // namespace oplat::app
