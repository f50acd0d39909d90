// SPDX-License-Identifier: Apache-2.0
/// The API's Events as those of app.
#pragma once

#include <string_view>

#include "app/events.hpp"
#include "oplat/events.hpp"

namespace oplat::api {

/// Passes everything on to `events`, which outlives it; nullptr: to nobody.
class PassedEvents final : public app::Events {
 public:
  explicit PassedEvents(oplat::Events* events) : events_(events) {}
  void progress(const app::Progress& progress) override;
  void warn(std::string_view text) override;
  void note(std::string_view text) override;
  [[nodiscard]] bool cancelled() override;

 private:
  oplat::Events* events_;
};

}  // namespace oplat::api
