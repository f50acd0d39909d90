// SPDX-License-Identifier: Apache-2.0
/// Bounds on what is read from an untrusted table and written into one.
#pragma once

#include <cstddef>

namespace oplat::table {

/// Largest cell of any kind: a fit of a large forest is some tens of MiB.
constexpr std::size_t kMaxCell = std::size_t{256} << 20;
/// Keys, names, reasons, JSON texts. The longest real keys (torch modules with their repr) are some
/// tens of KiB.
constexpr std::size_t kMaxText = std::size_t{1} << 20;
/// Bytes of a foreign file that are next to its rows, or of one of its rows.
constexpr std::size_t kMaxForeignText = kMaxCell / 2;
/// Bytes of a fit: what a library of 100,000 rows teaches takes some 40 MiB, and 12 more for every
/// further flag of its keys.
constexpr std::size_t kMaxFit = std::size_t{128} << 20;
/// Kernels of one plan: the largest known models have some ten thousand.
constexpr std::size_t kMaxPlanKernels = 10'000'000;
/// Texts that the lines of one answer share in the file, such as the keys of rows: in memory each
/// line has its own copy. A million rows of the longest usual keys have half of it.
constexpr std::size_t kMaxSharedBytes = std::size_t{1} << 30;
/// Look-ups remembered in memory; past it the memory is emptied and starts anew.
constexpr std::size_t kMaxMemo = 200'000;
/// Bytes of keys in rows that are remembered.
constexpr std::size_t kMaxMemoBytes = std::size_t{256} << 20;

}  // namespace oplat::table
