// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/sentencepiece_trainer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/wire_format.hpp"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace bigbird::tokenizer {

namespace {

class StretchIterator : public sentencepiece::SentenceIterator {
public:
    explicit StretchIterator(const TokenArray& places) : reader_(places) {}
    bool done() const override { return reader_.done(); }
    void Next() override { reader_.next(); }
    const std::string& value() const override { return reader_.stretch(); }
    sentencepiece::util::Status status() const override { return {}; }

private:
    StretchReader reader_;
};

// One thread, since the number would stand in the model, and byte-pair learning uses no more.
std::unordered_map<std::string, std::string> options_of(const TrainSpec& spec) {
    return {
        {"model_type", "bpe"},
        {"vocab_size", std::to_string(spec.vocab_size)},
        {"max_sentencepiece_length", std::to_string(spec.max_piece_length)},
        {"max_sentence_length", std::to_string(TrainingCorpus::longest_stretch)},
        {"num_threads", "1"},
        {"character_coverage", "1.0"},
        {"normalization_rule_name", "identity"},
        {"add_dummy_prefix", "false"},
        {"remove_extra_whitespaces", "false"},
        {"split_by_unicode_script", "false"},
        {"split_by_number", "false"},
        {"split_by_whitespace", "false"},
        // a corpus too small shows as a smaller model, whose size the error then names
        {"hard_vocab_limit", "false"},
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

// The same options by their field numbers in sentencepiece_model.proto.
std::string trainer_spec_of(const TrainSpec& spec, std::size_t vocab_size) {
    WireWriter writer;
    writer.number(3, 2);  // model_type: BPE
    writer.number(4, vocab_size);
    writer.real(10, 1.0F);  // character_coverage
    writer.number(16, 1);   // num_threads
    writer.number(18, TrainingCorpus::longest_stretch);
    writer.number(20, static_cast<std::uint64_t>(spec.max_piece_length));
    writer.number(21, 0);  // split_by_unicode_script
    writer.number(22, 0);  // split_by_whitespace
    writer.number(23, 0);  // split_by_number
    writer.bytes(30, "[MASK]");
    writer.number(33, 0);  // hard_vocab_limit
    writer.number(40, special::unk);
    writer.number(41, special::cls);
    writer.number(42, special::sep);
    writer.number(43, special::pad);
    writer.bytes(45, "[UNK]");
    writer.bytes(46, "[CLS]");
    writer.bytes(47, "[SEP]");
    writer.bytes(48, "[PAD]");
    return writer.text();
}

std::string normalizer_spec_of() {
    WireWriter writer;
    writer.bytes(1, "identity");
    writer.bytes(2, "");  // no table of characters
    writer.number(3, 0);  // add_dummy_prefix
    writer.number(4, 0);  // remove_extra_whitespaces
    return writer.text();
}

}  // namespace

std::string train_with_sentencepiece(const TrainSpec& spec, const TrainingCorpus& corpus) {
    StretchIterator iterator(corpus.places());
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(options_of(spec), &iterator, &model);
    if (!status.ok()) {
        throw InputError(std::string("SentencePiece cannot train on this corpus: ") + status.ToString());
    }
    return model;
}

PairCounting installed_counting() {
    int major = 0, minor = 0, patch = 0;
    std::sscanf(BIGBIRD_SENTENCEPIECE_VERSION, "%d.%d.%d", &major, &minor, &patch);
    return std::array{major, minor, patch} < std::array{0, 1, 99} ? PairCounting::disjoint
                                                                  : PairCounting::overlapping;
}

// Scores fall by one a piece, from minus zero; the letters follow by falling frequency.
SentencePieceModel assemble_model(const TrainSpec& spec, const std::vector<LearntPiece>& pieces,
                                  const TrainingCorpus& corpus) {
    SentencePieceModel model;
    for (const char* name : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
        const bool unknown = model.pieces.size() == static_cast<std::size_t>(special::unk);
        model.pieces.push_back({name, 0, unknown ? PieceKind::unknown : PieceKind::control});
    }
    const auto add = [&](const std::string& text) {
        model.pieces.push_back(
            {text, -static_cast<float>(model.pieces.size() - special::count), PieceKind::normal});
    };
    for (const LearntPiece& piece : pieces) {
        add(piece.text);
    }
    std::vector<std::pair<std::int64_t, char>> letters;
    for (Symbol letter = 0; letter < TokenArray::letters; ++letter) {
        letters.emplace_back(-corpus.count(letter), letter_of_symbol(letter));
    }
    std::sort(letters.begin(), letters.end());
    for (const auto& [count, letter] : letters) {
        add(std::string(1, letter));
    }
    model.trainer_spec = trainer_spec_of(spec, model.pieces.size());
    model.normalizer_spec = normalizer_spec_of();
    model.is_bpe = true;
    model.adds_blank = model.changes_letters = false;
    return model;
}

}  // namespace bigbird::tokenizer
