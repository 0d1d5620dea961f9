// Columns of PodCourses, which keyframes and rows of ended pods have in common.
#ifndef DRASIM_SIM_RECORD_POD_COLUMNS_H_
#define DRASIM_SIM_RECORD_POD_COLUMNS_H_

#include <cstddef>
#include <cstdint>

#include "model/ids.h"
#include "model/time.h"
#include "sim/record/live_state.h"
#include "sim/record/wire_message.h"

namespace drasim {

// Bits of `answers` beside the FirstAnswer.
inline constexpr unsigned kFirstAnswerMask = 3;
inline constexpr unsigned kStartedBit = 4;
inline constexpr unsigned kRejectedLastBit = 8;

// Adds a value to each column of a `Message`: proto::LedgerLive or LedgerPods.
template <typename Message>
void PackCourse(const PodHistory& history, SimTime arrival, WireMessage* out) {
  const auto since = [](SimTime begin, SimTime end) {
    return static_cast<uint64_t>((end - begin).ns());
  };
  const unsigned answers = static_cast<unsigned>(history.first_answer) |
                           (history.started ? kStartedBit : 0U) |
                           (history.rejected_last ? kRejectedLastBit : 0U);
  out->Column(Message::kAnswersFieldNumber).U64(answers);
  out->Column(Message::kWaitedNsFieldNumber).U64(static_cast<uint64_t>(history.waited.ns()));
  out->Column(Message::kWaitingSinceNsFieldNumber).U64(since(arrival, history.waiting_since));
  out->Column(Message::kEvictionsFieldNumber).U64(history.times_evicted);
  if (history.first_answer != FirstAnswer::kNone) {
    out->Column(Message::kFirstAnswerNsFieldNumber).U64(since(arrival, history.first_answer_at));
  }
  if (!history.started) return;
  out->Column(Message::kWorkNsFieldNumber).U64(since(history.first_bound, history.first_start));
  out->Column(Message::kFirstNodeFieldNumber).U64(history.first_node.value());
}

// `begin` + `gap_ns`; false if that lies outside `begin`..`latest`. REQUIRES: neither is negative.
inline bool LaterBy(SimTime begin, uint64_t gap_ns, SimTime latest, SimTime* end) {
  if (begin > latest || gap_ns > static_cast<uint64_t>((latest - begin).ns())) return false;
  *end = begin + SimDuration(static_cast<int64_t>(gap_ns));
  return true;
}

// Reads the columns pod by pod, of untrusted input.
template <typename Columns>
class CourseReader {
 public:
  // `columns` must outlive the reader.
  explicit CourseReader(const Columns& columns) : columns_(columns) {}

  // Whether every pod has a value.
  bool HasPods(size_t pods) const {
    const auto size = [](int n) { return static_cast<size_t>(n); };
    return columns_.answers().size() == pods && size(columns_.waited_ns_size()) == pods &&
           size(columns_.waiting_since_ns_size()) == pods &&
           (columns_.evictions_size() == 0 || size(columns_.evictions_size()) == pods);
  }

  // The next pod, of which `history` has all other columns. Its times lie between arrival and
  // `latest`. `end` is that of the last stay or wait: when it has ended. Without one, it waits or
  // is `bound`. False if a value is missing or impossible. REQUIRES: HasPods.
  bool Next(size_t nodes, SimTime arrival, SimTime latest, const SimTime* end, bool bound,
            PodHistory* history) {
    const auto answers = static_cast<unsigned char>(columns_.answers()[static_cast<size_t>(pod_)]);
    if (answers > (kFirstAnswerMask | kStartedBit | kRejectedLastBit)) return false;
    history->first_answer = static_cast<FirstAnswer>(answers & kFirstAnswerMask);
    history->started = (answers & kStartedBit) != 0;
    history->rejected_last = (answers & kRejectedLastBit) != 0;
    if (history->rejected_last && history->rejected == AdmissionFailure::kNone) return false;
    if (columns_.evictions_size() > 0) history->times_evicted = columns_.evictions(pod_);
    if (!LaterBy(arrival, columns_.waiting_since_ns(pod_), latest, &history->waiting_since)) {
      return false;
    }
    const SimTime since = end != nullptr ? *end
                          : bound        ? history->running_since
                                         : history->waiting_since;
    if (since < arrival ||
        columns_.waited_ns(pod_) > static_cast<uint64_t>((since - arrival).ns())) {
      return false;
    }
    // All of its time so far went into waits and stays.
    history->waited = SimDuration(static_cast<int64_t>(columns_.waited_ns(pod_)));
    history->held = (since - arrival) - history->waited;
    ++pod_;
    if (history->first_answer != FirstAnswer::kNone) {
      if (next_answer_ >= columns_.first_answer_ns_size() ||
          !LaterBy(arrival, columns_.first_answer_ns(next_answer_++), latest,
                   &history->first_answer_at)) {
        return false;
      }
    }
    if (!history->started) return true;
    if (history->starts == 0 || next_start_ >= columns_.work_ns_size() ||
        next_start_ >= columns_.first_node_size() || columns_.first_node(next_start_) >= nodes) {
      return false;
    }
    history->first_node = NodeId(columns_.first_node(next_start_));
    return LaterBy(history->first_bound, columns_.work_ns(next_start_++), latest,
                   &history->first_start);
  }

 private:
  const Columns& columns_;
  int pod_ = 0;  // the next
  int next_answer_ = 0;
  int next_start_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_COLUMNS_H_
