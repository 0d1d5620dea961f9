#include "sim/scenario/deletion_entry.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim {

std::string DeletionKey(size_t number) { return absl::StrCat("workload.deletions[", number, "]"); }

std::string PlainObjectName(const std::string& text) {
  constexpr absl::string_view kDefault = "default/";
  return absl::StartsWith(text, kDefault) ? text.substr(kDefault.size()) : text;
}

void SplitObjectName(const std::string& text, std::string* ns, std::string* name) {
  const size_t slash = text.find('/');
  *ns = slash == std::string::npos ? "default" : text.substr(0, slash);
  *name = slash == std::string::npos ? text : text.substr(slash + 1);
}

}  // namespace drasim
