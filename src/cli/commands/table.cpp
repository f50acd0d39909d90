// SPDX-License-Identifier: Apache-2.0
/// oplat table info|rows
#include "app/list_table.hpp"

#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct TableFlags {
  std::string table;
  FormOptions form;
  bool keys = false;
};

Result<int> info(const TableFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(info, app::table_info(flags.table));
  OPLAT_CHECK(print_document(flags.form, info));
  return kDone;
}

Result<int> rows(const TableFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(rows, app::table_rows(flags.table));
  report::ReportModel report{std::move(rows), {}};
  report.options.keys = flags.keys;
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  return kDone;
}

template <class Document>
CommandWithFlags<TableFlags> add_one(const Command& parent, const char* name, const char* help,
                                     Result<int> (*run)(const TableFlags&)) {
  const auto [command, flags] = add_command(parent, name, help, run);
  add_table_argument(command, flags->table);
  add_form<Document>(command, flags->form);
  return {command, flags};
}

}  // namespace

void add_table_commands(const Command& app) {
  const Command command = app.add_subcommand("table", "show the content of a table");
  command.require_subcommand(1);
  add_one<report::TableInfo>(command, "info",
                             "list devices and settings, with the number of rows of each", info);
  const auto [listing, flags] =
      add_one<report::RowListing>(command, "rows", "list every row", rows);
  add_keys(listing, flags->keys);
}

}  // namespace oplat::cli
