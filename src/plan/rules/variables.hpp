// SPDX-License-Identifier: Apache-2.0
/// `for: {conv: [conv2d, depthwise_conv2d], act: [relu, relu6]}`: one rule stands for several.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.hpp"

namespace oplat::plan::rules {

using Variables = std::map<std::string, std::string>;

/// One set of values a variant, the last variable changing fastest; a list of maps gives the
/// variants of each in turn. Without `node` one empty set.
Result<std::vector<Variables>> variants_of(std::string_view file, const base::Yaml* node);
/// The entry with "$name" replaced in names and texts. Code::Input if a name is not a variable.
Result<base::Yaml> with_variables(std::string_view file, const base::Yaml& node,
                                  const Variables& variables);

}  // namespace oplat::plan::rules
