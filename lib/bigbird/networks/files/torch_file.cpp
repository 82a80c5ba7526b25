// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/torch_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/little_endian.hpp"
#include "bigbird/networks/files/pickle.hpp"
#include "bigbird/networks/files/printable.hpp"
#include "bigbird/networks/files/zip_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace bigbird::networks {

namespace {

using Kind = PickleObject::Kind;

constexpr int deepest_object = 64;
constexpr std::int64_t most_visits = 1'000'000;  // of objects, which others may share
constexpr std::size_t most_tensor_axes = 16, most_listed = 100'000, most_keys = 2000;

struct StorageType {
    std::string_view name, type;
    std::int64_t width;
};
constexpr std::array<StorageType, 10> storage_types{{{"torch.FloatStorage", "F32", 4},
                                                     {"torch.DoubleStorage", "F64", 8},
                                                     {"torch.HalfStorage", "F16", 2},
                                                     {"torch.BFloat16Storage", "BF16", 2},
                                                     {"torch.LongStorage", "I64", 8},
                                                     {"torch.IntStorage", "I32", 4},
                                                     {"torch.ShortStorage", "I16", 2},
                                                     {"torch.CharStorage", "I8", 1},
                                                     {"torch.ByteStorage", "U8", 1},
                                                     {"torch.BoolStorage", "BOOL", 1}}};

std::int64_t width_of(std::string_view type) {
    return std::ranges::find(storage_types, type, &StorageType::type)->width;
}

/// a * b, or nullopt beyond 2^62.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (a < 0 || b < 0 || (b > 0 && a > most / b)) return std::nullopt;
    return a * b;
}

float float_of_half(std::uint16_t half) {
    constexpr unsigned exponent_bits = 0x1F, mantissa_bits = 0x3FF;
    const unsigned exponent = half >> 10U & exponent_bits, mantissa = half & mantissa_bits;
    const double sign = (half & 0x8000U) != 0 ? -1 : 1;
    if (exponent == exponent_bits) return static_cast<float>(sign * (mantissa == 0 ? INFINITY : NAN));
    const double size = exponent == 0 ? std::ldexp(mantissa, -24)
                                      : std::ldexp(mantissa + 1024.0, static_cast<int>(exponent) - 25);
    return static_cast<float>(sign * size);
}

/// Calls `visit` with the place of each element in the storage, in order.
template <typename Visit>
void for_each_place(const TorchTensor& tensor, const Visit& visit) {
    std::vector<std::int64_t> index(tensor.shape.size(), 0);
    const std::int64_t count = tensor.elements();
    std::int64_t place = tensor.offset;
    for (std::int64_t i = 0; i < count; ++i) {
        visit(static_cast<std::uint64_t>(place));
        for (std::size_t axis = index.size(); axis-- > 0;) {
            place += tensor.strides[axis];
            if (++index[axis] < tensor.shape[axis]) break;
            place -= tensor.strides[axis] * tensor.shape[axis];
            index[axis] = 0;
        }
    }
}

/// Turns objects of a pickle into tensors and values.
class TorchReader {
public:
    TorchReader(const ZipFile& zip, const std::string& prefix, const Pickle& pickle,
                std::map<std::string, TorchTensor>& tensors)
        : zip_(zip), prefix_(prefix), pickle_(pickle), tensors_(tensors) {}

    Json values() { return value_of(pickle_.root, "", 0).value_or(Json()); }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw InputError("is damaged, or was not saved by PyTorch: " + why, zip_.path());
    }

    /// Keeps tensors; nullopt for what is neither a plain value nor holds any.
    std::optional<Json> value_of(PickleRef ref, const std::string& name, int depth) {
        if (depth > deepest_object) fail("its objects are nested too deeply");
        if (++visits_ > most_visits) fail("it has too many objects");
        const PickleObject& object = pickle_[ref];
        switch (object.kind) {
            case Kind::none:
                return Json();
            case Kind::boolean:
                return Json(object.boolean);
            case Kind::integer:
                return Json(object.integer);
            case Kind::real:
                return Json(object.real);
            case Kind::text:
                return Json(printable(object.text));
            case Kind::list:
            case Kind::tuple:
                return list_of(object, name, depth);
            case Kind::dictionary:
                return dictionary_of(object, name, depth);
            case Kind::call:
                return call_value(object, name, depth);
            default:
                return std::nullopt;
        }
    }

    Json list_of(const PickleObject& object, const std::string& name, int depth) {
        Json list = Json::array();
        for (std::size_t i = 0; i < std::min(object.items.size(), most_listed); ++i)
            if (auto value = value_of(object.items[i], joined(name, std::to_string(i)), depth + 1))
                list.push_back(*std::move(value));
        return list;
    }

    static std::string joined(const std::string& name, const std::string& key) {
        return name.empty() ? key : name + "." + key;
    }

    /// Text keys alone count.
    void add_pairs(const PickleObject& object, const std::string& name, int depth, Json& to) {
        for (const auto& [key, value] : object.pairs) {
            const PickleObject& text = pickle_[key];
            if (text.kind != Kind::text) continue;
            if (auto found = value_of(value, joined(name, text.text), depth + 1))
                add(text.text, *std::move(found), to);
        }
    }
    void add(const std::string& key, Json value, Json& to) const {
        if (to.size() >= most_keys) fail("it has too many values");
        to[printable(key)] = std::move(value);
    }
    Json dictionary_of(const PickleObject& object, const std::string& name, int depth) {
        Json json = Json::object();
        add_pairs(object, name, depth, json);
        return json;
    }

    std::optional<Json> call_value(const PickleObject& call, const std::string& name, int depth) {
        const std::string& function = pickle_[call.items[0]].text;
        if (function == "torch._utils._rebuild_tensor_v2") {
            tensors_.insert_or_assign(name, tensor_of(call));
            return std::nullopt;
        }
        if (function == "torch._utils._rebuild_parameter" ||
            function == "torch._utils._rebuild_parameter_with_state") {
            const PickleObject& arguments = pickle_[call.items[1]];
            return arguments.items.empty() ? std::nullopt : value_of(arguments.items[0], name, depth + 1);
        }
        if (function == "collections.OrderedDict") return dictionary_of(call, name, depth);
        if (call.state != 0 && pickle_.find(pickle_[call.state], "_modules") != nullptr)
            return module_of(function, pickle_[call.state], name, depth);
        return std::nullopt;
    }

    /// Parameters and buffers are tensors under the module's name; other attributes with plain values are
    /// kept.
    Json module_of(const std::string& type, const PickleObject& state, const std::string& name, int depth) {
        Json json{{"class", printable(type)}};
        for (const auto& [key, value] : state.pairs) {
            const PickleObject& text = pickle_[key];
            if (text.kind != Kind::text) continue;
            const bool holds_more =
                text.text == "_parameters" || text.text == "_buffers" || text.text == "_modules";
            if (holds_more) {
                const Json more = value_of(value, name, depth + 1).value_or(Json());
                if (text.text == "_modules" && more.is_object())
                    for (const auto& [module, content] : more.items())
                        add(module, content, json);
            } else if (!text.text.starts_with('_')) {
                if (auto found = value_of(value, joined(name, text.text), depth + 1))
                    add(text.text, *std::move(found), json);
            }
        }
        return json;
    }

    // ---- tensors
    std::int64_t integer(const PickleObject& object) const {
        if (object.kind != Kind::integer || object.integer < 0)
            fail("a tensor's shape is no list of numbers");
        return object.integer;
    }
    std::vector<std::int64_t> integers(PickleRef ref) const {
        const PickleObject& object = pickle_[ref];
        if (object.kind != Kind::tuple || object.items.size() > most_tensor_axes)
            fail("a tensor's shape is no list of numbers");
        std::vector<std::int64_t> numbers;
        for (const PickleRef item : object.items)
            numbers.push_back(integer(pickle_[item]));
        return numbers;
    }

    /// ('storage', type, key, device, count)
    TorchTensor storage_of(PickleRef ref) const {
        const PickleObject& object = pickle_[ref];
        const PickleObject& id = object.kind == Kind::persistent ? pickle_[object.items[0]] : object;
        constexpr std::size_t fields = 5;
        if (object.kind != Kind::persistent || id.kind != Kind::tuple || id.items.size() < fields ||
            pickle_[id.items[0]].text != "storage")
            fail("a tensor has no storage");
        const auto* const type =
            std::ranges::find(storage_types, pickle_[id.items[1]].text, &StorageType::name);
        if (type == storage_types.end())
            fail("it has a tensor of the type " + printable(pickle_[id.items[1]].text));
        const std::int64_t count = integer(pickle_[id.items[4]]);
        TorchTensor tensor{std::string(type->type), {}, {}};
        tensor.storage = zip_.bytes(prefix_ + "data/" + pickle_[id.items[2]].text);
        if (product(count, type->width) != static_cast<std::int64_t>(tensor.storage.size()))
            fail("a storage has another size than it says");
        return tensor;
    }

    /// (storage, offset, shape, strides, …)
    TorchTensor tensor_of(const PickleObject& call) const {
        const PickleObject& arguments = pickle_[call.items[1]];
        if (arguments.kind != Kind::tuple || arguments.items.size() < 4) fail("a tensor has no shape");
        TorchTensor tensor = storage_of(arguments.items[0]);
        tensor.offset = integer(pickle_[arguments.items[1]]);
        tensor.shape = integers(arguments.items[2]);
        tensor.strides = integers(arguments.items[3]);
        require_within(tensor);
        return tensor;
    }

    void require_within(const TorchTensor& tensor) const {
        const auto numbers = static_cast<std::int64_t>(tensor.storage.size()) / width_of(tensor.type);
        if (tensor.strides.size() != tensor.shape.size()) fail("a tensor's shape has no strides");
        if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return;
        std::optional<std::int64_t> elements = 1;
        std::int64_t last = tensor.offset;
        for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
            elements = product(*elements, tensor.shape[axis]);
            const auto reach = product(tensor.shape[axis] - 1, tensor.strides[axis]);
            if (!elements || *elements > numbers || !reach || *reach > numbers || last > numbers)
                fail("a tensor is larger than its storage");
            last += *reach;
        }
        if (last >= numbers) fail("a tensor is larger than its storage");
    }

    const ZipFile& zip_;
    const std::string& prefix_;
    const Pickle& pickle_;
    std::map<std::string, TorchTensor>& tensors_;
    std::int64_t visits_ = 0;
};

}  // namespace

std::int64_t TorchTensor::elements() const {
    if (std::ranges::find(shape, 0) != shape.end()) return 0;
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        count *= size;
    return count;
}

std::string TorchTensor::bytes() const {
    const auto width = static_cast<std::uint64_t>(width_of(type));
    std::string bytes;
    bytes.reserve(static_cast<std::uint64_t>(elements()) * width);
    for_each_place(*this, [&](std::uint64_t place) {
        bytes.append(reinterpret_cast<const char*>(storage.data() + place * width), width);
    });
    return bytes;
}

std::vector<float> TorchTensor::floats() const {
    std::vector<float> numbers;
    numbers.reserve(static_cast<std::size_t>(elements()));
    const auto add_all = [&](const auto& number_at) {
        for_each_place(*this, [&](std::uint64_t place) { numbers.push_back(number_at(place)); });
    };
    if (type == "F32") {
        add_all([&](std::uint64_t place) { return little_endian<float>(storage, place * 4); });
    } else if (type == "F64") {
        add_all([&](std::uint64_t place) {
            return static_cast<float>(little_endian<double>(storage, place * 8));
        });
    } else if (type == "F16") {
        add_all([&](std::uint64_t place) {
            return float_of_half(little_endian<std::uint16_t>(storage, place * 2));
        });
    } else if (type == "BF16") {
        add_all([&](std::uint64_t place) {
            const std::uint32_t bits = little_endian<std::uint16_t>(storage, place * 2);
            return std::bit_cast<float>(bits << 16U);
        });
    } else {
        throw ConfigError("weights of the type " + type + " are not supported");
    }
    return numbers;
}

TorchFile::TorchFile(const std::filesystem::path& path) : zip_(std::make_unique<ZipFile>(path)) {
    constexpr std::string_view pickled = "data.pkl";
    if (zip_->has_ending("/constants.pkl") || zip_->has_ending(".py"))
        throw InputError(
            "is a TorchScript program, which is not read; take the file of torch.save() of the model", path);
    if (zip_->has("model.weights.h5"))
        throw InputError(
            "is an archive of Keras 3 (.keras), which is not read; save it as HDF5: "
            "model.save('model.h5')",
            path);
    const std::string name = zip_->name_ending_with("/" + std::string(pickled));
    if (name.empty())
        throw InputError("is a zip archive, but not of torch.save(): unpack it, and give the model file",
                         path);
    const std::string prefix = name.substr(0, name.size() - pickled.size());
    const std::string order_name = prefix + "byteorder";
    if (zip_->has(order_name)) {
        const auto order = zip_->bytes(order_name);
        if (std::string_view(reinterpret_cast<const char*>(order.data()), order.size()) != "little")
            throw InputError(
                "was saved on a machine with another order of bytes; save it anew on a usual one", path);
    }
    const Pickle pickle = read_pickle(zip_->bytes(name), path);
    values_ = TorchReader(*zip_, prefix, pickle, tensors_).values();
}

TorchFile::~TorchFile() = default;

}  // namespace bigbird::networks
