// SPDX-License-Identifier: Apache-2.0
// The models that the paper's tables compare BigBird with, by the names of --architecture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::baselines {

/// "cnnprom", "deepromoter", "deepsea", "gkm-svm", "kmer-logistic", "kmer-ridge".
const std::vector<std::string>& architecture_names();
/// Throws ConfigError listing the names and bigbird.
void require_architecture(const std::string& name);

/// Trained by gradient descent (as BigBird is) rather than solved as one problem.
bool is_network(const std::string& name);
/// Its name in config.json: "CNNProm".
std::string title_of(const std::string& name);

/// Sets the window [begin, end) around base 0 that its paper uses. Returns false and changes nothing if it
/// takes any window.
bool published_window(const std::string& name, std::int64_t& begin, std::int64_t& end);
/// Length in bases of the shortest window that its layers accept.
std::int64_t shortest_window(const std::string& name);

}  // namespace bigbird::baselines
