// SPDX-License-Identifier: Apache-2.0
// Pieces of evaluation pages: plots (SVG), cells of tables, the page around them.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// Escapes text for HTML.
std::string escaped_html(const std::string& text);
/// Cells of a table, and of its head; `left`: aligned as text.
std::string html_cell(const std::string& text, bool left = false);
std::string html_heading(const std::string& text);

/// A self-contained page: data/page.css, the title (text) as its heading, then `body` (HTML).
std::string page_html(const std::string& title, const std::string& body);
/// data/page.js, which sorts a table by the column clicked; a second click reverses the order.
std::string_view page_script();

/// The color of a file in plots, by its index.
const char* colour_of(std::size_t file);

template <typename Files>
std::vector<std::string> names_of(const Files& files) {
    std::vector<std::string> names;
    for (const auto& file : files)
        names.push_back(file.name);
    return names;
}
/// A paragraph with the name of each file in its color; empty for one file.
std::string legend_html(const std::vector<std::string>& files);
/// The begin of a table: an empty heading, one for each file, the first one last, and one for each difference
/// from the first.
std::string files_head(const std::vector<std::string>& files);

struct Range {
    double low = 0, high = 1;

    /// 1, 2 or 5 times a power of ten that cuts the range into two to six parts.
    double step() const;
    /// Every step from `low` to `high`.
    std::vector<double> ticks() const;
    /// The range, widened to full steps.
    Range rounded() const;
};

using PlotLine = std::vector<std::pair<double, double>>;

/// A square.
class Plot {
public:
    Plot(std::string caption, const std::string& x, const std::string& y, Range across = {}, Range up = {});
    void diagonal();
    void level(double y) { dashes(across_.low, y, across_.high, y); }
    void upright(double x) { dashes(x, up_.low, x, up_.high); }
    void line(const PlotLine& points, const char* colour);
    void point(double x, double y, const char* colour, const std::string& title, double radius = 3);
    /// Draws text beside a point where no other words are; nothing if there is no room.
    void words(double x, double y, const std::string& text, const char* colour);
    std::string html() const;

private:
    static constexpr int left = 66, top = 10, size = 266;
    double at_x(double value) const {
        return left + (value - across_.low) / (across_.high - across_.low) * size;
    }
    double at_y(double value) const { return top + size - (value - up_.low) / (up_.high - up_.low) * size; }
    void dashes(double x1, double y1, double x2, double y2);

    struct Box {
        double left = 0, top = 0, right = 0, bottom = 0;  ///< pixels
        bool meets(const Box& other) const {
            return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
        }
    };

    std::string caption_, body_;
    Range across_, up_;
    std::vector<Box> words_;
};

/// A picture of tracks over a region, for pages. Not thread-safe.
class RegionPicture {
public:
    /// `where` must outlive this.
    explicit RegionPicture(const genome::Interval& where) : where_(where) {}

    /// Adds values by bin of `bin` bases, from the region's start on, above `peaks`; NaN draws nothing. The
    /// scale goes from 0 to `most`, or with 0 to the largest value.
    void track(const std::string& name, std::span<const float> values, std::int64_t bin,
               std::span<const genome::Span> peaks = {}, const std::string& colour = "#d1495b",
               double most = 0);
    std::string html(const std::string& caption);

private:
    double at(std::int64_t position) const;

    const genome::Interval& where_;
    std::string body_;
    int tracks_ = 0;
};

}  // namespace bigbird::evaluation
