// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/splice_scorer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/scoring/splicing/fake_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cmath>

using namespace bigbird;
using namespace bigbird::splicing;
using namespace bigbird::testing;

namespace {

constexpr std::int64_t context_side = 2;

std::vector<std::uint8_t> codes(const std::string& dna) {
    std::vector<std::uint8_t> result;
    for (const char base : dna)
        result.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(std::string("ACGT").find(base), 4)));
    return result;
}

/// What the program does: strings of a window, a pass over each, in one strand's direction.
std::string program(const FakeModel& model, const std::string& contig, const rows::SpliceGene& gene,
                    std::int64_t position, const std::string& ref, const std::string& alt,
                    std::int64_t distance) {
    const std::int64_t anchor = context_side + distance, length = 2 * anchor + 1;
    std::string x_ref =
        contig.substr(static_cast<std::size_t>(position - anchor), static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i)
        if (position - anchor + i < gene.begin || position - anchor + i >= gene.end)
            x_ref[static_cast<std::size_t>(i)] = 'N';
    std::string x_alt = x_ref;
    x_alt.replace(static_cast<std::size_t>(anchor), ref.size(), alt);
    std::vector<std::vector<float>> both;
    for (std::string dna : {x_ref, x_alt}) {
        if (gene.reverse()) dna = genome::reverse_complement(dna);
        const std::int64_t outputs = std::ssize(dna) - 2 * context_side;
        std::vector<float> values =
            model.edited(codes(dna), std::vector{networks::SpliceEdit{.begin = 0, .end = outputs}}, 1)
                .front();
        if (gene.reverse()) {
            std::ranges::reverse(values);  // also the three numbers of each position
            for (std::size_t i = 0; i < values.size(); i += 3)
                std::swap(values[i], values[i + 2]);
        }
        both.push_back(values);
    }
    return text_of(
        program_effect({both[0], both[1], distance, std::ssize(ref), std::ssize(alt)}, std::nullopt));
}

class Spliced {
public:
    explicit Spliced(std::int64_t channels = 3) : model(channels) {
        dna = random_bases(400, 3);
        for (const std::size_t intron : {std::size_t{70}, std::size_t{130}})
            dna.replace(intron, 2, "GT").replace(intron + 38, 2, "AG");
        for (const std::size_t intron : {std::size_t{250}, std::size_t{300}})
            dna.replace(intron, 2, "CT").replace(intron + 26, 2, "AC");
        genome = genome::in_memory_genome({{"c", dna}, {"d", dna}, {"e", std::string(10'100, 'A')}});
        write_file(folder_ / "genes",
                   "#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END\n"
                   "PLUS\tc\t+\t40\t200\t40,110,170,\t70,130,200,\n"
                   "MINUS\tc\t-\t190\t350\t190,278,328,\t250,300,350,\n"
                   "WHOLE\td\t+\t0\t400\t0,\t400,\nLONG\te\t+\t0\t10100\t0,\t10100,\n");
        genes.emplace(folder_ / "genes", *genome);
    }
    genome::Variant variant(std::int64_t position, std::int64_t length, std::vector<std::string> alts,
                            const std::string& contig = "c") const {
        genome::Variant one;
        one.contig = contig;
        one.position = position;
        one.ref = dna.substr(static_cast<std::size_t>(position), static_cast<std::size_t>(length));
        one.alts = std::move(alts);
        return one;
    }
    std::vector<SpliceRecord> scored(const std::vector<genome::Variant>& variants,
                                     const SpliceOptions& options) {
        SpliceScorer scorer(model, *genome, *genes, options);
        std::vector<SpliceRecord> records;
        for (const genome::Variant& one : variants)
            scorer.prepare(records.emplace_back(SpliceRecord{.variant = one}));
        passes = scorer.passes_of(records);
        scorer.score(records, 1);
        return records;
    }
    std::int64_t passes = 0;  ///< of the last scored()
    /// Of one variant with one ALT.
    SpliceStatus status(const genome::Variant& one, const SpliceOptions& options = {.distance = 5}) {
        return scored({one}, options).front().alleles.front().status;
    }
    static const SpliceEffect& effect(const SpliceRecord& record, std::size_t allele = 0,
                                      std::size_t gene = 0) {
        return std::get<SpliceEffect>(record.alleles[allele].genes[gene].effect);
    }
    std::string other(std::int64_t position) const {
        return dna[static_cast<std::size_t>(position)] == 'A' ? "C" : "A";
    }

    std::string dna;
    FakeModel model;
    std::unique_ptr<genome::ReferenceGenome> genome;
    std::optional<rows::SpliceGenes> genes;

private:
    TempDir folder_;
};

}  // namespace

DOCTEST_TEST_CASE("splice scorer: stretches give what the program computes window by window") {
    Spliced fixture;
    std::vector<genome::Variant> variants;
    for (std::int64_t position = 38; position < 352; position += 3) {
        const std::string base = fixture.dna.substr(static_cast<std::size_t>(position), 1);
        variants.push_back(fixture.variant(position, 1, {fixture.other(position), base + "GATTACA"}));
        variants.push_back(fixture.variant(position, 1 + position % 8, {base}));
    }
    std::ranges::reverse(variants);  // the order does not matter
    for (const std::int64_t distance : {5, 20}) {
        const auto records = fixture.scored(variants, {.distance = distance});
        std::size_t compared = 0;
        for (const SpliceRecord& record : records)
            for (const SpliceAllele& allele : record.alleles)
                for (const GeneEffect& effect : allele.genes) {
                    DOCTEST_REQUIRE(allele.status == SpliceStatus::ok);
                    ++compared;
                    DOCTEST_CHECK(text_of(std::get<SpliceEffect>(effect.effect)) ==
                                  program(fixture.model, fixture.dna, fixture.genes->genes()[effect.gene],
                                          record.variant.position, record.variant.ref, allele.alt, distance));
                }
        DOCTEST_CHECK(compared > 300);
    }
}

DOCTEST_TEST_CASE(
    "splice scorer: two genes on one position, in the order of the annotation, whose alleles share windows") {
    Spliced fixture;
    const auto records = fixture.scored({fixture.variant(195, 1, {"A", "C", "G", "T"})}, {.distance = 5});
    DOCTEST_CHECK(records[0].alleles.size() == 4);
    for (const SpliceAllele& allele : records[0].alleles) {
        DOCTEST_REQUIRE(allele.genes.size() == 2);
        DOCTEST_CHECK(allele.genes[0].gene == 0);
        DOCTEST_CHECK(allele.genes[1].gene == 1);
    }
    DOCTEST_CHECK(fixture.model.passes == 2 * 5);  // one reference window and four edited ones per gene
    DOCTEST_CHECK(fixture.model.stretches.size() == 2);
}

DOCTEST_TEST_CASE("splice scorer: what the program does not score, by status") {
    Spliced fixture;
    using enum SpliceStatus;
    const auto status = [&](const genome::Variant& one) { return fixture.status(one); };
    DOCTEST_CHECK(status(fixture.variant(100, 1, {"A"})) == ok);
    DOCTEST_CHECK(status(fixture.variant(100, 1, {})) == no_alt);
    DOCTEST_CHECK(status(fixture.variant(39, 1, {"A"})) == no_gene);
    DOCTEST_CHECK(status(fixture.variant(40, 1, {"A"})) == ok);
    DOCTEST_CHECK(status(fixture.variant(349, 1, {"A"})) == ok);
    DOCTEST_CHECK(status(fixture.variant(350, 1, {"A"})) == no_gene);
    DOCTEST_CHECK(status(fixture.variant(38, 5, {"A"})) == no_gene);  // only POS counts
    DOCTEST_CHECK(status(fixture.variant(100, 1, {"A"}, "x")) == no_contig);
    genome::Variant telomere = fixture.variant(0, 1, {"A"});
    telomere.position = -1;
    DOCTEST_CHECK(status(telomere) == no_gene);
    genome::Variant other = fixture.variant(100, 1, {"A"});
    other.ref = fixture.other(100);
    DOCTEST_CHECK(status(other) == ref_mismatch);
    genome::Variant small = fixture.variant(100, 1, {"A"});
    small.ref = static_cast<char>(std::tolower(small.ref.front()));
    DOCTEST_CHECK(status(small) == lower_case);
    // The window has distance 5 and 2 bases of context on each side.
    DOCTEST_CHECK(status(fixture.variant(6, 1, {"A"}, "d")) == near_end);
    DOCTEST_CHECK(status(fixture.variant(7, 1, {"A"}, "d")) == ok);
    DOCTEST_CHECK(status(fixture.variant(392, 1, {"A"}, "d")) == ok);
    DOCTEST_CHECK(status(fixture.variant(393, 1, {"A"}, "d")) == near_end);
    genome::Variant past = fixture.variant(399, 1, {"A"}, "d");
    past.ref += "A";
    DOCTEST_CHECK(status(past) == ref_mismatch);
    DOCTEST_CHECK(status(fixture.variant(100, 10, {"A"})) == ok);
    DOCTEST_CHECK(status(fixture.variant(100, 11, {"A"})) == too_long);
    DOCTEST_CHECK(fixture.status(fixture.variant(100, 1, {"A"}), {.distance = 0}) == too_long);
    for (const char* alt : {"<DEL>", "*", ".", "A-", "N[c:5["})
        DOCTEST_CHECK(status(fixture.variant(100, 1, {alt})) == symbolic);
    DOCTEST_CHECK(status(fixture.variant(100, 2, {"AC"})) == mnv);
    DOCTEST_CHECK(status(fixture.variant(100, 1, {"a"})) == ok);  // ALT may be in lower case
    const auto mixed = fixture.scored({fixture.variant(100, 1, {"<DEL>", "A", "*"})}, {.distance = 5});
    DOCTEST_CHECK(mixed[0].alleles[1].status == ok);  // beside others
}

DOCTEST_TEST_CASE("splice scorer: exact scores more, up to the same ends of the contig") {
    Spliced fixture;
    using enum SpliceStatus;
    const SpliceOptions exact{.mode = tasks::SpliceMode::exact, .distance = 5};
    genome::Variant small = fixture.variant(100, 1, {"A"});
    small.ref = static_cast<char>(std::tolower(small.ref.front()));
    DOCTEST_CHECK(fixture.status(small, exact) == ok);
    DOCTEST_CHECK(fixture.status(fixture.variant(100, 60, {"A"}), exact) == ok);
    DOCTEST_CHECK(fixture.status(fixture.variant(100, 2, {"AC"}), exact) == ok);
    DOCTEST_CHECK(fixture.status(fixture.variant(383, 10, {"A"}, "d"), exact) == ok);
    DOCTEST_CHECK(fixture.status(fixture.variant(384, 10, {"A"}, "d"), exact) == near_end);
    DOCTEST_CHECK(fixture.status(fixture.variant(383, 10, {"A"}, "d")) == ok);
    DOCTEST_CHECK(fixture.status(fixture.variant(100, 1, {"<DEL>"}), exact) == symbolic);
    genome::Variant longest = fixture.variant(50, 1, {"A"}, "e");
    longest.ref = std::string(10'000, 'A');
    DOCTEST_CHECK(fixture.status(longest, exact) == ok);
    longest.ref += 'A';
    DOCTEST_CHECK(fixture.status(longest, exact) == too_long);
    const SpliceOptions none{.mode = tasks::SpliceMode::exact, .distance = 0};
    DOCTEST_CHECK(fixture.status(fixture.variant(100, 1, {"A"}), none) == ok);
}

DOCTEST_TEST_CASE("splice scorer: exact masks sites of the transcript's introns, not its ends") {
    Spliced fixture;
    // A donor where an exon of the plus strand ends (GT behind), an acceptor where one begins (AG before).
    fixture.model.set([](std::span<const std::uint8_t> bases, std::int64_t) {
        const bool donor = bases[3] == 2 && bases[4] == 3, acceptor = bases[0] == 0 && bases[1] == 2;
        return std::vector<float>{0, acceptor ? 0.75F : 0, donor ? 0.75F : 0};
    });
    const auto text = [&](std::int64_t position, bool mask, tasks::SpliceMode mode) {
        const auto records =
            fixture.scored({fixture.variant(position, 1, {fixture.other(position)})}, {mode, 3, mask});
        return text_of(Spliced::effect(records.front()));
    };
    // The G of GT at base 70: the donor of base 69 is lost, a known one.
    DOCTEST_CHECK(text(70, false, tasks::SpliceMode::exact).substr(15, 4) == "0.75");
    DOCTEST_CHECK(text(70, true, tasks::SpliceMode::exact).substr(15, 4) == "0.75");
    // The same on the minus strand, where the intron [250, 278) ends with CT: an acceptor at 249.
    const auto minus = fixture.scored({fixture.variant(250, 1, {"G"})}, {tasks::SpliceMode::exact, 3, true});
    DOCTEST_CHECK(Spliced::effect(minus.front()).scores[1] == 0.75);
    DOCTEST_CHECK(Spliced::effect(minus.front()).positions[1] == -1);
    // The network has a donor at the last base of the transcript: an end of an exon, but no annotated donor.
    const std::uint8_t before = codes(fixture.dna)[198];
    fixture.model.set([before](std::span<const std::uint8_t> bases, std::int64_t) {
        return std::vector<float>{0, 0, bases[1] == before && bases[3] == 4 ? 0.75F : 0};
    });
    DOCTEST_CHECK(text(198, true, tasks::SpliceMode::spliceai).substr(15, 4) == "0.75");
    DOCTEST_CHECK(text(198, false, tasks::SpliceMode::exact).substr(15, 4) == "0.75");
    DOCTEST_CHECK(text(198, true, tasks::SpliceMode::exact).substr(15, 4) == "0.00");
}

DOCTEST_TEST_CASE("splice scorer: passes are over tiles of a gene, whatever other variants there are") {
    Spliced fixture;
    const auto stretches = [&](const std::vector<genome::Variant>& variants) {
        fixture.model.stretches.clear();
        fixture.scored(variants, {.distance = 40});
        DOCTEST_CHECK(fixture.passes == std::ssize(fixture.model.stretches));
        return fixture.model.stretches;
    };
    const genome::Variant first = fixture.variant(50, 1, {"A"}), second = fixture.variant(62, 1, {"A"}),
                          third = fixture.variant(90, 1, {"A"}), longer = fixture.variant(90, 80, {"A"});
    // Tiles [40, 64) and [64, 128) of the gene, with 40 bases and 64 for REF beside them, and 4 of context.
    const std::int64_t one = 24 + 2 * 40 + 64 + 4, other = 64 + 2 * 40 + 64 + 4;
    DOCTEST_CHECK(stretches({third, second, first}) == std::vector{one, other});
    DOCTEST_CHECK(stretches({second}) == std::vector{one});
    DOCTEST_CHECK(stretches({longer}) == std::vector{other});
    fixture.model.stretches.clear();
    fixture.scored({fixture.variant(90, 200, {"A"})}, {tasks::SpliceMode::exact, 5});
    DOCTEST_CHECK(fixture.model.stretches == std::vector{other - 2 * 35 + 1024});
    fixture.model.stretches.clear();
    fixture.scored(
        std::vector(static_cast<std::size_t>(SpliceScorer::most_jobs + 1), fixture.variant(90, 1, {"A"})),
        {.distance = 5});
    DOCTEST_CHECK(fixture.model.stretches.size() == 2);
}

DOCTEST_TEST_CASE("splice scorer: other letters are N, numbers must be numbers, repeats are told") {
    Spliced fixture;
    const auto as_n = fixture.scored({fixture.variant(100, 1, {"N"})}, {.distance = 5});
    const auto as_r = fixture.scored({fixture.variant(100, 1, {"R"})}, {.distance = 5});
    DOCTEST_CHECK(text_of(Spliced::effect(as_n[0])) == text_of(Spliced::effect(as_r[0])));
    const std::string bases = fixture.dna.substr(100, 3);
    DOCTEST_CHECK(fixture.scored({fixture.variant(100, 1, {bases})}, {.distance = 5})[0].repeats);
    DOCTEST_CHECK(
        fixture
            .scored({fixture.variant(102, 1, {fixture.dna.substr(102, 1) + fixture.dna.substr(101, 2)})},
                    {.distance = 5})[0]
            .repeats);
    DOCTEST_CHECK_FALSE(
        fixture.scored({fixture.variant(100, 1, {fixture.dna.substr(100, 1) + "NN"})}, {.distance = 5})[0]
            .repeats);
    fixture.model.set([](std::span<const std::uint8_t>, std::int64_t) {
        return std::vector<float>{0, NAN, 0};
    });
    DOCTEST_CHECK(holds(
        message_of<InputError>([&] { fixture.scored({fixture.variant(100, 1, {"A"})}, {.distance = 5}); }),
        "no numbers"));
}
