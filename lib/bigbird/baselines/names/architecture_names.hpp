// SPDX-License-Identifier: Apache-2.0
// The models that the paper's tables compare BigBird with, by the names of --architecture.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bigbird::baselines {

struct Architecture {
    std::string_view name;    ///< of --architecture
    std::string_view title;   ///< of config.json
    std::int64_t begin, end;  ///< the window around base 0 that its paper uses; both 0: any
    std::int64_t shortest;    ///< bases of the shortest window that its layers accept
    bool is_network;  ///< trained by gradient descent (as BigBird is) rather than solved as one problem
};
inline constexpr std::array<Architecture, 6> architectures{{{"cnnprom", "CNNProm", -200, 51, 21, true},
                                                            {"deepromoter", "DeePromoter", -249, 51, 6, true},
                                                            {"deepsea", "DeepSEA", -500, 500, 163, true},
                                                            {"gkm-svm", "GappedKmerSVM", 0, 0, 1, false},
                                                            {"kmer-logistic", "KmerLogistic", 0, 0, 1, false},
                                                            {"kmer-ridge", "KmerRidge", 0, 0, 1, false}}};

bool is_baseline(std::string_view name);
/// Throws ConfigError listing the names and bigbird.
const Architecture& architecture_of(std::string_view name);

/// Sets the window [begin, end) around base 0 that its paper uses. Returns false and changes nothing if it
/// takes any window.
bool published_window(std::string_view name, std::int64_t& begin, std::int64_t& end);

}  // namespace bigbird::baselines
