// SPDX-License-Identifier: Apache-2.0
/// Everything of the C++ API (docs/reference/cpp-api.md).
#pragma once

#include "oplat/events.hpp"
#include "oplat/graph.hpp"
#include "oplat/key.hpp"
#include "oplat/measure.hpp"
#include "oplat/predict.hpp"
#include "oplat/profile.hpp"
#include "oplat/result.hpp"
#include "oplat/search.hpp"
#include "oplat/table.hpp"
#include "oplat/version.hpp"
