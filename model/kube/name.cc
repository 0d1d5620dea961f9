#include "model/kube/name.h"

namespace drasim {

Name NamePool::Intern(absl::string_view text) {
  if (text.empty()) return Name();
  return Name(&*texts_.emplace(text).first);
}

}  // namespace drasim
