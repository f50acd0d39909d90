// SPDX-License-Identifier: Apache-2.0
/// TableCodec: the seam between other systems' latency tables and rows. This layer knows no format;
/// whoever works with foreign files hands in a list of codecs (compat/registry.hpp has the one of
/// oplat, tests have their own).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "table/foreign.hpp"
#include "table/table.hpp"

namespace oplat::table {

struct ReadOptions {
  std::string name;            ///< of the file, for messages
  std::string precision;       ///< of Setting, as setting() gives it
  bool skip_bad_rows = false;  ///< leave malformed rows out; their bytes are kept for write()
};
/// What a file itself says of where and how its rows were measured; a user's flag counts before it.
struct SettingFacts {
  std::optional<std::string> device;
  std::optional<std::int64_t> threads;
  std::string version;                         ///< of the runtime
  std::map<std::string, std::string> options;  ///< of Setting
  std::optional<std::string> precision = {};   ///< of all rows that say one
};
struct ForeignRead {
  ForeignFile file;
  std::size_t skipped = 0;                 ///< malformed rows that were left out
  std::vector<std::string> notes;          ///< the first ten of them: "line 7: ..."
  std::vector<std::string> warnings = {};  ///< what is odd about rows that were read
  SettingFacts told = {};
};

/// A foreign table format, read and written. Stateless: one object serves any number of files, and
/// any number of threads at a time.
class TableCodec {
 public:
  TableCodec() = default;
  TableCodec(const TableCodec&) = delete;
  TableCodec& operator=(const TableCodec&) = delete;
  virtual ~TableCodec() = default;

  /// Of the format: what `--format` and Row::origin say.
  [[nodiscard]] std::string_view name() const { return do_name(); }
  /// What the format is, for help texts: "latency library of op_profiler".
  [[nodiscard]] std::string_view description() const { return do_description(); }
  /// Whether a file that begins with these bytes may be of the format. A guess for hints: read()
  /// decides.
  [[nodiscard]] bool looks_like(std::string_view bytes) const { return do_looks_like(bytes); }
  /// The device that the name of a file tells; std::nullopt if it does not.
  [[nodiscard]] std::optional<std::string> device_of_file(std::string_view file_name) const {
    return do_device_of_file(file_name);
  }
  /// Whether files of the format may name their device inside, so that nothing is missing before
  /// they are read.
  [[nodiscard]] bool may_name_device() const { return do_may_name_device(); }
  /// What the rows of a file of this name were measured under, as far as the format says.
  /// `precision` is the user's word; empty: told from the file's name. Code::Usage for a word that
  /// the format does not have, naming those that it has.
  [[nodiscard]] Result<Setting> setting(std::string_view file_name,
                                        std::string_view precision) const {
    return do_setting(file_name, precision);
  }
  /// Code::Input names every malformed row, the first ten with line and reason; also where no row
  /// holds a time.
  [[nodiscard]] Result<ForeignRead> read(std::string_view bytes, const ReadOptions& options) const {
    return do_read(bytes, options);
  }
  /// Whether the format can say a row of this key; some have no way to say one without a time.
  [[nodiscard]] bool accepts(std::string_view key, bool timed = true) const {
    return do_accepts(key, timed);
  }
  /// What rows of the format are told apart by: the key, or its text where that says less, so that
  /// several keys share one.
  [[nodiscard]] std::string identity(std::string_view key) const { return do_identity(key); }
  /// read()'s bytes again. Rows without text, measured by oplat for instance, get the format's own,
  /// and a head that says what they were measured under, where the format has one. Code::Input
  /// names a key that the format cannot say.
  [[nodiscard]] Result<std::string> write(const ForeignFile& file,
                                          const Setting& setting = {}) const {
    return do_write(file, setting);
  }
  /// Keeps what look-ups by the format's own rule want besides the rows of the pair, unless what
  /// was kept still holds.
  [[nodiscard]] Status index(Table& table, DeviceId device, SettingId setting) const {
    return do_index(table, device, setting);
  }

 private:
  [[nodiscard]] virtual std::string_view do_name() const = 0;
  [[nodiscard]] virtual std::string_view do_description() const = 0;
  [[nodiscard]] virtual bool do_looks_like(std::string_view bytes) const = 0;
  [[nodiscard]] virtual std::optional<std::string> do_device_of_file(
      std::string_view /*file_name*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual bool do_may_name_device() const { return false; }
  [[nodiscard]] virtual Result<Setting> do_setting(std::string_view file_name,
                                                   std::string_view precision) const = 0;
  [[nodiscard]] virtual Result<ForeignRead> do_read(std::string_view bytes,
                                                    const ReadOptions& options) const = 0;
  [[nodiscard]] virtual bool do_accepts(std::string_view key, bool timed) const = 0;
  [[nodiscard]] virtual Result<std::string> do_write(const ForeignFile& file,
                                                     const Setting& setting) const = 0;
  [[nodiscard]] virtual std::string do_identity(std::string_view key) const {
    return std::string(key);
  }
  /// Most formats are looked up by key, which the table itself has an index for.
  [[nodiscard]] virtual Status do_index(Table& /*table*/, DeviceId /*device*/,
                                        SettingId /*setting*/) const {
    return {};
  }
};

/// The names of the formats, in the order of the list.
std::vector<std::string> codec_names(CodecList codecs);
/// "NAME (what it is), ..." of every format, for help texts.
std::string codec_list(CodecList codecs);
/// The codec of this name; lives as long as the list's. Code::Usage for an unknown name, listing
/// those that there are.
Result<const TableCodec*> find_codec(CodecList codecs, std::string_view name);
/// The first codec whose files may begin with these bytes; nullptr if none's do.
const TableCodec* likely_codec(CodecList codecs, std::string_view bytes);

}  // namespace oplat::table
