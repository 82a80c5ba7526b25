// SPDX-License-Identifier: Apache-2.0
// Folders of models and genomes for the tests of scoring, and what predict() says of them.
#pragma once

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"
#include "unit/tasks/table_rows.hpp"

#include "bigbird/rows/score_table.hpp"
#include "bigbird/scoring/letters/letters.hpp"
#include "bigbird/scoring/motifs/motifs.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/variants/variants.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::testing {

class ScoringFolder {
public:
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
    /// Writes a file, and returns its path.
    std::filesystem::path file(const std::string& name, const std::string& text) const {
        write_file(folder_ / name, text);
        return folder_ / name;
    }
    /// A FASTA of contig "c".
    std::filesystem::path genome_file(const std::string& name, const std::string& dna) const {
        return file(name, ">c\n" + dna + "\n");
    }
    std::filesystem::path vcf(const std::string& body) const {
        return file("v.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + body);
    }
    void write_model(const std::string& name, const tasks::TaskNetwork& network, const tasks::TaskInfo& info,
                     std::vector<rows::Label> labels = {{"TF", "a", -1}, {"TF", "b", -1}}) const {
        std::filesystem::create_directories(folder_ / name);
        network.write(info, folder_ / name);
        tasks::write_labels(rows::LabelTable(std::move(labels)), folder_ / name);
    }

    /// What a command is asked for: this model on genome.fa.
    template <typename Spec>
    Spec spec(const std::string& model, const std::string& output = "scores.tsv") const {
        Spec spec;
        if constexpr (requires { spec.models; })
            spec.models = {folder_ / model};
        else
            spec.model = folder_ / model;
        if constexpr (requires { spec.outputs; }) {
            spec.outputs.paths = {folder_ / output};
            spec.outputs.overwrite = Overwrite::allow;
        }
        spec.references = {folder_ / "genome.fa"};
        spec.device = "cpu";
        return spec;
    }
    /// What predict() says of the first row of a BED, on contig "c".
    std::vector<double> predicted(tasks::PredictSpec spec, const std::string& dna,
                                  const std::string& bed) const {
        spec.references = {genome_file("predicted.fa", dna)};
        spec.regions = file("predicted.bed", bed);
        spec.outputs.paths = {folder_ / "predicted.tsv"};
        predict(spec);
        rows::ScoreReader reader(folder_ / "predicted.tsv");
        rows::ScoreRow row;
        std::vector<float> values;
        DOCTEST_REQUIRE(reader.next(row, values));
        return {values.begin(), values.end()};
    }

private:
    TempDir folder_;
};

inline std::vector<double> odds_of(std::vector<double> probabilities) {
    for (double& p : probabilities)
        p = std::log(p) - std::log1p(-p);
    return probabilities;
}

/// small_bins() of both strands, with motif filters.
inline bins::BinsConfig motif_bins() {
    bins::BinsConfig config = small_bins();
    config.both_strands = true;
    config.motif_filters = 4;
    return config;
}

}  // namespace bigbird::testing
