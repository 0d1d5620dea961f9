#include "policies/drivers/nvidia_gpu.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/text/mig_catalogue.h"

namespace drasim {
namespace {

struct GpuWithoutMig {
  absl::string_view model;
  absl::string_view brand;
  absl::string_view architecture;
  absl::string_view compute_capability;
  int64_t memory_mib;
};

// NVIDIA's data sheets and list of CUDA GPUs; memory as nvidia-smi prints it. In the words of
// openb's node list.
constexpr GpuWithoutMig kGpusWithoutMig[] = {
    {"P100", "Tesla", "Pascal", "6.0.0", 16384},   {"V100M16", "Tesla", "Volta", "7.0.0", 16384},
    {"V100M32", "Tesla", "Volta", "7.0.0", 32768}, {"T4", "Nvidia", "Turing", "7.5.0", 15360},
    {"A10", "Nvidia", "Ampere", "8.6.0", 23028},
};

}  // namespace

NvidiaGpu NvidiaGpuOf(absl::string_view model) {
  NvidiaGpu gpu;
  gpu.product_name =
      absl::StartsWith(model, "NVIDIA ")
          ? std::string(model)
          : absl::StrCat("NVIDIA ", absl::StripPrefix(model, "NVIDIA-"));  // in labels of nodes
  gpu.mig = FindMigProduct(model);
  if (gpu.mig != nullptr) {
    const absl::string_view architecture = gpu.mig->architecture;
    gpu.architecture = absl::StrCat(absl::AsciiStrToUpper(architecture.substr(0, 1)),
                                    absl::ClippedSubstr(architecture, 1));
    gpu.compute_capability = absl::StrCat(gpu.mig->compute_capability, ".0");
    gpu.memory_mib = gpu.mig->memory_mib;
    return gpu;
  }
  for (const GpuWithoutMig& known : kGpusWithoutMig) {
    if (known.model != model) continue;
    gpu.brand = std::string(known.brand);
    gpu.architecture = std::string(known.architecture);
    gpu.compute_capability = std::string(known.compute_capability);
    gpu.memory_mib = known.memory_mib;
  }
  return gpu;
}

}  // namespace drasim
