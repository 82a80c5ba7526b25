// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/shared_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/temporary_folder.hpp"

#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

namespace fs = std::filesystem;

namespace {

constexpr const char* tokens = "tokens";  // in a separate folder

std::string machine_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

void write_tokens(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer, int threads,
                  const std::function<void(corpus::TokenShardWriter&)>& fill) {
    try {
        corpus::TokenShardWriter writer(directory, tokenizer, Overwrite::refuse);
        fill(writer);
        writer.commit(Json::array(), threads);
    } catch (const WriteError& error) {
        throw WriteError(
            std::string(error.what()) +
            "; TMPDIR names another folder, or tokenize the corpus once and give the shards as --documents");
    }
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

}  // namespace

corpus::TokenCorpus share_corpus(training::Ranks& ranks, const tokenizer::DnaTokenizer& tokenizer,
                                 int threads, const std::function<void(corpus::TokenShardWriter&)>& fill) {
    std::optional<TemporaryFolder> folder;
    if (ranks.spec().local_rank == 0) {
        folder.emplace("tokens");
        log_info("tokenising once for the {} processes of this machine", ranks.spec().local_size);
        write_tokens(folder->path() / tokens, tokenizer, threads, fill);
    }
    const std::string machine = machine_name();
    const std::vector<Json> all =
        ranks.gather({{"machine", machine}, {"tokens", folder ? (folder->path() / tokens).string() : ""}});
    auto corpus = corpus::TokenCorpus::from_shards(
        corpus::TokenShards(nearest_tokens(all, ranks.rank(), machine), tokenizer));
    ranks.wait_for_all();
    return corpus;
}

}  // namespace bigbird::pretraining
