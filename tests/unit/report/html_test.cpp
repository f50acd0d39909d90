// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/forms.hpp"
#include "report/html_documents.hpp"
#include "report/html_page.hpp"
#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using test::rendered;
using ::testing::HasSubstr;
using ::testing::Not;

/// What is wrong with the nesting of a page's elements; empty if every one is closed where it
/// should be.
std::string nesting_fault(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag has no end";
    if (page[at + 1] == '!' || page[end - 1] == '/') continue;
    const bool closes = page[at + 1] == '/';
    const std::size_t begin = at + (closes ? 2 : 1);
    const std::string name = page.substr(begin, page.find_first_of(" >", begin) - begin);
    if (name == "meta") continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes <" + (open.empty() ? "nothing" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is left open";
}

TEST(HtmlText, MarkupIsEscaped) {
  EXPECT_EQ(html_text("<b class=\"x\">'&'</b>"),
            "&lt;b class=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
}

TEST(HtmlText, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(html_text("模型 é 😀"), "模型 é 😀");
  EXPECT_EQ(html_text("a\xFF"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(html_text("\xE6\xA8"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // cut short
  EXPECT_EQ(html_text("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  EXPECT_EQ(html_text("\xED\xA0\x80").find("\xED"), std::string::npos);  // a surrogate
  EXPECT_EQ(html_text(std::string_view("\x1b[2J\0", 5)), "\\x1b[2J\\x00");
}

TEST(HtmlText, CutsWholeCharacters) {
  EXPECT_EQ(html_text("模型模型", 2), "模型…");
  EXPECT_EQ(html_text("ab", 2), "ab");
}

TEST(AxisTicks, AreRoundAndHoldBothEnds) {
  EXPECT_EQ(axis_ticks(0, 12.6e6), (std::vector<double>{0, 5e6, 10e6, 15e6}));
  EXPECT_EQ(axis_ticks(0, 5), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  for (const auto& [low, high] : {std::pair(0.93, 1.07), {0.2, 17.0}, {3.0, 3.0}, {0.0, 1e-9}}) {
    const std::vector<double> ticks = axis_ticks(low, high);
    ASSERT_GE(ticks.size(), 2U);
    EXPECT_LE(ticks.size(), 8U);
    EXPECT_LE(ticks.front(), low + 1e-12);
    EXPECT_GE(ticks.back(), high - 1e-12);
  }
}

TEST(Page, PredictionSaysLatencySourcesKernelsAndOrigin) {
  predict::Prediction p = test::sample_prediction();
  p.warnings = {"rows are <old>"};
  const std::string page = rendered("html", p);
  EXPECT_EQ(nesting_fault(page), "");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<title>net.onnx: 12.0 ms</title>"));
  EXPECT_THAT(page, HasSubstr("90 % interval: 11.5 to 12.6 ms"));
  EXPECT_THAT(page, HasSubstr("aria-label=\"12.0 ms (11.5 to 12.6 ms, 90 %)\""));
  EXPECT_THAT(page, HasSubstr("measured 50.0 % <span class=\"dim\">(6.00 ms)</span>"));
  EXPECT_THAT(page, HasSubstr("overhead 8.3 %"));
  EXPECT_THAT(page, HasSubstr("<h2>By operator</h2>"));
  EXPECT_THAT(page, HasSubstr("data-h=\"kernel\">copy 250</td>"));
  EXPECT_THAT(page, HasSubstr("data-h=\"name\">conv, &quot;first&quot;</td>"));
  EXPECT_THAT(page, HasSubstr("<li>rows are &lt;old&gt;</li>"));
  EXPECT_THAT(page, HasSubstr("<dt>table</dt><dd>t.oplat</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>device</dt><dd>desk</dd>"));
  EXPECT_THAT(page, HasSubstr("<details><summary>All 3 kernels in order of execution"));
  EXPECT_THAT(rendered("html", p, {.per_op = true}), HasSubstr("<details open>"));
}

TEST(PagePart, FitsIntoAnotherPage) {
  std::ostringstream out;
  write_page_part(test::report_of(test::sample_prediction()), {}, out);
  const std::string part = out.str();
  EXPECT_EQ(nesting_fault(part), "");
  EXPECT_THAT(part, HasSubstr("Where the time comes from"));
  EXPECT_THAT(part, HasSubstr("Costliest kernels"));
  // No element or rule that would change the page around it.
  for (const std::string_view whole : {"<html", "<body", "<title", ":root", "body{"})
    EXPECT_THAT(part, Not(HasSubstr(whole)));
  EXPECT_THAT(part, HasSubstr("<style>.oplat{"));
}

TEST(Page, LoadsAndRunsNothing) {
  predict::Prediction p = test::sample_prediction();
  p.model = "<script>alert(1)</script>";
  p.kernels[0].name = "<img src=x onerror=alert(1)>";
  p.plan_source = "\"><script>";
  const std::string page = rendered("html", p, {.per_op = true});
  EXPECT_EQ(nesting_fault(page), "");
  for (const char* never : {"<script", "<img", "<link", "<iframe", "http:", "https:", "url("})
    EXPECT_THAT(page, Not(HasSubstr(never)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Page, MissingKernelsTakeThePlaceOfTheLatency) {
  predict::Prediction p = test::sample_missing();
  p.help = {2, {{"copy", 1}}, 0, "", ""};
  const std::string page = rendered("html", p);
  EXPECT_EQ(nesting_fault(page), "");
  EXPECT_THAT(page, HasSubstr("no latency"));
  EXPECT_THAT(page, HasSubstr("<p>1 of 2 kernels is not in the table: 1 copy</p>"));
  EXPECT_THAT(page, HasSubstr("<summary>All 1 keys</summary>"));
  EXPECT_THAT(page, HasSubstr("<li><code>" + html_text(test::kCopy1000) + "</code></li>"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST(Page, ValidationDrawsPredictionsOverMeasuredTimes) {
  predict::Validation v = test::sample_validation();
  v.models.push_back({"far.onnx", 2e6, base::Interval{1.9e6, 2.1e6}, test::round_timing(1e6), {}});
  const std::string page = rendered("html", v);
  EXPECT_EQ(nesting_fault(page), "");
  EXPECT_THAT(page, HasSubstr("<b>2 of 3</b>models predicted"));
  EXPECT_THAT(page, HasSubstr("<b>+52.0 %</b>mean error (bias)"));
  EXPECT_THAT(page, HasSubstr(">a.onnx</text>"));
  EXPECT_THAT(page, Not(HasSubstr(">b.onnx</text>")));
  EXPECT_THAT(page, HasSubstr("class=\"mark alarm\""));
  EXPECT_THAT(page, HasSubstr("<strong class=\"none\">no</strong>"));
  EXPECT_THAT(page, HasSubstr("b.onnx: 1 missing kernels"));
}

TEST(Forms, ADocumentWithoutAPageSaysWhichFormsItHas) {
  std::ostringstream out;
  const Status refused = render("html", {test::sample_comparison(), {}}, out);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("expected one of text, json, csv"));
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace oplat::report
