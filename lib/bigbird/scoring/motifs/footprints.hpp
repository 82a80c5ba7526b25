// SPDX-License-Identifier: Apache-2.0
// Mean profiles around an inserted motif, as chrombpnet's marginal footprints have them, for motifs
// marginalize.
#pragma once

#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// Windows as each model and strand reads them, with profiles. The models must outlive it.
class ProfileReadings {
public:
    /// `models`: profile_networks().
    ProfileReadings(std::span<const ModelFolder> models, Strands strands);

    /// Of windows of normalized sequence: reads, (texts, groups) as EditedWindow::edited() has them, and
    /// profiles, (texts, output, columns), both float64 on the CPU. The profiles of a group are the sum over
    /// models and strands of probabilities times reads, divided by its sum over all positions and columns.
    std::pair<at::Tensor, at::Tensor> of(std::span<const std::string> texts) const;

private:
    struct Reading {
        const ModelFolder* model;
        std::shared_ptr<ProfileNetwork> network;
        bool reverse;
    };
    networks::ProfileShape shape_;
    std::vector<Reading> readings_;
};

/// Means over backgrounds of profiles. Without calls, holds nothing.
class Footprints {
public:
    static constexpr std::string_view header = "#motif\tname\tlabel\tposition\twith\twithout\n";

    explicit Footprints(std::size_t insertions) : with_(insertions) {}
    /// ProfileReadings's profiles of one background; undefined: none are asked for.
    void add_background(const at::Tensor& profile);
    /// Those of insertions from `first` on, in the background.
    void add_insertions(std::size_t first, const at::Tensor& profiles);
    /// Writes the rows of an insertion: `head`, the column's name, the position relative to the motif's
    /// middle base, which is base size / 2 of it, and the mean probability there with and without the motif.
    void write(std::size_t insertion, const std::string& head, const ModelFolder& model,
               genome::TextOutput& output) const;

private:
    at::Tensor without_;  ///< (output, columns), the sum over backgrounds
    std::vector<at::Tensor> with_;
    double backgrounds_ = 0;
};

}  // namespace bigbird::tasks
