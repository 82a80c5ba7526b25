// SPDX-License-Identifier: Apache-2.0
// Initializes filters of a sequence network with motifs of the records of a class or label.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/task_models/network/task_network.hpp"

#include <cstdint>

namespace bigbird::task_models {

/// Replaces the first filters of each member by at most `most` motifs (bins::find_motifs), found in at most a
/// few thousand rows of train, drawn by `seed`. Returns these motifs. Does nothing for networks other than
/// SequenceNetwork, and for numbers.
motifs::MotifSet plant_motifs(TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t most,
                              std::uint64_t seed, int threads);

}  // namespace bigbird::task_models
