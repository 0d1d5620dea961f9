// The typical pods of a run, by which FGD measures fragmentation.
#ifndef DRASIM_GUI_VIEW_TYPICAL_LOAD_H_
#define DRASIM_GUI_VIEW_TYPICAL_LOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/fragmentation.h"
#include "model/shape_table.h"

namespace drasim::view {

// BuildTypicalPods (model/fragmentation.h) with the scenario's popularity. `pods_by_shape`: of the
// whole run; missing shapes have none. Empty if no typical pod wants a GPU.
std::vector<TypicalPod> TypicalLoadOf(const ShapeTable& shapes, std::vector<int64_t> pods_by_shape,
                                      const std::string& scenario_yaml);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_TYPICAL_LOAD_H_
