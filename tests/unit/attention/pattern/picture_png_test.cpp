// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/attention/pattern/picture.hpp"

#include <png.h>

#include <vector>

using namespace bigbird::attention;

DOCTEST_TEST_CASE("picture_png: has the colour of every block in its place") {
    const PatternSpec spec = named_pattern("bigbird");
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string file = png_picture(spec, layout, "bigbird, 1024 tokens");
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    DOCTEST_REQUIRE(png_image_begin_read_from_memory(&image, file.data(), file.size()) != 0);
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
    DOCTEST_REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0);
    const int cell = 640 / 16;
    DOCTEST_CHECK(image.width == 640 + 2 * 16);
    for (std::size_t row = 0; row < 16; ++row) {
        std::string line(16, '.');
        for (std::size_t column = 0; column < 16; ++column) {
            const std::size_t x = 16 + column * cell + 7, y = 44 + row * cell + 3;
            const std::uint8_t* const pixel = pixels.data() + 3 * (y * image.width + x);
            line[column] = pixel[0] == 0xd1 ? '#' : pixel[0] == 0x30 ? 'o' : pixel[0] == 0xed ? '*' : '.';
        }
        DOCTEST_CHECK(line == picture(spec, layout).substr(row * 17, 16));
    }
}
