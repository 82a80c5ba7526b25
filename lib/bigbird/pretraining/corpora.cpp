// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/corpora.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/tokenizer/text_sketch.hpp"

#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::pretraining {

namespace fs = std::filesystem;

namespace {

constexpr const char* tokens_folder = "tokens";  // in a separate folder

std::string machine_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// The tokens that a process of `machine` maps: the nearest preceding rank's.
fs::path nearest_tokens(const std::vector<Json>& ranks, int rank, const std::string& machine) {
    for (int other = rank; other >= 0; --other) {
        const Json& told = ranks[static_cast<std::size_t>(other)];
        if (told.at("machine") == machine && !told.at("tokens").get<std::string>().empty())
            return told.at("tokens").get<std::string>();
    }
    throw ConfigError("no process of " + machine +
                      " calls itself the first there (LOCAL_RANK, SLURM_LOCALID); tokenize the corpus once "
                      "and give the shards as --documents");
}

Json checksum_of(const std::filesystem::path& file) {
    return {{"sha256", sha256_of_file(file)}};
}

tokenizer::DnaTokenizer tokenizer_of(const CorporaSpec& spec) {
    return spec.corpus.empty() || spec.input.names_tokenizer() ? spec.input.open()
                                                               : corpus::TokenShards(spec.corpus).tokenizer();
}

}  // namespace

corpus::TokenCorpus share_corpus(training::Ranks& ranks, const tokenizer::DnaTokenizer& tokenizer,
                                 int threads, const corpus::TokenSource& source) {
    std::optional<TemporaryFolder> folder;
    if (ranks.spec().local_rank == 0) {
        folder.emplace("tokens");
        log_info("tokenising once for the {} processes of this machine", ranks.spec().local_size);
        try {
            corpus::TokenShardWriter writer(folder->path() / tokens_folder, tokenizer, Overwrite::refuse);
            source({.sentence = [&](std::span<const std::int32_t> ids,
                                    std::int64_t bases) { writer.add_sentence(ids, bases); },
                    .document_end = [&] { writer.end_document(); }});
            writer.commit(Json::array(), threads);
        } catch (const WriteError& error) {
            throw WriteError(std::string(error.what()) +
                             "; TMPDIR names another folder, or tokenize the corpus once and give the shards "
                             "as --documents");
        }
    }
    const std::string machine = machine_name();
    const std::vector<Json> all = ranks.gather(
        {{"machine", machine}, {"tokens", folder ? (folder->path() / tokens_folder).string() : ""}});
    auto corpus = corpus::TokenCorpus::from_shards(
        corpus::TokenShards(nearest_tokens(all, ranks.rank(), machine), tokenizer));
    ranks.wait_for_all();
    return corpus;
}

corpus::TokenCorpus read_documents(const std::filesystem::path& documents,
                                   const genome::ReferenceGenome* genome,
                                   const tokenizer::DnaTokenizer& tokenizer, int threads,
                                   corpus::Fasta fasta) {
    corpus::DocumentReader reader(documents, genome, genome::LetterCase::kept, fasta);
    const auto next = [&] { return reader.next(); };
    corpus::TokenCorpus corpus = corpus::TokenCorpus::from_documents(next, tokenizer, threads);
    if (corpus.documents() == 0) throw InputError("holds no sequence", documents);
    return corpus;
}

void warn_of_pieces(const tokenizer::DnaTokenizer& tokenizer, const corpus::TokenCorpus& held_out) {
    const auto learned = tokenizer::TextSketch::parse(tokenizer.trained_on());
    if (learned.empty()) return;  // of another program, or of bases or k-mers
    tokenizer::TextSketch sketch;
    std::vector<std::int32_t> ids;
    std::int64_t begin = 0;
    for (const std::int64_t end : held_out.sentence_ends()) {
        ids.clear();
        held_out.append_ids(std::exchange(begin, end), end, ids);
        sketch.add(tokenizer.decode(ids));
    }
    if (learned.holds(sketch))
        log_warning("the tokenizer was trained on the held-out sequence: its pieces know it");
}

Corpora::Corpora(CorporaSpec spec, std::uint64_t seed)
    : spec_(std::move(spec)), seed_(seed), tokenizer_(tokenizer_of(spec_)) {
    spec_.validate();
    for (const std::filesystem::path& file : {spec_.documents, spec_.evaluate_documents})
        if (!file.empty()) require_readable(file);
    for (const std::filesystem::path& directory : {spec_.corpus, spec_.evaluate_corpus})
        if (!directory.empty()) shards(directory);
    if (!spec_.documents.empty() && spec_.documents == spec_.evaluate_documents)
        log_warning("--evaluate-documents are those of --documents: no sequence is held out");
}

Json Corpora::fixed_options() const {
    Json fixed = Json::object();
    if (!spec_.corpus.empty())
        fixed["--corpus"] = checksum_of(spec_.corpus / "manifest.json");  // which holds all files' checksums
    if (!spec_.documents.empty()) fixed["--documents"] = checksum_of(spec_.documents);
    for (const std::filesystem::path& reference : spec_.references)
        fixed["--reference"].push_back(checksum_of(genome::fasta_of(reference)));
    if (spec_.draws()) {
        const corpus::DrawingSpec& drawing = spec_.drawing;
        const Json parameters = drawing.build.parameters();
        for (const auto& item : parameters.items())
            if (item.key() != "seed")  // the run's seed
                fixed["--" + item.key()] = item.value();
        for (const auto& [option, texts] :
             {std::pair("--include", drawing.include), std::pair("--exclude", drawing.exclude),
              std::pair("--hold-out", spec_.hold_out)})
            for (const std::string& text : texts)
                fixed[option].push_back(corpus::region_provenance(text));
    }
    return fixed;
}

const genome::ReferenceGenome* Corpora::genome() {
    if (!genome_ && !spec_.references.empty())
        genome_ = genome::open_references(spec_.references, genome::LetterCase::kept);
    return genome_.get();
}

corpus::TokenCorpus Corpora::shards(const std::filesystem::path& directory) const {
    return corpus::TokenCorpus::from_shards(corpus::TokenShards(directory, tokenizer_));
}

corpus::BuildSpec Corpora::documents_to_draw(bool held_out) {
    corpus::BuildSpec spec = spec_.drawing.on(*genome(), seed_);
    if (!spec_.hold_out.empty()) {
        const genome::IntervalSet regions = examples::read_held_out(*genome(), spec_.hold_out, "--hold-out");
        if (held_out) {
            spec.documents.passes = 1;
            spec.include = spec.include ? spec.include->intersected(regions) : regions;
        } else {
            spec.exclude = spec.exclude.united(regions);
        }
    }
    return spec;
}

corpus::TokenCorpus Corpora::read(bool held_out, training::Ranks& ranks, int threads) {
    const fs::path& directory = held_out ? spec_.evaluate_corpus : spec_.corpus;
    const fs::path& documents = held_out ? spec_.evaluate_documents : spec_.documents;
    if (!directory.empty()) return shards(directory);
    if (ranks.size() == 1 && !documents.empty())
        return read_documents(documents, genome(), tokenizer_, threads);
    const corpus::TokenSource source = [&](const corpus::TokenSink& sink) {
        if (documents.empty())
            return tokenize_genome(*genome(), documents_to_draw(held_out), tokenizer_, threads, sink);
        corpus::DocumentReader reader(documents, genome(), genome::LetterCase::kept);
        corpus::tokenize([&] { return reader.next(); }, tokenizer_, threads, sink);
    };
    return ranks.size() == 1 ? corpus::TokenCorpus::from(source, tokenizer_)
                             : share_corpus(ranks, tokenizer_, threads, source);
}

PretrainCorpora Corpora::on_demand(const std::shared_ptr<training::Ranks>& ranks, int threads) {
    const auto together = ranks ? ranks : std::make_shared<training::Ranks>();
    PretrainCorpora corpora{.train = [=, this] { return read(false, *together, threads); }, .held_out = {}};
    if (spec_.holds_out()) {
        corpora.held_out = [=, this] {
            corpus::TokenCorpus held_out = read(true, *together, threads);
            if (together->is_first()) warn_of_pieces(tokenizer_, held_out);
            return held_out;
        };
    }
    return corpora;
}

}  // namespace bigbird::pretraining
