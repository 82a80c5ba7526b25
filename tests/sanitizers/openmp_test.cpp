// SPDX-License-Identifier: Apache-2.0
// openmp_test ordered|racing: what libtorch.cpp tells ThreadSanitizer. Neither more nor less than is true:
// regions that follow each other are ordered, threads of one region are not.
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

/// Each thread writes a part, then, after the region, another part than before.
long sum_of_parts(std::vector<long>& values) {
    constexpr int threads = 4;
    const std::size_t part = values.size() / threads;
    for (std::size_t round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (std::size_t i = 0; i < threads; ++i) {
            const std::size_t first = (i + round) % threads * part;
            for (std::size_t j = first; j < first + part; ++j)
                values[j] += 1;
        }
    }
    long sum = 0;
    for (const long value : values)
        sum += value;
    return sum;
}

/// Every thread writes the same value.
long write_together() {
    long value = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100'000; ++i)
        value += i;
    return value;
}

}  // namespace

int main(int count, char** words) {
    const bool racing = count > 1 && std::string_view(words[1]) == "racing";
    std::vector<long> values(4'000);
    const long result = racing ? write_together() : sum_of_parts(values);
    std::printf("%ld\n", result);
    return racing || result == 80'000 ? 0 : 1;
}
