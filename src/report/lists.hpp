// SPDX-License-Identifier: Apache-2.0
/// What there is to choose from: runtimes, fusion rules, and a plan that rules made.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "table/records.hpp"

namespace oplat::report {

/// `oplat runtimes`.
struct RuntimeList {
  struct Option {
    std::vector<std::string> values;  ///< empty: any
    std::string default_value;
  };
  struct Runtime {
    std::string name;
    std::string description;
    bool available = false;
    std::string version;  ///< empty if it is not available
    std::string build;
    std::map<std::string, Option> options;  ///< of --option
    std::string install;                    ///< the command that installs it
    std::string why;  ///< why it is not available, or what else it needs; empty if nothing
  };
  std::vector<Runtime> runtimes;
};

/// `oplat rules`.
struct RuleList {
  struct RuleSet {
    std::string name;     ///< of the set and its version, "name@2.12"
    std::string runtime;  ///< whose rows its plans are for
    std::string version;  ///< of the runtime
    std::string reads;    ///< domain of the models that it understands
    std::size_t passes = 0;
    std::set<std::string> options;
    std::string hash;  ///< of the file that holds it
  };
  std::vector<RuleSet> rules;
};

/// `oplat plan --plan rules:NAME`. A plan whose kernels are also described in words.
struct RulesPlan {
  struct Words {
    std::string op;
    std::string filter;      ///< "32x3x3x3"; empty if there is none
    std::string attributes;  ///< "strides=2,2 paddings=1,1"
  };
  table::Plan plan;
  std::vector<Words> words;  ///< as many as the plan has kernels
};

}  // namespace oplat::report
