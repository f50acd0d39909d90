// SPDX-License-Identifier: Apache-2.0
/// oplat table info|rows
#include "table/table.hpp"
#include "cli/commands/commands.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

struct TableFlags {
  std::string table;
  FormOptions form;
};

Result<int> info(const TableFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(info, report::table_info(table));
  OPLAT_CHECK(print_document(flags.form, info));
  return kDone;
}

Result<int> rows(const TableFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(rows, report::table_rows(table));
  OPLAT_CHECK(print_document(flags.form, rows));
  return kDone;
}

template <class Document>
void add_one(const Command& parent, const char* name, const char* help,
             Result<int> (*run)(const TableFlags&)) {
  const auto [command, flags] = add_command(parent, name, help, run);
  add_table_argument(command, flags->table);
  add_form<Document>(command, flags->form);
}

}  // namespace

void add_table_commands(const Command& app) {
  const Command command = app.add_subcommand("table", "show the content of a table");
  command.require_subcommand(1);
  add_one<report::TableInfo>(command, "info",
                             "list devices and settings, with the number of rows of each", info);
  add_one<report::RowListing>(command, "rows", "list every row", rows);
}

}  // namespace oplat::cli
