// GPU models as NVIDIA's driver describes them: product, architecture, compute capability, memory.
#ifndef DRASIM_POLICIES_DRIVERS_NVIDIA_GPU_H_
#define DRASIM_POLICIES_DRIVERS_NVIDIA_GPU_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/mig_product.h"

namespace drasim {

struct NvidiaGpu {
  std::string product_name;             // "NVIDIA A100-SXM4-40GB"
  std::string brand = "Nvidia";         // "Tesla" for Volta and before
  std::string architecture;             // "Ampere"; empty: unknown
  std::string compute_capability;       // "8.0.0"; empty: unknown
  int64_t memory_mib = kUnknownAmount;  // of the whole GPU
  const MigProduct* mig = nullptr;      // null: no MIG. Of the built-in catalogue

  // MIG mode of Ampere changes only with a reset of the GPU, which the driver does not do.
  bool toggles_mig() const { return mig != nullptr && mig->architecture != "ampere"; }
};

// The model by its name in a node list: MIG products from the catalogue, a few older GPUs from a
// table, all others with nothing but their name. The product's name is the model's behind "NVIDIA",
// without such a beginning of its own;
// real names have blanks where node lists have dashes ("NVIDIA H100 80GB HBM3"). O(log models).
NvidiaGpu NvidiaGpuOf(absl::string_view model);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_NVIDIA_GPU_H_
