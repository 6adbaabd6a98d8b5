#include "host/kernel/nvml.h"

#include <cerrno>

#include <dlfcn.h>
#include <fmt/format.h>

namespace weir::host {
namespace {

// nvml.h (NVIDIA, stable since 2012): calls return 0 for success, handles are opaque.
constexpr const char* kLibrary = "libnvidia-ml.so.1";
using Handle = void*;
struct Utilisation {
  unsigned gpu = 0;
  unsigned memory = 0;
};

/// The library, opened once and kept: starting it may take a good part of a second.
class Nvml {
 public:
  Nvml() : library_(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<int (*)()>("nvmlInit_v2");
    count_ = find<int (*)(unsigned*)>("nvmlDeviceGetCount_v2");
    handle_ = find<int (*)(unsigned, Handle*)>("nvmlDeviceGetHandleByIndex_v2");
    rates_ = find<int (*)(Handle, Utilisation*)>("nvmlDeviceGetUtilizationRates");
    is_ready_ = init != nullptr && count_ != nullptr && handle_ != nullptr && rates_ != nullptr &&
                init() == 0;
  }

  [[nodiscard]] Answer<std::string> busy() const {
    if (library_ == nullptr) return Errno{ENOENT};
    unsigned count = 0;
    if (!is_ready_ || count_(&count) != 0 || count == 0) return Errno{EIO};
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      Handle device = nullptr;
      Utilisation rates;
      if (handle_(i, &device) != 0 || rates_(device, &rates) != 0) return Errno{EIO};
      text += fmt::format("{}{}", text.empty() ? "" : ",", rates.gpu);
    }
    return text;
  }

 private:
  template <class Function>
  [[nodiscard]] Function find(const char* name) const {
    return reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_ = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, Handle*) = nullptr;
  int (*rates_)(Handle, Utilisation*) = nullptr;
  bool is_ready_ = false;
};

}  // namespace

Answer<std::string> read_gpu_busy() {
  static const Nvml nvml;
  return nvml.busy();
}

}  // namespace weir::host
