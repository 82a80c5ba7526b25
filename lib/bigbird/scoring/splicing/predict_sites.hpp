// SPDX-License-Identifier: Apache-2.0
// predict with a splice network: how likely each base is a splice site.
#pragma once

#include "bigbird/tasks/specs/score_specs.hpp"

namespace bigbird::splicing {

/// Writes a row per base of each BED row or, of --sequences (FASTA), of each record, in order, with the
/// probabilities of acceptors and donors on both strands (acceptor_plus, donor_plus, acceptor_minus,
/// donor_minus); of Pangolin's networks, of a splice site in each tissue (heart_plus, ...). Sequence beyond a
/// contig's ends is N. A base's scores depend on the reference and its BED row only. Outputs appear only when
/// they are complete. Memory does not grow with the rows. Logs the
/// number of bases; returns 0. Throws InputError, ConfigError, WriteError, Stopped.
int predict_sites(const tasks::PredictSpec& spec);

}  // namespace bigbird::splicing
