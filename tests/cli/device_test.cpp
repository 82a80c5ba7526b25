// SPDX-License-Identifier: Apache-2.0
// What a driver can have against a run, with a driver that pretends it.
#include "cli/checks.hpp"
#include "support/environment.hpp"
#include "support/temp_dir.hpp"

#include <nlohmann/json.hpp>

using namespace bigbird::testing;

namespace {

/// `forward` on a device, at tiny size.
ProgramResult forward_on(const std::string& device) {
    const TempDir folder;
    return run_program({"forward", "--device", device, "--model", test_data("model/classifier"), "--input",
                        test_data("model/classifier/cases/full_64_padded.safetensors"), "--output",
                        folder / "out.safetensors"});
}

/// A driver of CUDA `version` that shows these GPUs, by their compute capabilities, while it lives.
struct PretendedDriver {
    explicit PretendedDriver(const std::string& with_gpus, const std::string& with_version = "13000")
        : gpus("FAKE_CUDA_GPUS", with_gpus), version("FAKE_CUDA_VERSION", with_version) {}
    Environment path{"LD_LIBRARY_PATH", fake_driver_folder()};
    Environment gpus, version;
};

void check_refused(const std::string& device, const std::string& why) {
    check_error(forward_on(device), 4, "--device " + device + " cannot be used: " + why);
}

/// The rows of info --program, by their names; the last of a name.
nlohmann::json parts_by_name() {
    const ProgramResult result = works({"info", "--program", "--json"});
    const nlohmann::json rows = nlohmann::json::parse(result.out)["program"];
    nlohmann::json parts;
    for (const nlohmann::json& part : rows)
        parts[part["part"].get<std::string>()] = part;
    return parts;
}

}  // namespace

DOCTEST_TEST_CASE("device: a driver that is too old is said with both versions, code 4") {
    const PretendedDriver driver("9.0", "12040");
    check_refused(
        "cuda",
        "the NVIDIA driver is too old: it serves CUDA 12.4, and this LibTorch needs 13.0; install driver "
        "580 or newer");
}

DOCTEST_TEST_CASE("device: a driver that does not start, or shows no GPU") {
    const PretendedDriver driver("");
    check_refused("cuda", "the driver shows no GPU (see nvidia-smi, and CUDA_VISIBLE_DEVICES)");
    const Environment error("FAKE_CUDA_START_ERROR", "803");
    check_refused("cuda:0",
                  "the NVIDIA driver does not start: a pretended failure (CUDA error 803; see nvidia-smi)");
}

DOCTEST_TEST_CASE("device: a GPU that is not there, and one that is too old") {
    const PretendedDriver driver("9.0 7.0");
    check_refused("cuda:3", "cuda:3 does not exist: this machine shows 2 GPUs, cuda:0 to cuda:1");
    check_refused("cuda:1",
                  "cuda:1 (Pretended GPU 1, compute capability 7.0) is too old: this LibTorch needs compute "
                  "capability 7.5 or newer");
}

DOCTEST_TEST_CASE("device: a driver's library that is none is said, and auto takes the CPU") {
    const TempDir folder;
    write_file(folder / "libcuda.so.1", "not a library");
    const Environment path("LD_LIBRARY_PATH", folder.path().string());
    const ProgramResult result = forward_on("cuda");
    DOCTEST_CHECK(result.code == 4);
    DOCTEST_CHECK(result.err.starts_with(
        "bigbird-dna: error: --device cuda cannot be used: the NVIDIA driver cannot be opened: "));
    const ProgramResult automatic = succeeded(forward_on("auto"));
    DOCTEST_CHECK(holds(automatic.err, ": the NVIDIA driver cannot be opened: "));
}

DOCTEST_TEST_CASE(
    "device: where all is well but a CUDA library is missing, its name and the command are said") {
    const PretendedDriver driver("9.0");
    const ProgramResult result = forward_on("cuda");
    if (result.err.find("LibTorch's CUDA part cannot be opened: lib") != std::string::npos) {
        DOCTEST_CHECK(result.code == 4);
        DOCTEST_CHECK(result.err.ends_with(
            "cannot open shared object file: No such file or directory; scripts/setup --with-cuda of a "
            "clone, or pip's torch with CUDA, brings it\n"));
    } else {
        DOCTEST_MESSAGE("every CUDA library is here: nothing to see");
    }
}

DOCTEST_TEST_CASE("device: info --program shows the driver, its GPUs and what LibTorch has against them") {
    const PretendedDriver driver("8.0 7.0");
    const nlohmann::json parts = parts_by_name();
    DOCTEST_CHECK(parts["NVIDIA driver"]["usable"] == true);
    DOCTEST_CHECK(parts["NVIDIA driver"]["details"].get<std::string>().ends_with("serves CUDA 13.0"));
    DOCTEST_CHECK(parts["GPU cuda:0"]["details"] ==
                  "Pretended GPU 0, compute capability 8.0, 85.9 GB; own kernels that serve it: fused");
    DOCTEST_CHECK(parts["--device cuda:1"]["usable"] == false);
    DOCTEST_CHECK(holds(parts["--device cuda:1"]["details"].get<std::string>(), "is too old"));
}

DOCTEST_TEST_CASE("device: info --program outlives a driver that crashes") {
    const PretendedDriver driver("9.0");
    const Environment fault("FAKE_CUDA_FAULT", "abort");
    const nlohmann::json parts = parts_by_name();
    DOCTEST_CHECK(parts["NVIDIA driver"]["usable"] == false);
    DOCTEST_CHECK(parts["NVIDIA driver"]["details"] == "asking libcuda.so.1: ended by signal 6 (Aborted)");
    DOCTEST_CHECK(parts.contains("Gloo"));  // what came before LibTorch's process fell, too
    DOCTEST_CHECK(parts["LibTorch"]["usable"] == false);
    DOCTEST_CHECK(parts["attention, fp32"].is_object());
}
