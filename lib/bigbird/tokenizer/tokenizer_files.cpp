// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/tokenizer_files.hpp"

#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <ostream>
#include <string>

namespace bigbird::tokenizer {

void write_tokenizer_files(const DnaTokenizer& tokenizer, std::int64_t max_length,
                           const std::filesystem::path& folder) {
    const std::string own_name = tokenizer.file_name();
    write_atomically(folder / own_name, Overwrite::allow,
                     [&](std::ostream& out) { out << tokenizer.serialized(); });
    if (own_name != "tokenizer.json") {
        const SentencePieceModel model = parse_sentencepiece_model(tokenizer.serialized(), own_name);
        write_json(folder / "tokenizer.json", tokenizer_json(model), Overwrite::allow);
    }
    write_json(folder / "tokenizer_config.json", tokenizer_config_json(tokenizer.special_ids(), max_length),
               Overwrite::allow);
}

}  // namespace bigbird::tokenizer
