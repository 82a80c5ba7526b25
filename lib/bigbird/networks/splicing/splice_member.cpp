// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_member.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bigbird::networks {

namespace {

constexpr std::int64_t most_taps = 101, most_dilation = 100, most_units = 64, most_members = 64, tissues = 4;
constexpr std::array<std::int64_t, 4> published_dilations{1, 4, 10, 25};
constexpr std::size_t units_of_a_dilation = 4;

void require_size(const std::vector<float>& values, std::int64_t size, const std::string& what,
                  const std::filesystem::path& path) {
    if (std::ssize(values) != size)
        throw InputError("has weights of an unexpected shape in " + what + ": splicing networks have " +
                             std::to_string(splice_channels) + " channels",
                         path);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
        throw InputError("has weights that are not finite in " + what, path);
}

void require_convolution(const SpliceConvolution& found, std::int64_t taps, std::int64_t in, std::int64_t out,
                         const std::string& what, const std::filesystem::path& path) {
    require_size(found.weights, taps * in * out, what, path);
    require_size(found.bias, out, what, path);
}

}  // namespace

std::int64_t SpliceMember::context() const {
    std::int64_t sum = 0;
    for (const SpliceUnit& unit : units)
        sum += 2 * unit.dilation * (unit.taps - 1);
    return sum;
}

std::int64_t published_dilation(std::int64_t unit) {
    const std::size_t block = static_cast<std::size_t>(unit) / units_of_a_dilation;
    return published_dilations[std::min(block, published_dilations.size() - 1)];
}

void validate(const SpliceMember& member, const std::filesystem::path& path) {
    constexpr std::int64_t c = splice_channels;
    if (member.units.empty() || std::ssize(member.units) > most_units)
        throw InputError("has no residual units, or more than " + std::to_string(most_units), path);
    if (!std::isfinite(member.slope) || member.tissue < -1 || member.tissue >= tissues)
        throw InputError("does not describe a splicing network", path);
    require_convolution(member.input, 1, 4, c, "its first layer", path);
    for (std::size_t i = 0; i < member.units.size(); ++i) {
        const SpliceUnit& unit = member.units[i];
        const std::string what = "unit " + std::to_string(i + 1);
        if (unit.taps < 1 || unit.taps > most_taps || unit.taps % 2 == 0 || unit.dilation < 1 ||
            unit.dilation > most_dilation)
            throw InputError("has a convolution of an unexpected width or dilation in " + what, path);
        require_size(unit.norm.scale, c, what, path);
        require_size(unit.norm.shift, c, what, path);
        require_convolution(unit.first, unit.taps, c, c, what, path);
        require_convolution(unit.second, unit.taps, c, c, what, path);
    }
    std::int64_t before = -1;
    for (const SpliceSkip& skip : member.skips) {
        if (skip.after <= before || skip.after > std::ssize(member.units))
            throw InputError("has skip connections where splicing networks have none", path);
        before = skip.after;
        require_convolution(skip.convolution, 1, c, c, "a skip connection", path);
    }
    if (member.skips.empty()) throw InputError("has no skip connections", path);
    require_convolution(member.output, 1, c, member.outputs(), "its last layer", path);
}

void validate(const SpliceModel& model) {
    if (model.members.empty() || std::ssize(model.members) > most_members)
        throw ConfigError("a splicing network has 1 to " + std::to_string(most_members) + " members");
    std::array<bool, tissues> covered{};
    for (const SpliceMember& member : model.members) {
        if (member.context() != model.members.front().context())
            throw ConfigError("the members of a splicing network read different contexts: " +
                              std::to_string(model.members.front().context()) + " and " +
                              std::to_string(member.context()) + " bases");
        if ((member.tissue < 0) != (model.members.front().tissue < 0))
            throw ConfigError("members of Pangolin cannot be joined with those of other splicing networks");
        if (member.tissue >= 0) covered[static_cast<std::size_t>(member.tissue)] = true;
    }
    if (model.members.front().tissue >= 0 && !std::ranges::all_of(covered, std::identity{}))
        throw ConfigError(
            "Pangolin needs members for all four tissues: final.1.0.3.v2, final.1.2.3.v2, final.1.4.3.v2 "
            "and final.1.6.3.v2, and those of 2 and 3");
}

SpliceAffine affine_of(const std::vector<float>& gamma, const std::vector<float>& beta,
                       const std::vector<float>& mean, const std::vector<float>& variance, double epsilon,
                       const std::filesystem::path& path) {
    if (gamma.size() != beta.size() || gamma.size() != mean.size() || gamma.size() != variance.size())
        throw InputError("has a batch normalization whose weights differ in size", path);
    SpliceAffine affine;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        const double scale = gamma[c] / std::sqrt(variance[c] + epsilon);
        affine.scale.push_back(static_cast<float>(scale));
        affine.shift.push_back(static_cast<float>(beta[c] - mean[c] * scale));
    }
    return affine;
}

SpliceConvolution folded(const SpliceConvolution& convolution, const SpliceAffine& norm,
                         const std::filesystem::path& path) {
    if (convolution.bias.empty() || convolution.bias.size() != norm.scale.size())
        throw InputError("has a batch normalization that does not fit the convolution before it", path);
    SpliceConvolution joined = convolution;
    const std::size_t out = convolution.bias.size();
    for (std::size_t i = 0; i < joined.weights.size(); ++i)
        joined.weights[i] *= norm.scale[i % out];
    for (std::size_t o = 0; o < out; ++o)
        joined.bias[o] = static_cast<float>(double{convolution.bias[o]} * norm.scale[o] + norm.shift[o]);
    return joined;
}

}  // namespace bigbird::networks
