// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/signal_json.hpp"

namespace bigbird::examples {

Json to_json(const SignalRead& file, const SignalReading& how) {
    Json json = Json::object();
    if (file.shift) {
        json["shift"] = {file.shift->applied.begin, file.shift->applied.end};
        json["shift_is"] = how.has_shift ? "given" : file.shift->clear ? "found" : "assumed";
    }
    if (!file.reads) return json;
    json["min_mapq"] = how.filter.min_mapq;
    json["keep_duplicates"] = how.filter.keep_duplicates;
    json["reads"] = {{"all", file.reads->all}, {"counted", file.reads->counted}};
    for (const auto& [reason, count] : dropped_reads)
        json["reads"][reason] = *file.reads.*count;
    return json;
}

}  // namespace bigbird::examples
