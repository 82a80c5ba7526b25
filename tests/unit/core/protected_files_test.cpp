// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/protected_files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <sys/stat.h>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

std::string refusal_of(const fs::path& target) {
    return message_of<ConfigError>([&] { prepare_output(target, Overwrite::allow); });
}

}  // namespace

DOCTEST_TEST_CASE("protected_files: an input is no output, by no path and no link") {
    const TempDir folder;
    write_file(folder / "in.txt", "read");
    fs::create_directories(folder / "sub");
    fs::create_symlink(folder / "in.txt", folder / "link");
    protect_input(folder / "in.txt", "--documents");
    for (const fs::path& target : {folder / "in.txt", folder / "sub/../in.txt", folder / "link"}) {
        DOCTEST_CAPTURE(target);
        DOCTEST_CHECK(
            refusal_of(target) ==
            target.string() +
                ": is named by --documents and would be replaced by an output; give another output");
    }
    prepare_output(folder / "other.txt", Overwrite::allow);
    DOCTEST_CHECK(read_file(folder / "in.txt") == "read");
}

DOCTEST_TEST_CASE("protected_files: the files of an input folder are no outputs, others in it are") {
    const TempDir folder;
    fs::create_directories(folder / "run/model");
    fs::create_symlink(folder / "run", folder / "link");
    write_file(folder / "run/model/config.json", "read");
    write_file(folder / "run/scores.tsv", "of a run before");
    protect_input(folder / "run", "--model");
    for (const fs::path& target : {folder / "run/model/config.json", folder / "link/model/config.json"}) {
        DOCTEST_CHECK(refusal_of(target) == target.string() +
                                                ": is a file of the folder named by --model and would be "
                                                "replaced by an output; give another output");
    }
    prepare_output(folder / "run/scores.tsv", Overwrite::allow);
    prepare_output(folder / "run/labels.tsv", Overwrite::allow);  // there is none
}

DOCTEST_TEST_CASE("protected_files: an output in an input folder may replace what it wrote") {
    const TempDir folder;
    for (const char* name :
         {"examples/targets.npy", "examples/tokens-00001.bin", "examples/run/config.json"}) {
        fs::create_directories((folder / name).parent_path());
        write_file(folder / name, "written");
    }
    write_file(folder / "examples/background.h5", "written");
    protect_input(folder / "examples", "--examples", folder / "examples/run");
    prepare_output(folder / "examples/run/config.json", Overwrite::allow);
    for (const char* name : {"examples/targets.npy", "examples/tokens-00001.bin", "examples/background.h5"})
        DOCTEST_CHECK(holds(refusal_of(folder / name), "is a file of the folder named by --examples"));
}

DOCTEST_TEST_CASE("protected_files: a folder that holds an input is not replaced") {
    const TempDir folder;
    fs::create_directories(folder / "examples/sources");
    write_file(folder / "examples/manifest.json", "{\"format\": \"bigbird-dna examples\"}");
    write_file(folder / "examples/sources/table.csv", "read");
    prepare_output(folder / "examples", Overwrite::allow);
    protect_input(folder / "examples/sources/table.csv", "--table");
    DOCTEST_CHECK(
        refusal_of(folder / "examples") ==
        (folder / "examples").string() +
            ": holds what is named by --table and would be replaced by an output; give another output");
}

DOCTEST_TEST_CASE("protected_files: what is not there, and pipes, need no protection") {
    const TempDir folder;
    protect_input(folder / "in.txt", "--documents");
    protect_input("-", "--documents");
    write_file(folder / "in.txt", "made since");
    prepare_output(folder / "in.txt", Overwrite::allow);
}

DOCTEST_TEST_CASE("protected_files: devices and pipes are not replaced by files") {
    const TempDir folder;
    const fs::path pipe = folder / "pipe";
    DOCTEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("/dev/null", folder / "null");
    for (const fs::path& target : {pipe, folder / "null"}) {
        DOCTEST_CHECK(refusal_of(target) ==
                      target.string() + ": is a device or a pipe, which this output cannot be written to");
    }
    DOCTEST_CHECK(fs::is_fifo(pipe));
}

DOCTEST_TEST_CASE("protected_files: standard output is told by its links") {
    DOCTEST_CHECK(is_standard_output("/proc/self/fd/1"));
    const TempDir folder;
    write_file(folder / "file", "");
    DOCTEST_CHECK_FALSE(is_standard_output(folder / "file"));
    DOCTEST_CHECK_FALSE(is_standard_output(folder / "missing"));
}
