// A series of steps that grows by changes only.
#ifndef DRASIM_GUI_VIEW_CHANGE_SERIES_H_
#define DRASIM_GUI_VIEW_CHANGE_SERIES_H_

#include <algorithm>
#include <utility>

#include "gui/view/pyramid.h"
#include "model/time.h"

namespace drasim::view {

class ChangeSeries {
 public:
  // Nothing if the value is the last one. REQUIRES: not before the last sample; a finite value.
  void Add(SimTime time, double value) {
    if (!series_.empty() && value == last_) return;
    series_.Append(time, value);
    last_ = value;
  }
  // The last value holds until `end`. The series is empty afterwards.
  Pyramid Take(SimTime end) {
    if (!series_.empty()) series_.Append(std::max(end, series_.time(series_.size() - 1)), last_);
    return std::exchange(series_, Pyramid());
  }

 private:
  Pyramid series_;
  double last_ = 0;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_CHANGE_SERIES_H_
