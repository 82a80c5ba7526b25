// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train.hpp"

#include "bigbird/core/base.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <unordered_map>
#include <vector>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view letters = "ACGTN";
constexpr std::size_t longest_stretch =
    30'000;  // beyond 32,767 SentencePiece 0.1.97 crashes, beyond 65,535 all versions abort
constexpr std::int64_t bases_to_measure = 8'000'000;  // enough for three digits of bases per token
// What SentencePiece 0.1.97 takes; from here on it is worth a warning.
constexpr std::int64_t bases_worth_a_warning = 20'000'000, bytes_a_base = 90, bases_a_minute = 6'000'000;
constexpr std::int32_t smallest_vocabulary = special::count + static_cast<std::int32_t>(letters.size());

struct Corpus {
    std::vector<std::string> stretches;  // without N
    std::int64_t sentences = 0, bases = 0;
};

void append_stretches(std::string_view dna, std::vector<std::string>& out) {
    for (std::size_t begin = dna.find_first_not_of('N'); begin != std::string_view::npos;
         begin = dna.find_first_not_of('N', begin)) {
        const std::size_t end = std::min(dna.find('N', begin), dna.size());
        for (; begin < end; begin += std::min(longest_stretch, end - begin)) {
            out.emplace_back(dna.substr(begin, std::min(longest_stretch, end - begin)));
        }
        if (end == dna.size()) {
            return;
        }
    }
}

// Takes the sentences apart as it goes, so that they are held once.
Corpus cut(std::vector<std::string> sentences) {
    Corpus corpus;
    corpus.sentences = static_cast<std::int64_t>(sentences.size());
    for (std::string& sentence : sentences) {
        std::transform(sentence.begin(), sentence.end(), sentence.begin(), normalised_base);
        append_stretches(sentence, corpus.stretches);
        std::string().swap(sentence);
    }
    for (const std::string& stretch : corpus.stretches) {
        corpus.bases += static_cast<std::int64_t>(stretch.size());
    }
    return corpus;
}

// Every letter must be a piece. Returns how many stretches are real.
std::size_t add_missing_letters(Corpus& corpus) {
    const auto real = static_cast<std::ptrdiff_t>(corpus.stretches.size());
    for (const char letter : letters) {
        const auto holds = [letter](const std::string& stretch) {
            return stretch.find(letter) != std::string::npos;
        };
        if (std::none_of(corpus.stretches.begin(), corpus.stretches.begin() + real, holds)) {
            corpus.stretches.emplace_back(1, letter);
        }
    }
    return static_cast<std::size_t>(real);
}

class StretchIterator : public sentencepiece::SentenceIterator {
public:
    explicit StretchIterator(const std::vector<std::string>& stretches) : stretches_(stretches) {}
    bool done() const override { return next_ == stretches_.size(); }
    void Next() override { ++next_; }
    const std::string& value() const override { return stretches_[next_]; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    const std::vector<std::string>& stretches_;
    std::size_t next_ = 0;
};

std::unordered_map<std::string, std::string> sentencepiece_options(const TrainSpec& spec) {
    return {
        {"model_type", "bpe"},
        {"vocab_size", std::to_string(spec.vocab_size)},
        {"max_sentencepiece_length", std::to_string(spec.max_piece_length)},
        {"max_sentence_length", std::to_string(longest_stretch)},
        {"num_threads", std::to_string(std::clamp(spec.threads, 1, 128))},
        {"character_coverage", "1.0"},
        {"normalization_rule_name", "identity"},
        {"add_dummy_prefix", "false"},
        {"remove_extra_whitespaces", "false"},
        {"split_by_unicode_script", "false"},
        {"split_by_number", "false"},
        {"split_by_whitespace", "false"},
        {"hard_vocab_limit",
         "false"},  // a corpus too small shows as a smaller model, whose size the error then names
        {"pad_id", std::to_string(special::pad)},
        {"unk_id", std::to_string(special::unk)},
        {"bos_id", std::to_string(special::cls)},
        {"eos_id", std::to_string(special::sep)},
        {"pad_piece", "[PAD]"},
        {"unk_piece", "[UNK]"},
        {"bos_piece", "[CLS]"},
        {"eos_piece", "[SEP]"},
        {"control_symbols", "[MASK]"},  // the first id that is free: 4
        {"minloglevel", log_verbosity() == Verbosity::verbose ? "0" : "2"},
    };
}

std::string run_sentencepiece(const TrainSpec& spec, const std::vector<std::string>& stretches) {
    StretchIterator iterator(stretches);
    std::string model;
    const auto status =
        sentencepiece::SentencePieceTrainer::Train(sentencepiece_options(spec), &iterator, &model);
    if (!status.ok()) {
        throw InputError(std::string("SentencePiece cannot train on this corpus: ") + status.ToString());
    }
    return model;
}

void measure(const DnaTokenizer& tokenizer, const Corpus& corpus, int threads, TrainReport& report) {
    const std::int64_t stride = std::max<std::int64_t>(1, corpus.bases / bases_to_measure);
    const auto total = static_cast<std::int64_t>(corpus.stretches.size());
    const std::int64_t chosen = (total + stride - 1) / stride;
    std::atomic<std::int64_t> bases{0}, tokens{0};
    parallel_for(chosen, threads, [&](std::int64_t i) {
        const std::string& stretch = corpus.stretches[static_cast<std::size_t>(i * stride)];
        bases += static_cast<std::int64_t>(stretch.size());
        tokens += static_cast<std::int64_t>(tokenizer.encode(stretch).size());
    });
    report.measured_bases = bases;
    report.measured_tokens = tokens;
}

void write_into(const PendingOutput& pending, const std::string& content) {
    std::ofstream out(pending.path(), std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) {
        throw WriteError(pending.target().string() + ": writing failed");
    }
}

}  // namespace

void TrainSpec::validate() const {
    if (vocab_size < smallest_vocabulary) {
        throw ConfigError("--vocab-size must be at least " + std::to_string(smallest_vocabulary) +
                          ", 5 special pieces and A C G T N");
    }
    if (max_piece_length < 1) {
        throw ConfigError("--max-piece-length must be at least 1");
    }
    if (max_sentences < 0) {
        throw ConfigError("--max-sentences must not be negative; 0 takes all");
    }
}

struct TokenizerTrainer::State {
    TrainSpec spec;
    std::filesystem::path target;
    PendingOutput model_file, vocab_file;
    std::vector<std::string> sentences;
    Rng rng;
    std::int64_t seen = 0;
};

TokenizerTrainer::TokenizerTrainer(const TrainSpec& spec, const std::filesystem::path& target,
                                   Overwrite overwrite) {
    spec.validate();
    std::filesystem::path vocab_target = target;
    vocab_target.replace_extension(".vocab");
    if (vocab_target == target) {
        throw ConfigError(target.string() +
                          ": the model must not end in .vocab, the name of the list beside it");
    }
    state_.reset(new State{
        spec, target, {target, overwrite}, {vocab_target, overwrite}, {}, Rng(spec.seed).split("sentences")});
}

TokenizerTrainer::~TokenizerTrainer() = default;

// All sentences, or a uniform sample (Vitter's algorithm R).
void TokenizerTrainer::add(std::string sentence) {
    State& state = *state_;
    if (++state.seen % 4096 == 0) {
        stop_if_asked();
    }
    if (state.spec.max_sentences == 0 || state.seen <= state.spec.max_sentences) {
        state.sentences.push_back(std::move(sentence));
    } else if (const std::int64_t slot = state.rng.between(0, state.seen - 1);
               slot < state.spec.max_sentences) {
        state.sentences[static_cast<std::size_t>(slot)] = std::move(sentence);
    }
}

TrainReport TokenizerTrainer::finish() {
    State& state = *state_;
    Corpus corpus = cut(std::move(state.sentences));
    if (corpus.bases == 0) {
        throw InputError(std::string("the corpus holds ") +
                         (corpus.sentences == 0 ? "no sentence" : "N alone") +
                         ", so there is nothing to train a tokenizer on");
    }
    if (corpus.bases > bases_worth_a_warning) {
        log_warning(
            "SentencePiece needs some {} minutes and {} GB of memory for {} Mb; --max-sentences trains on a "
            "seeded sample",
            corpus.bases / bases_a_minute, corpus.bases * bytes_a_base / 1'000'000'000,
            corpus.bases / 1'000'000);
    }
    log_info("training {} pieces on {} sentences, {} bases", state.spec.vocab_size, corpus.sentences,
             corpus.bases);
    TrainReport report{.sentences = corpus.sentences, .bases = corpus.bases};
    const std::size_t real_stretches = add_missing_letters(corpus);
    const DnaTokenizer tokenizer =
        DnaTokenizer::from_serialized(run_sentencepiece(state.spec, corpus.stretches), state.target);
    if (tokenizer.vocab_size() < state.spec.vocab_size) {
        const std::string most = std::to_string(tokenizer.vocab_size());
        throw InputError("the corpus of " + std::to_string(corpus.bases) + " bases gives at most " + most +
                         " pieces; give --vocab-size " + most + " or less, or more sequence");
    }
    corpus.stretches.resize(real_stretches);
    measure(tokenizer, corpus, state.spec.threads, report);
    report.vocab_size = tokenizer.vocab_size();
    write_into(state.model_file, tokenizer.serialized());
    write_into(state.vocab_file, tokenizer.vocabulary_text());
    state.vocab_file.commit();
    state.model_file.commit();
    return report;
}

}  // namespace bigbird::tokenizer
