// SPDX-License-Identifier: Apache-2.0
/// Rule files: head, passes, the versions that a pass is for.
#include <algorithm>

#include "base/hash.hpp"
#include "plan/rules.hpp"
#include "plan/rules/read_rule.hpp"
#include "plan/rules/variables.hpp"

namespace oplat::plan {
namespace {

using base::Fields;
using base::Yaml;

constexpr std::string_view kOnnxFormat = "onnx";
constexpr std::string_view kOnnxDomain = "ai.onnx";  // the domain without a name
constexpr std::string_view kFormat = "oplat.rules/1";
constexpr std::size_t kMaxPasses = 200;
constexpr std::size_t kMaxRules = 2000;

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<std::vector<RuleSet>> run(const Yaml& root, const std::string& hash) {
    OPLAT_TRY(top, Fields::of(file_, root, "a rule file",
                              {"format", "name", "runtime", "versions", "reads", "makes", "order",
                               "options", "opsets", "compared", "passes"}));
    OPLAT_TRY(format, top.need("format"));
    if (format->text() == nullptr || *format->text() != kFormat)
      return fail(Code::Input, "{}:{}: 'format' is {}; expected {}", file_, format->line,
                  format->described(), kFormat);
    OPLAT_CHECK(read_head(top));
    OPLAT_TRY(passes, top.need("passes"));
    if (passes->list() == nullptr || passes->list()->size() > kMaxPasses)
      return fail(Code::Input, "{}:{}: 'passes' is {}; expected a list of at most {}", file_,
                  passes->line, passes->described(), kMaxPasses);
    for (const Yaml& one : *passes->list()) OPLAT_CHECK(read_pass(one));
    for (const RuleSet& set : sets_) {
      const auto native = [](const auto& pass) { return pass->native.has_value(); };
      if (std::any_of(set.passes.begin(), set.passes.end(), native) &&
          !std::all_of(set.passes.begin(), set.passes.end(), native))
        return fail(Code::Input, "{}:{}: passes with 'native' and with patterns in one file", file_,
                    passes->line);
    }
    for (RuleSet& set : sets_) set.hash = hash;
    std::reverse(sets_.begin(), sets_.end());
    return std::move(sets_);
  }

 private:
  Result<std::string> text(const Fields& top, std::string_view name) const {
    OPLAT_TRY(node, top.need(name));
    return base::name_of(file_, *node, fmt::format("'{}'", name));
  }

  Status read_words(const Fields& top, std::string_view name, std::string_view what,
                    std::set<std::string>& into) const {
    const Yaml* words = top.find(name);
    if (words == nullptr) return {};
    if (words->list() == nullptr)
      return fail(Code::Input, "{}:{}: '{}' is {}; expected a list", file_, words->line, name,
                  words->described());
    for (const Yaml& one : *words->list()) {
      OPLAT_TRY(word, base::name_of(file_, one, what));
      into.insert(word);
    }
    return {};
  }

  Status read_opsets(const Fields& top, std::map<std::string, std::int64_t>& into) const {
    const Yaml* opsets = top.find("opsets");
    if (opsets == nullptr) return {};
    if (opsets->map() == nullptr)
      return fail(Code::Input, "{}:{}: 'opsets' is {}; expected a map from domains to versions",
                  file_, opsets->line, opsets->described());
    constexpr std::int64_t kMaxOpset = 1'000'000;
    for (const base::YamlEntry& one : *opsets->map()) {
      OPLAT_TRY(version,
                base::number_of(file_, one.value, "a version of 'opsets'", {1, kMaxOpset}));
      into.emplace(one.name == kOnnxDomain ? std::string() : one.name, version);
    }
    return {};
  }

  Status read_head(const Fields& top) {
    RuleSet head;
    OPLAT_TRY(name, text(top, "name"));
    OPLAT_TRY(runtime, text(top, "runtime"));
    OPLAT_TRY(reads, text(top, "reads"));
    OPLAT_TRY(makes, text(top, "makes"));
    head.runtime = runtime;
    head.reads = reads;
    head.makes = makes;
    if (const Yaml* order = top.find("order")) {
      const std::string* given = order->text();
      if (given == nullptr || (*given != "depth-first" && *given != "as-written"))
        return fail(Code::Input, "{}:{}: 'order' is {}; expected depth-first or as-written", file_,
                    order->line, order->described());
      head.depth_first = *given == "depth-first";
    }
    OPLAT_CHECK(read_words(top, "options", "an option", head.options));
    OPLAT_CHECK(read_words(top, "compared", "an operator", head.compared));
    OPLAT_CHECK(read_opsets(top, head.opsets));
    OPLAT_TRY(versions, top.need("versions"));
    constexpr std::size_t kMaxVersions = 64;
    if (versions->list() == nullptr || versions->list()->empty() ||
        versions->list()->size() > kMaxVersions)
      return fail(Code::Input,
                  "{}:{}: 'versions' is {}; expected a list of 1 to {}, the oldest first", file_,
                  versions->line, versions->described(), kMaxVersions);
    for (const Yaml& one : *versions->list()) {
      OPLAT_TRY(version, base::name_of(file_, one, "a version"));
      if (std::find(versions_.begin(), versions_.end(), version) != versions_.end())
        return fail(Code::Input, "{}:{}: the version {} is listed twice", file_, one.line, version);
      versions_.push_back(version);
      RuleSet set = head;
      set.name = name + "@" + version;
      set.version = version;
      sets_.push_back(std::move(set));
    }
    return {};
  }

  Result<std::size_t> version_at(const Fields& fields, std::string_view name,
                                 std::size_t otherwise) const {
    const Yaml* node = fields.find(name);
    if (node == nullptr) return otherwise;
    const auto found = node->text() == nullptr
                           ? versions_.end()
                           : std::find(versions_.begin(), versions_.end(), *node->text());
    if (found == versions_.end())
      return fail(Code::Input, "{}:{}: '{}' is {}; the versions of this file are {}", file_,
                  node->line, name, node->described(), base::join(versions_, ", "));
    return static_cast<std::size_t>(found - versions_.begin());
  }

  Status read_pass(const Yaml& node) {
    static const std::vector<std::string> kKnown = {
        "name",  "source", "since",         "until",  "option",  "for",     "casts",  "match",
        "where", "if_any", "unless_marked", "repeat", "keep",    "make",    "remove", "op",
        "only",  "in",     "out",           "set",    "forward", "readers", "native", "rounds",
        "once"};
    OPLAT_TRY(fields, Fields::of(file_, node, "a pass", kKnown));
    RulePass pass;
    OPLAT_TRY(given_name, fields.need("name"));
    OPLAT_TRY(name, base::name_of(file_, *given_name, "'name' of a pass"));
    pass.name = name;
    if (const Yaml* source = fields.find("source"); source != nullptr && source->map() != nullptr)
      return fail(Code::Input, "{}:{}: 'source' is a map; expected a text or a list of texts",
                  file_, source->line);
    OPLAT_TRY(since, version_at(fields, "since", 0));
    OPLAT_TRY(until, version_at(fields, "until", versions_.size() - 1));
    if (since > until)
      return fail(Code::Input, "{}:{}: the pass {} is since {} and until {}: it is in no version",
                  file_, fields.line(), name, versions_[since], versions_[until]);
    if (const Yaml* option = fields.find("option")) {
      if (option->text() == nullptr || !sets_[0].options.contains(*option->text()))
        return fail(Code::Input,
                    "{}:{}: 'option' is {}, which is not among the 'options' of the file", file_,
                    option->line, option->described());
      pass.option = *option->text();
    }
    if (const Yaml* native = fields.find("native")) {
      OPLAT_TRY(level, read_native(fields, *native));
      pass.native = std::move(level);
    } else if (const Yaml* casts = fields.find("casts")) {
      if (fields.find("match") != nullptr)
        return fail(Code::Input, "{}:{}: the pass {} has both 'casts' and 'match'", file_,
                    fields.line(), name);
      OPLAT_TRY(rule, rules::read_casts(file_, *casts));
      pass.casts = rule;
    } else {
      OPLAT_CHECK(read_variants(node, fields, pass));
    }
    const auto shared = std::make_shared<const RulePass>(std::move(pass));
    for (std::size_t i = since; i <= until; ++i) sets_[i].passes.push_back(shared);
    return {};
  }

  /// Names of passes in C++, of a file that reads and makes ONNX.
  Result<ort::Level> read_native(const Fields& fields, const Yaml& names) const {
    if (fields.find("match") != nullptr || fields.find("casts") != nullptr)
      return fail(Code::Input, "{}:{}: the pass has 'native' next to 'match' or 'casts'", file_,
                  names.line);
    if (sets_[0].reads != kOnnxFormat || sets_[0].makes != kOnnxFormat)
      return fail(Code::Input, "{}:{}: 'native' is for files that read and make '{}'", file_,
                  names.line, kOnnxFormat);
    if (names.list() == nullptr || names.list()->empty())
      return fail(Code::Input, "{}:{}: 'native' is {}; expected a list of names", file_, names.line,
                  names.described());
    ort::Level level;
    for (const Yaml& one : *names.list()) {
      OPLAT_TRY(name, base::name_of(file_, one, "an entry of 'native'"));
      const ort::NamedPass* pass = ort::find_pass(name);
      if (pass == nullptr) {
        std::vector<std::string> known;
        for (const ort::NamedPass& each : ort::passes()) known.emplace_back(each.name);
        return fail(Code::Input, "{}:{}: there is no native pass '{}'; there are {}", file_,
                    one.line, base::printable(name), base::join(known, ", "));
      }
      level.steps.push_back({pass, false});
    }
    std::set<std::string> once;
    OPLAT_CHECK(read_words(fields, "once", "an entry of 'once'", once));
    for (const std::string& name : once) {
      const auto step =
          std::find_if(level.steps.begin(), level.steps.end(),
                       [&](const ort::Level::Step& one) { return one.pass->name == name; });
      if (step == level.steps.end())
        return fail(Code::Input, "{}:{}: 'once' names '{}', which is not in 'native'", file_,
                    names.line, base::printable(name));
      step->once = true;
    }
    constexpr std::int64_t kMaxRounds = 100;
    if (const Yaml* rounds = fields.find("rounds")) {
      OPLAT_TRY(number, base::number_of(file_, *rounds, "'rounds'", {1, kMaxRounds}));
      level.rounds = static_cast<int>(number);
    }
    return level;
  }

  Status read_variants(const Yaml& node, const Fields& fields, RulePass& pass) {
    OPLAT_TRY(variants, rules::variants_of(file_, fields.find("for")));
    for (const rules::Variables& variables : variants) {
      Yaml::Map entries;
      for (const base::YamlEntry& entry : *node.map()) {
        if (entry.name == "for" || entry.name == "source") continue;
        OPLAT_TRY(value, rules::with_variables(file_, entry.value, variables));
        entries.push_back({entry.name, entry.line, std::move(value)});
      }
      std::string name = pass.name;
      for (const auto& [variable, value] : variables)
        name += fmt::format(" {}={}", variable, base::printable(value));
      const Yaml expanded{std::move(entries), node.line};
      std::vector<std::string> known;
      for (const base::YamlEntry& entry : *expanded.map()) known.push_back(entry.name);
      OPLAT_TRY(one, Fields::of(file_, expanded, fmt::format("the pass {}", pass.name), known));
      OPLAT_TRY(rule, rules::read_rule(file_, one, name));
      OPLAT_CHECK(rules::check_rule(file_, rule));
      pass.rules.push_back(std::move(rule));
      if (++rule_count_ > kMaxRules)
        return fail(Code::Input, "{}:{}: more than {} rules", file_, node.line, kMaxRules);
    }
    return {};
  }

  std::string file_;
  std::vector<std::string> versions_;
  std::vector<RuleSet> sets_;  ///< the oldest first
  std::size_t rule_count_ = 0;
};

}  // namespace

Result<std::vector<RuleSet>> read_rules(const base::Source& source) {
  OPLAT_TRY(root, base::parse_yaml(source.name(), source.bytes()));
  return Reader(source.name()).run(root, base::hash128(source.bytes()).hex());
}

}  // namespace oplat::plan
