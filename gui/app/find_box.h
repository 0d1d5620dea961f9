// Ctrl+P: find a pod, node, claim, tenant or scenario key by a part of its name, or do anything
// that a menu can.
#ifndef DRASIM_GUI_APP_FIND_BOX_H_
#define DRASIM_GUI_APP_FIND_BOX_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/find_model.h"
#include "gui/view/what_if.h"

namespace drasim::gui {

class App;

class FindBox {
 public:
  // False when it is to be closed.
  bool Draw(bool is_new, App* app);
  // Lets go of the names, when the box is closed.
  void Forget();
  // Whether names are still being searched.
  bool searching() const { return searching_; }

 private:
  // The sources of the model, in this order.
  enum Source : size_t { kCommands, kNodes, kTenants, kKeys, kClaims, kPods };

  void Take(const App& app);
  void DrawHits(App* app);
  std::string NameOf(const view::FindHit& hit) const;
  std::string DetailOf(const view::FindHit& hit) const;
  // False if it asks for more.
  bool Do(const view::FindHit& hit, App* app);
  bool DrawKeyForm(App* app);

  std::string typed_;
  view::FindModel find_;
  size_t chosen_ = 0;
  bool follows_ = false;  // the chosen hit is to be scrolled into sight
  bool searching_ = false;
  // The searched data; kept so that names live as long as the box shows them.
  std::shared_ptr<const RunSnapshot> snapshot_;
  std::shared_ptr<const RunOverview> overview_;
  std::vector<view::ScenarioKey> keys_;
  // The scenario key to be changed; empty: none.
  std::string key_;
  std::string value_;
  std::string error_;  // of the value
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_FIND_BOX_H_
