// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bigbird::tasks {

/// Options of train for profiles at single bases: cut sites (--signal) and peaks.
struct ProfileSpec {
    /// "auto": trained on the sample's background; "none"; "kmers:N"; or a model file or folder. Empty: auto
    /// for atac and dnase, none for others.
    std::string bias{};
    double background = 0.25;  ///< windows of background per peak in an epoch
};

}  // namespace bigbird::tasks
