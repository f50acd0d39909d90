// SPDX-License-Identifier: Apache-2.0
/// The page of `oplat machine`: reported and measured sizes, and the curve that they come from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "report/html_documents.hpp"
#include "report/html_page.hpp"

namespace oplat::report {
namespace {

constexpr double kPlotWidth = 640, kPlotHeight = 260, kLeft = 56, kRight = 12, kTop = 10,
                 kBottom = 30;
/// Labels of the axis of pools, one every so many factors of two.
constexpr double kOctavesPerTick = 2;

using Cost = double table::MemoryPoint::*;

/// From pools and costs, in logarithms, to the drawing.
class Axes {
 public:
  explicit Axes(const std::vector<table::MemoryPoint>& points)
      : low_x_(std::log2(static_cast<double>(points.front().pool_bytes))),
        high_x_(std::log2(static_cast<double>(points.back().pool_bytes))) {
    double least = points.front().stream_ns, most = least;
    for (const table::MemoryPoint& point : points) {
      least = std::min({least, point.stream_ns, point.chase_ns});
      most = std::max({most, point.stream_ns, point.chase_ns});
    }
    low_y_ = std::floor(std::log10(least));
    high_y_ = std::max(std::ceil(std::log10(most)), low_y_ + 1);
    if (!(high_x_ > low_x_)) high_x_ = low_x_ + 1;
  }
  [[nodiscard]] double x(double octave) const {
    return kLeft + (kPlotWidth - kLeft - kRight) * (octave - low_x_) / (high_x_ - low_x_);
  }
  [[nodiscard]] double y(double decade) const {
    return kPlotHeight - kBottom -
           (kPlotHeight - kTop - kBottom) * (decade - low_y_) / (high_y_ - low_y_);
  }
  void print(std::ostream& out) const {
    for (double decade = low_y_; decade <= high_y_; ++decade) {
      out << fmt::format(
          "<line class=\"axis\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft, kPlotWidth - kRight, y(decade), y(decade), kLeft - 5, y(decade) + 4,
          html_text(base::duration_text(std::pow(10, decade))));
    }
    for (double octave = std::ceil(low_x_); octave <= high_x_; octave += kOctavesPerTick) {
      out << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         x(octave), kPlotHeight - kBottom + 18, html_text(bytes_tick(octave)));
    }
  }

 private:
  /// "256 KiB" without decimals.
  static std::string bytes_tick(double octave) {
    const bool mib = octave >= 20;
    const bool gib = octave >= 30;
    return fmt::format("{:.0f} {}",
                       std::exp2(octave - (gib   ? 30
                                           : mib ? 20
                                                 : 10)),
                       gib   ? "GiB"
                       : mib ? "MiB"
                             : "KiB");
  }

  double low_x_, high_x_, low_y_ = 0, high_y_ = 1;
};

void print_curve(const std::vector<table::MemoryPoint>& points, const Axes& axes, Cost cost,
                 int shade, std::ostream& out) {
  out << fmt::format("<polyline style=\"fill:none;stroke:var(--s{});stroke-width:2\" points=\"",
                     shade);
  for (const table::MemoryPoint& point : points)
    out << fmt::format("{:.1f},{:.1f} ", axes.x(std::log2(static_cast<double>(point.pool_bytes))),
                       axes.y(std::log10(point.*cost)));
  out << "\"/>\n";
}

void print_plot(const table::MemoryHierarchy& found, std::ostream& out) {
  const Axes axes(found.points);
  out << fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"time of a cache line by bytes "
      "read since its last use\">\n",
      kPlotWidth, kPlotHeight);
  axes.print(out);
  if (found.last) {
    const double low = axes.x(std::log2(found.last->middle.lo_bytes));
    const double high = axes.x(std::log2(found.last->middle.hi_bytes));
    const double left = std::clamp(low, kLeft, kPlotWidth - kRight);
    const double right = std::clamp(high, kLeft, kPlotWidth - kRight);
    out << fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "style=\"fill:var(--s3);opacity:.18\"/>\n",
        left, kTop, right - left, kPlotHeight - kTop - kBottom);
  }
  print_curve(found.points, axes, &table::MemoryPoint::chase_ns, 0, out);
  print_curve(found.points, axes, &table::MemoryPoint::stream_ns, 1, out);
  out << "</svg>\n<ul class=\"legend\">\n"
         "<li><i class=\"s0\"></i>a load that waits for the one before</li>\n"
         "<li><i class=\"s1\"></i>a line read in order</li>\n";
  if (found.last) out << "<li><i class=\"s3\"></i>the last cache before memory loses data</li>\n";
  out << "</ul>\n";
}

}  // namespace

void write_page(const MachineReport& machine, std::ostream& out) {
  const HtmlPage page(out, "Memory of a machine");
  out << "<h1>" << html_text(machine.device.name) << "</h1>\n<p class=\"dim\">"
      << html_text(
             fmt::format("caches and memory as one core of {} uses them", machine.device.cores))
      << "</p>\n";
  const std::vector<std::string> assumed = assumptions(machine);
  print_cautions(out, {}, assumed);
  print_heading(out, "Levels");
  HtmlTable table({"level", "reported", "usable", "a load", "in order"});
  for (const NamedLevel& level : named_levels(machine)) {
    const auto& measured = level.measured;
    const bool sized = measured && measured->capacity_bytes;
    table.add(
        {{html_text(level.name), ""},
         {level.reported_bytes
              ? html_text(base::bytes_text(static_cast<double>(*level.reported_bytes)))
              : "-",
          "n"},
         {sized ? html_text(base::bytes_text(*measured->capacity_bytes)) : "-", "n"},
         {measured ? html_text(base::duration_text(measured->chase_ns)) : "-", "n"},
         {measured ? fmt::format("{:.3g} GB/s", measure::kLineBytes / measured->stream_ns) : "-",
          "n"}});
  }
  table.print(out);
  if (!machine.memory || machine.memory->hierarchy.points.empty()) return;
  print_heading(out, "Time of a cache line by bytes read since its last use");
  print_plot(machine.memory->hierarchy, out);
  if (const std::string others = others_text(machine.memory->hierarchy); !others.empty())
    out << "<p>" << html_text(others) << "</p>\n";
}

}  // namespace oplat::report
