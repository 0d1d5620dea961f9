// MigProduct: a GPU product with MIG, its profiles and their legal placements.
//
// Plain data from the catalogue (model/text/mig_catalogue.h). Amounts without a public listing are
// kUnknownAmount; `uncertain` notes partial knowledge.
#ifndef DRASIM_MODEL_MIG_PRODUCT_H_
#define DRASIM_MODEL_MIG_PRODUCT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drasim {

inline constexpr int32_t kUnknownAmount = -1;

// A GPU instance profile. "2g.20gb" takes two compute slices and `size` units of the placement
// axis.
struct MigProfile {
  std::string name;                     // the driver's name: "1g.10gb+me"
  std::vector<std::string> names;       // other drivers' names for it
  int32_t profile_id = kUnknownAmount;  // of `nvidia-smi mig -cgi`; per product, never a global key
  int32_t nvml_enum = kUnknownAmount;
  int32_t compute_slices = 0;
  int32_t size = 0;             // units
  std::vector<int32_t> starts;  // legal first units, in the order of the driver's list
  int32_t max_instances = 0;    // on one GPU
  int32_t nominal_gb = 0;       // the size in its name
  int32_t memory_mib = kUnknownAmount;
  int32_t multiprocessors = kUnknownAmount;
  int32_t copy_engines = kUnknownAmount;
  int32_t decoders = kUnknownAmount;
  int32_t encoders = kUnknownAmount;
  int32_t jpeg_engines = kUnknownAmount;
  int32_t ofa_engines = kUnknownAmount;
  std::vector<std::string> uncertain;  // uncertain facts, a sentence each

  // "+me": at most one such instance per GPU, of any size (a GPU has one OFA).
  bool has_media_extension() const {
    return name.size() > 3 && name.compare(name.size() - 3, 3, "+me") == 0;
  }
  // No suffix such as +me, +gfx or -me.
  bool is_plain() const { return name.find_first_of("+-") == std::string::npos; }
};

struct MigProduct {
  std::string group;                  // the catalogue's key: "A100-40GB"
  std::vector<std::string> products;  // product names that share the table: "A100-SXM4-40GB"
  std::vector<std::string> pci_ids;   // "0x20B010DE": device, then vendor, as mig-parted's filters
  std::string architecture;           // "ampere"
  std::string compute_capability;     // "8.0"
  int32_t compute_slices = 0;         // 7, 4 or 2
  int32_t units = 0;                  // length of the placement axis: 8, 4, 12 or 2
  int32_t memory_nominal_gb = 0;
  int32_t memory_mib = kUnknownAmount;       // of the whole GPU
  int32_t multiprocessors = kUnknownAmount;  // of the whole GPU, MIG off
  std::string certainty;                     // certainty of this entry
  std::vector<std::string> sources;          // sources, a sentence each
  std::vector<std::string> notes;
  std::vector<MigProfile> profiles;  // in the catalogue's order
};

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_PRODUCT_H_
