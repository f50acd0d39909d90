// SPDX-License-Identifier: Apache-2.0
/// Constructors of the renderers, for the registry.
#pragma once

#include <memory>

#include "report/renderer.hpp"

namespace oplat::report {

std::unique_ptr<Renderer> create_text_renderer();
std::unique_ptr<Renderer> create_json_renderer();
std::unique_ptr<Renderer> create_json_lines_renderer();
std::unique_ptr<Renderer> create_csv_renderer();
std::unique_ptr<Renderer> create_html_renderer();

}  // namespace oplat::report
