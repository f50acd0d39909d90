// SPDX-License-Identifier: Apache-2.0
/// Plans: the kernels of a model in execution order.
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/limits.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

using PlanId = std::int64_t;

Status validate_plan(const Plan& plan) {
  if (plan.identity.empty())
    return fail(Code::Input, "a plan needs an identity to be stored in a table");
  OPLAT_CHECK(validate_text("identity", plan.identity));
  OPLAT_CHECK(validate_text("model", plan.model));
  OPLAT_CHECK(validate_text("source", plan.source));
  OPLAT_CHECK(validate_count("batch", plan.batch));
  OPLAT_CHECK(validate_number("weight_bytes", plan.weight_bytes));
  OPLAT_CHECK(validate_number("activation_bytes", plan.activation_bytes));
  for (const PlanKernel& kernel : plan.kernels) {
    OPLAT_CHECK(validate_key(kernel.key));
    OPLAT_CHECK(validate_text("name", kernel.name));
    OPLAT_CHECK(validate_count("count", kernel.count));
    if (kernel.input_bytes) OPLAT_CHECK(validate_number("input_bytes", *kernel.input_bytes));
  }
  return {};
}

Plan read_plan(Cells& cells) {
  Plan plan;
  plan.identity = cells.text(1);
  plan.model = cells.text(2);
  plan.source = cells.text(3);
  plan.batch = cells.count(4);
  plan.weight_bytes = cells.number(5);
  plan.activation_bytes = cells.number(6);
  return plan;
}

/// 0 or 1, std::nullopt for NULL.
std::optional<bool> read_flag(Cells& cells, int column) {
  const auto value = cells.optional_integer(column);
  if (!value) return std::nullopt;
  if (*value != 0 && *value != 1) cells.bad(column, "a value other than 0 and 1");
  return *value == 1;
}

/// `keys`: of all kernels of the answer.
Result<std::vector<PlanKernel>> read_kernels(Database& database, PlanId plan, SharedBytes& keys) {
  OPLAT_TRY(statement,
            database.prepare(
                "SELECT plan_kernel.id, position, name, kernel.key, count, put_in, input_bytes "
                "FROM plan_kernel LEFT JOIN kernel ON kernel.id = plan_kernel.kernel "
                "WHERE plan = ?1 ORDER BY position"));
  statement.add(plan);
  std::vector<PlanKernel> kernels;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return kernels;
    if (kernels.size() >= kMaxPlanKernels)
      return database.corrupt("plan {}: has too many kernels", plan);
    Cells cells(statement, "plan_kernel");
    const std::int64_t position = cells.count(1);
    PlanKernel kernel{cells.text(2), cells.text(3), cells.count(4), read_flag(cells, 5),
                      cells.optional_number(6)};
    OPLAT_CHECK(cells.status());
    if (position != static_cast<std::int64_t>(kernels.size())) {
      return database.corrupt("plan {}: has position {}; expected {}", plan, position,
                              kernels.size());
    }
    OPLAT_CHECK(keys.add(database, kernel.key.size()));
    kernels.push_back(std::move(kernel));
  }
}

Result<PlanId> put_head(Database& database, const Plan& plan) {
  OPLAT_TRY(statement,
            database.prepare("INSERT INTO plan(identity, model, source, batch, weight_bytes, "
                             "activation_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  statement.add(plan.identity).add(plan.model).add(plan.source).add(plan.batch);
  OPLAT_CHECK(statement.add(plan.weight_bytes).add(plan.activation_bytes).run());
  return sqlite3_last_insert_rowid(database.handle());
}

Status erase_plan_in(Database& database, std::string_view identity) {
  // The kernels go with it: ON DELETE CASCADE.
  OPLAT_TRY(statement, database.prepare("DELETE FROM plan WHERE identity = ?1"));
  return statement.add(identity).run();
}

Status put_kernel_line(Database& database, PlanId plan, std::int64_t position,
                       const PlanKernel& line, KernelId kernel) {
  OPLAT_TRY(statement,
            database.prepare("INSERT INTO plan_kernel(plan, position, name, kernel, count, put_in, "
                             "input_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  const auto inserted_by_runtime =
      line.inserted_by_runtime ? std::optional<std::int64_t>(*line.inserted_by_runtime ? 1 : 0)
                               : std::nullopt;
  return statement.add(plan)
      .add(position)
      .add(line.name)
      .add(kernel)
      .add(line.count)
      .add(inserted_by_runtime)
      .add(line.input_bytes)
      .run();
}

}  // namespace

Result<std::optional<Plan>> Table::find_plan(std::string_view identity) const {
  PlanId id = 0;
  Plan plan;
  {
    OPLAT_TRY(statement,
              impl_->database->prepare("SELECT id, identity, model, source, batch, weight_bytes, "
                                       "activation_bytes FROM plan WHERE identity = ?1"));
    OPLAT_TRY(line, statement.add(identity).step());
    if (!line) return std::nullopt;
    Cells cells(statement, "plan");
    plan = read_plan(cells);
    OPLAT_CHECK(cells.status());
    id = cells.id();
  }
  SharedBytes keys;
  OPLAT_TRY(kernels, read_kernels(*impl_->database, id, keys));
  plan.kernels = std::move(kernels);
  return std::optional(std::move(plan));
}

Result<std::vector<Plan>> Table::plans() const {
  std::vector<PlanId> ids;
  std::vector<Plan> all;
  {
    OPLAT_TRY(statement,
              impl_->database->prepare("SELECT id, identity, model, source, batch, weight_bytes, "
                                       "activation_bytes FROM plan ORDER BY id"));
    Ascending ascending;
    while (true) {
      OPLAT_TRY(line, statement.step());
      if (!line) break;
      Cells cells(statement, "plan");
      all.push_back(read_plan(cells));
      OPLAT_CHECK(cells.status());
      if (!ascending.next(cells.id()))
        return impl_->database->corrupt("plan {} appears twice", cells.id());
      ids.push_back(cells.id());
    }
  }
  SharedBytes keys;
  for (std::size_t i = 0; i < all.size(); ++i) {
    OPLAT_TRY(kernels, read_kernels(*impl_->database, ids[i], keys));
    all[i].kernels = std::move(kernels);
  }
  return all;
}

Status Table::put_plan(const Plan& plan) {
  OPLAT_CHECK(validate_plan(plan));
  return impl_->write([&]() -> Status {
    Database& database = *impl_->database;
    OPLAT_CHECK(erase_plan_in(database, plan.identity));
    OPLAT_TRY(id, put_head(database, plan));
    std::int64_t position = 0;
    for (const PlanKernel& line : plan.kernels) {
      OPLAT_TRY(kernel, impl_->put_kernel(line.key));
      OPLAT_CHECK(put_kernel_line(database, id, position++, line, kernel));
    }
    return {};
  });
}

Status Table::erase_plan(std::string_view identity) {
  return impl_->write([&] { return erase_plan_in(*impl_->database, identity); });
}

}  // namespace oplat::table
