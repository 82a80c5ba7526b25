// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/plot.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace bigbird::evaluation {

std::string_view page_style();  // data/page.css

std::string escaped_html(const std::string& text) {
    constexpr std::pair<char, const char*> entities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    std::string result;
    for (const char letter : text) {
        const auto* const found = std::ranges::find(entities, letter, &std::pair<char, const char*>::first);
        result += found == std::end(entities) ? std::string(1, letter) : found->second;
    }
    return result;
}

std::string html_cell(const std::string& text, bool left) {
    return (left ? "<td class=text>" : "<td>") + escaped_html(text) + "</td>";
}

std::string html_heading(const std::string& text) {
    return "<th>" + escaped_html(text) + "</th>";
}

std::string page_html(const std::string& title, const std::string& body) {
    return fmt::format(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
        "content='width=device-width'><title>{0}</title><style>\n{1}</style>\n<h1>{0}</h1>\n{2}</html>\n",
        escaped_html(title), page_style(), body);
}

const char* colour_of(std::size_t file) {
    constexpr std::array colours{"#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c98a1b", "#555555"};
    return colours[file % colours.size()];
}

std::string legend_html(const std::vector<std::string>& files) {
    if (files.size() < 2) return "";
    std::string html = "<p>";
    for (std::size_t i = 0; i < files.size(); ++i)
        html += fmt::format("<span style='color:{}'>&#9632;</span> {} &nbsp; ", colour_of(i),
                            escaped_html(files[i]));
    return html + "</p>\n";
}

std::string files_head(const std::vector<std::string>& files) {
    std::string html = "<table><tr><th></th>";
    for (std::size_t i = 1; i <= files.size(); ++i)
        html += html_heading(files[i % files.size()]);
    for (std::size_t i = 1; i < files.size(); ++i)
        html += html_heading(files[i] + " \u2212 " + files.front());
    return html + "</tr>";
}

double Range::step() const {
    const double unit = std::pow(10.0, std::floor(std::log10((high - low) / 4)));
    const double parts = (high - low) / unit;
    return unit * (parts > 12 ? 5 : parts > 6 ? 2 : 1);
}

std::vector<double> Range::ticks() const {
    std::vector<double> values(static_cast<std::size_t>(std::lround((high - low) / step())) + 1, low);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += static_cast<double>(i) * step();
    return values;
}

Range Range::rounded() const {
    return {std::floor(low / step() + 1e-9) * step(), std::ceil(high / step() - 1e-9) * step()};
}

Plot::Plot(std::string caption, const std::string& x, const std::string& y, Range across, Range up)
    : caption_(std::move(caption)), across_(across), up_(up) {
    body_ = fmt::format("<rect x={0} y={1} width={2} height={2} fill=none stroke='#999'/>", left, top, size);
    for (const double value : across_.ticks()) {
        body_ += fmt::format(
            "<line x1={0:.1f} y1={1} x2={0:.1f} y2={2} stroke='#eee'/><text x={0:.1f} y={3} "
            "text-anchor=middle>{4:.6g}</text>",
            at_x(value), top, top + size, top + size + 17, std::abs(value) < 1e-9 ? 0.0 : value);
    }
    for (const double value : up_.ticks()) {
        body_ += fmt::format(
            "<line x1={0} y1={1:.1f} x2={2} y2={1:.1f} stroke='#eee'/><text x={3} y={4:.1f} "
            "text-anchor=end>{5:.6g}</text>",
            left, at_y(value), left + size, left - 4, at_y(value) + 4, std::abs(value) < 1e-9 ? 0.0 : value);
    }
    body_ += fmt::format("<text x={} y={} text-anchor=middle>{}</text>", left + size / 2, top + size + 34,
                         escaped_html(x));
    body_ += fmt::format("<text transform='translate(12 {}) rotate(-90)' text-anchor=middle>{}</text>",
                         top + size / 2, escaped_html(y));
}

void Plot::diagonal() {
    const double low = std::max(across_.low, up_.low), high = std::min(across_.high, up_.high);
    if (low < high) dashes(low, low, high, high);
}

void Plot::line(const PlotLine& points, const char* colour) {
    std::string path;
    for (const auto& [x, y] : points)
        path += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
    body_ += fmt::format("<polyline points='{}' fill=none stroke='{}' stroke-width=1.8 />", path, colour);
}

void Plot::point(double x, double y, const char* colour, const std::string& title, double radius) {
    body_ += fmt::format(
        "<circle cx={:.1f} cy={:.1f} r={:.1f} fill='{}' fill-opacity=.55><title>{}</title></circle>", at_x(x),
        at_y(y), radius, colour, escaped_html(title));
}

void Plot::words(double x, double y, const std::string& text, const char* colour) {
    constexpr double letter = 6, line = 11, gap = 6;  // pixels, rather too many
    const double width = letter * static_cast<double>(text.size());
    for (const double lower : {3.0, 14.0, -8.0}) {
        for (const double begin : {at_x(x) + gap, at_x(x) - gap - width}) {
            const Box box{begin, at_y(y) + lower - line, begin + width, at_y(y) + lower};
            const bool fits =
                begin > left && box.right < left + size && box.top > top && box.bottom < top + size;
            if (!fits || std::ranges::any_of(words_, [&](const Box& other) { return other.meets(box); }))
                continue;
            words_.push_back(box);
            body_ += fmt::format("<text x={:.1f} y={:.1f} class=small style='fill:{}'>{}</text>", begin,
                                 at_y(y) + lower, colour, escaped_html(text));
            return;
        }
    }
}

std::string Plot::html() const {
    return fmt::format(
        "<figure><svg width={0} height={1} viewBox='0 0 {0} "
        "{1}'>{2}</svg><figcaption>{3}</figcaption></figure>\n",
        left + size + 22, top + size + 40, body_, escaped_html(caption_));
}

void Plot::dashes(double x1, double y1, double x2, double y2) {
    body_ +=
        fmt::format("<line x1={:.1f} y1={:.1f} x2={:.1f} y2={:.1f} stroke='#bbb' stroke-dasharray='4 3'/>",
                    at_x(x1), at_y(y1), at_x(x2), at_y(y2));
}

namespace {

constexpr int left = 8, width = 1000, track_height = 44, peak_height = 7, track_step = 78, top = 16;

}  // namespace

void RegionPicture::track(const std::string& name, std::span<const float> scores, std::int64_t bin,
                          std::span<const genome::Span> peaks, const std::string& colour, double most) {
    if (most == 0)
        for (const float score : scores)
            if (std::isfinite(score)) most = std::max(most, static_cast<double>(score));
    const int base = top + track_step * tracks_++ + track_height;
    body_ += fmt::format("<text x={} y={}>{}, 0 to {:.3g}</text>", left, base - track_height - 3,
                         escaped_html(name), most);
    body_ += fmt::format("<path d='M{} {}", left, base);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double height = std::isfinite(scores[i]) && most > 0 ? scores[i] / most * track_height : 0;
        const auto begin = where_.begin + static_cast<std::int64_t>(i) * bin;
        body_ += fmt::format("L{:.1f} {:.1f}H{:.1f}", at(begin), base - height, at(begin + bin));
    }
    body_ += fmt::format("V{}Z' fill='{}' fill-opacity=.8 />", base, colour);
    for (const genome::Span& peak : peaks) {
        const auto begin = std::max(peak.begin, where_.begin), end = std::min(peak.end, where_.end);
        if (begin >= end) continue;
        body_ += fmt::format("<rect x={:.1f} y={} width={:.1f} height={} fill='#222'/>", at(begin), base + 3,
                             std::max(1.0, at(end) - at(begin)), peak_height);
    }
    body_ += fmt::format("<line x1={0} y1={1} x2={2} y2={1} stroke='#999'/>", left, base, left + width);
}

std::string RegionPicture::html(const std::string& caption) {
    const int bottom = top + track_step * tracks_;
    constexpr int ticks = 4;
    for (int i = 0; i <= ticks; ++i) {
        const std::int64_t position = where_.begin + where_.size() * i / ticks;
        body_ += fmt::format("<text x={:.1f} y={} text-anchor={}>{}</text>", at(position), bottom - 4,
                             i == 0       ? "start"
                             : i == ticks ? "end"
                                          : "middle",
                             position);
    }
    return fmt::format(
        "<figure class=wide><svg width={0} height={1} viewBox='0 0 {0} "
        "{1}'>{2}</svg><figcaption>{3}</figcaption></figure>\n",
        width + 2 * left, bottom, body_, escaped_html(caption));
}

double RegionPicture::at(std::int64_t position) const {
    return left + static_cast<double>(position - where_.begin) / static_cast<double>(where_.size()) * width;
}

}  // namespace bigbird::evaluation
