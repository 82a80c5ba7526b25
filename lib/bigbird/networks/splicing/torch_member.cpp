// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/torch_member.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/networks/files/torch_file.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

constexpr double torch_epsilon = 1e-5;
constexpr float open_slope = 0.1F;
constexpr std::int64_t most_torch_units = 64, units_between_skips = 4;
constexpr std::string_view of_open = "initial_conv.weight", of_pangolin = "resblocks.0.bn1.weight";

/// The prefix of names in the file, such as "model."; nullopt if no tensor has it.
std::optional<std::string> prefix_of(const TorchFile& file, std::string_view name) {
    std::string within(1, '.');
    within += name;
    for (const auto& [found, tensor] : file.tensors())
        if (found == name || found.ends_with(within)) return found.substr(0, found.size() - name.size());
    return std::nullopt;
}

/// Tensors of a file under a prefix.
class SpliceTensors {
public:
    SpliceTensors(const TorchFile& file, std::string prefix, const fs::path& path)
        : file_(file), prefix_(std::move(prefix)), path_(path) {}

    bool has(const std::string& name) const { return file_.tensors().contains(prefix_ + name); }

    std::vector<float> vector(const std::string& name) { return take(name, 1).floats(); }

    /// (out, in, taps) as (taps, in, out).
    SpliceConvolution convolution(const std::string& name) {
        const TorchTensor& tensor = take(name + ".weight", 3);
        const std::vector<float> from = tensor.floats();
        const auto out = static_cast<std::size_t>(tensor.shape[0]),
                   in = static_cast<std::size_t>(tensor.shape[1]),
                   taps = static_cast<std::size_t>(tensor.shape[2]);
        SpliceConvolution convolution{std::vector<float>(from.size()), vector(name + ".bias")};
        for (std::size_t o = 0; o < out; ++o)
            for (std::size_t i = 0; i < in; ++i)
                for (std::size_t t = 0; t < taps; ++t)
                    convolution.weights[(t * in + i) * out + o] = from[(o * in + i) * taps + t];
        return convolution;
    }

    SpliceConvolution pointwise(const std::string& name) {
        if (take(name + ".weight", 3).shape[2] != 1)
            refuse("has weights of an unexpected shape, '" + name + ".weight'");
        return convolution(name);
    }

    SpliceUnit unit(const std::string& name, const std::string& norm, std::int64_t index) {
        SpliceUnit unit;
        unit.taps = take(name + ".conv1.weight", 3).shape[2];
        if (take(name + ".conv2.weight", 3).shape[2] != unit.taps)
            refuse("has a unit of two widths, '" + name + "'");
        unit.dilation = published_dilation(index);
        unit.norm = affine(name + "." + norm + "1");
        unit.first = folded(convolution(name + ".conv1"), affine(name + "." + norm + "2"), path_);
        unit.second = convolution(name + ".conv2");
        return unit;
    }

    /// Throws if the file has other weights than those taken, and those whose names begin with `others`.
    void require_all_taken(std::string_view others) const {
        std::vector<std::string> unknown;
        for (const auto& [name, tensor] : file_.tensors()) {
            const bool known =
                name.starts_with(prefix_) &&
                (taken_.contains(name.substr(prefix_.size())) || name.ends_with("num_batches_tracked") ||
                 (!others.empty() && name.substr(prefix_.size()).starts_with(others)));
            if (!known) unknown.push_back(name);
        }
        if (!unknown.empty()) refuse("has weights that splicing networks do not have: " + listed(unknown));
    }
    [[noreturn]] void refuse(const std::string& what) const { throw InputError(what, path_); }

private:
    const TorchTensor& take(const std::string& name, std::size_t axes) {
        const auto found = file_.tensors().find(prefix_ + name);
        if (found == file_.tensors().end()) refuse("lacks the weights '" + prefix_ + name + "'");
        if (found->second.shape.size() != axes || !found->second.type.starts_with("F"))
            refuse("has weights of an unexpected shape or type, '" + prefix_ + name + "'");
        taken_.insert(name);
        return found->second;
    }
    SpliceAffine affine(const std::string& name) {
        return affine_of(vector(name + ".weight"), vector(name + ".bias"), vector(name + ".running_mean"),
                         vector(name + ".running_var"), torch_epsilon, path_);
    }

    const TorchFile& file_;
    std::string prefix_;
    const fs::path& path_;
    std::set<std::string> taken_;
};

/// Units and skips share one list there.
SpliceMember open_member(SpliceTensors& tensors) {
    SpliceMember member;
    member.slope = open_slope;
    member.input = tensors.pointwise("initial_conv");
    member.skips.push_back({0, tensors.pointwise("initial_skip.conv")});
    for (std::int64_t i = 0; i < most_torch_units; ++i) {
        const std::string name = "residual_units." + std::to_string(i);
        const std::int64_t units = std::ssize(member.units);
        if (tensors.has(name + ".conv.weight"))
            member.skips.push_back({units, tensors.pointwise(name + ".conv")});
        else if (tensors.has(name + ".conv1.weight"))
            member.units.push_back(tensors.unit(name, "batchnorm", units));
        else
            break;
    }
    member.output = tensors.pointwise("final_conv");
    tensors.require_all_taken("");
    return member;
}

/// final.J.I.3.v2: I is twice the tissue.
std::int64_t tissue_of(const fs::path& path) {
    const std::string name = path.filename().string();
    for (std::int64_t tissue = 0; tissue < 4; ++tissue)
        for (const char* const member : {"1", "2", "3"})
            if (name.starts_with("final." + std::string(member) + "." + std::to_string(2 * tissue) + ".3"))
                return tissue;
    throw InputError(
        "is no file of Pangolin that scores splice sites of a tissue: these are final.J.I.3.v2 with J 1, 2, "
        "3 "
        "and I 0, 2, 4, 6",
        path);
}

SpliceMember pangolin_member(SpliceTensors& tensors, const fs::path& path) {
    SpliceMember member;
    member.tissue = tissue_of(path);
    member.input = tensors.pointwise("conv1");
    member.skips.push_back({0, tensors.pointwise("skip")});
    for (std::int64_t i = 0; i < most_torch_units; ++i) {
        const std::string name = "resblocks." + std::to_string(i);
        if (!tensors.has(name + ".conv1.weight")) break;
        member.units.push_back(tensors.unit(name, "bn", i));
        const std::int64_t units = std::ssize(member.units);
        if (units % units_between_skips == 0)
            member.skips.push_back(
                {units, tensors.pointwise("convs." + std::to_string(units / units_between_skips - 1))});
    }
    member.output = tensors.pointwise("conv_last" + std::to_string(2 * member.tissue + 1));
    tensors.require_all_taken("conv_last");
    return member;
}

}  // namespace

SpliceMember read_torch_member(const fs::path& path) {
    const TorchFile file(path);
    SpliceMember member;
    if (const auto open = prefix_of(file, of_open)) {
        SpliceTensors tensors(file, *open, path);
        member = open_member(tensors);
    } else if (const auto pangolin = prefix_of(file, of_pangolin)) {
        SpliceTensors tensors(file, *pangolin, path);
        member = pangolin_member(tensors, path);
    } else {
        throw InputError("is no splicing network of OpenSpliceAI or Pangolin", path);
    }
    validate(member, path);
    return member;
}

}  // namespace bigbird::networks
