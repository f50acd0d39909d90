// SPDX-License-Identifier: Apache-2.0
/// Use cases: what a table holds, in short and row by row.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/report_model.hpp"

namespace oplat::app {

/// Devices and settings of the table at `path`, with numbers of rows. Code::Input, Code::Refused:
/// as table::Table::open().
Result<report::TableInfo> table_info(const std::string& path);
/// Every row. Errors as of table_info().
Result<report::RowListing> table_rows(const std::string& path);

}  // namespace oplat::app
