// SPDX-License-Identifier: Apache-2.0
// One network of SpliceAI's form, as read from its file, in one form for all families. Maps are positions of
// 32 channels:
//   h = input(one-hot);  each unit: h = h + second(act(first(act(norm(h)))))
//   s = the sum of skip convolutions of h, each after some units;  probabilities = softmax(output(s))
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::networks {

struct SpliceConvolution {
    std::vector<float> weights;  ///< (taps, in, out)
    std::vector<float> bias;     ///< (out)
};

/// A batch normalization of the file: x * scale + shift.
struct SpliceAffine {
    std::vector<float> scale, shift;
};

/// Both convolutions have as many taps and the same dilation. The batch normalization between them is folded
/// into the first.
struct SpliceUnit {
    std::int64_t taps = 11, dilation = 1;
    SpliceAffine norm;
    SpliceConvolution first, second;
};

struct SpliceSkip {
    std::int64_t after = 0;  ///< units
    SpliceConvolution convolution;
};

struct SpliceMember {
    float slope = 0;  ///< of act() below 0
    SpliceConvolution input;
    std::vector<SpliceUnit> units;
    std::vector<SpliceSkip> skips;  ///< by `after`, from 0 on
    SpliceConvolution
        output;  ///< 3 outputs; in Pangolin 2, of which the second is the probability for a tissue
    std::int64_t tissue = -1;  ///< Pangolin: 0 to 3

    std::int64_t outputs() const { return tissue < 0 ? 3 : 2; }
    /// Positions that the convolutions lose at both ends together.
    std::int64_t context() const;
};

/// Members of one family, whose probabilities are averaged.
struct SpliceModel {
    std::string family;
    std::vector<SpliceMember> members;
    std::string sha256;
    Json source = Json::object();  ///< where the weights are from, for people
};

/// Throws InputError naming `path`: a vector of another size than the network needs, a number that is not
/// finite, a form that is no published one.
void validate(const SpliceMember& member, const std::filesystem::path& path);
/// Throws ConfigError if members differ in context or do not cover all tissues.
void validate(const SpliceModel& model);

/// The dilation of unit i, counted from 0, of published networks.
std::int64_t published_dilation(std::int64_t unit);

/// Throws InputError naming `path` if the vectors differ in size.
SpliceAffine affine_of(const std::vector<float>& gamma, const std::vector<float>& beta,
                       const std::vector<float>& mean, const std::vector<float>& variance, double epsilon,
                       const std::filesystem::path& path);
/// norm(convolution(x)) as one convolution. Throws InputError naming `path` where their channels differ.
SpliceConvolution folded(const SpliceConvolution& convolution, const SpliceAffine& norm,
                         const std::filesystem::path& path);

}  // namespace bigbird::networks
