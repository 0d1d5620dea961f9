#include "model/node_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace drasim {

std::string GpuModelText(const NodeSpec& node) {
  if (node.gpu_models.empty()) return node.gpu_model;
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& model : node.gpu_models) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&model](const auto& entry) { return entry.first == model; });
    if (known == counts.end()) {
      counts.emplace_back(model, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [model, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : " + ", count, " ", model);
  }
  return text;
}

}  // namespace drasim
