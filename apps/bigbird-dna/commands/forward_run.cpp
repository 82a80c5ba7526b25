// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/forward.hpp"

#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/forward_tensors.hpp"

namespace bigbird::cli {

int run(const ForwardOptions& options) {
    prepare_output(options.output.output, options.output.overwrite());
    model::set_compute_threads(options.threads);
    const at::Device device = model::open_device(options.device);
    const model::TensorMap inputs = model::read_safetensors(options.input);
    const model::ForwardSpec spec{options.type, model::usable_attention(options.attention, device)};
    const model::TensorMap outputs = model::forward_tensors(options.model, inputs, spec, device);
    model::write_safetensors(outputs, options.output.output,
                             {{"bigbird_dna_version", std::string(version())},
                              {"input_sha256", sha256_of_file(options.input)},
                              {"config_sha256", sha256_of_file(options.model / "config.json")},
                              {"dtype", options.type}});
    return 0;
}

}  // namespace bigbird::cli
