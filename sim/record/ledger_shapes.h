// The parts of pod shapes that only plugins of kube-scheduler read, in ledgers.
#ifndef DRASIM_SIM_RECORD_LEDGER_SHAPES_H_
#define DRASIM_SIM_RECORD_LEDGER_SHAPES_H_

#include "model/pod_shape.h"
#include "model/proto/ledger.pb.h"

namespace drasim {

// Adds them to `out`, unless all are at their defaults. REQUIRES: out->node_terms() are there.
void AddKubeShape(const PodShape& shape, proto::LedgerShape* out);

// Whether SetKubeShape may read it.
bool IsSoundKubeShape(const proto::LedgerShape& p);

// The way back; the shape's node_terms are there. REQUIRES: IsSoundKubeShape(p).
void SetKubeShape(const proto::LedgerShape& p, PodShape* shape);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_SHAPES_H_
