// States of a run that build on each other: the cost of a checkpoint depends on the changes since
// the previous one, not on the length of the run.
//
//   StateWriter out(&picks);           // jobs and pods that live, or have ended since
//   part.Save(out);
//   SavedState state = TakeState(&picks, &out);
//   ...
//   StateImage image;
//   for (SavedState& s : states) image.Apply(std::move(s));  // from the first on
//   image.Whole().text;  // what a StateWriter without picks would have written at the last
#ifndef DRASIM_MODEL_SAVED_STATE_H_
#define DRASIM_MODEL_SAVED_STATE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/state_io.h"

namespace drasim {

// The output of a StateWriter with picks.
struct SavedState {
  SavedState() = default;
  // Without tables: it builds on nothing.
  explicit SavedState(std::string bytes) : text(std::move(bytes)) {}

  std::string text;                // with the picked rows in their places
  RowPicks picks;                  // by the tables of a kind, as far as these reach
  std::vector<SavedTable> tables;  // in the order of their places
};

// Empties the writer, whose picks these are.
SavedState TakeState(RowPicks picks, StateWriter* out);

// The state as bytes. O(bytes).
std::string EncodeState(const SavedState& state);
// False if the bytes do not come from EncodeState, as far as that shows without the states before.
bool DecodeState(absl::string_view bytes, SavedState* state);

// The sum of a state and those that it builds on.
class StateImage {
 public:
  // The next state; the first must have all rows. False if it does not fit those before, or lacks a
  // row; the image is then unusable. O(rows of the tables).
  bool Apply(SavedState state);
  // The sum as a state that builds on nothing, with all rows; its text is that of a StateWriter
  // without picks. O(bytes).
  SavedState Whole() const;

 private:
  struct Table {
    RowKind kind = RowKind::kJob;
    absl::string_view before;             // the text between the table before and this one
    std::vector<absl::string_view> rows;  // in texts_; null data: missing
  };

  std::deque<std::string> texts_;  // whose strings stay where they are
  std::vector<Table> tables_;
  absl::string_view after_;  // the text behind the last table
  bool any_ = false;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_SAVED_STATE_H_
