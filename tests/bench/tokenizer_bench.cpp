// SPDX-License-Identifier: Apache-2.0
// Training and encoding beside SentencePiece, in one run on the same sequence.
//   tokenizer_bench SENTENCES [VOCABULARY [LONGEST PIECE]] [--benchmark_…]
// SENTENCES is text, one sentence a line, as build-documents writes it. BIGBIRD_BENCH_TRAINING=1 compares
// training too, in minutes.
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <benchmark/benchmark.h>
#include <sentencepiece_processor.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace bigbird::tokenizer;

constexpr std::size_t window = 8000, most_windows = 500;

struct Cost {
    double seconds = 0, gigabytes = 0;
};

// In a process of its own, so that the peak of memory is this work's alone.
Cost cost_of(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        work();
        std::_Exit(0);
    }
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        std::fprintf(stderr, "a training run failed\n");
        std::exit(1);
    }
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) * 1024e-9};
}

TrainingCorpus read_corpus(const char* file) {
    TrainingCorpus corpus(0);
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        corpus.add(line);
    corpus.add_missing_letters();
    return corpus;
}

std::string train(const TrainSpec& spec, TrainingCorpus& corpus) {
    const LearnSpec learn{.merges = spec.vocab_size - 10,
                          .max_piece_length = spec.max_piece_length,
                          .counting = installed_counting()};
    const auto pieces = learn_pieces(corpus.positions(), learn, [](std::int64_t, double) {}).texts;
    return serialize(assemble_model(spec, pieces, corpus));
}

void compare_training(const char* file, const TrainSpec& spec) {
    const Cost exact = cost_of([&] {
        TrainingCorpus corpus = read_corpus(file);
        train(spec, corpus);
    });
    std::printf("train  exact          %8.2f s  %6.2f GB\n", exact.seconds, exact.gigabytes);
    std::fflush(stdout);
    const Cost library = cost_of([&] {
        const TrainingCorpus corpus = read_corpus(file);
        train_with_sentencepiece(spec, corpus);
    });
    std::printf("train  SentencePiece  %8.2f s  %6.2f GB   ratio %.1f in time, %.1f in memory\n",
                library.seconds, library.gigabytes, library.seconds / exact.seconds,
                library.gigabytes / exact.gigabytes);
}

struct Windows {
    std::vector<std::string> texts;
    void add_to(benchmark::State& state) const {
        state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                                static_cast<std::int64_t>(texts.size() * window));
    }
};

Windows cut_windows(const TrainingCorpus& corpus) {
    Windows windows;
    std::string text;
    std::size_t position = 1;
    while (position < corpus.positions().size() && windows.texts.size() < most_windows) {
        text += text_of(next_stretch(corpus.positions(), position));
        if (text.size() >= window) {
            windows.texts.push_back(text.substr(0, window));
            text.clear();
        }
    }
    return windows;
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "usage: tokenizer_bench SENTENCES [VOCABULARY [LONGEST PIECE]]\n");
        return 2;
    }
    TrainSpec spec;
    spec.vocab_size = argc > 2 ? std::atoi(argv[2]) : spec.vocab_size;
    spec.max_piece_length = argc > 3 ? std::atoi(argv[3]) : spec.max_piece_length;
    if (std::getenv("BIGBIRD_BENCH_TRAINING") != nullptr) compare_training(argv[1], spec);
    TrainingCorpus corpus = read_corpus(argv[1]);
    const Windows windows = cut_windows(corpus);
    const std::string model = train(spec, corpus);
    const ExactEncoder encoder(bpe_rules_of(parse_sentencepiece_model(model, "model"), "model"));
    sentencepiece::SentencePieceProcessor processor;
    if (!processor.LoadFromSerializedProto({model.data(), model.size()}).ok()) return 1;
    benchmark::RegisterBenchmark(
        "encode/exact",
        [&](benchmark::State& state) {
            for (auto _ : state)
                for (const std::string& text : windows.texts)
                    benchmark::DoNotOptimize(encoder.encode(text));
            windows.add_to(state);
        });
    benchmark::RegisterBenchmark("encode/SentencePiece", [&](benchmark::State& state) {
        std::vector<int> ids;
        for (auto _ : state) {
            for (const std::string& text : windows.texts) {
                benchmark::DoNotOptimize(processor.Encode({text.data(), text.size()}, &ids).ok());
            }
        }
        windows.add_to(state);
    });
    benchmark::RunSpecifiedBenchmarks();
    const auto seconds = [&](const auto& encode) {
        const std::clock_t start = std::clock();
        for (const std::string& text : windows.texts)
            encode(text);
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    std::vector<int> ids;
    const double ours =
        seconds([&](const std::string& text) { benchmark::DoNotOptimize(encoder.encode(text)); });
    const double theirs = seconds([&](const std::string& text) {
        benchmark::DoNotOptimize(processor.Encode({text.data(), text.size()}, &ids).ok());
    });
    std::printf("encode ratio %.1f\n", theirs / ours);
    return 0;
}
