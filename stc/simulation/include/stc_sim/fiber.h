// One cooperative fiber: a stack of its own and a switch between two of them. Knows nothing of tasks or streams.
#ifndef STC_SIM_FIBER_H
#define STC_SIM_FIBER_H

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#if defined(__linux__) && defined(__x86_64__) && !defined(STC_SIM_UCONTEXT)
#define STC_SIM_SWITCH_X86_64 1
#elif defined(__linux__) && defined(__aarch64__) && !defined(STC_SIM_UCONTEXT)
#define STC_SIM_SWITCH_AARCH64 1
#else
#include <ucontext.h>
#endif

// AddressSanitizer keeps an eye on stacks: it must be told of every switch between them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STC_SIM_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STC_SIM_ASAN 1
#endif
#if defined(STC_SIM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Address space per task, not memory: pages are taken when touched. Tasks keep whole tiles in local arrays.
#ifndef STC_SIM_STACK_BYTES
#define STC_SIM_STACK_BYTES (std::size_t(256) << 20)
#endif

#if defined(STC_SIM_SWITCH_X86_64)
// swapcontext() makes a system call to save the signal mask (194 ns); this saves what the ABI calls callee-saved. The
// COMDAT section lets several translation units carry it.
asm(R"(
.pushsection .text.stc_sim_switch,"axG",@progbits,stc_sim_switch,comdat
.weak stc_sim_switch
.type stc_sim_switch,@function
.p2align 4
stc_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size stc_sim_switch,.-stc_sim_switch
.popsection
)");
#elif defined(STC_SIM_SWITCH_AARCH64)
asm(R"(
.pushsection .text.stc_sim_switch,"axG",@progbits,stc_sim_switch,comdat
.weak stc_sim_switch
.type stc_sim_switch,%function
.p2align 4
stc_sim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size stc_sim_switch,.-stc_sim_switch
.popsection
)");
#endif

#if defined(STC_SIM_SWITCH_X86_64) || defined(STC_SIM_SWITCH_AARCH64)
extern "C" void stc_sim_switch(void **saved_stack_pointer, void *next_stack_pointer);
#endif

namespace stc_sim {

// A mapped stack whose lowest page is never accessible, so that overflowing it is a fault and not a corruption.
struct Stack {
  char *base = nullptr;
  std::size_t shift = 0;   // see StackPool::take

  static constexpr std::size_t guard_bytes() { return 64 * 1024; }  // a whole number of pages of any usual size
  char *top() const { return base + STC_SIM_STACK_BYTES - shift; }

  bool overflowed_at(const void *address) const {
    const char *a = static_cast<const char *>(address);
    return base != nullptr && a >= base && a < base + guard_bytes();
  }
};

// Finished stacks are reused: a dataflow region inside a loop starts its tasks again and again.
class StackPool {
 public:
  Stack take() {
    if (!free_.empty()) {
      Stack stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void *memory = mmap(nullptr, STC_SIM_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, Stack::guard_bytes(), PROT_NONE) != 0) {
      std::fprintf(stderr, "stc_sim: no address space for a task's stack of %zu bytes; compile with a smaller "
                           "-DSTC_SIM_STACK_BYTES\n", std::size_t(STC_SIM_STACK_BYTES));
      std::_Exit(2);
    }
    // Stacks that begin at the same low address bits fight for the same cache sets and way predictions: measured, a
    // factor of two in tokens per second.
    made_ = (made_ + 1) % 61;
    return Stack{static_cast<char *>(memory), made_ * (4096 + 64 * 7)};
  }

  void give_back(Stack stack) {
    if (free_.size() < 64) {
      free_.push_back(stack);
    } else {
      munmap(stack.base, STC_SIM_STACK_BYTES);
    }
  }

 private:
  std::vector<Stack> free_;
  std::size_t made_ = 0;
};

// What AddressSanitizer knows of a fiber: its stack, and where it keeps what is on it while the fiber is suspended.
class WatchedStack {
#if defined(STC_SIM_ASAN)
 public:
  void watch(const Stack &stack) {
    bottom_ = stack.base + Stack::guard_bytes();
    size_ = std::size_t(stack.top() - stack.base) - Stack::guard_bytes();
  }

  // Before a switch to another fiber. One that is left `for_good` clears its stack for the next fiber that gets it.
  void leave(const WatchedStack &to, bool for_good) {
    if (for_good) {
      const char *below = static_cast<const char *>(__builtin_frame_address(0)) - 4096;
      __asan_unpoison_memory_region(below, std::size_t(static_cast<const char *>(bottom_) + size_ - below));
    }
    left() = this;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &kept_, to.bottom_, to.size_);
  }

  // After one, in the fiber that was switched to; the first switch of all tells where the program's own stack is.
  void arrive() {
    const void *bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(kept_, &bottom, &size);
    left()->bottom_ = bottom;
    left()->size_ = size;
  }

 private:
  static WatchedStack *&left() {
    static WatchedStack *fiber = nullptr;
    return fiber;
  }

  const void *bottom_ = nullptr;
  std::size_t size_ = 0;
  void *kept_ = nullptr;
#else
 public:
  void watch(const Stack &) {}
  void leave(const WatchedStack &, bool) {}
  void arrive() {}
#endif
};

#if defined(STC_SIM_SWITCH_X86_64) || defined(STC_SIM_SWITCH_AARCH64)

// Where a suspended fiber continues.
class Context : public WatchedStack {
 public:
  void prepare(const Stack &stack, void (*entry)()) {
    watch(stack);
    void **sp = reinterpret_cast<void **>(stack.top());
#if defined(STC_SIM_SWITCH_X86_64)
    *--sp = nullptr;  // keeps the stack aligned as if `entry` had been called
    *--sp = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; ++i) *--sp = nullptr;
#else
    sp -= 20;
    for (int i = 0; i < 20; ++i) sp[i] = nullptr;
    sp[11] = reinterpret_cast<void *>(entry);  // x30
#endif
    stack_pointer_ = sp;
  }

  static void switch_between(Context &from, Context &to, bool for_good) {
    from.leave(to, for_good);
    stc_sim_switch(&from.stack_pointer_, to.stack_pointer_);
    from.arrive();
  }

 private:
  void *stack_pointer_ = nullptr;
};

#else

class Context : public WatchedStack {
 public:
  void prepare(const Stack &stack, void (*entry)()) {
    watch(stack);
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack.base + Stack::guard_bytes();
    context_.uc_stack.ss_size = STC_SIM_STACK_BYTES - Stack::guard_bytes() - stack.shift;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }

  static void switch_between(Context &from, Context &to, bool for_good) {
    from.leave(to, for_good);
    swapcontext(&from.context_, &to.context_);
    from.arrive();
  }

 private:
  ucontext_t context_;
};

#endif

}  // namespace stc_sim
#endif
