// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/keras_hdf5.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/networks/files/printable.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

using outputs::Hdf5Handle;
using outputs::Hdf5Shape;

constexpr hsize_t most_names = 10'000;  // of layers, of weights, or at the root
constexpr std::size_t most_attribute_bytes = std::size_t{1} << 24, longest_name = 1024, most_axes = 8;
constexpr std::uint64_t most_packing =
    8;  // times that weights may be larger than the file: noise hardly packs

InputError damaged(const std::string& what, const fs::path& path) {
    return {"is damaged, or no model of Keras: " + what, path};
}

/// The texts of an attribute, a scalar or a list, of fixed or of any length. An empty list of Keras is one of
/// numbers. nullopt if there is no such attribute.
std::optional<std::vector<std::string>> texts_of(hid_t object, const std::string& name,
                                                 const fs::path& path) {
    if (H5Aexists(object, name.c_str()) <= 0) return std::nullopt;
    const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    const Hdf5Handle space(attribute < 0 ? -1 : H5Aget_space(attribute), H5Sclose),
        type(attribute < 0 ? -1 : H5Aget_type(attribute), H5Tclose);
    const hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (points == 0) return std::vector<std::string>{};
    const auto count = static_cast<hsize_t>(points);
    if (points < 0 || count > most_names || H5Tget_class(type) != H5T_STRING ||
        H5Aget_storage_size(attribute) > most_attribute_bytes)
        throw damaged("its attribute " + name + " cannot be read", path);
    std::vector<std::string> texts;
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> pointers(count, nullptr);
        if (H5Aread(attribute, type, pointers.data()) < 0)
            throw damaged("its attribute " + name + " cannot be read", path);
        for (const char* text : pointers)
            texts.emplace_back(text == nullptr ? "" : text);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    } else {
        const std::size_t width = H5Tget_size(type);
        std::string bytes(width * count, '\0');
        if (width == 0 || H5Aread(attribute, type, bytes.data()) < 0)
            throw damaged("its attribute " + name + " cannot be read", path);
        for (hsize_t i = 0; i < count; ++i) {
            const std::string_view text = std::string_view(bytes).substr(i * width, width);
            texts.emplace_back(text.substr(0, text.find('\0')));
        }
    }
    return texts;
}

std::string text_of(hid_t object, const std::string& name, const fs::path& path) {
    const auto texts = texts_of(object, name, path);
    return texts && texts->size() == 1 ? texts->front() : std::string();
}

/// A list, which Keras cuts into name0, name1, … if it is long.
std::vector<std::string> list_of(hid_t object, const std::string& name, const fs::path& path) {
    if (auto whole = texts_of(object, name, path)) return *std::move(whole);
    std::vector<std::string> all;
    for (hsize_t i = 0; i < most_names; ++i) {
        const auto some = texts_of(object, name + std::to_string(i), path);
        if (!some) break;
        all.insert(all.end(), some->begin(), some->end());
        if (all.size() > most_names) throw damaged("its list " + name + " is too long", path);
    }
    return all;
}

/// Throws unless `name`, one component of a path, is in the group itself: no link may lead elsewhere.
void require_own(hid_t group, const std::string& name, const fs::path& path) {
    H5L_info_t info{};
    if (name.empty() || name.size() > longest_name || name == "." || name == ".." ||
        H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0)
        throw damaged("it lists '" + printable(name) + "', but does not hold it", path);
    if (info.type != H5L_TYPE_HARD)
        throw InputError(
            "holds a link to data elsewhere, at '" + printable(name) + "', which models do not need", path);
}

Hdf5Handle open_group(hid_t parent, const std::string& name, const fs::path& path) {
    require_own(parent, name, path);
    Hdf5Handle group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (group < 0) throw damaged("its '" + printable(name) + "' is no group", path);
    return group;
}

std::vector<std::string> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t slash = path.find('/');
        parts.emplace_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return parts;
        path.remove_prefix(slash + 1);
    }
}

Hdf5Handle open_dataset(hid_t layer, const std::vector<std::string>& parts, const fs::path& path) {
    std::vector<Hdf5Handle> groups;
    hid_t parent = layer;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        groups.push_back(open_group(parent, parts[i], path));
        parent = groups.back();
    }
    require_own(parent, parts.back(), path);
    Hdf5Handle dataset(H5Dopen2(parent, parts.back().c_str(), H5P_DEFAULT), H5Dclose);
    if (dataset < 0) throw damaged("its '" + printable(parts.back()) + "' holds no numbers", path);
    return dataset;
}

/// Throws unless a dataset is of float32, within the file, and packed in no other way than by gzip and
/// shuffle.
void require_plain(hid_t dataset, const std::string& name, const fs::path& path) {
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose), made(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Tequal(type, H5T_IEEE_F32LE) <= 0 && H5Tequal(type, H5T_IEEE_F32BE) <= 0)
        throw InputError("stores weights in another type than float32, at '" + printable(name) + "'", path);
    const H5D_layout_t layout = H5Pget_layout(made);
    if (H5Pget_external_count(made) != 0 ||
        (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED))
        throw InputError("stores weights outside of itself, at '" + printable(name) + "'", path);
    const int filters = H5Pget_nfilters(made);
    for (int i = 0; i < filters; ++i) {
        std::array<unsigned, 16> values{};
        std::size_t count = values.size();
        unsigned flags = 0, config = 0;
        const H5Z_filter_t filter = H5Pget_filter2(made, static_cast<unsigned>(i), &flags, &count,
                                                   values.data(), 0, nullptr, &config);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE) {
            throw InputError("stores weights through an HDF5 filter other than gzip and shuffle, at '" +
                                 printable(name) + "'; write it anew with h5repack -f GZIP=1",
                             path);
        }
    }
}

struct FoundWeight {
    std::string layer;
    std::vector<std::string> parts;
    Hdf5Shape shape;

    std::uint64_t numbers() const {  // the shape is known to be small
        std::uint64_t all = 1;
        for (const hsize_t size : shape)
            all *= size;
        return all;
    }
};

class KerasSender {
public:
    explicit KerasSender(const fs::path& path)
        : path_(path), file_(outputs::open_unlocked_hdf5(path.c_str())) {
        if (file_ < 0) throw InputError("is no HDF5 file, or a damaged one", path);
        most_bytes_ = most_packing * fs::file_size(path);
    }

    void send_all(const ChildReader::Send& send) {
        const Hdf5Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
        if (root < 0) throw damaged("it has no content", path_);
        const Json contents = names_at(root);
        const bool whole = std::ranges::find(contents, Json("model_weights")) != contents.end();
        const Hdf5Handle inner = whole ? open_group(root, "model_weights", path_)
                                       : Hdf5Handle(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
        const std::vector<std::string> layers = list_of(inner, "layer_names", path_);
        for (const std::string& layer : layers)
            find_weights(inner, layer);
        Json head{{"contents", contents},
                  {"layers", layers},
                  {"keras_version", text_of(root, "keras_version", path_)},
                  {"config", text_of(root, "model_config", path_)}};
        for (const FoundWeight& weight : found_)
            head["weights"].push_back(
                {{"layer", weight.layer}, {"parts", weight.parts}, {"shape", weight.shape}});
        send(head.dump(-1, ' ', false, Json::error_handler_t::replace));
        for (const FoundWeight& weight : found_)
            send(ChildReader::bytes_of(values_of(inner, weight)));
    }

private:
    Json names_at(hid_t root) const {
        Json names = Json::array();
        const auto note = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
            auto& list = *static_cast<Json*>(to);
            list.push_back(std::string(name).substr(0, longest_name));
            return list.size() < most_names ? 0 : 1;
        };
        H5Literate(root, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, note, &names);
        return names;
    }

    void find_weights(hid_t inner, const std::string& layer) {
        const Hdf5Handle group = open_group(inner, layer, path_);
        for (const std::string& name : list_of(group, "weight_names", path_)) {
            FoundWeight weight{layer, parts_of(name), {}};
            const Hdf5Handle dataset = open_dataset(group, weight.parts, path_);
            require_plain(dataset, name, path_);
            weight.shape = outputs::shape_of(dataset);
            count_bytes(weight.shape, name);
            found_.push_back(std::move(weight));
            if (found_.size() > most_names) throw damaged("it lists too many weights", path_);
        }
    }

    /// Bounds what the weights of a file take in memory by its size.
    void count_bytes(const Hdf5Shape& shape, const std::string& name) {
        std::uint64_t bytes = sizeof(float);
        for (const hsize_t size : shape) {
            if (size == 0 || bytes > most_bytes_ / size) throw too_large(name);
            bytes *= size;
        }
        bytes_ += bytes;
        if (shape.size() > most_axes || bytes_ > most_bytes_) throw too_large(name);
    }
    InputError too_large(const std::string& name) const {
        return damaged("the shape of '" + printable(name) + "' does not fit into the file", path_);
    }

    std::vector<float> values_of(hid_t inner, const FoundWeight& weight) const {
        const Hdf5Handle group = open_group(inner, weight.layer, path_);
        const Hdf5Handle dataset = open_dataset(group, weight.parts, path_);
        std::vector<float> values(weight.numbers());
        if (H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
            throw damaged("the values of '" + printable(weight.parts.back()) + "' cannot be read", path_);
        return values;
    }

    const fs::path& path_;
    Hdf5Handle file_;
    std::uint64_t most_bytes_ = 0, bytes_ = 0;
    std::vector<FoundWeight> found_;
};

}  // namespace

void send_keras_file(const fs::path& path, const ChildReader::Words&, const ChildReader::Send& send) {
    outputs::start_hdf5();
    KerasSender(path).send_all(send);
}

}  // namespace bigbird::networks
