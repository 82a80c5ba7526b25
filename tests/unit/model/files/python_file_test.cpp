// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/python_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::model;
using namespace bigbird::testing;

namespace {

std::string source_of(const std::string& name) {
    return read_file(test_data("../lib/bigbird/model/files/data/" + name));
}

}  // namespace

DOCTEST_TEST_CASE(
    "python_file: folders that transformers lacks carry the clone's Python file and name its classes") {
    const std::string tokens = source_of("modeling_bigbird_dna.py"), bases = source_of("bases_models.py");
    for (const auto& [type, general, own, text] :
         {std::tuple{"bigbird_dna", "AutoModelForPreTraining", "BigBirdDnaForPreTraining", tokens},
          std::tuple{"bigbird_dna_bins", "AutoModel", "BigBirdDnaBins", tokens + "\n\n" + bases},
          std::tuple{"bigbird_dna_sequence", "AutoConfig", "BigBirdDnaSequenceConfig",
                     tokens + "\n\n" + bases},
          std::tuple{"bigbird_dna_baseline", "AutoModel", "BigBirdDnaBaseline", tokens + "\n\n" + bases}}) {
        const TempDir folder;
        write_config({{"model_type", type}, {"num_labels", 2}}, folder.path());
        const Json config = read_json(folder / "config.json");
        DOCTEST_CHECK(config.at("auto_map").at(general) == std::string("modeling_bigbird_dna.") + own);
        DOCTEST_CHECK(config.at("num_labels") == 2);
        DOCTEST_CHECK(read_file(folder / python_file) == text);
        DOCTEST_CHECK(text.find("class " + std::string(own) + "(") != std::string::npos);
    }
}

DOCTEST_TEST_CASE("python_file: models that transformers has itself need none") {
    for (const char* type : {"big_bird", "longformer"}) {
        const TempDir folder;
        write_config({{"model_type", type}}, folder.path());
        DOCTEST_CHECK_FALSE(read_json(folder / "config.json").contains("auto_map"));
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / python_file));
    }
}

DOCTEST_TEST_CASE("python_file: the model that comes along has this version's file") {
    const std::filesystem::path folder = test_data("models/chromatin-grch37");
    DOCTEST_CHECK(read_json(folder / "config.json").at("auto_map").at("AutoModel") ==
                  "modeling_bigbird_dna.BigBirdDnaBins");
    DOCTEST_CHECK(read_file(folder / python_file) ==
                  source_of("modeling_bigbird_dna.py") + "\n\n" + source_of("bases_models.py"));
}
