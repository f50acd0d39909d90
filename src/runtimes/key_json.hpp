// SPDX-License-Identifier: Apache-2.0
/// Keys as JSON, for workers that are not written in C++: they get a key parsed and hand one over
/// to be printed, so that the grammar of keys exists once (src/ir). The form is described at
/// oplat_worker_parse_key() in worker.h.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::runtimes {

/// Every key has a JSON form; key_from_json(key_to_json(key)) is equal to `key` if it is canonical.
nlohmann::json key_to_json(const ir::Key& key);

/// Names may come in any order. Code::Input, with the place, if `json` is not a key or if the
/// printed key would not parse.
Result<ir::Key> key_from_json(const nlohmann::json& json);

}  // namespace oplat::runtimes
