// SPDX-License-Identifier: Apache-2.0
// Square plots (SVG) for evaluation pages.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// data/page.css and data/page.js, which come with the program. The script sorts the table of labels by the
/// column clicked; a second click reverses the order.
std::string_view page_style();
std::string_view page_script();

/// Colors of files, in their order.
inline constexpr std::array<const char*, 6> file_colours{"#1b6ca8", "#d1495b", "#2e8b57",
                                                         "#8a5a9e", "#c98a1b", "#555555"};

/// A paragraph with the name of each file in its color; empty for one file.
std::string legend_html_of(const std::vector<std::string>& names);
template <typename Files>
std::string legend_html(const Files& files) {
    std::vector<std::string> names;
    for (const auto& file : files)
        names.push_back(file.name);
    return legend_html_of(names);
}

struct Range {
    double low = 0, high = 1;

    /// 1, 2 or 5 times a power of ten that cuts the range into two to six parts.
    double step() const;
    /// Every step from `low` to `high`.
    std::vector<double> ticks() const;
    /// The range, widened to full steps.
    Range rounded() const;
};

/// A square.
class Plot {
public:
    Plot(std::string caption, const std::string& x, const std::string& y, Range across = {}, Range up = {});
    void diagonal();
    void level(double y) { dashes(across_.low, y, across_.high, y); }
    void line(const std::vector<std::pair<double, double>>& points, const char* colour);
    void point(double x, double y, const char* colour, const std::string& title, double radius = 3);
    /// Draws text beside a point, on the side with more room.
    void words(double x, double y, const std::string& text, const char* colour, int lower = 0);
    void bar(double from, double to, double height, const char* colour);
    std::string html() const;

private:
    static constexpr int left = 52, top = 10, size = 280;
    double at_x(double value) const {
        return left + (value - across_.low) / (across_.high - across_.low) * size;
    }
    double at_y(double value) const { return top + size - (value - up_.low) / (up_.high - up_.low) * size; }
    void dashes(double x1, double y1, double x2, double y2);

    std::string caption_, body_;
    Range across_, up_;
};

}  // namespace bigbird::evaluation
