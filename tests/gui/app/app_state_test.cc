#include "gui/app/app_state.h"

#include "gtest/gtest.h"

namespace drasim::gui {
namespace {

ObjectRef NodeRef(const char* name) { return {ObjectKind::kNode, name}; }

TEST(AppStateTest, VisitedObjectsAreKeptInOrder) {
  AppState app;
  EXPECT_FALSE(app.CanGoBack());
  EXPECT_FALSE(app.CanGoForward());
  app.GoBack();
  app.GoForward();
  app.Select(NodeRef("a"));
  EXPECT_FALSE(app.CanGoBack());
  app.Select({ObjectKind::kPod, "pod"});
  EXPECT_EQ(app.node, "a") << "a pod is no node";
  app.Select({ObjectKind::kPod, "pod"});
  app.Select(NodeRef("b"));
  EXPECT_EQ(app.node, "b");
  app.GoBack();
  EXPECT_EQ(app.selected.name, "pod");
  EXPECT_EQ(app.node, "b");
  app.GoBack();
  EXPECT_EQ(app.selected, NodeRef("a"));
  EXPECT_EQ(app.node, "a");
  EXPECT_FALSE(app.CanGoBack());
  app.GoForward();
  EXPECT_EQ(app.selected.name, "pod");
  // Another way forward replaces the old one.
  app.Select(NodeRef("c"));
  EXPECT_FALSE(app.CanGoForward());
  app.GoBack();
  EXPECT_EQ(app.selected.name, "pod");
}

TEST(AppStateTest, AnotherRunHasNoHistory) {
  AppState app;
  app.Select(NodeRef("a"));
  app.Select(NodeRef("b"));
  app.ForgetSelections();
  EXPECT_EQ(app.selected, ObjectRef());
  EXPECT_EQ(app.node, "");
  EXPECT_FALSE(app.CanGoBack());
  EXPECT_FALSE(app.CanGoForward());
  app.Select(NodeRef("c"));
  EXPECT_FALSE(app.CanGoBack()) << "there is no empty place";
}

}  // namespace
}  // namespace drasim::gui
