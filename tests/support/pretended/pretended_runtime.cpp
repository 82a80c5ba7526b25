// SPDX-License-Identifier: Apache-2.0
// What LibTorch asks of a device besides its operators: streams, events, generators, pinned memory.
#include "support/pretended/pretended_device.hpp"
#include "support/pretended/pretended_memory.hpp"
#include "support/pretended/pretended_random.hpp"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace bigbird::testing {

namespace {

const c10::Device the_device(c10::kPrivateUse1, 0);
const c10::Stream the_stream(c10::Stream::DEFAULT, the_device);

/// One device with one stream. An event is the place in time where it was recorded.
class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
    c10::DeviceType type() const override { return c10::kPrivateUse1; }
    c10::Device exchangeDevice(c10::Device) const override { return the_device; }
    c10::Device getDevice() const override { return the_device; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const override { return the_stream; }
    c10::Stream getDefaultStream(c10::Device) const override { return the_stream; }
    c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return the_stream; }
    c10::Stream getNewStream(c10::Device, int) const override { return the_stream; }
    c10::Stream exchangeStream(c10::Stream) const override { return the_stream; }
    void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }
    void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
        if (*event == nullptr) *event = new std::uint64_t;
        *static_cast<std::uint64_t*>(*event) = time_now();
    }
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void*) const override { return true; }
    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
        delete static_cast<std::uint64_t*>(event);
    }
    bool queryStream(const c10::Stream&) const override { return true; }
    void synchronizeStream(const c10::Stream&) const override { wait("stream", time_now()); }
    void synchronizeDevice(c10::DeviceIndex) const override { wait("device", time_now()); }
    void synchronizeEvent(void* event) const override { wait("event", *static_cast<std::uint64_t*>(event)); }

private:
    static void wait(const char* reason, std::uint64_t time) {
        count_wait(reason);
        wait_until(time);
    }
};

class Hooks final : public at::PrivateUse1HooksInterface {
public:
    Hooks() : generator_(at::make_generator<SeedGenerator>(the_device)) {}
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    c10::DeviceIndex deviceCount() const override { return 1; }
    c10::DeviceIndex getCurrentDevice() const override { return 0; }
    void setCurrentDevice(c10::DeviceIndex) const override {}
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
    bool isPinnedPtr(const void* data) const override { return pinned_pages().block_of(data) != nullptr; }
    c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
    c10::Device getDeviceFromPtr(void*) const override { return the_device; }
    const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return generator_; }
    at::Generator getNewGenerator(c10::DeviceIndex) const override {
        return at::make_generator<SeedGenerator>(the_device);
    }

private:
    at::Generator generator_;
};

/// Before main(): LibTorch counts devices once, when the first gradients are asked for.
const bool registered = [] {
    c10::register_privateuse1_backend("pretended");
    c10::SetAllocator(c10::kPrivateUse1, &device_allocator());
    c10::impl::registerDeviceGuard(c10::kPrivateUse1, new Guard);
    at::RegisterPrivateUse1HooksInterface(new Hooks);
    return true;
}();

}  // namespace

at::Device pretended_device() {
    TORCH_CHECK(registered, "the pretended device is there from the start of main() on");
    return the_device;
}

}  // namespace bigbird::testing
