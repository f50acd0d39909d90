// SPDX-License-Identifier: Apache-2.0
/// Program and parameters side by side.
#include "compat/paddleslim/model_files.hpp"

#include <filesystem>
#include <system_error>

namespace oplat::compat::paddleslim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kParams = ".pdiparams";

/// As exporters lay them: NAME.pdmodel and NAME.pdiparams, or __model__ and __params__ of older
/// ones.
bool stands_beside(const fs::path& model, const fs::path& params) {
  std::error_code error;
  if (!fs::equivalent(model.parent_path() / params.filename(), params, error) || error)
    return false;
  if (model.filename() == "__model__") return params.filename() == "__params__";
  return params.filename() == fs::path(model.filename()).replace_extension(kParams);
}

Status link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(fs::canonical(from, error), to, error);
  if (!error) return {};
  fs::copy_file(from, to, error);
  if (error) return fail(Code::Write, "{}: {}", to.string(), error.message());
  return {};
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Error PaddleModel::as_named(Error error) const {
  if (!folder) return error;
  replace_all(error.message, fs::path(path).replace_extension(kParams).string(), params);
  replace_all(error.message, path, program);
  return error;
}

Result<PaddleModel> open_paddle_model(const std::string& model, const std::string& params) {
  if (params.empty()) return PaddleModel{std::nullopt, model, model, params};
  if (stands_beside(model, params)) return PaddleModel{std::nullopt, model, model, params};
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-model"));
  const fs::path name = fs::path(model).extension().empty()
                            ? fs::path(model).filename().string() + ".pdmodel"
                            : fs::path(model).filename().string();
  const fs::path program = folder.path() / name;
  OPLAT_CHECK(link_or_copy(model, program));
  OPLAT_CHECK(link_or_copy(params, fs::path(program).replace_extension(kParams)));
  return PaddleModel{std::move(folder), program.string(), model, params};
}

}  // namespace oplat::compat::paddleslim
