// Kubernetes' words for storage objects that are missing, for the volume plugins.
#ifndef DRASIM_POLICIES_PLUGINS_VOLUME_TEXTS_H_
#define DRASIM_POLICIES_PLUGINS_VOLUME_TEXTS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim {

inline std::string ClaimNotFound(absl::string_view name) {
  return absl::StrCat("persistentvolumeclaim \"", name, "\" not found");
}
inline std::string VolumeNotFound(absl::string_view name) {
  return absl::StrCat("persistentvolume \"", name, "\" not found");
}
inline std::string StorageClassNotFound(absl::string_view name) {
  return absl::StrCat("storageclass.storage.k8s.io \"", name, "\" not found");
}

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_VOLUME_TEXTS_H_
