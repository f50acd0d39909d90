// SPDX-License-Identifier: Apache-2.0
/// This machine as a table::Device.
#pragma once

#include "table/records.hpp"

namespace oplat::runtimes {

/// Facts from the probe; the name is the CPU's model text until a person gives another.
table::Device this_device();

}  // namespace oplat::runtimes
