// SPDX-License-Identifier: Apache-2.0
#include "api/events.hpp"

#include "base/message.hpp"

namespace oplat::api {

void PassedEvents::progress(const app::Progress& progress) {
  if (events_ == nullptr) return;
  events_->progress({progress.done, progress.total, progress.eta_s, progress.what, progress.item});
}

void PassedEvents::warn(std::string_view text) {
  if (events_ != nullptr) events_->warn(base::printable_message(text));
}

void PassedEvents::note(std::string_view text) {
  if (events_ != nullptr) events_->note(base::printable_message(text));
}

bool PassedEvents::cancelled() { return events_ != nullptr && events_->cancelled(); }

}  // namespace oplat::api
