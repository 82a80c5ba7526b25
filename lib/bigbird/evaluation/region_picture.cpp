// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/region_picture.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/evaluation_html.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::evaluation {

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
        "<figure style='max-width:none'><svg width={0} height={1} viewBox='0 0 {0} "
        "{1}'>{2}</svg><figcaption>{3}</figcaption></figure>\n",
        width + 2 * left, bottom, body_, escaped_html(caption));
}

double RegionPicture::at(std::int64_t position) const {
    return left + static_cast<double>(position - where_.begin) / static_cast<double>(where_.size()) * width;
}

}  // namespace bigbird::evaluation
