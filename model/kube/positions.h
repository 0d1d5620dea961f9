// Positions in a manifest's text of the fields of its objects: for messages about several objects
// at once, after ReadKubeObjects has read them.
#ifndef DRASIM_MODEL_KUBE_POSITIONS_H_
#define DRASIM_MODEL_KUBE_POSITIONS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/kube/reader.h"
#include "model/kube/reader_source.h"

namespace drasim {

class KubePositions {
 public:
  // `objects` were read from `text`. The text is parsed once more, when the first position is asked
  // for.
  KubePositions(std::string text, std::string file, const std::vector<KubeObject>& objects);

  // "FILE:LINE:COLUMN" of the value to which a path of KubeProblem leads in the object number
  // `object`, or as near to it as the text goes: a field that is not written is where its parent
  // begins. Linear in the text the first time.
  std::string Locate(size_t object, absl::string_view path);

 private:
  struct Wanted {
    size_t line;
    std::string api_version;
    std::string kind;
  };
  struct Found {
    const YamlNode* node = nullptr;
    size_t begin = 0;  // of its document
  };

  void Parse();
  void Visit(const YamlNode& node, size_t begin);

  std::string text_;
  std::string file_;
  std::vector<Wanted> wanted_;
  std::optional<KubeSource> source_;
  std::vector<Found> found_;  // of the first objects
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_POSITIONS_H_
