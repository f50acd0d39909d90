// SPDX-License-Identifier: Apache-2.0
/// The bytes of a table. Those that begin as SQLite's files do are the file; others are changes of
/// a sound table: "OFFSET=BYTES" in decimal, separated by the byte 0x1e. So a few bytes say what
/// to damage, and libFuzzer need not carry a whole file along.
#include <cstdint>
#include <string>

#include "base/text.hpp"
#include "table_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string file;
  if (input.starts_with("SQLite")) {
    file = input;
  } else {
    file = oplat::fuzz::sound_table();
    for (const std::string& change : oplat::base::split(input, '\x1e')) {
      const std::size_t equals = change.find('=');
      if (equals == std::string::npos) continue;
      const auto at = oplat::base::parse_int(change.substr(0, equals));
      if (!at || *at < 0) continue;
      const std::string bytes = change.substr(equals + 1);
      if (bytes.empty()) file.resize(std::min(file.size(), static_cast<std::size_t>(*at)));
      for (std::size_t i = 0; i < bytes.size(); ++i)
        if (!file.empty()) file[(static_cast<std::size_t>(*at) + i) % file.size()] = bytes[i];
    }
  }
  oplat::fuzz::put_table(file);
  oplat::fuzz::ask_everything();
  return 0;
}
