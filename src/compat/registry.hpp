// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems that oplat speaks with.
#pragma once

#include <span>
#include <string_view>

#include "ir/catalogue.hpp"
#include "plan/rules.hpp"
#include "search/family.hpp"
#include "table/codec.hpp"

namespace oplat::compat {

/// Names of the systems, as their folders are called. Lives as long as the process.
std::span<const std::string_view> systems();

/// The table formats of all systems, by name. Lives as long as the process.
table::CodecList codecs();
/// The format of this name. Code::Usage for an unknown name, listing those that there are.
Result<const table::TableCodec*> find_codec(std::string_view name);

/// The key domains of all systems. They live as long as the process.
std::span<const ir::KeyDomain* const> key_domains();

/// oplat's own operators and those of key_domains(): what programs hand to core code. Made at the
/// first call, which any thread may make; lives as long as the process.
const ir::Catalogue& catalogue();

/// The built-in fusion rules of all systems, newest version of each runtime first. Read at the
/// first call; they live as long as the process.
std::span<const plan::RuleSet> rule_sets();

/// The operators by which search spaces may be executed. They live as long as the process.
std::span<const search::Family* const> block_families();

}  // namespace oplat::compat
