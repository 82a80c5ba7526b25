// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/regions/bed.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::rows {

/// The transcription start sites of a BED, GTF or GFF3 file, plain, gzip or bgzip, or of standard input
/// ("-"), in the file's order. Each record is one base. BED: a row's first base in the direction of
/// transcription. GTF and GFF3 (recognized by the first row): the 5' ends of transcripts, and of genes
/// in which none begins on their strand. Those of one position and strand are one, named after the first
/// one's gene. Throws InputError with file and line: a malformed row, a row without strand (BED: if
/// `needs_strand`), a row without bases.
std::vector<genome::BedRecord> read_tss(const std::filesystem::path& path, bool needs_strand = true);

}  // namespace bigbird::rows
