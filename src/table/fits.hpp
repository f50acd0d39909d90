// SPDX-License-Identifier: Apache-2.0
/// What rows that go mean to the fits that were made of them.
#pragma once

#include "table/sqlite.hpp"
#include "table/table.hpp"

namespace oplat::table {

/// Marks the fits of every pair that has rows of this file, which are about to be deleted: the mark
/// of a fit notices by itself only rows that come.
Status void_fits_of_file(Database& database, FileId file);

}  // namespace oplat::table
