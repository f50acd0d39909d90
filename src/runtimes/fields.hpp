// SPDX-License-Identifier: Apache-2.0
/// Reads the fields of one untrusted JSON object, one by one, and keeps the first complaint.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::runtimes {

enum class Need { Required, Optional };

/// After the first complaint every further call does nothing; ask error() at the end. An optional
/// field that is missing or null leaves its variable as it was.
class Fields {
 public:
  using Json = nlohmann::json;
  static constexpr std::size_t kMaxText = std::size_t{1} << 20;
  static constexpr std::size_t kMaxEntries = 65'536;

  Fields(const Json& json, std::string_view place) : json_(json), place_(place) {
    if (!json.is_object())
      complain("", std::string("expected an object, found ") + json.type_name());
  }

  void text(const char* name, std::string& to, Need need, std::size_t most = kMaxText) {
    const Json* value = find(name, need);
    if (value != nullptr) take_text(name, *value, to, most);
  }
  void boolean(const char* name, bool& to, Need need) {
    const Json* value = find(name, need);
    if (value == nullptr) return;
    if (!value->is_boolean())
      return complain(name, std::string("expected true or false, found ") + value->type_name());
    to = value->get<bool>();
  }
  void boolean(const char* name, std::optional<bool>& to) {
    bool found = false;
    if (find(name, Need::Optional) == nullptr) return;
    boolean(name, found, Need::Required);
    if (!error_) to = found;
  }
  void integer(const char* name, std::int64_t& to, Need need, std::int64_t low, std::int64_t high) {
    const Json* value = find(name, need);
    if (value != nullptr) take_integer(name, *value, to, low, high);
  }
  void unsigned_integer(const char* name, std::uint64_t& to, Need need) {
    const Json* value = find(name, need);
    if (value == nullptr) return;
    if (!value->is_number_unsigned()) return complain(name, "expected an integer of 0 to 2^64-1");
    to = value->get<std::uint64_t>();
  }
  /// A finite number >= 0.
  void number(const char* name, double& to, Need need) {
    const Json* value = find(name, need);
    if (value != nullptr) take_number(name, *value, to);
  }
  void number(const char* name, std::optional<double>& to) {
    double found = 0;
    const Json* value = find(name, Need::Optional);
    if (value == nullptr) return;
    take_number(name, *value, found);
    if (!error_) to = found;
  }
  void integers(const char* name, std::vector<std::int64_t>& to, Need need, std::int64_t low,
                std::int64_t high, std::size_t most) {
    const Json* value = find(name, need);
    if (value != nullptr) take_integers(name, *value, to, low, high, most);
  }
  void texts(const char* name, std::vector<std::string>& to, Need need) {
    const Json* value = find(name, need);
    if (value == nullptr || !is_list(name, *value, kMaxEntries)) return;
    to.clear();
    for (const Json& entry : *value) take_text(name, entry, to.emplace_back(), kMaxText);
  }
  void text_map(const char* name, std::map<std::string, std::string>& to) {
    each_member(name, [&](const std::string& member, const Json& value) {
      take_text(name, value, to[member], kMaxText);
    });
  }
  void integers_map(const char* name, std::map<std::string, std::vector<std::int64_t>>& to,
                    std::int64_t low, std::int64_t high, std::size_t most) {
    each_member(name, [&](const std::string& member, const Json& value) {
      take_integers(name, value, to[member], low, high, most);
    });
  }
  /// Calls `visit(name, value)` for the members of an optional object.
  template <class Visit>
  void each_member(const char* name, const Visit& visit) {
    const Json* value = find(name, Need::Optional);
    if (value == nullptr) return;
    if (!value->is_object())
      return complain(name, std::string("expected an object, found ") + value->type_name());
    if (value->size() > kMaxEntries) return complain(name, "has too many members");
    for (const auto& [member, entry] : value->items()) visit(member, entry);
  }
  /// A field of any type, or nullptr.
  const Json* find(const char* name, Need need) {
    if (error_) return nullptr;
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) {
      if (need == Need::Required) complain(name, "is missing");
      return nullptr;
    }
    return &*found;
  }
  bool is_list(const char* name, const Json& value, std::size_t most) {
    if (!value.is_array()) {
      complain(name, std::string("expected a list, found ") + value.type_name());
      return false;
    }
    if (value.size() > most) {
      complain(name, fmt::format("holds {} entries, more than {}", value.size(), most));
      return false;
    }
    return true;
  }
  void take_number(const char* name, const Json& value, double& to) {
    if (!value.is_number())
      return complain(name, std::string("expected a number, found ") + value.type_name());
    const double found = value.get<double>();
    if (!std::isfinite(found) || found < 0)
      return complain(name, "expected a finite number that is not negative");
    to = found;
  }
  /// Takes over the complaint of a decoder of a part.
  template <class T>
  void part(const char* name, Result<T> result, T& to) {
    if (error_) return;
    if (result) {
      to = std::move(*result);
    } else {
      complain(name, result.error().message);
    }
  }
  void complain(std::string_view name, std::string_view what) {
    if (error_) return;
    error_ = Error{Code::Input, name.empty() ? fmt::format("{}: {}", place_, what)
                                             : fmt::format("{}: \"{}\" {}", place_, name, what)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void take_text(const char* name, const Json& value, std::string& to, std::size_t most) {
    if (!value.is_string())
      return complain(name, std::string("expected a string, found ") + value.type_name());
    const auto& found = value.get_ref<const std::string&>();
    if (found.size() > most) return complain(name, fmt::format("is longer than {} bytes", most));
    // A name with a NUL would be one file for us and another for the system.
    if (found.find('\0') != std::string::npos) return complain(name, "holds a NUL character");
    to = found;
  }
  void take_integer(const char* name, const Json& value, std::int64_t& to, std::int64_t low,
                    std::int64_t high) {
    if (!value.is_number_integer())
      return complain(name, std::string("expected an integer, found ") + value.type_name());
    const bool too_large =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (too_large || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) {
      return complain(name, fmt::format("expected an integer of {} to {}", low, high));
    }
    to = value.get<std::int64_t>();
  }
  void take_integers(const char* name, const Json& value, std::vector<std::int64_t>& to,
                     std::int64_t low, std::int64_t high, std::size_t most) {
    if (error_ || !is_list(name, value, most)) return;
    to.clear();
    for (const Json& entry : value) take_integer(name, entry, to.emplace_back(), low, high);
  }

  const Json& json_;
  std::string place_;
  std::optional<Error> error_;
};

}  // namespace oplat::runtimes
