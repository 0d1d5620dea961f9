#include "sim/dra/structured/slice_remover.h"

#include "sim/dra/api/api_types.h"

namespace drasim {

void SliceRemover::Remove(const ObjectMeta& slice) {
  client_->Call(DeleteRequest(ObjectKind::kResourceSlice, slice), 0);
}

}  // namespace drasim
