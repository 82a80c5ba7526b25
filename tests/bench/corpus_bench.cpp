// SPDX-License-Identifier: Apache-2.0
// How fast sequence is read and cut into documents, in bytes of the file or of bases a second.
//   corpus_bench FASTA [MODEL] [--benchmark_…]
// FASTA is plain, bgzip or gzip, best of some hundred megabases and in the page cache; with MODEL documents
// are tokenised, too.
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"
#include "bigbird/genome/reference/fasta_index.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <vector>

namespace {

using namespace bigbird;

std::filesystem::path fasta, model;

void count(benchmark::State& state, std::int64_t bytes) {
    state.SetBytesProcessed(state.iterations() * bytes);
}

void scan_for_contigs(benchmark::State& state) {
    const auto compression = genome::detail::compression_of(fasta);
    if (compression == genome::detail::Compression::gzip) {
        state.SkipWithError("plain gzip has no positions");
        return;
    }
    const auto text = genome::detail::open_random(fasta, compression);
    for (auto _ : state) {
        genome::detail::FastaScanner scanner(fasta);
        text->scan([&](std::string_view piece) { scanner.feed(piece); });
        benchmark::DoNotOptimize(scanner.finish());
    }
    count(state, text->size());
}

void fetch_all(benchmark::State& state) {
    constexpr std::int64_t piece = 8'000'000;
    const auto genome = genome::open_reference(fasta);
    std::int64_t bases = 0;
    for (auto _ : state) {
        bases = 0;
        for (const genome::Contig& contig : genome->contigs()) {
            for (std::int64_t begin = 0; begin < contig.length; begin += piece) {
                benchmark::DoNotOptimize(
                    genome->fetch({contig.name, begin, std::min(begin + piece, contig.length)}));
            }
            bases += contig.length;
        }
    }
    count(state, bases);
}

void inflate(benchmark::State& state) {
    std::vector<char> buffer(std::size_t{1} << 20);
    std::int64_t bytes = 0;
    for (auto _ : state) {
        genome::detail::ByteStream stream(fasta);
        bytes = 0;
        while (const std::size_t got = stream.read(buffer.data(), buffer.size(), 0))
            bytes += static_cast<std::int64_t>(got);
    }
    count(state, bytes);
}

void build(benchmark::State& state) {
    const auto genome = genome::open_reference(fasta);
    const corpus::BuildSpec spec{.documents = {.passes = 1}};
    std::int64_t bases = 0;
    for (auto _ : state) {
        bases = corpus::build_documents(
                    *genome, spec, corpus::BuildText::yes, static_cast<int>(state.range(0)),
                    [](corpus::PlacedDocument&& document) { benchmark::DoNotOptimize(document.document); })
                    .bases;
    }
    count(state, bases);
}

void tokenise(benchmark::State& state) {
    if (model.empty()) {
        state.SkipWithError("no MODEL was given");
        return;
    }
    const auto tokenizer = tokenizer::DnaTokenizer::load(model);
    const auto genome = genome::open_reference(fasta);
    const corpus::BuildSpec spec{.documents = {.passes = 1}};
    std::int64_t bases = 0;
    for (auto _ : state) {
        const auto source = [&](const corpus::TokenSink& sink) {
            tokenize_genome(*genome, spec, tokenizer, static_cast<int>(state.range(0)), sink);
        };
        bases = corpus::TokenCorpus::from(source, tokenizer).bases();
    }
    count(state, bases);
}

BENCHMARK(scan_for_contigs)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fetch_all)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(inflate)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(build)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(tokenise)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "corpus_bench FASTA [MODEL] [--benchmark_…]\n");
        return 2;
    }
    fasta = argv[1];
    model = argc == 3 ? argv[2] : "";
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
