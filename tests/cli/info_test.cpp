// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

using namespace bigbird::testing;

DOCTEST_TEST_CASE("info: a model directory as text and as JSON") {
    const std::string model = test_data("model/pretraining");
    const ProgramResult text = works({"info", model});
    DOCTEST_CHECK(text.err.empty());
    DOCTEST_CHECK(holds(text.out, "parameters  149134\n"));
    const ProgramResult json = works({"info", "--json", model});
    DOCTEST_CHECK(nlohmann::json::parse(json.out)["weights"]["parameters"] == 149134);
}

DOCTEST_TEST_CASE("info: what is none of ours is refused") {
    const std::string path = test_data("README.md");
    const ProgramResult result = run_program({"info", path});
    DOCTEST_CHECK(result.out.empty());
    check_error(
        result, 3,
        path + ": is neither a model folder nor a .h5, .torch, .safetensors, .model or tokenizer.json file");
}

DOCTEST_TEST_CASE("info: a published network's file, and the model folder that it becomes") {
    const TempDir folder;
    const std::string file = test_data("models/profiles/chrombpnet.h5"), made = folder / "made";
    const ProgramResult text = works({"info", file});
    DOCTEST_CHECK(holds(text.out, "family         ChromBPNet\n"));
    DOCTEST_CHECK(holds(text.out, "component      joined\n"));
    DOCTEST_CHECK(holds(text.out, "exp(log count) - 1"));
    works({"info", file, "--output", made});
    const auto of_file = nlohmann::json::parse(works({"info", file, "--json"}).out),
               of_folder = nlohmann::json::parse(works({"info", made, "--json"}).out);
    DOCTEST_CHECK(of_file["parameters"] == of_folder["weights"]["parameters"]);
    for (const char* key :
         {"family", "component", "input", "output", "counts", "enzyme_bias", "sha256", "parts"})
        DOCTEST_CHECK(of_file[key] == of_folder[key]);
    DOCTEST_CHECK(of_folder["label_table"][0]["name"] == "counts");
    works({"info", made, "--check"});
    const ProgramResult twice = run_program({"info", file, "--output", made}),
                        of_made = run_program({"info", made, "--output", folder / "again"});
    DOCTEST_CHECK(twice.code == 2);
    DOCTEST_CHECK(holds(twice.err, "--force"));
    DOCTEST_CHECK(of_made.code == 2);
    DOCTEST_CHECK(holds(of_made.err, "--output makes a model folder of a published network's file"));
    DOCTEST_CHECK(holds(works({"info", test_data("models/profiles/bias.h5")}).out, "no biology"));
}

DOCTEST_TEST_CASE("info: --check reads every weight") {
    const ProgramResult result = works({"info", "--check", test_data("model/relu")});
    DOCTEST_CHECK(holds(result.out, "finite   true\n"));
}

DOCTEST_TEST_CASE("info: --check reads the calibration and the labels of a task model") {
    const TempDir folder;
    std::filesystem::copy(test_data("models/chromatin-grch37"), folder / "model");
    const std::string model = folder / "model";
    works({"info", "--check", model});
    write_file(folder / "model/calibration.json", R"({"format": 1, "temperature": -1, "biases": []})");
    check_error(run_program({"info", "--check", model}), 3,
                model +
                    "/calibration.json: is damaged: temperature must be above 0, and every "
                    "bias a number");
    works({"info", model});
}

DOCTEST_TEST_CASE("info: a model's files that are links to themselves are bad input") {
    const TempDir folder;
    std::filesystem::copy(test_data("models/chromatin-grch37"), folder / "model");
    for (const char* name : {"model.safetensors", "config.json"}) {
        std::filesystem::remove(folder / "model" / name);
        std::filesystem::create_symlink(name, folder / "model" / name);
        check_error(
            run_program({"info", folder / "model"}), 3,
            (folder / "model" / name).string() + ": cannot be read: Too many levels of symbolic links");
    }
}

DOCTEST_TEST_CASE("info: a model's files that are pipes are bad input, and not waited for") {
    for (const char* name : {"model.safetensors", "config.json", "labels.tsv", "calibration.json"}) {
        const TempDir folder;
        std::filesystem::copy(test_data("models/chromatin-grch37"), folder / "model");
        std::filesystem::remove(folder / "model" / name);
        DOCTEST_REQUIRE(::mkfifo((folder / "model" / name).c_str(), 0600) == 0);
        check_error(run_program({"info", "--check", folder / "model"}), 3,
                    (folder / "model" / name).string() + ": is a pipe, a file is needed");
    }
}

DOCTEST_TEST_CASE("info: the labels that --labels chooses from, DeepSEA's among them") {
    const TempDir folder;
    const ProgramResult known = works({"info", "--labels", "deepsea"});
    DOCTEST_CHECK(std::count(known.out.begin(), known.out.end(), '\n') == 920);
    std::filesystem::create_directories(folder / "run/model");
    write_file(folder / "run/model/labels.tsv", "index\tgroup\tname\n0\tTF\tK562|CTCF|None\n");
    const ProgramResult mine = run_program({"info", "--labels", folder / "run"});
    DOCTEST_CHECK(mine.out ==
                  "index\tid\tgroup\tcell\tassay\ttreatment\tname\tpositives\n"
                  "0\t000_K562_CTCF_None\tTF\tK562\tCTCF\tNone\tK562|CTCF|None\t.\n");
    check_error(run_program({"info", "--labels", folder.path().string()}), 3,
                (folder / "labels.tsv").string() + ": no such file");
}

DOCTEST_TEST_CASE("info: a run folder means its model") {
    const TempDir folder;
    std::filesystem::create_directories(folder / "run");
    std::filesystem::copy(test_data("model/pretraining"), folder / "run/model");
    const ProgramResult result = works({"info", folder / "run"});
    DOCTEST_CHECK(holds(result.out, "parameters  149134\n"));
}

DOCTEST_TEST_CASE("info: --program says what this program can use, as text and as JSON") {
    const ProgramResult text = works({"info", "--program"});
    DOCTEST_CHECK(text.err.empty());
    DOCTEST_CHECK(text.out.starts_with("part "));
    for (const char* part :
         {"program", "processor", "features", "attention, fp32", "attention, bf16", "cores", "memory",
          "NVIDIA driver", "LibTorch", "Gloo", "own CUDA kernels", "NCCL", "--device auto"})
        DOCTEST_CHECK_MESSAGE(text.out.find("\n" + std::string(part) + "  ") != std::string::npos, part);
    const ProgramResult json = works({"info", "--program", "--json"});
    const auto rows = nlohmann::json::parse(json.out)["program"];
    const auto lines = std::count(text.out.begin(), text.out.end(), '\n');
    DOCTEST_CHECK(rows.size() + 1 == static_cast<std::size_t>(lines));
    for (const auto& row : rows)
        DOCTEST_CHECK((row["part"].is_string() && row["usable"].is_boolean() && row["details"].is_string()));
}

DOCTEST_TEST_CASE("info: --program without LibTorch says why, and all else") {
    const TempDir folder;
    const std::string alone = folder / "bigbird-dna", beside = folder / "bigbird-dna-tensors";
    std::filesystem::copy_file(program_path(), alone);
    const ProgramResult without = works({"info", "--program"}, {}, {.program = alone});
    check_holds(without.out,
                {"  bigbird-dna-tensors: " + beside + " cannot be started: No such file or directory",
                 "\nprocessor "});
    write_file(
        beside,
        "#!/bin/sh\necho 'error while loading shared libraries: libc10.so: no such file' >&2\nexit 127\n");
    std::filesystem::permissions(beside, std::filesystem::perms::owner_all);
    const ProgramResult broken = works({"info", "--program"}, {}, {.program = alone});
    DOCTEST_CHECK(holds(broken.out, ": error while loading shared libraries: libc10.so: no such file\n"));
}

DOCTEST_TEST_CASE("info: it takes a path or --program, and one of them") {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"info"}, {"info", "--program", test_data("model/relu")}}) {
        check_error(run_program(arguments), 2,
                    "info takes a PATH or --program; see 'bigbird-dna info --help'");
    }
}
