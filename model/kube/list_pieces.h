// A long list of objects in pieces that fit the reader's limits.
//
//   KubeListPieces pieces(text);
//   for (std::string piece; pieces.Next(&piece);) {
//     ASSIGN_OR_RETURN(const KubeManifest manifest, ReadKubeObjects(piece, file));
//     ...
//   }
#ifndef DRASIM_MODEL_KUBE_LIST_PIECES_H_
#define DRASIM_MODEL_KUBE_LIST_PIECES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

// The items of a list, as kubectl prints it in YAML or JSON, in groups of some megabytes, each with
// the list's own head and tail and at its own lines and columns. A text of any other form is one
// piece. Linear in the text.
class KubeListPieces {
 public:
  // `text` must outlive it.
  explicit KubeListPieces(absl::string_view text);

  // False at the end.
  bool Next(std::string* piece);

 private:
  struct Start {
    size_t at = 0;
    size_t lines = 0;  // before it
  };

  // Leave starts_ empty for a text of another form.
  void FindYamlItems();
  void FindJsonItems();

  absl::string_view text_;
  bool json_ = false;
  std::vector<Start> starts_;  // of items
  size_t head_lines_ = 0;
  size_t tail_ = 0;
  size_t next_ = 0;
  bool whole_taken_ = false;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_LIST_PIECES_H_
