// SPDX-License-Identifier: Apache-2.0
/// docs/reference/table-format.md says what the file holds: its examples run, and it leaves out no
/// table and no column.
#include <regex>

#include "table/schema.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

std::string page() {
  return read_bytes(std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / ".." / "docs" / "reference" /
                    "table-format.md");
}

/// The bodies of all fenced blocks of a language.
std::vector<std::string> fenced(const std::string& text, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string open = "```" + language + "\n";
  for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const auto begin = at + open.size();
    blocks.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return blocks;
}

using DocsTest = TableTest;

TEST_F(DocsTest, EveryExampleGivesLines) {
  fill();
  const auto examples = fenced(page(), "sql");
  ASSERT_EQ(examples.size(), 7U);
  for (const std::string& sql : examples) {
    SCOPED_TRACE(sql);
    EXPECT_NE(raw_value(file(), sql), "(none)");
  }
}

TEST_F(DocsTest, TheFirstExampleGivesTheSlowestKernel) {
  fill();
  EXPECT_EQ(raw_value(file(), fenced(page(), "sql").at(0)), "1.5") << "1500 ns";
}

TEST_F(DocsTest, EveryColumnIsExplained) {
  must_open(file(), Mode::Create);
  const std::string text = page();
  for (const SchemaObject& object : schema_objects()) {
    if (object.type != "table") continue;
    const std::string name(object.name);
    // The section of the table: from its name in a heading, or alone on a line, to the next.
    const std::regex heading("(### [^\n]*`" + name + "`[^\n]*\n|\n`" + name + "`:\n)");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(text, match, heading)) << name;
    const auto begin = static_cast<std::size_t>(match.position(0) + match.length(0));
    const std::string section = text.substr(begin, text.find("\n### ", begin) - begin);
    const int columns = std::stoi(
        raw_value(file(), fmt::format("SELECT count(*) FROM pragma_table_info('{}')", name)));
    for (int i = 0; i < columns; ++i) {
      const std::string column = raw_value(
          file(), fmt::format("SELECT name FROM pragma_table_info('{}') WHERE cid = {}", name, i));
      EXPECT_NE(section.find("`" + column + "`"), std::string::npos) << name << "." << column;
    }
  }
}

}  // namespace
}  // namespace oplat::table
