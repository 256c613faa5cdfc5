// The part of native XRT's interface (2.13) that host.cpp uses, on the C simulation of a project: device memory is separate and
// starts as poison, kernels are the entries of build/kernel.so (stc/runtime/shared_kernel.py). For tests without a card.
#ifndef STC_TEST_XRT_CSIM_H
#define STC_TEST_XRT_CSIM_H

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE = 0, XCL_BO_SYNC_BO_FROM_DEVICE };
enum ert_cmd_state { ERT_CMD_STATE_COMPLETED = 4 };

namespace xrt {

using memory_group = uint32_t;

class uuid {};

class device {
 public:
  explicit device(unsigned index) {
    if (index != 0) throw std::runtime_error("no such device");
  }
  // The "xclbin" of this device is the shared library of the kernels.
  uuid load_xclbin(const std::string &path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    return {};
  }
  void *symbol(const std::string &name) const {
    void *found = dlsym(handle_, name.c_str());
    if (found == nullptr) throw std::runtime_error("no kernel " + name);
    return found;
  }

 private:
  void *handle_ = nullptr;
};

class bo {
 public:
  bo(const device &, size_t size, memory_group)
      : memory_(std::make_shared<Memory>(Memory{storage(size, 0), storage(size, 0xFF), size})) {}
  void write(const void *data) { std::memcpy(memory_->host.get(), data, memory_->size); }
  template <typename T>
  T map() {
    return reinterpret_cast<T>(memory_->host.get());
  }
  void sync(xclBOSyncDirection direction) {
    if (direction == XCL_BO_SYNC_BO_TO_DEVICE)
      std::memcpy(memory_->device.get(), memory_->host.get(), memory_->size);
    else
      std::memcpy(memory_->host.get(), memory_->device.get(), memory_->size);
  }
  void *device_memory() const { return memory_->device.get(); }

 private:
  using Storage = std::shared_ptr<char>;
  static Storage storage(size_t size, int fill) {
    char *memory = static_cast<char *>(aligned_alloc(4096, (size + 4095) / 4096 * 4096));
    std::memset(memory, fill, size);
    return Storage(memory, free);
  }
  struct Memory {
    Storage host, device;
    size_t size;
  };
  std::shared_ptr<Memory> memory_;
};

class run {
 public:
  explicit run(ert_cmd_state state) : state_(state) {}
  ert_cmd_state wait() const { return state_; }

 private:
  ert_cmd_state state_;
};

class kernel {
 public:
  kernel(const device &device, const uuid &, const std::string &name)
      : launch_(reinterpret_cast<Launch>(device.symbol("stc_launch_" + name))) {}
  memory_group group_id(int argument) const { return memory_group(argument); }
  // Buffers, then scalars.
  template <typename... Arguments>
  run operator()(const Arguments &...all) {
    std::vector<void *> memories;
    std::vector<int> scalars;
    (add(memories, scalars, all), ...);
    char message[4096];
    if (!launch_(memories.data(), scalars.data(), message, sizeof message)) throw std::runtime_error(message);
    return run(ERT_CMD_STATE_COMPLETED);
  }

 private:
  template <typename Buffer>
  static void add(std::vector<void *> &memories, std::vector<int> &, const Buffer &buffer) {
    memories.push_back(buffer.device_memory());
  }
  static void add(std::vector<void *> &, std::vector<int> &scalars, int value) { scalars.push_back(value); }

  using Launch = int (*)(void **, const int *, char *, size_t);
  Launch launch_;
};

}  // namespace xrt
#endif
