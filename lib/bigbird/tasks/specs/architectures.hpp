// SPDX-License-Identifier: Apache-2.0
// The table of architectures: what --architecture and config.json may name. A new one is a row here and a
// file with its network in tasks. Names are compared nowhere else.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/window.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bigbird::tasks {

/// What a network's ids are.
enum class Reads : std::uint8_t { tokens, bases };
/// What a row of logits belongs to: a window around a place, each bin of a window, each base (of a token), or
/// a complete sequence. windows_or_records: a window that has labels, else a sequence. profiles: a window,
/// and each base in its middle.
enum class Scores : std::uint8_t { windows, bins, bases, records, windows_or_records, profiles };
/// How parameters are found: step by step; in several networks, each step by step; at once; or by others.
enum class Training : std::uint8_t { steps, members, solved, published };

/// Whether finetune takes an architecture for each task, in the order of examples::Task.
using Tasks = std::array<bool, examples::task_choices.size()>;

struct Architecture {
    std::string_view name;   ///< of --architecture and config.json
    std::string_view title;  ///< `architectures` of config.json, if this program has a name of its own
    Reads reads;
    Scores scores;
    Training training;
    Tasks tasks;
    std::string_view options;      ///< of finetune, among those that only some rows list
    rows::WindowBounds published;  ///< the window that its paper uses; {0, 0}: any
    std::string_view head = {};    ///< BigBird's, if it is not a window's: "bins" or "tokens"
    bool is_usual = false;         ///< whether it is trained where neither it nor a model is asked for

    bool reads_tokens() const { return reads == Reads::tokens; }
    bool scores_bins() const { return scores == Scores::bins; }
    bool scores_profiles() const { return scores == Scores::profiles; }
    bool is_solved() const { return training == Training::solved; }
    bool has_members() const { return training == Training::members; }
    bool has_published_window() const { return published.size() > 0; }
    bool is_for(examples::Task task) const { return tasks[static_cast<std::size_t>(task)]; }
    /// Whether it reads complete sequences for such examples.
    bool reads_records(examples::Task task, examples::TargetKind target) const;
    /// Whether an option of finetune has an effect on it.
    bool takes(std::string_view option) const;
    /// "bigbird-bins", "--head bins".
    std::string_view shown() const { return scores_bins() && reads_tokens() ? "--head bins" : name; }
};

inline constexpr std::string_view bigbird_name = "bigbird", bins_name = "bigbird-bins",
                                  sequence_name = "bigbird-sequence", deepromoter_name = "deepromoter",
                                  kmer_ridge_name = "kmer-ridge", kmer_logistic_name = "kmer-logistic",
                                  gkm_svm_name = "gkm-svm", probe_name = "probe";

inline constexpr std::array<Architecture, 13> architectures{
    {{bigbird_name,
      "",
      Reads::tokens,
      Scores::windows,
      Training::steps,
      {true, true, true, false},
      "--positive-weight --head --dropout --pooling --dtype --lora --lora-alpha --lora-dropout",
      {0, 0}},
     {bigbird_name,
      "",
      Reads::tokens,
      Scores::bins,
      Training::steps,
      {false, true, false, false},
      "--positive-weight --head --dropout --dtype --teacher --lora --lora-alpha --lora-dropout",
      {0, 0},
      "bins"},
     {bigbird_name,
      "",
      Reads::tokens,
      Scores::bases,
      Training::steps,
      {false, false, false, true},
      "--positive-weight --dropout --dtype --lora --lora-alpha --lora-dropout",
      {0, 0},
      "tokens"},
     {probe_name,
      "",
      Reads::tokens,
      Scores::windows,
      Training::solved,
      {true, true, true, false},
      "--pooling --dtype --probe",
      {0, 0}},
     {bins_name,
      "BigBirdBins",
      Reads::bases,
      Scores::bins,
      Training::steps,
      {false, true, false, false},
      "--positive-weight --dropout --dtype --config --motifs --teacher",
      {0, 0},
      {},
      true},
     {sequence_name,
      "BigBirdSequence",
      Reads::bases,
      Scores::records,
      Training::members,
      {false, false, true, false},
      "--positive-weight --dropout --kmer-length --members --config --motifs",
      {0, 0},
      {},
      true},
     {"cnnprom",
      "CNNProm",
      Reads::bases,
      Scores::windows,
      Training::steps,
      {true, false, true, false},
      "--positive-weight",
      {-200, 51}},
     {deepromoter_name,
      "DeePromoter",
      Reads::bases,
      Scores::windows,
      Training::steps,
      {true, false, true, false},
      "--positive-weight",
      {-249, 51}},
     {"deepsea",
      "DeepSEA",
      Reads::bases,
      Scores::windows,
      Training::steps,
      {false, true, true, false},
      "--positive-weight",
      {-500, 500}},
     {gkm_svm_name,
      "GappedKmerSVM",
      Reads::bases,
      Scores::windows,
      Training::solved,
      {true, true, false, false},
      "--positive-weight --kmer-length --most-windows",
      {0, 0}},
     {kmer_logistic_name,
      "KmerLogistic",
      Reads::bases,
      Scores::records,
      Training::solved,
      {false, false, true, false},
      "--kmer-length",
      {0, 0}},
     {kmer_ridge_name,
      "KmerRidge",
      Reads::bases,
      Scores::windows_or_records,
      Training::solved,
      {true, true, true, false},
      "--kmer-length",
      {0, 0}},
     {"bpnet",
      "ProfileNetwork",
      Reads::bases,
      Scores::profiles,
      Training::published,
      {false, false, false, false},
      "",
      {0, 0}}}};

/// Throws ConfigError, with the names that there are: for `task`, if it is given.
const Architecture& architecture_of(std::string_view name, std::string_view head = {},
                                    std::optional<examples::Task> task = std::nullopt);
/// "bigbird-bins, deepsea": those for a task that need no pretrained model.
std::string names_without_model(examples::Task task);
/// The name of the architecture that is trained for a task without --architecture and --model.
std::string_view usual_name(examples::Task task);

}  // namespace bigbird::tasks
