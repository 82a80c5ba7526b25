// SPDX-License-Identifier: Apache-2.0
// attribute(): contributions that sum to what predict() says of a genome without the region's letters, and
// those of captum and tangermeme on sequence models.
#include "support/formula_parameters.hpp"
#include "support/tensors.hpp"
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/scoring/letters/letter_rows.hpp"
#include "bigbird/tasks/bigbird_network.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <cmath>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

using Rows = TableRows;

/// Cores of 4 bins of 20 bases; 300 to 304 are N.
class AttributeFixture : public ScoringFolder {
public:
    AttributeFixture() : genome_(random_dna(1010, 1)) {
        genome_.replace(300, 5, "NNNNN");
        genome_file("genome.fa", genome_);
        const auto network = small_base_bins(1, motif_bins());
        for (auto& item : network->module()->named_parameters()) {
            const at::NoGradGuard no_gradients;  // without biases norms of no letters are those of 0
            if (item.key().ends_with("bias")) item.value().copy_(at::arange(item.value().numel()).sin() / 4);
        }
        write_model("model", *network, small_bins_info(motif_bins()));
    }
    AttributeSpec attribution(const std::string& bed) const {
        auto spec = this->spec<AttributeSpec>("model", "found.tsv");
        spec.regions = file("regions.bed", bed);
        return spec;
    }
    Rows found(const AttributeSpec& spec) const {
        attribute(spec);
        return read_rows(*this / "found.tsv", "#");
    }
    /// The log odds of predict() for the first row of a BED, with bases [begin, end) N.
    std::vector<double> log_odds_without(std::size_t begin, std::size_t end, const std::string& bed) const {
        std::string dna = genome_;
        dna.replace(begin, end - begin, end - begin, 'N');
        return odds_of(predicted(spec<PredictSpec>("model"), dna, bed));
    }
    const std::string& genome() const { return genome_; }

private:
    std::string genome_;
};

double own_of(const std::vector<std::string>& row) {
    return std::stod(row[6 + std::string("ACGT").find(row[5])]);
}

at::Tensor tensor_of(const Json& json) {
    std::vector<at::Tensor> rows;
    for (const Json& row : json)
        rows.push_back(at::tensor(row.get<std::vector<double>>(), at::kDouble));
    return at::stack(rows);
}

}  // namespace

DOCTEST_TEST_CASE("attribute: contributions sum to the difference to predict without the region's letters") {
    const AttributeFixture fixture;
    for (const auto method : {AttributionMethod::integrated_gradients, AttributionMethod::deeplift}) {
        AttributeSpec spec = fixture.attribution("c\t165\t175\tsite\n");  // within one bin
        spec.strands = Strands::none;
        spec.method = method;
        const Rows rows = fixture.found(spec);
        DOCTEST_REQUIRE(rows.size() == 20);
        DOCTEST_CHECK(rows[3][3] == "site");
        DOCTEST_CHECK(rows[3][5] == fixture.genome().substr(166, 1));
        const auto with = fixture.log_odds_without(0, 0, "c\t160\t180\n"),
                   without = fixture.log_odds_without(165, 175, "c\t160\t180\n");
        for (const std::size_t label : {std::size_t{0}, std::size_t{1}}) {
            double sum = 0;
            for (std::size_t base = 0; base < 10; ++base)
                sum += own_of(rows[2 * base + label]);
            const double wanted = with[label] - without[label];
            DOCTEST_CHECK(std::abs(sum - wanted) < 0.01 * std::max(0.2, std::abs(wanted)));
        }
    }
}

DOCTEST_TEST_CASE("attribute: complete over two windows, both strands and shuffles, the same every time") {
    const AttributeFixture fixture;
    AttributeSpec spec = fixture.attribution("c\t70\t125\nc\t290\t330\n");
    for (const auto baseline : {AttributionBaseline::zero, AttributionBaseline::shuffled}) {
        spec.baseline = baseline;
        spec.shuffles = 3;
        const AttributeReport report = attribute(spec);
        DOCTEST_CHECK(report.bases == 95);
        DOCTEST_CHECK(report.difference > 0);
        DOCTEST_CHECK(report.gap < 0.02 * report.difference);
        const std::string first = read_file(fixture / "found.tsv");
        attribute(spec);
        DOCTEST_CHECK(read_file(fixture / "found.tsv") == first);
    }
    const Rows rows = read_rows(fixture / "found.tsv", "#");
    const auto& of_n = rows[2 * (55 + 12)];  // base 302
    DOCTEST_CHECK(of_n[5] == "N");
    DOCTEST_CHECK(of_n[6] == "NA");
    spec.mean_centered = true;
    const Rows centered = fixture.found(spec);
    for (const std::size_t row : {std::size_t{0}, std::size_t{31}}) {
        double mean = 0;
        for (std::size_t letter = 6; letter < 10; ++letter)
            mean += std::stod(rows[row][letter]) / 4;
        DOCTEST_CHECK(std::abs(own_of(centered[row]) - (own_of(rows[row]) - mean)) < 1e-5);
    }
}

DOCTEST_TEST_CASE("attribute: the reverse complement has the scores of a strand pair swapped") {
    const AttributeFixture fixture;
    std::vector<ModelFolder> plain{open_model(fixture / "model", examples::Task::chromatin, at::kCPU)};
    std::vector<ModelFolder> pair = plain;
    pair[0].labels = rows::LabelTable({{".", "plus", -1, 1}, {".", "minus", -1, 0}});
    const genome::Interval where{"c", 70, 125};  // two windows
    const at::Tensor letters =
        bins::base_channels(bins::codes_of(fixture.genome().substr(70, 55)).unsqueeze(0));
    const auto scores = [&](const std::vector<ModelFolder>& models, Strands strands) {
        const at::NoGradGuard no_gradients;
        return region_score(models, strands, where, sequence_of_record(fixture.genome())).scores(letters)[0];
    };
    const at::Tensor forward = scores(plain, Strands::none), swapped = scores(plain, Strands::only).flip(0);
    DOCTEST_CHECK(difference(scores(pair, Strands::none), forward) == 0);
    DOCTEST_CHECK(difference(scores(pair, Strands::only), swapped) == 0);
    DOCTEST_CHECK(difference(scores(pair, Strands::average), (forward + swapped) / 2) < 1e-6);
    DOCTEST_CHECK(difference(forward, swapped) > 1e-3);
}

DOCTEST_TEST_CASE(
    "attribute: tracks of own letters, arrays of one label each, tiles, records of bin models") {
    const AttributeFixture fixture;
    AttributeSpec spec = fixture.attribution("c\t100\t260\n");
    spec.method = AttributionMethod::input_x_gradient;
    for (const char* name : {"{label}.bedgraph", "{label}.npz", "{label}.h5"})
        spec.outputs.paths.push_back(fixture / name);
    DOCTEST_CHECK(attribute(spec).tiled == 1);  // a core has 80 bases
    const Rows rows = read_rows(fixture / "found.tsv", "#"), track = read_rows(fixture / "b.bedgraph", "#");
    DOCTEST_REQUIRE(rows.size() == 320);
    DOCTEST_CHECK(std::stod(track[7][3]) == doctest::Approx(own_of(rows[15])));
    for (const char* name : {"a.npz", "a.onehot.npz", "b.h5"})
        DOCTEST_CHECK(std::filesystem::file_size(fixture / name) > 2 * 4 * 80);
    spec = fixture.attribution("");
    spec.regions.clear();
    spec.references.clear();
    spec.sequences = fixture / "genome.fa";
    spec.method = AttributionMethod::input_x_gradient;
    const AttributeReport report = attribute(spec);
    DOCTEST_CHECK(report.bases == 1010);
    DOCTEST_CHECK(report.tiled == 12);
}

DOCTEST_TEST_CASE("attribute: what does not fit is refused by a sentence") {
    const AttributeFixture fixture;
    const auto says = [&](AttributeSpec spec, const std::string& part) {
        std::string message;
        try {
            attribute(spec);
        } catch (const std::exception& error) {
            message = error.what();
        }
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.find(part) != std::string::npos);
    };
    AttributeSpec spec = fixture.attribution("c\t100\t110\nc\t100\t111\n");
    spec.outputs.paths = {fixture / "x.npz"};
    says(spec, "this format holds one label, and 2 are chosen");
    spec.labels = "a";
    says(spec, "need regions of one length");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(fixture / "x.npz"));
    spec.method = AttributionMethod::saliency;
    spec.baseline = AttributionBaseline::shuffled;
    says(spec, "leave it out with --method saliency");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      attribute(fixture.attribution("c\t1000\t1011\n"));
                  }).ends_with("1 past a contig's end (c has 1010 bases)): are both of one assembly?"));
    AttributeSpec brief = fixture.attribution("");
    brief.regions.clear();
    brief.references.clear();
    brief.sequences = fixture / "brief.fa";
    write_file(brief.sequences, ">x\nACGTACGTACGTACGTACG\n");
    says(brief, "has a sequence of 19 bases; the model scores bins of 20");
    AttributeSpec both = fixture.attribution("c\t1\t2\n");
    both.sequences = fixture / "genome.fa";
    says(both, "either --regions with --reference, or --sequences");
    TaskInfo info;
    info.window = {-150, 150};
    AttributeSpec tokens = fixture.attribution("c\t100\t110\n");
    info.architecture = "kmer-ridge";
    info.network = to_json(KmerSpec{.word = 3, .informative = 3});
    fixture.write_model("kmers", *linear_network(info, at::zeros({2, 32}), at::zeros({2}), at::kCPU), info);
    tokens.models = {fixture / "kmers"};
    says(tokens, "is a model of k-mers, whose scores have no gradients; predict-mutagenesis");
}

DOCTEST_TEST_CASE(
    "attribute: of token models the shares of tokens, which sum to the difference to no vectors") {
    const AttributeFixture fixture;
    TaskInfo info;
    info.window = {-150, 100};
    write_tiny_task_model(fixture / "tokens", info, 2, 1);
    write_labels(rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}), fixture / "tokens");
    AttributeSpec spec = fixture.attribution("c\t400\t450\tx\n");
    spec.models = {fixture / "tokens"};
    const AttributeReport report = attribute(spec);
    DOCTEST_CHECK(report.difference > 0);
    DOCTEST_CHECK(report.gap < 0.01 * report.difference);
    const Rows rows = read_rows(fixture / "found.tsv", "#");
    DOCTEST_REQUIRE(rows.size() == 100);
    DOCTEST_CHECK(rows[0][6 + (rows[0][5] == "A" ? 1 : 0)] == "NA");
    // By hand: the same window on both strands, a token at a time with and without its vector's share.
    const ModelFolder model = open_model(fixture / "tokens", examples::Task::chromatin, at::kCPU);
    const auto network = std::dynamic_pointer_cast<TokenVectors>(model.network);
    const std::string dna = fixture.genome().substr(300, 250);  // about 425
    for (const bool reverse : {false, true}) {
        const EncodedWindow window = model.network->encode(dna, reverse);
        const at::NoGradGuard no_gradients;
        const std::size_t group[] = {0};
        const at::Tensor vectors = network->word_vectors(window).unsqueeze(0);
        DOCTEST_CHECK(difference(network->vector_logits(window, vectors),
                                 model.network->logits({&window, 1}, group)) < 1e-6);
    }
    spec.method = AttributionMethod::input_x_gradient;
    spec.strands = Strands::none;
    const Rows found = fixture.found(spec);
    const EncodedWindow window = model.network->encode(dna, false);
    const at::Tensor vectors = network->word_vectors(window).unsqueeze(0).requires_grad_();
    network->vector_logits(window, vectors)[0][0][1].backward();
    const at::Tensor own = (vectors.grad() * vectors).sum(2).detach()[0];
    const auto spans = model.network->spans(window);
    for (const std::int64_t base : {100, 106, 149}) {
        for (std::size_t id = 0; id < spans.size(); ++id) {
            if (base < spans[id].begin || base >= spans[id].end) continue;
            const double share = own[static_cast<std::int64_t>(id)].item<double>() /
                                 static_cast<double>(spans[id].end - spans[id].begin);
            DOCTEST_CHECK(own_of(found[2 * static_cast<std::size_t>(base - 100) + 1]) ==
                          doctest::Approx(share).epsilon(1e-3));
        }
    }
    spec.method = AttributionMethod::deeplift;
    DOCTEST_CHECK_THROWS_WITH(attribute(spec), doctest::Contains("deeplift needs a model that reads bases"));
    spec.method = AttributionMethod::saliency;
    spec.mean_centered = true;
    DOCTEST_CHECK_THROWS_WITH(attribute(spec), doctest::Contains("--mean-centered needs a model that reads"));
}

namespace {

std::shared_ptr<BinNetwork> write_token_bins(const AttributeFixture& fixture, const bins::Grid& grid) {
    const auto network = bigbird_bins(tiny_network(head_of_bins(), 4), small_tokenizer(), grid, {});
    TaskInfo info;
    info.window = {-grid.window_bases() / 2, grid.window_bases() / 2};
    fixture.write_model("tokens", *network, info);
    return network;
}

/// Base by base, the share of d score / d vector x vector of label b, as the mean of both strands.
std::vector<double> shares_by_hand(const AttributeFixture& fixture, const BinNetwork& network,
                                   const genome::Interval& where,
                                   const std::map<std::int64_t, std::map<std::int64_t, double>>& bins_of) {
    const std::int64_t bases = network.grid().window_bases();
    std::vector<double> shares(static_cast<std::size_t>(where.size()));
    const auto sequence_of = sequence_of_record(fixture.genome());
    for (const auto& [begin, bins] : bins_of) {
        for (const bool reverse : {false, true}) {
            const EncodedWindow window =
                network.encode(sequence_of({where.contig, begin, begin + bases}), reverse);
            const auto& reader = dynamic_cast<const TokenVectors&>(network);
            const at::Tensor vectors = reader.word_vectors(window).unsqueeze(0).requires_grad_();
            const at::Tensor logits = reader.vector_logits(window, vectors);
            at::Tensor score = at::zeros({});
            for (const auto& [bin, weight] : bins)
                score = score + weight * logits[0][reverse ? logits.size(1) - 1 - bin : bin][1];
            score.backward();
            const at::Tensor own = (vectors.grad() * vectors).sum(2).detach()[0];
            std::int64_t id = 0;
            for (const TokenSpan& span : network.spans(window)) {
                for (std::int64_t at = span.begin; at < span.end; ++at) {
                    const std::int64_t base = begin + (reverse ? bases - 1 - at : at) - where.begin;
                    if (base >= 0 && base < where.size())
                        shares[static_cast<std::size_t>(base)] +=
                            own[id].item<double>() / static_cast<double>(span.end - span.begin) / 2;
                }
                ++id;
            }
        }
    }
    return shares;
}

}  // namespace

DOCTEST_TEST_CASE("attribute: a token model of bins, complete against a model without word embeddings") {
    const AttributeFixture fixture;
    const auto network = write_token_bins(fixture, {.bin = 20, .window_bins = 8, .margin_bins = 0});
    model::SequenceClassifier without = tiny_network(head_of_bins(), 4);
    const at::NoGradGuard no_gradients;
    const auto special = small_tokenizer().special_ids();
    for (auto& item : without->named_parameters()) {
        if (item.key() != "bert.embeddings.word_embeddings.weight") continue;
        for (std::int64_t id = 0; id < item.value().size(0); ++id)
            if (id != special.cls && id != special.sep) item.value()[id].zero_();
    }
    const auto nothing = bigbird_bins(without, small_tokenizer(), network->grid(), {});
    AttributeSpec spec = fixture.attribution("c\t0\t160\tx\n");  // all of a window
    spec.models = {fixture / "tokens"};
    const AttributeReport report = attribute(spec);
    DOCTEST_CHECK(report.gap < 0.01 * report.difference);
    const Rows rows = read_rows(fixture / "found.tsv", "#");
    DOCTEST_REQUIRE(rows.size() == 320);
    DOCTEST_CHECK(rows[0][6 + (rows[0][5] == "A" ? 1 : 0)] == "NA");
    const std::string dna = fixture.genome().substr(0, 160);
    for (const std::size_t label : {std::size_t{0}, std::size_t{1}}) {
        double sum = 0, wanted = 0;
        for (std::size_t base = 0; base < 160; ++base)
            sum += own_of(rows[2 * base + label]);
        for (const bool reverse : {false, true}) {
            const EncodedWindow window[] = {network->encode(dna, reverse)};
            wanted += (network->logits(window) - nothing->logits(window))
                          .mean(1)[0][static_cast<std::int64_t>(label)]
                          .item<double>() /
                      2;
        }
        DOCTEST_CHECK(std::abs(wanted) > 0.01);
        DOCTEST_CHECK(std::abs(sum - wanted) < 0.01 * std::max(0.2, std::abs(wanted)));
    }
}

DOCTEST_TEST_CASE("attribute: a token model of bins, over two windows and both strands, as by hand") {
    const AttributeFixture fixture;
    const auto network = write_token_bins(fixture, {.bin = 20, .window_bins = 8, .margin_bins = 2});
    AttributeSpec spec = fixture.attribution("c\t70\t125\n");  // bin 3 of core 0, bins 4 to 6 of core 1
    spec.models = {fixture / "tokens"};
    spec.method = AttributionMethod::input_x_gradient;
    const Rows rows = fixture.found(spec);
    const std::vector<double> wanted =
        shares_by_hand(fixture, *network, {"c", 70, 125},
                       {{-40, {{5, 10.0 / 55}}}, {40, {{2, 20.0 / 55}, {3, 20.0 / 55}, {4, 5.0 / 55}}}});
    DOCTEST_REQUIRE(rows.size() == 2 * wanted.size());
    for (std::size_t base = 0; base < wanted.size(); ++base)
        DOCTEST_CHECK(own_of(rows[2 * base + 1]) == doctest::Approx(wanted[base]).epsilon(1e-3));
    spec.regions.clear();
    spec.references.clear();
    spec.sequences = fixture / "genome.fa";
    const AttributeReport report = attribute(spec);
    DOCTEST_CHECK(report.bases == 1010);
    DOCTEST_CHECK(report.tiled == 12);
    spec.models.push_back(fixture / "model");
    DOCTEST_CHECK_THROWS_WITH(attribute(spec),
                              doctest::Contains("models that are averaged must be of one kind"));
}

DOCTEST_TEST_CASE("attribute: of sequence models what captum and tangermeme say on the Python file") {
    const std::size_t labels[] = {1};
    for (const Json& fixture : read_json(test_data("attributions/attributions.json"))) {
        if (fixture.at("kind") != "sequence") continue;
        const auto network = std::make_shared<SequenceNetwork>(
            SequenceShape{.member = sequences::config_from_json(fixture.at("member"), "attributions.json"),
                          .members = 1},
            2, at::kCPU);
        fill_by_formula(*network->module());
        network->module()->eval();
        const auto dna = fixture.at("dna").get<std::string>();
        const EncodedWindow records[] = {network->encode(dna, false), network->encode(dna, true)};
        const at::Tensor wanted =
            at::stack({tensor_of(fixture.at("logits")[0])[0], tensor_of(fixture.at("logits")[1])[0]});
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            const std::size_t group[] = {i};
            DOCTEST_CHECK(difference(network->logits(records, group, {})[0][0],
                                     wanted[static_cast<std::int64_t>(i)]) < 1e-5);
        }
        std::vector<ModelFolder> models(1);
        models[0].network = network;
        const RowScore score = record_score(models, std::ssize(dna));
        const bins::Attributed what{score.scores, bins::base_channels(bins::codes_of(dna).unsqueeze(0))[0],
                                    labels, score.at_once};
        const at::Tensor zero = at::zeros_like(what.letters).unsqueeze(0);
        DOCTEST_CHECK(difference(bins::gradients(what)[0].abs(), tensor_of(fixture.at("saliency"))) < 2e-5);
        DOCTEST_CHECK(difference(bins::integrated_gradients(what, zero)[0],
                                 tensor_of(fixture.at("integrated_gradients"))) < 2e-5);
        DOCTEST_CHECK(difference(bins::deeplift(what, zero)[0], tensor_of(fixture.at("deeplift"))) < 2e-5);
    }
}
