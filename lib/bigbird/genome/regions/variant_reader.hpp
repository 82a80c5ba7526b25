// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::genome {

/// A record of a VCF, as it stands in the file.
struct Variant {
    std::string contig;
    std::int64_t position = 0;  ///< 0-based, of the first base of `ref`; -1 is POS 0, a telomere
    std::string id = ".", ref;
    std::vector<std::string> alts;  ///< may be symbolic ("<DEL>", "*", "N[1:5["); empty where ALT is "."
    std::int64_t record = 0;        ///< number in the file, from 1
    std::int64_t line = 0;          ///< of a VCF, from 1; 0 for BCF
};

/// Reads VCF (plain, gzip, bgzip) or BCF, told by content, or standard input ("-"), record by record. Throws
/// InputError: missing, no VCF, truncated, a malformed record. Not thread-safe.
class VariantReader {
public:
    explicit VariantReader(std::filesystem::path path);
    ~VariantReader();
    VariantReader(VariantReader&&) noexcept;

    std::optional<Variant> next();
    const std::filesystem::path& path() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
