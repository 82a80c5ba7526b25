// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using bigbird::testing::test_data;

namespace {

struct Row {
    std::string labels, sequence;
};

/// What the files were made of, by split.
std::vector<Row> rows_of(const std::string& split) {
    genome::TextInput text(test_data("chromatin/mat/rows.tsv"));
    std::vector<Row> rows;
    for (std::string line; text.next(line);) {
        const auto fields = split_fields(line, '\t');
        if (fields[2] == split) rows.push_back({std::string(fields[3]), std::string(fields[4])});
    }
    return rows;
}

std::string bits_of(const BitRows& bits, std::size_t row, std::size_t labels) {
    std::string text;
    for (std::size_t label = 0; label < labels; ++label)
        text += bits.get(row, label) ? '1' : '0';
    return text;
}

}  // namespace

DOCTEST_TEST_CASE(
    "deepsea_mat: MATLAB 7.3 in slabs and MATLAB 5 give the sequences and labels they were made of") {
    for (const auto& [name, split] :
         {std::pair("train", "train"), std::pair("valid", "validation"), std::pair("test", "test")}) {
        const std::vector<Row> expected = rows_of(split);
        for (const std::int64_t step : {1, 3, 100}) {
            DeepseaMat mat(test_data(std::string("chromatin/mat/") + name + ".mat"), step);
            DOCTEST_REQUIRE(mat.rows() == std::ssize(expected));
            DOCTEST_CHECK(mat.labels() == 5);
            DOCTEST_CHECK(mat.bases() == 1000);
            for (std::int64_t begin = 0; begin < mat.rows(); begin += step) {
                const DeepseaMat::Slab slab = mat.next();
                for (std::size_t i = 0; i < slab.sequences.size(); ++i) {
                    const Row& row = expected[static_cast<std::size_t>(begin) + i];
                    DOCTEST_CHECK(slab.sequences[i] == row.sequence);
                    DOCTEST_CHECK(bits_of(slab.bits, i, 5) == row.labels);
                }
            }
        }
    }
}

DOCTEST_TEST_CASE("deepsea_mat: what is cut off or of another shape is refused") {
    const auto error = [](const std::string& name) {
        return testing::message_of<InputError>([&] {
            DeepseaMat mat(test_data("chromatin/mat/malformed/" + name), 100);
            mat.next();
        });
    };
    DOCTEST_CHECK(error("truncated_73.mat").find("truncated_73.mat: is") != std::string::npos);
    DOCTEST_CHECK(error("truncated_5.mat").find("truncated_5.mat: ") != std::string::npos);
    DOCTEST_CHECK(error("shape.mat").find("is cut off or of another shape: DeepSEA's has") !=
                  std::string::npos);
    DOCTEST_CHECK(error("rows.mat").find("has 4 sequences but 3 rows of labels") != std::string::npos);
    DOCTEST_CHECK(error("values.mat").find("holds the value 7") != std::string::npos);
    DOCTEST_CHECK(testing::message_of<InputError>([] {
                      DeepseaMat mat(test_data("chromatin/mat/bins.bed"), 100);
                  }).find("is no .mat file") != std::string::npos);
}
