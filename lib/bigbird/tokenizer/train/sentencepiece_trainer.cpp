// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace bigbird::tokenizer {

namespace {

class StretchIterator : public sentencepiece::SentenceIterator {
public:
    explicit StretchIterator(const LetterArray& letters) : letters_(letters) {}
    bool done() const override { return stretch_.empty(); }
    void Next() override { stretch_ = text_of(next_stretch(letters_, position_)); }
    const std::string& value() const override { return stretch_; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    const LetterArray& letters_;
    std::size_t position_ = 1;
    std::string stretch_ = text_of(next_stretch(letters_, position_));
};

// One thread, since the model would record the number, and byte-pair learning uses no more.
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
        // a corpus that is too small gives a smaller model; the error then names its size
        {"hard_vocab_limit", "false"},
        {"pad_id", std::to_string(special::pad)},
        {"unk_id", std::to_string(special::unk)},
        {"bos_id", std::to_string(special::cls)},
        {"eos_id", std::to_string(special::sep)},
        {"pad_piece", special_names[special::pad]},
        {"unk_piece", special_names[special::unk]},
        {"bos_piece", special_names[special::cls]},
        {"eos_piece", special_names[special::sep]},
        {"control_symbols", special_names[special::mask]},  // the first id that is free: 4
        {"minloglevel", log_verbosity() == Verbosity::verbose ? "0" : "2"},
    };
}

// The same options by their field numbers in sentencepiece_model.proto.
std::string trainer_spec_of(const TrainSpec& spec, std::size_t vocab_size) {
    WireWriter writer;
    writer.number(3, 2);  // model_type: BPE
    writer.number(4, vocab_size);
    writer.float32(10, 1.0F);  // character_coverage
    writer.number(16, 1);      // num_threads
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

constexpr char good = 'M', bad = 'E';  // what the child's message begins with

/// In a child process: sends the model, or what is wrong.
int train_in_child(const TrainSpec& spec, const TrainingCorpus& corpus, int standard_error) {
    ::dup2(standard_error, STDERR_FILENO);  // the library's log is for the user
    for (const int signal : stop_signals)
        if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup asked
    StretchIterator iterator(corpus.positions());
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(options_of(spec), &iterator, &model);
    const std::string text = status.ok() ? good + model : bad + std::string(status.ToString());
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace

// The library's trainer cannot be interrupted and aborts on unexpected input. A separate process can be
// ended, and its end can be reported.
std::string train_with_sentencepiece(const TrainSpec& spec, const TrainingCorpus& corpus) {
    constexpr std::chrono::hours no_limit(24 * 365);
    const int standard_error = ::dup(STDERR_FILENO);
    const std::string message =
        run_child([&] { return train_in_child(spec, corpus, standard_error); }, no_limit).out;
    ::close(standard_error);
    if (message.empty()) {
        throw DeviceError(
            "SentencePiece's trainer ended without a result, perhaps for want of memory: give a smaller "
            "--vocab-size");
    }
    if (message.front() != good)
        throw InputError("SentencePiece cannot train on this corpus: " + message.substr(1));
    return message.substr(1);
}

OverlapCounting installed_counting() {
    int major = 0, minor = 0, patch = 0;
    std::sscanf(BIGBIRD_SENTENCEPIECE_VERSION, "%d.%d.%d", &major, &minor, &patch);
    return std::array{major, minor, patch} < std::array{0, 1, 99} ? OverlapCounting::alternate
                                                                  : OverlapCounting::every;
}

// Scores decrease by one per piece, from minus zero; the letters follow by descending frequency.
SentencePieceModel assemble_model(const TrainSpec& spec, const std::vector<std::string>& pieces,
                                  const TrainingCorpus& corpus) {
    SentencePieceModel model;
    for (const char* name : special_names) {
        const bool unknown = model.pieces.size() == static_cast<std::size_t>(special::unk);
        model.pieces.push_back({name, 0, unknown ? PieceKind::unknown : PieceKind::control});
    }
    const auto add = [&](const std::string& text) {
        model.pieces.push_back(
            {text, -static_cast<float>(model.pieces.size() - special::count), PieceKind::normal});
    };
    for (const std::string& piece : pieces)
        add(piece);
    std::vector<std::pair<std::int64_t, char>> letters;
    for (Symbol letter = 0; letter < TokenArray::letters; ++letter)
        letters.emplace_back(-corpus.count(letter), letter_of_symbol(letter));
    std::sort(letters.begin(), letters.end());
    for (const auto& [count, letter] : letters)
        add(std::string(1, letter));
    model.trainer_spec = trainer_spec_of(spec, model.pieces.size());
    model.normalizer_spec = normalizer_spec_of();
    model.is_bpe = true;
    model.adds_blank = false;
    return model;
}

}  // namespace bigbird::tokenizer
