// SPDX-License-Identifier: Apache-2.0
/// Fits: caches of what was learned from rows, with a mark of those rows.
#include "table/fits.hpp"

#include <charconv>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/limits.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

constexpr std::size_t kHashBytes = 32;

std::string bytes_of(const base::Hash128& hash) {
  const auto bytes = hash.bytes();
  return {bytes.begin(), bytes.end()};
}

/// First half of rows_hash: the pair that the fit is for.
std::string scope_of(DeviceId device, SettingId setting) {
  return bytes_of(base::hash128(fmt::format("device {} setting {}", device, setting)));
}

/// Second half: a mark of the rows. Every campaign adds itself, and every foreign row a row,
/// so that the newest of each tell one state of the table from the next without reading it all.
Result<std::string> mark_of(Database& database, DeviceId device, SettingId setting) {
  OPLAT_TRY(
      statement,
      database.prepare(
          "SELECT 0, (SELECT max(id) FROM campaign WHERE device = ?1 AND setting = ?2), "
          "(SELECT max(id) FROM row WHERE device = ?1 AND setting = ?2 AND outcome = 'timing'), "
          "(SELECT max(id) FROM model_row WHERE device = ?1 AND setting = ?2)"));
  OPLAT_TRY(line, statement.add(device).add(setting).step());
  if (!line) return database.corrupt("the newest rows cannot be determined");
  Cells cells(statement, "row");
  std::string text = "newest";
  for (int column = 1; column <= 3; ++column) {
    const auto newest = cells.optional_integer(column);
    text += newest ? fmt::format(" {}", *newest) : " none";
  }
  OPLAT_CHECK(cells.status());
  return bytes_of(base::hash128(text));
}

}  // namespace

Status void_fits_of_file(Database& database, FileId file) {
  OPLAT_TRY(pairs,
            database.prepare("SELECT DISTINCT 0, device, setting FROM \"row\" WHERE file = ?1"));
  pairs.add(file);
  while (true) {
    OPLAT_TRY(line, pairs.step());
    if (!line) return {};
    Cells cells(pairs, "row");
    const std::string scope = scope_of(cells.integer(1), cells.integer(2));
    OPLAT_CHECK(cells.status());
    OPLAT_TRY(fits, database.prepare(
                        "UPDATE fit SET rows_hash = ?1 WHERE substr(rows_hash, 1, 16) = ?2"));
    const std::string rows_hash = scope + std::string(kHashBytes / 2, '\0');  // a mark of no rows
    OPLAT_CHECK(fits.add_blob(rows_hash).add_blob(scope).run());
  }
}

Result<std::optional<FoundFit>> Table::find_fit(std::string_view format, DeviceId device,
                                                SettingId setting) const {
  Database& database = *impl_->database;
  OPLAT_TRY(
      statement,
      database.prepare("SELECT id, seed, rows_hash, CAST(blob AS BLOB) FROM fit WHERE format = ?1 "
                       "AND substr(rows_hash, 1, 16) = ?2 ORDER BY id DESC"));
  const std::string scope = scope_of(device, setting);
  OPLAT_TRY(line, statement.add(format).add_blob(scope).step());
  if (!line) return std::optional<FoundFit>();
  Cells cells(statement, "fit");
  FoundFit found;
  found.fit.format = format;
  const std::string seed = cells.text(1);
  const auto [end, code] = std::from_chars(seed.data(), seed.data() + seed.size(), found.fit.seed);
  if (code != std::errc() || end != seed.data() + seed.size())
    cells.bad(1, "text that is not a decimal number");
  const std::string_view rows_hash = cells.blob(2, kHashBytes);
  // A tool may have written it as text, which the cast makes bytes of.
  const std::string_view blob = cells.bytes(3);
  if (blob.size() > kMaxFit)
    cells.bad(3, fmt::format("{} bytes; the limit is {}", blob.size(), kMaxFit));
  OPLAT_CHECK(cells.status());
  found.fit.blob = blob;
  const std::string noted(rows_hash);  // of the statement's memory
  OPLAT_TRY(mark, mark_of(database, device, setting));
  found.current = noted == scope + mark;
  return std::optional(std::move(found));
}

namespace {

Status erase_fit_in(Database& database, std::string_view format, const std::string& scope) {
  OPLAT_TRY(forget, database.prepare(
                        "DELETE FROM fit WHERE format = ?1 AND substr(rows_hash, 1, 16) = ?2"));
  return forget.add(format).add_blob(scope).run();
}

}  // namespace

Status Table::erase_fit(std::string_view format, DeviceId device, SettingId setting) {
  return impl_->write(
      [&] { return erase_fit_in(*impl_->database, format, scope_of(device, setting)); });
}

Status Table::put_fit(DeviceId device, SettingId setting, const Fit& fit) {
  OPLAT_CHECK(validate_text("format", fit.format));
  if (fit.blob.size() > kMaxFit) {
    return fail(Code::Input, "fit {}: has {} bytes; the limit is {}", base::printable(fit.format),
                fit.blob.size(), kMaxFit);
  }
  return impl_->write([&]() -> Status {
    Database& database = *impl_->database;
    const std::string scope = scope_of(device, setting);
    OPLAT_TRY(mark, mark_of(database, device, setting));
    OPLAT_CHECK(erase_fit_in(database, fit.format, scope));
    OPLAT_TRY(
        statement,
        database.prepare("INSERT INTO fit(format, seed, rows_hash, blob) VALUES (?1, ?2, ?3, ?4)"));
    const std::string seed = std::to_string(fit.seed);
    const std::string rows_hash = scope + mark;
    return statement.add(fit.format).add(seed).add_blob(rows_hash).add_blob(fit.blob).run();
  });
}

}  // namespace oplat::table
