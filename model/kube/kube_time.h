// Times of Kubernetes' objects (metav1.Time), and where a run stands in them.
#ifndef DRASIM_MODEL_KUBE_KUBE_TIME_H_
#define DRASIM_MODEL_KUBE_KUBE_TIME_H_

#include <cstdint>
#include <string>

#include "model/time.h"

namespace drasim {

// A time of an object ("2026-01-02T00:00:00Z") in nanoseconds from 1970, and back in whole seconds,
// as metav1.Time keeps it. Requires a valid time.
int64_t KubeTimeNs(const std::string& text);
std::string KubeTimeText(int64_t ns);

// The same for the time of a run, whose beginning is 2000-01-01T00:00:00Z. Objects of real clusters
// are younger; whoever reads their times decides what that means.
int64_t RunTimeNs(SimTime time);
std::string RunTimeText(SimTime time);
SimTime RunTimeOf(const std::string& text);
// Without the fraction of a second, which metav1.Time does not keep.
SimTime WholeSeconds(SimTime time);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_KUBE_TIME_H_
