// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/file_name.hpp"

#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("file_name: the name of the content is the file's without known endings") {
    const std::pair<const char*, const char*> names[] = {
        {"peaks.bed", "peaks"},      {"x.narrowPeak.gz", "x"}, {"K562.pos.fa", "K562.pos"},
        {"a.bed.bedGraph", "a.bed"}, {"a.v2", "a.v2"},         {".bed", ".bed"},
        {"S.1.BW", "S.1"},           {"b.FASTA.GZ", "b"},      {"c.tsv.bgz", "c"}};
    for (const auto& [file, name] : names)
        DOCTEST_CHECK(name_of_content(file) == name);
}

DOCTEST_TEST_CASE("file_name: a name in a file is that of a file beside it, or none") {
    for (const char* name : {"a", "model-00001-of-00002.safetensors", "...", "a..b", ".hidden"}) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK(is_file_name(name));
        DOCTEST_CHECK(is_name_within(name));
    }
    for (const char* name : {"", ".", "..", "/etc/passwd", "../a", "a/../../b", "a/", "/", "a//b"}) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK_FALSE(is_file_name(name));
        DOCTEST_CHECK_FALSE(is_name_within(name));
    }
    DOCTEST_CHECK_FALSE(is_file_name(std::string_view("a\0b", 3)));
    DOCTEST_CHECK_FALSE(is_file_name("training_state/state.json"));
    DOCTEST_CHECK(is_name_within("training_state/state.json"));
}
