// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/train.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/system/free_memory.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"
#include "bigbird/tokenizer/text_sketch.hpp"
#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <ostream>

namespace bigbird::tokenizer {

namespace {

constexpr std::int64_t bases_to_measure = 4'000'000;  // enough for three digits of bases per token
constexpr std::int64_t overhead = 100'000'000, bytes_a_base = 3, sentencepiece_bytes_a_base = 90;
constexpr std::int64_t least_bases = 1'000'000;
constexpr std::int32_t smallest_vocabulary = special::count + TokenArray::letters;
constexpr std::int32_t largest_vocabulary = 65'000;  // 16 bits per symbol

// An evenly spaced sample of the stretches.
std::vector<std::string> stretches_to_measure(const TrainingCorpus& corpus) {
    const std::int64_t stride = std::max<std::int64_t>(1, corpus.bases() / bases_to_measure);
    std::vector<std::string> chosen;
    std::int64_t number = 0;
    std::size_t position = 1;
    while (position < corpus.positions().size()) {
        const auto stretch = next_stretch(corpus.positions(), position);
        if (number++ % stride == 0) chosen.push_back(text_of(stretch));
    }
    return chosen;
}

void measure(const DnaTokenizer& tokenizer, const std::vector<std::string>& stretches, int threads,
             TrainReport& report) {
    std::atomic<std::int64_t> bases{0}, tokens{0};
    parallel_for(static_cast<std::int64_t>(stretches.size()), threads, [&](std::int64_t i) {
        const std::string& stretch = stretches[static_cast<std::size_t>(i)];
        bases += static_cast<std::int64_t>(stretch.size());
        tokens += static_cast<std::int64_t>(tokenizer.encode(stretch).size());
    });
    report.measured_bases = bases;
    report.measured_tokens = tokens;
}

OverlapCounting counting_of(const TrainSpec& spec) {
    return spec.overlaps == OverlapCounting::installed ? installed_counting() : spec.overlaps;
}

// Whether SentencePiece can make the ambiguous choices: it must count overlaps in the same way and fit into
// memory.
bool can_ask_sentencepiece(const TrainSpec& spec, const TrainingCorpus& corpus) {
    return counting_of(spec) == installed_counting() &&
           (spec.max_memory == 0 ||
            overhead + corpus.bases() * sentencepiece_bytes_a_base <= spec.max_memory);
}

void say_memory(const TrainSpec& spec, const TrainingCorpus& corpus) {
    const std::int64_t estimate = estimated_memory(corpus.bases());
    log_info("training {} on {}, {}, in about {:.1f} GB of memory", counted(spec.vocab_size, "piece"),
             counted(corpus.sentences(), "sentence"), counted(corpus.bases(), "base"),
             static_cast<double>(estimate) / 1e9);
    const auto held = static_cast<double>(corpus.bases());
    const double to_spare = free_memory() + held;
    if (static_cast<double>(estimate) > to_spare) {
        log_warning(
            "this process has {:.1f} GB of memory to spare; --max-memory trains on a sample that fits",
            to_spare / 1e9);
    }
}

std::string train(const TrainSpec& spec, TrainingCorpus& corpus) {
    say_memory(spec, corpus);
    const std::int64_t merges = spec.vocab_size - smallest_vocabulary;
    Progress progress("training", "pieces", merges);
    const LearnSpec learn{.merges = merges,
                          .max_piece_length = spec.max_piece_length,
                          .counting = counting_of(spec),
                          .threads = spec.threads,
                          .only_certain = can_ask_sentencepiece(spec, corpus)};
    const LearntPieces learnt =
        learn_pieces(corpus.positions(), learn, [&](std::int64_t pieces, double share) {
            stop_if_asked();
            progress.update(pieces, {}, share);
        });
    if (learnt.certain || !learn.only_certain) {
        progress.finish();
        if (!learnt.certain) {
            log_warning(
                "the corpus is small for {} pieces: thousands of pairs are equally frequent, and "
                "SentencePiece may choose others among them",
                spec.vocab_size);
        }
        return serialize(assemble_model(spec, learnt.texts, corpus));
    }
    progress.end();
    log_info(
        "from piece {} on thousands of pairs are equally frequent, and which come first is up to "
        "SentencePiece: training with it, for the same pieces",
        learnt.texts.size());
    return train_with_sentencepiece(spec, corpus);
}

std::string with_sketch(const std::string& bytes, const TextSketch& sketch,
                        const std::filesystem::path& origin) {
    SentencePieceModel model = parse_sentencepiece_model(bytes, origin);
    WireWriter writer;
    writer.bytes(1, sketch.text());  // TrainerSpec.input of sentencepiece_model.proto
    model.trainer_spec.insert(0, writer.text());
    return serialize(model);
}

std::size_t bases_that_fit(std::int64_t memory) {
    return static_cast<std::size_t>((memory - overhead) / (bytes_a_base * least_bases) * least_bases);
}

TrainSpec checked(const TrainSpec& spec, const std::filesystem::path& target) {
    spec.validate();
    if (target.extension() == ".vocab") {
        throw ConfigError(target.string() +
                          ": the model must not end in .vocab, the name of the list beside it");
    }
    return spec;
}

}  // namespace

void TrainSpec::validate() const {
    if (vocab_size < smallest_vocabulary) {
        throw ConfigError("--vocab-size must be at least " + std::to_string(smallest_vocabulary) +
                          ", 5 special pieces and A C G T N");
    }
    if (max_piece_length < 1) throw ConfigError("--max-piece-length must be at least 1");
    if (vocab_size > largest_vocabulary)
        throw ConfigError("--vocab-size can be at most " + std::to_string(largest_vocabulary) + " pieces");
    if (max_memory < 0 || (max_memory > 0 && max_memory < estimated_memory(least_bases))) {
        throw ConfigError("--max-memory must be at least " +
                          std::to_string(estimated_memory(least_bases) / 1'000'000) + " MB");
    }
}

std::int64_t estimated_memory(std::int64_t bases) {
    return overhead + bases * bytes_a_base;
}

TokenizerTrainer::TokenizerTrainer(const TrainSpec& spec, const std::filesystem::path& target,
                                   Overwrite overwrite)
    : spec_(checked(spec, target)),
      model_file_(target, overwrite),
      vocab_file_(std::filesystem::path(target).replace_extension(".vocab"), overwrite),
      corpus_(spec.seed, spec.max_memory == 0 ? std::numeric_limits<std::size_t>::max()
                                              : bases_that_fit(spec.max_memory)) {}

void TokenizerTrainer::add(const std::string& sentence) {
    if (++seen_ % 4096 == 0) stop_if_asked();
    sketch_.add(sentence);
    corpus_.add(sentence);
}

TrainReport TokenizerTrainer::finish(const Companions& companions) {
    if (corpus_.bases() == 0) {
        throw InputError(std::string("the corpus holds ") + (corpus_.seen() == 0 ? "no sentence" : "only N") +
                         ", so there is nothing to train a tokenizer on");
    }
    if (corpus_.sentences() < corpus_.seen()) {
        log_warning("{} sentences do not fit into --max-memory: training on a seeded sample of {}",
                    corpus_.seen(), corpus_.sentences());
    }
    TrainReport report{.sentences = corpus_.sentences(), .bases = corpus_.bases()};
    const std::vector<std::string> stretches = stretches_to_measure(corpus_);
    corpus_.add_missing_letters();
    const std::filesystem::path& target = model_file_.target();
    const DnaTokenizer tokenizer =
        DnaTokenizer::from_serialized(with_sketch(train(spec_, corpus_), sketch_, target), target);
    if (tokenizer.vocab_size() < spec_.vocab_size) {
        const std::string most = std::to_string(tokenizer.vocab_size());
        throw InputError("the corpus of " + std::to_string(report.bases) + " bases gives at most " + most +
                         " pieces; give --vocab-size " + most + " or less, or more sequence");
    }
    measure(tokenizer, stretches, spec_.threads, report);
    report.vocab_size = tokenizer.vocab_size();
    report.overlaps = counting_of(spec_);
    model_file_.write([&](std::ostream& out) { out << tokenizer.serialized(); });
    vocab_file_.write([&](std::ostream& out) { out << tokenizer.vocabulary_text(); });
    std::vector<PendingOutput*> outputs{&vocab_file_};
    if (companions) {
        outputs = companions(report, tokenizer);
        outputs.push_back(&vocab_file_);
    }
    outputs.push_back(&model_file_);
    commit_together(outputs);
    return report;
}

}  // namespace bigbird::tokenizer
