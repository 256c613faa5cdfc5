// RUN: stc-opt %s -p flatten-tasks --verify-diagnostics

// A task of tasks that computes itself has no place among its tasks.
// expected-error @unknown {{pass 'flatten-tasks': @outer: task holds 'arith.addi' beside tasks; accepted: tasks of tasks that hold only what connects them}}
func.func @computes(%i: index) {
  dataflow.kernel @k(%n = %i : index) {
    dataflow.task @outer ins(%m = %n : index) {
      %s = arith.addi %m, %m : index
      dataflow.task @a ins(%p = %s : index) { dataflow.yield }
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}
