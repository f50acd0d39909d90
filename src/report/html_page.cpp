// SPDX-License-Identifier: Apache-2.0
/// Markup of pages.
#include "report/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::report {
namespace {

/// What a colour is called, in a light and in a dark scheme.
constexpr std::string_view kLightColours = R"css(
color-scheme:light dark;--page:#fff;--text:#1c2024;--dim:#5d6670;--line:#d9dee3;
--panel:#f5f7f9;--accent:#0b66c3;--alarm:#b3261e;--alarm-panel:#fdeeed;
--s0:#0b66c3;--s1:#3aa0a8;--s2:#7a5bc7;--s3:#c8791d;--s4:#8a949e;--s5:#b3261e;--s6:#5c7d2f)css";
constexpr std::string_view kDarkColours = R"css(
--page:#14171a;--text:#e6e9ec;--dim:#9aa4ae;
--line:#343b42;--panel:#1d2226;--accent:#6db3ff;--alarm:#ff8a80;--alarm-panel:#3a1f1d;
--s0:#5aa7f7;--s1:#4fb9c0;--s2:#a48df0;--s3:#e0a050;--s4:#79838d;--s5:#ff8a80;--s6:#9dbb6a)css";
/// Of the element that holds everything.
constexpr std::string_view kLooks = R"css(
background:var(--page);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif)css";
constexpr std::string_view kRules = R"css(
*{box-sizing:border-box}
h1{font-size:1.15rem;margin:0;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:2.2rem 0 .6rem}
p{margin:.4rem 0}
.dim{color:var(--dim)}
.big{font-size:2.4rem;font-weight:650;line-height:1.15;margin:.3rem 0 0}
.none{color:var(--alarm)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.6rem;
margin:.8rem 0}
.tiles div{background:var(--panel);border-radius:.4rem;padding:.55rem .8rem}
.tiles b{display:block;font-size:1.3rem;font-weight:650}
.caution{background:var(--alarm-panel);border-left:.25rem solid var(--alarm);padding:.5rem .8rem;
margin:.9rem 0;border-radius:.2rem;overflow-wrap:anywhere}
.caution ul{margin:.2rem 0;padding-left:1.2rem}
svg{display:block;width:100%;height:auto;margin:.6rem 0}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--dim)}
.axis{stroke:var(--line)}.band{stroke:var(--accent);stroke-linecap:round}.mark{fill:var(--accent)}
.band.alarm{stroke:var(--alarm)}.mark.alarm{fill:var(--alarm)}
.other{stroke:var(--text);stroke-width:2}
.bar{display:flex;height:1.5rem;border-radius:.3rem;overflow:hidden;background:var(--panel)}
.bar i{display:block}
.s0{background:var(--s0)}.s1{background:var(--s1)}.s2{background:var(--s2)}.s3{background:var(--s3)}
.s4{background:var(--s4)}.s5{background:var(--s5)}.s6{background:var(--s6)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.5rem 0}
.legend i{display:inline-block;width:.75rem;height:.75rem;border-radius:.15rem;margin-right:.4rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;color:var(--dim);font-weight:600;border-bottom:2px solid var(--line);
padding:.3rem .5rem}
td{border-bottom:1px solid var(--line);padding:.3rem .5rem;vertical-align:top;
overflow-wrap:break-word}td.k,td:first-child{overflow-wrap:anywhere}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.k,code{font:.8rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.4rem 0}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--accent);margin:2rem 0 .6rem}
@media (max-width:40rem){thead{display:none}table,tbody,tr,td{display:block;width:100%}
tr{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;padding:.3rem .6rem}
td,td.n{border:0;padding:.1rem 0;text-align:left;white-space:normal;padding-left:8.5rem;
position:relative;min-height:1.4rem}
td::before{content:attr(data-h);position:absolute;left:0;width:8rem;color:var(--dim);
font:.85rem system-ui,sans-serif}
td:empty{display:none}dl{grid-template-columns:1fr}dt{margin-top:.4rem}.big{font-size:1.9rem}
svg text{font-size:19px}}
)css";

/// The length of the UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond Unicode.
  if (length > 2) {
    const std::uint8_t second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
      return 0;
  }
  return length;
}

constexpr double kWidth = 640;
constexpr double kLineHeight = 34;
constexpr double kMargin = 10;

}  // namespace

std::string html_text(std::string_view text, std::size_t max) {
  std::string out;
  std::size_t count = 0;
  while (!text.empty()) {
    if (count++ == max) return out + "…";
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length > 1) {
      out += text.substr(0, length);
    } else if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        case '\'':
          out += "&#39;";
          break;
        default:
          out += c;
      }
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

HtmlPage::HtmlPage(std::ostream& out, std::string_view title) : out_(out) {
  out_ << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'\">\n<title>"
       << html_text(title) << "</title>\n<style>:root{" << kLightColours
       << "}\n@media (prefers-color-scheme:dark){:root{" << kDarkColours << "}}\nbody{" << kLooks
       << ";margin:0 auto;padding:1.5rem 1rem 3rem;max-width:68rem}" << kRules
       << "</style>\n</head>\n<body>\n";
}
HtmlPage::~HtmlPage() { out_ << "</body>\n</html>\n"; }

// Nested rules hold within the element alone.
HtmlFragment::HtmlFragment(std::ostream& out) : out_(out) {
  out_ << "<div class=\"oplat\">\n<style>.oplat{" << kLightColours << ";" << kLooks
       << ";padding:.5rem 1rem;\n@media (prefers-color-scheme:dark){&{" << kDarkColours << "}}"
       << kRules << "}</style>\n";
}
HtmlFragment::~HtmlFragment() { out_ << "</div>\n"; }

void HtmlTable::print(std::ostream& out) const {
  out << "<table>\n<thead><tr>";
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    const bool number = !rows_.empty() && rows_.front().at(i).kind == "n";
    out << (number ? "<th class=\"n\">" : "<th>") << html_text(headings_[i]) << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    out << "<tr>";
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      const HtmlCell& cell = row.at(i);
      out << "<td";
      if (!cell.kind.empty()) out << " class=\"" << cell.kind << "\"";
      out << " data-h=\"" << html_text(headings_[i]) << "\">" << cell.markup << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</tbody>\n</table>\n";
}

void print_heading(std::ostream& out, std::string_view heading) {
  out << "<h2>" << html_text(heading) << "</h2>\n";
}

void print_facts(std::ostream& out, std::span<const std::pair<std::string, std::string>> facts) {
  out << "<dl>\n";
  for (const auto& [name, value] : facts) {
    if (!value.empty())
      out << "<dt>" << html_text(name) << "</dt><dd>" << html_text(value) << "</dd>\n";
  }
  out << "</dl>\n";
}

void print_device(std::ostream& out, const table::Device& device, const table::Setting& setting) {
  // 0 stands for unknown.
  const auto size = [](std::int64_t bytes) {
    return bytes > 0 ? base::bytes_text(static_cast<double>(bytes)) : std::string();
  };
  std::vector<std::string> options;
  for (const auto& [name, value] : setting.options) options.push_back(name + "=" + value);
  const std::pair<std::string, std::string> facts[] = {
      {"device", device.name},
      {"processor", device.cpu == device.name ? std::string() : device.cpu},
      {"architecture", device.architecture},
      {"instruction sets", device.isa},
      {"cores", device.cores > 0 ? std::to_string(device.cores) : std::string()},
      {"memory", size(device.memory_bytes)},
      {"L1 data cache", size(device.l1d_bytes)},
      {"L2 cache", size(device.l2_bytes)},
      {"last-level cache", size(device.llc_bytes)},
      {"runtime", setting.runtime},
      {"version", setting.version},
      {"build", setting.build},
      {"precision", setting.precision},
      {"threads", std::to_string(setting.threads)},
      {"options", base::join(options, ", ")}};
  print_heading(out, "Device and setting");
  print_facts(out, facts);
}

void print_cautions(std::ostream& out, std::span<const predict::Mismatch> mismatch,
                    std::span<const std::string> warnings) {
  if (mismatch.empty() && warnings.empty()) return;
  out << "<div class=\"caution\"><strong>"
      << (mismatch.empty() ? "Warnings" : "The rows were measured under another setting")
      << "</strong>\n<ul>\n";
  for (const predict::Mismatch& one : mismatch) {
    out << "<li>" << html_text(one.field) << ": asked for " << html_text(one.asked)
        << ", rows have " << html_text(one.used) << "</li>\n";
  }
  for (const std::string& warning : warnings) out << "<li>" << html_text(warning) << "</li>\n";
  out << "</ul></div>\n";
}

void print_parts(std::ostream& out, std::span<const HtmlPart> parts) {
  double sum = 0;
  for (const HtmlPart& part : parts) sum += std::max(part.share, 0.0);
  if (sum <= 0) return;
  out << "<div class=\"bar\" aria-hidden=\"true\">";
  for (const HtmlPart& part : parts) {
    if (part.share > 0)
      out << fmt::format("<i class=\"s{}\" style=\"width:{:.3f}%\"></i>", part.shade,
                         100 * part.share / sum);
  }
  out << "</div>\n<ul class=\"legend\">\n";
  for (const HtmlPart& part : parts) {
    out << fmt::format("<li><i class=\"s{}\"></i>{} {:.1f} %", part.shade, html_text(part.name),
                       100 * part.share);
    if (!part.amount.empty())
      out << " <span class=\"dim\">(" << html_text(part.amount) << ")</span>";
    out << "</li>\n";
  }
  out << "</ul>\n";
}

std::vector<double> axis_ticks(double low, double high) {
  if (!(high > low)) high = low + std::max(std::abs(low), 1.0);
  const double rough = (high - low) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks.push_back(i * step);
  return ticks;
}

void print_ranges(std::ostream& out, std::span<const HtmlRange> ranges,
                  std::span<const std::pair<double, std::string>> ticks, std::string_view alt) {
  if (ranges.empty() || ticks.size() < 2) return;
  const double low = ticks.front().first;
  const double high = ticks.back().first;
  // Names need room of their own above their lines.
  const bool named = std::any_of(ranges.begin(), ranges.end(),
                                 [](const HtmlRange& range) { return !range.name.empty(); });
  const double height = named ? kLineHeight + 6 : kLineHeight;
  const double bottom = height * static_cast<double>(ranges.size()) + 6;
  const auto x = [&](double value) {
    return kMargin + (kWidth - 2 * kMargin) * std::clamp((value - low) / (high - low), 0.0, 1.0);
  };
  out << fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                     bottom + 20, html_text(alt));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const auto& [value, text] = ticks[i];
    const std::string_view anchor = i == 0 ? "start" : i + 1 == ticks.size() ? "end" : "middle";
    const double at = x(value);
    out << fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"4\" y2=\"{1:.1f}\"/>"
        "<text x=\"{2:.1f}\" y=\"{3:.1f}\" text-anchor=\"{4}\">{5}</text>\n",
        at, bottom,
        i == 0                  ? at - kMargin
        : i + 1 == ticks.size() ? at + kMargin
                                : at,
        bottom + 15, anchor, html_text(text));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const HtmlRange& range = ranges[i];
    const double y = height * static_cast<double>(i) + (named ? height - 12 : height / 2);
    const std::string_view alarm = range.alarm ? " alarm" : "";
    if (!range.name.empty())
      out << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kMargin, y - 12,
                         html_text(range.name, 80));
    if (range.low && range.high)
      out << fmt::format(
          "<line class=\"band{}\" stroke-width=\"10\" stroke-opacity=\".35\" x1=\"{:.1f}\" "
          "x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
          alarm, x(*range.low), x(*range.high), y, y);
    if (range.other)
      out << fmt::format(
          "<line class=\"other\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
          x(*range.other), y - 9, y + 9);
    out << fmt::format("<circle class=\"mark{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n", alarm,
                       x(range.mark), y);
  }
  out << "</svg>\n";
}

}  // namespace oplat::report
