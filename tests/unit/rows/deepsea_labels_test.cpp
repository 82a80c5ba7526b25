// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/deepsea_labels.hpp"

#include "support/testing.hpp"

#include "bigbird/evaluation/measures.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace bigbird::rows;
using namespace bigbird::evaluation;

DOCTEST_TEST_CASE("deepsea_labels: 919 in DeepSEA's order, of which 844 names are distinct") {
    const LabelTable& labels = deepsea_labels();
    DOCTEST_REQUIRE(labels.size() == 919);
    DOCTEST_CHECK(labels.groups() == std::vector<std::string>{"DHS", "TF", "HM"});
    std::map<std::string, int> names;
    std::set<std::string> ids, columns;
    for (std::size_t i = 0; i < 919; ++i) {
        const std::string group = i < 125 ? "DHS" : i < 815 ? "TF" : "HM";
        DOCTEST_CHECK(labels[i].group == group);
        ++names[labels[i].name];
        ids.insert(labels.unique_id(i));
        columns.insert(labels.column_name(i));
    }
    DOCTEST_CHECK(names.size() == 844);
    DOCTEST_CHECK(ids.size() == 919);
    DOCTEST_CHECK(columns.size() == 919);
    DOCTEST_CHECK(labels[0].name == "8988T|DNase|None");
    DOCTEST_CHECK(labels[576].name == "NA|NA|NA");
    DOCTEST_CHECK(labels[598].name == "K562|BRF1|None");
}

DOCTEST_TEST_CASE("deepsea_labels: the published medians of the groups, with the undefined label left out") {
    const std::map<std::string, std::pair<double, std::int64_t>> expected{
        {"DHS", {0.9236, 125}}, {"TF", {0.9577, 689}}, {"HM", {0.8556, 104}}};
    for (const auto& [group, figures] : expected) {
        std::vector<std::optional<double>> values;
        for (std::size_t i = 0; i < 919; ++i)
            if (deepsea_labels()[i].group == group) values.push_back(deepsea_published(i).roc_auc);
        const Summary summary = summarise(values);
        DOCTEST_CHECK(summary.defined == figures.second);
        DOCTEST_CHECK(*summary.median == doctest::Approx(figures.first).epsilon(1e-4));
    }
    DOCTEST_CHECK_FALSE(deepsea_published(598).roc_auc.has_value());
    DOCTEST_CHECK_FALSE(deepsea_published(598).average_precision.has_value());
}

DOCTEST_TEST_CASE(
    "deepsea_labels: labels are matched by place in the whole table, else by a name of one alone") {
    const auto whole = match_deepsea(deepsea_labels());
    DOCTEST_CHECK(whole[918] == 918);
    std::map<std::string, int> names;
    for (std::size_t i = 0; i < 919; ++i)
        ++names[deepsea_labels()[i].name];
    std::string repeated;
    for (const auto& [name, count] : names)
        repeated = count > 1 ? name : repeated;
    const auto some =
        match_deepsea(LabelTable({{"TF", "K562|BRF1|None", -1}, {"x", "mine", -1}, {"TF", repeated, -1}}));
    DOCTEST_CHECK(some == std::vector<std::optional<std::size_t>>{598, std::nullopt, std::nullopt});
}

DOCTEST_TEST_CASE("deepsea_labels: a name's parts, without no-break spaces") {
    const LabelParts parts = parts_of("Osteoblast|H3K27me3|RO01746\xC2\xA0");
    DOCTEST_CHECK(parts.cell == "Osteoblast");
    DOCTEST_CHECK(parts.assay == "H3K27me3");
    DOCTEST_CHECK(parts.treatment == "RO01746");
    DOCTEST_CHECK(parts_of("mine").cell == "mine");
    DOCTEST_CHECK(parts_of("mine").assay.empty());
}

DOCTEST_TEST_CASE("deepsea_labels: the listing tells labels of one name apart") {
    const std::string listing = label_listing(deepsea_labels());
    DOCTEST_CHECK(std::count(listing.begin(), listing.end(), '\n') == 920);
    DOCTEST_CHECK(bigbird::testing::holds(
        listing, "0\t000_8988T_DNase_None\tDHS\t8988T\tDNase\tNone\t8988T|DNase|None\t.\n"));
    const LabelTable mine({{"TF", "a", 3}, {"TF", "a", -1}});
    DOCTEST_CHECK(label_listing(mine) ==
                  "index\tid\tgroup\tcell\tassay\ttreatment\tname\tpositives\n"
                  "0\t000_a\tTF\ta\t.\t.\ta\t3\n1\t001_a\tTF\ta\t.\t.\ta\t.\n");
}
