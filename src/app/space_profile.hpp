// SPDX-License-Identifier: Apache-2.0
/// Profiling a device for models that nobody has named yet: kernels of a space, chosen while they
/// are measured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/profile.hpp"
#include "search/kernel_space.hpp"

namespace oplat::app {

/// As profile(), of a request with a space. First the kernels of the request's models and of the
/// small networks that come with a space; then rounds of choosing and measuring, few blocks a row,
/// until the budget is nearly spent or the expected error is as small as asked for; then those
/// models and networks end to end, and further blocks of the rows that make networks unsure. In the
/// end the table has a fit of its kernels and of its composition, so that it answers for any model.
///
/// Code::Usage: neither budget nor target error. Code::Input: the space, or a folder without a
/// model. Code::Refused: the space is of another runtime.
Result<ProfileResult> profile_space(const ProfileRequest& request, Events& events);

/// Adds models to a space as networks, each a family of its own, and the kernels that it lacks.
void add_models(search::KernelSpace& space, std::span<const PlannedModel> models);

/// Which of so many small networks a profile measures: as many as a budget (seconds; none: all) has
/// time for with their kernels, at least four, in even steps over all.
std::vector<std::size_t> small_networks_in(std::size_t all, std::optional<double> budget_s);

/// The files of a folder that look like models, by name; the folder itself if it is a file.
/// Code::Input if there are none.
Result<std::vector<std::string>> models_of_folder(const std::string& path);

}  // namespace oplat::app
