// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/letters/letter_rows.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <limits>

using namespace bigbird;
using namespace bigbird::testing;
using tasks::LetterOutputs;
using tasks::LetterTrack;
namespace fs = std::filesystem;

namespace {

/// Outputs of two labels in a folder.
class LetterFiles {
public:
    std::unique_ptr<LetterOutputs> open(const std::vector<std::string>& names, const std::string& labels = "",
                                        LetterTrack track = LetterTrack::largest,
                                        Overwrite overwrite = Overwrite::refuse) const {
        outputs::OutputSpec spec{.overwrite = overwrite};
        for (const std::string& name : names)
            spec.paths.push_back(folder_ / name);
        LetterOutputs::prepare(spec);
        const rows::LabelTable table({{"TF", "a", -1}, {"TF", "b c", -1}});
        const std::vector<genome::Contig> contigs{{"1", 1000}};
        return std::make_unique<LetterOutputs>(spec, table, table.select(labels),
                                               rows::Provenance{{"method", "some"}}, track, contigs, 1);
    }
    /// Writes the bases 1:10-13, G N T, which have one score more of each label with each letter.
    static void write(LetterOutputs& outputs, std::size_t labels = 2) {
        std::vector<float> scores;
        for (std::size_t label = 0; label < labels; ++label) {
            const float sign = label == 0 ? 1.0F : -1.0F;
            for (const float score :
                 {1.0F, -2.0F, 0.5F, 1.5F, none, none, none, none, 5.0F, 6.0F, -7.0F, 0.25F})
                scores.push_back(sign * score);
        }
        outputs.write({.where = {"1", 10, 13}, .name = "x"}, "GNT", scores);
    }
    std::string text(const std::string& name) const { return read_file(folder_ / name); }
    bool has(const std::string& name) const { return fs::exists(folder_ / name); }
    fs::path operator/(const std::string& name) const { return folder_ / name; }

private:
    static constexpr float none = std::numeric_limits<float>::quiet_NaN();
    TempDir folder_;
};

}  // namespace

DOCTEST_TEST_CASE("letter_outputs: a line per base and label, N without scores, a track per label") {
    const LetterFiles files;
    const auto outputs = files.open({"s.tsv", "{label}.bedgraph", "{index}.npz"});
    LetterFiles::write(*outputs);
    DOCTEST_CHECK_FALSE(files.has("s.tsv"));
    outputs->commit();
    DOCTEST_CHECK(files.text("s.tsv") ==
                  "##method=some\n#chrom\tstart\tend\tname\tlabel\tref\tA\tC\tG\tT\n"
                  "1\t10\t11\tx\ta\tG\t1\t-2\t0.5\t1.5\n1\t10\t11\tx\tb c\tG\t-1\t2\t-0.5\t-1.5\n"
                  "1\t11\t12\tx\ta\tN\tNA\tNA\tNA\tNA\n1\t11\t12\tx\tb c\tN\tNA\tNA\tNA\tNA\n"
                  "1\t12\t13\tx\ta\tT\t5\t6\t-7\t0.25\n1\t12\t13\tx\tb c\tT\t-5\t-6\t7\t-0.25\n");
    DOCTEST_CHECK(files.text("a.bedgraph") == "1\t10\t11\t-2\n1\t12\t13\t-7\n");
    DOCTEST_CHECK(files.text("b_c.bedgraph") == "1\t10\t11\t2\n1\t12\t13\t7\n");
    for (const char* name : {"0.npz", "0.onehot.npz", "1.npz", "1.onehot.npz"})
        DOCTEST_CHECK_MESSAGE(files.has(name), name);
}

DOCTEST_TEST_CASE("letter_outputs: tracks of own letters, one label without {label}") {
    const LetterFiles files;
    const auto outputs = files.open({"own.bedgraph", "own.h5"}, "b c", LetterTrack::own);
    LetterFiles::write(*outputs, 1);
    outputs->commit();
    DOCTEST_CHECK(files.text("own.bedgraph") == "1\t10\t11\t0.5\n1\t12\t13\t0.25\n");
    DOCTEST_CHECK(files.has("own.h5"));
}

DOCTEST_TEST_CASE("letter_outputs: tables, tracks and arrays appear together or not at all") {
    const std::vector<std::string> names{"s.tsv", "{label}.bedgraph", "{label}.h5"},
        made{"s.tsv", "a.bedgraph", "b_c.bedgraph", "a.h5", "b_c.h5"};
    for (const std::string& late : made) {
        DOCTEST_CAPTURE(late);
        const LetterFiles files;
        const auto outputs = files.open(names);
        LetterFiles::write(*outputs);
        write_file(files / late, "appeared");
        DOCTEST_CHECK(holds(message_of<ConfigError>([&] { outputs->commit(); }),
                            (files / late).string() + ": appeared while this was being written"));
        for (const std::string& name : made)
            DOCTEST_CHECK_MESSAGE(files.has(name) == (name == late), name);
        DOCTEST_CHECK(files.text(late) == "appeared");
    }
}

DOCTEST_TEST_CASE("letter_outputs: what was there stays until all outputs are whole") {
    const LetterFiles files;
    for (const char* name : {"s.tsv", "a.bedgraph", "b_c.bedgraph"})
        write_file(files / name, "of a run before");
    const auto outputs =
        files.open({"s.tsv", "{label}.bedgraph"}, "", LetterTrack::largest, Overwrite::allow);
    LetterFiles::write(*outputs);
    DOCTEST_CHECK(files.text("s.tsv") == "of a run before");
    outputs->commit();
    DOCTEST_CHECK(files.text("s.tsv").starts_with("##method=some\n"));
    DOCTEST_CHECK(files.text("b_c.bedgraph").starts_with("1\t10\t11\t2\n"));
}

DOCTEST_TEST_CASE("letter_outputs: what cannot be written is refused before the work") {
    const LetterFiles files;
    const auto refusal = [&](const std::vector<std::string>& names, const std::string& labels = "") {
        return message_of<ConfigError>([&] { files.open(names, labels); });
    };
    DOCTEST_CHECK(holds(refusal({"s.bw"}), "s.bw: this format holds one label, and 2 are chosen"));
    DOCTEST_CHECK(holds(refusal({"s.npz"}), "s.npz: this format holds one label, and 2 are chosen"));
    DOCTEST_CHECK(holds(refusal({"s.vcf"}), "s.vcf: only predict-variants writes VCF and BCF"));
    DOCTEST_CHECK(holds(refusal({"{label}.tsv"}), "{label}.tsv: {label} and {index} are for tracks"));
    DOCTEST_CHECK(holds(refusal({"s.txt"}), "s.txt: the ending tells the format"));
    write_file(files / "s.onehot.npz", "mine");
    DOCTEST_CHECK(holds(refusal({"s.npz"}, "a"), "s.onehot.npz: exists already"));
    const auto outputs = files.open({"{label}.h5"});
    LetterFiles::write(*outputs);
    DOCTEST_CHECK(holds(message_of<InputError>([&] {
                            outputs->write({.where = {"1", 20, 21}}, "A", std::vector<float>(8, 1.0F));
                        }),
                        "1:20-21 has 1 base, the regions before it 3: "));
}
