// SPDX-License-Identifier: Apache-2.0
/// The headers of app that have no source of their own.
#include "app/events.hpp"
