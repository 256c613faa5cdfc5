// The C simulation of emitted projects as a device of XRT 2.13, below its runtime: XRT loads this file as its driver without a
// device (`XCL_EMULATION_MODE=noop`), which it wraps. What the host does goes through the vendor's runtime down to the driver, and
// here
//
// * memory of the device is separate from the host's, lies at addresses in the banks of the xclbin, and starts as poison (FF);
// * a command that starts a compute unit is taken apart as the unit's registers would get it, and runs the C simulation on a
//   thread;
// * what a card would compute garbage from, or never end, is an error of one sentence.
//
// XRT has no interface for drivers of others: the functions of its own device are replaced in its table of virtual functions,
// where they are found by their addresses. Their names are those of 2.13, which Debian 12 has; another version is refused.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ert.h>
#include <xclbin.h>
#include <xrt.h>

#ifndef STC_REAL_DRIVER
#error "STC_REAL_DRIVER: the path of the vendor's libxrt_noop.so.2"
#endif

namespace {

constexpr int POISON = 0xFF;
constexpr uint64_t PAGE = 4096;
// A command runs at least so long: a card takes some 75 us, and hosts that do not wait are noticed for sure.
constexpr auto LEAST_TIME = std::chrono::milliseconds(3);
constexpr auto PATIENCE = std::chrono::seconds(5);
using Clock = std::chrono::steady_clock;

// Whether the host has been told of a mistake: what follows from that needs no warning.
std::atomic<bool> told{false};

[[noreturn]] void fail(const std::string &message) {
  told = true;
  throw std::runtime_error(message);
}

// A line for what reaches the device, in the file that STC_XRT_TRACE names: microseconds since the first one, and what it is.
void trace(const std::string &what, const std::string &of) {
  static std::FILE *file = std::getenv("STC_XRT_TRACE") != nullptr ? std::fopen(std::getenv("STC_XRT_TRACE"), "w") : nullptr;
  static const auto begin = Clock::now();
  if (file == nullptr) return;
  const std::chrono::duration<double, std::micro> since = Clock::now() - begin;
  std::fprintf(file, "%.1f %s %s\n", since.count(), what.c_str(), of.c_str());
  std::fflush(file);
}

// What stc.runtime.shared_kernel says of the kernels of a library.
struct Port {
  std::string name;
  uint64_t bytes = 0;
  bool reads = false, writes = false, updates = false;
};
struct Design;
struct Kernel {
  std::string name;
  std::vector<Port> ports;
  std::vector<std::string> scalars;
  std::set<std::string> started;  // units
  using Launch = int (*)(void **, const int *, char *, size_t);
  Launch launch = nullptr;
};
// A compute unit of the xclbin.
struct Argument {
  const Port *port = nullptr;  // null: a scalar
  std::string name;
  unsigned position = 0, offset = 0;  // among the kernel's ports or scalars; of its registers
  int bank = -1;
};
struct Unit {
  std::string name;
  Kernel *kernel = nullptr;
  std::vector<Argument> arguments;
};
struct Bank {
  std::string tag;
  uint64_t base = 0, size = 0;
};
struct Buffer {
  uint64_t address = 0, size = 0;
  unsigned bank = 0;
  std::unique_ptr<char[]> memory;
  bool sent = false, computed = false, fetched = false, local_copy = false;
  std::string result_of;
};
struct Command {
  unsigned handle = 0;
  ert_packet *packet = nullptr;
  const Unit *unit = nullptr;
  std::vector<std::pair<const Argument *, std::shared_ptr<Buffer>>> buffers;
  std::vector<void *> pointers;
  std::vector<int> scalars;
};
// Commands of all started units of a kernel: they compute together.
struct Launch {
  Kernel *kernel = nullptr;
  std::map<std::string, Command> commands;
  Clock::time_point begun;
};

struct Device {
  std::mutex mutex;
  std::condition_variable arrived, ended;
  std::vector<Bank> banks;
  std::deque<Kernel> kernels;
  std::vector<Unit> units;  // by index
  std::vector<unsigned char> loaded;
  std::map<unsigned, std::shared_ptr<Buffer>> buffers;
  std::deque<std::shared_ptr<Launch>> queue;  // the first one may be running
  std::map<std::string, std::shared_ptr<Launch>> waiting;  // for other units
  std::map<unsigned, std::map<unsigned, uint64_t>> pointers;  // of the last launch of each command, by where their registers begin
  unsigned completed = 0;
  bool stopping = false;
  std::thread worker;

  // Before the kernels' own static objects are gone.
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    arrived.notify_all();
    if (worker.joinable()) worker.join();
  }

  Bank &bank(unsigned index) {
    if (index >= banks.size()) fail("the device has no memory bank " + std::to_string(index));
    return banks[index];
  }
  std::shared_ptr<Buffer> at(uint64_t address) {
    for (auto &[handle, buffer] : buffers)
      if (buffer->address <= address && address < buffer->address + buffer->size) return buffer;
    return nullptr;
  }
};

Device &device() {
  static Device *the = new Device;  // the threads of XRT live longer than static objects
  return *the;
}

// What the vendor's driver does: names of 2.13, and what was in the table.
using Self = void *;
struct Vendor {
  unsigned (*alloc)(Self, size_t, unsigned);
  unsigned (*alloc_user)(Self, void *, size_t, unsigned);
  void (*free)(Self, unsigned);
  void *(*map)(Self, unsigned, bool);
  void (*properties)(Self, unsigned, xclBOProperties *);
  void (*load)(Self, const axlf *);
} vendor;

// Memory -------------------------------------------------------------------------------------------------------------------------

constexpr unsigned BANK_MASK = 0xFFFF;
constexpr unsigned NO_DEVICE_MEMORY = XCL_BO_FLAGS_EXECBUF | XCL_BO_FLAGS_HOST_ONLY;

// Whether XRT allocates by itself: where an argument lies in another bank than the port is linked to, it warns, and gives the
// kernel a copy in the right bank, whose content is lost.
bool of_xrt_itself() {
  void *frames[16];
  const int count = backtrace(frames, 16);
  for (int i = 0; i < count; i += 1) {
    Dl_info found;
    if (dladdr(frames[i], &found) == 0 || found.dli_sname == nullptr) continue;
    if (std::strstr(found.dli_sname, "xrt_core2bo5clone") != nullptr) return true;
  }
  return false;
}

// The first place in a bank with so many bytes behind it.
uint64_t free_address(const Device &d, const Bank &bank, uint64_t size) {
  std::map<uint64_t, uint64_t> taken;  // ends by beginnings
  for (const auto &[handle, buffer] : d.buffers) taken[buffer->address] = buffer->address + buffer->size;
  // The first page stays free: 0 is the address of an argument that nobody has set.
  uint64_t at = bank.base + PAGE;
  for (auto next = taken.lower_bound(bank.base); next != taken.end() && next->first < at + size; ++next)
    at = (next->second + PAGE - 1) / PAGE * PAGE;
  if (at + size <= bank.base + bank.size) return at;
  fail("no room for a buffer of " + std::to_string(size) + " bytes in " + bank.tag + ", which has " + std::to_string(bank.size));
}

void placed(unsigned handle, size_t size, unsigned flags) {
  Device &d = device();
  const std::lock_guard<std::mutex> lock(d.mutex);
  if ((flags & NO_DEVICE_MEMORY) != 0 || d.banks.empty()) return;
  Bank &bank = d.bank(flags & BANK_MASK);
  auto buffer = std::make_shared<Buffer>();
  buffer->bank = flags & BANK_MASK;
  buffer->size = size;
  buffer->local_copy = of_xrt_itself();
  buffer->address = free_address(d, bank, size);
  buffer->memory.reset(new char[size]);
  std::memset(buffer->memory.get(), POISON, size);
  d.buffers[handle] = std::move(buffer);
}

unsigned alloc(Self self, size_t size, unsigned flags) {
  const unsigned handle = vendor.alloc(self, size, flags);
  placed(handle, size, flags);
  return handle;
}

unsigned alloc_user(Self self, void *memory, size_t size, unsigned flags) {
  const unsigned handle = vendor.alloc_user(self, memory, size, flags);
  placed(handle, size, flags);
  return handle;
}

// The command that uses a buffer and has not ended, or writes it.
std::string user_of(Device &d, const std::shared_ptr<Buffer> &buffer, bool writing) {
  const auto uses = [&](const Launch &launch) {
    for (const auto &[name, command] : launch.commands)
      for (const auto &[argument, bound] : command.buffers)
        if (bound == buffer && (argument->port->writes || !writing)) return name;
    return std::string();
  };
  for (const auto &launch : d.queue)
    if (const std::string name = uses(*launch); !name.empty()) return name;
  for (const auto &[kernel, launch] : d.waiting)
    if (const std::string name = uses(*launch); !name.empty()) return name;
  return {};
}

// The memory of a command is the host's: of one that is given up while it runs, nobody learns how it ended.
void forget_command(Device &d, unsigned handle) {
  const auto forget = [handle](Launch &launch) {
    for (auto &[name, command] : launch.commands)
      if (command.handle == handle) command.packet = nullptr;
  };
  for (const auto &launch : d.queue) forget(*launch);
  for (const auto &[kernel, launch] : d.waiting) forget(*launch);
  d.pointers.erase(handle);
}

void free_buffer(Self self, unsigned handle) {
  {
    Device &d = device();
    const std::lock_guard<std::mutex> lock(d.mutex);
    if (const auto found = d.buffers.find(handle); found != d.buffers.end()) {
      const Buffer &buffer = *found->second;
      if (const std::string user = user_of(d, found->second, false); !user.empty() && !told)
        std::fprintf(stderr, "warning: a buffer is freed that %s still uses\n", user.c_str());
      if (!buffer.result_of.empty() && !buffer.fetched && !told)
        std::fprintf(stderr, "warning: results in %s were never fetched (sync FROM_DEVICE)\n", buffer.result_of.c_str());
      d.buffers.erase(found);
    }
    forget_command(d, handle);
  }
  vendor.free(self, handle);
}

void properties(Self self, unsigned handle, xclBOProperties *found) {
  vendor.properties(self, handle, found);
  Device &d = device();
  const std::lock_guard<std::mutex> lock(d.mutex);
  if (const auto buffer = d.buffers.find(handle); buffer != d.buffers.end()) found->paddr = buffer->second->address;
}

void sync(Self self, unsigned handle, xclBOSyncDirection direction, size_t size, size_t offset) {
  char *host = static_cast<char *>(vendor.map(self, handle, true));
  Device &d = device();
  const std::lock_guard<std::mutex> lock(d.mutex);
  const auto found = d.buffers.find(handle);
  if (found == d.buffers.end()) fail("sync of a buffer without memory on the device");
  Buffer &buffer = *found->second;
  if (offset > buffer.size || size > buffer.size - offset) {
    std::ostringstream text;
    text << "sync of " << size << " bytes at " << offset << " of a buffer of " << buffer.size;
    fail(text.str());
  }
  const bool to_device = direction == XCL_BO_SYNC_BO_TO_DEVICE;
  if (const std::string user = user_of(d, found->second, !to_device); !user.empty())
    fail("sync " + std::string(to_device ? "TO" : "FROM") + "_DEVICE of a buffer that " + user + " still " +
         (to_device ? "uses" : "writes") + ": the host has not waited for the launch");
  (to_device ? buffer.sent : buffer.fetched) = true;
  trace(to_device ? "send" : "fetch", std::to_string(size));
  if (to_device)
    std::memcpy(buffer.memory.get() + offset, host + offset, size);
  else
    std::memcpy(host + offset, buffer.memory.get() + offset, size);
}

// On the device.
void copy(Self, unsigned target, unsigned source, size_t size, size_t to, size_t from) {
  Device &d = device();
  const std::lock_guard<std::mutex> lock(d.mutex);
  const auto into = d.buffers.find(target), of = d.buffers.find(source);
  if (into == d.buffers.end() || of == d.buffers.end()) fail("copy of a buffer without memory on the device");
  if (to > into->second->size || size > into->second->size - to || from > of->second->size || size > of->second->size - from)
    fail("copy beyond the end of a buffer");
  std::memcpy(into->second->memory.get() + to, of->second->memory.get() + from, size);
  into->second->sent = into->second->sent || of->second->sent;
}

// The xclbin ---------------------------------------------------------------------------------------------------------------------

std::pair<const char *, size_t> section(const axlf *top, axlf_section_kind kind) {
  for (uint32_t i = 0; i < top->m_header.m_numSections; i += 1)
    if (top->m_sections[i].m_sectionKind == uint32_t(kind))
      return {reinterpret_cast<const char *>(top) + top->m_sections[i].m_sectionOffset, top->m_sections[i].m_sectionSize};
  fail("the xclbin is not one of C simulation (it lacks section " + std::to_string(kind) + "); accepted: what `stc run` builds");
}

void describe(Device &d, void *library) {
  const auto *text = static_cast<const char *>(dlsym(library, "stc_kernels"));
  if (text == nullptr) fail("the xclbin has a library that `stc` did not build");
  std::istringstream lines(text);
  std::string word, name, flags;
  const size_t before = d.kernels.size();
  while (lines >> word >> name) {
    if (word == "mark") continue;
    if (word == "kernel") {
      d.kernels.emplace_back();
      d.kernels.back().name = name;
      d.kernels.back().launch = reinterpret_cast<Kernel::Launch>(dlsym(library, ("stc_launch_" + name).c_str()));
      if (d.kernels.back().launch == nullptr) fail("the xclbin has a library without the kernel " + name);
      continue;
    }
    if (d.kernels.size() == before) fail("the xclbin has a library whose table has a " + word + " of no kernel");
    Kernel &kernel = d.kernels.back();
    if (word == "scalar") kernel.scalars.push_back(name);
    if (word == "unit") {
      kernel.started.insert(name);
      d.units.push_back({name, &kernel, {}});
    }
    if (word == "argument") d.units.back().arguments.push_back({nullptr, name, 0, 0, -1});
    if (word == "port") {
      Port port;
      lines >> port.bytes >> flags;
      port.name = name;
      port.reads = flags == "r", port.writes = flags != "r", port.updates = flags == "u";
      kernel.ports.push_back(port);
    }
  }
}

// The libraries that stand where a bitstream would; what is loaded again is there already.
void load_libraries(Device &d, const axlf *top) {
  static std::map<std::string, std::vector<void *>> open;
  const std::string uuid(reinterpret_cast<const char *>(top->m_header.uuid), sizeof top->m_header.uuid);
  if (const auto found = open.find(uuid); found != open.end()) {
    for (void *library : found->second) describe(d, library);
    return;
  }
  const auto [data, bytes] = section(top, BITSTREAM);
  const char *at = data, *const end = data + bytes;
  const auto left = [&] { return uint64_t(end - at); };
  const auto number = [&] {
    uint64_t value = 0;
    if (left() < sizeof value) fail("the xclbin is not one of C simulation; accepted: what `stc run` builds");
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  const uint64_t count = number();
  for (uint64_t i = 0; i < count; i += 1) {
    const uint64_t size = number();
    if (size > left()) fail("the xclbin is not one of C simulation; accepted: what `stc run` builds");
    const int file = memfd_create("stc_kernels", MFD_CLOEXEC);
    for (uint64_t written = 0; written < size;) {
      const ssize_t now = write(file, at + written, size - written);
      if (now <= 0) fail("no memory for the kernels of the xclbin");
      written += uint64_t(now);
    }
    void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(std::string("cannot load the kernels of the xclbin: ") + dlerror());
    describe(d, library);
    open[uuid].push_back(library);
    at += size;
  }
}

std::string attribute(const std::string &tag, const std::string &name) {
  const size_t begin = tag.find(" " + name + "=\"");
  if (begin == std::string::npos) return {};
  const size_t from = begin + name.size() + 3;
  return tag.substr(from, tag.find('"', from) - from);
}

// Registers of each argument, from the XML, as XRT reads them.
void place_arguments(Device &d, const axlf *top) {
  const auto [data, bytes] = section(top, EMBEDDED_METADATA);
  const std::string xml(data, bytes);
  const auto begin_of = [&xml](const Unit &unit) { return xml.find("<kernel name=\"" + unit.name + "\""); };
  // The library of a project of several bitstreams has the kernels of all.
  d.units.erase(std::remove_if(d.units.begin(), d.units.end(),
                               [&](const Unit &unit) { return begin_of(unit) == std::string::npos; }),
                d.units.end());
  for (Unit &unit : d.units) {
    const size_t begin = begin_of(unit);
    const size_t end = xml.find("</kernel>", begin);
    for (size_t at = xml.find("<arg ", begin); at < end; at = xml.find("<arg ", at + 1)) {
      const std::string tag = xml.substr(at, xml.find('>', at) - at);
      const auto argument = std::find_if(unit.arguments.begin(), unit.arguments.end(),
                                         [&](const Argument &it) { return it.name == attribute(tag, "name"); });
      if (argument == unit.arguments.end()) fail("the xclbin has another argument of " + unit.name + ": " + attribute(tag, "name"));
      argument->offset = unsigned(std::stoul(attribute(tag, "offset"), nullptr, 0));
    }
    for (Argument &argument : unit.arguments) {
      const std::vector<Port> &ports = unit.kernel->ports;
      const std::vector<std::string> &scalars = unit.kernel->scalars;
      const auto port = std::find_if(ports.begin(), ports.end(), [&](const Port &it) { return it.name == argument.name; });
      if (port != ports.end()) argument.port = &*port, argument.position = unsigned(port - ports.begin());
      else argument.position = unsigned(std::find(scalars.begin(), scalars.end(), argument.name) - scalars.begin());
    }
  }
}

void place_memory(Device &d, const axlf *top) {
  const auto *topology = reinterpret_cast<const mem_topology *>(section(top, MEM_TOPOLOGY).first);
  for (int i = 0; i < topology->m_count; i += 1) {
    const mem_data &memory = topology->m_mem_data[i];
    d.banks.push_back({reinterpret_cast<const char *>(memory.m_tag), memory.m_base_address, memory.m_size * 1024});
  }
  // Indices of units are their places by the addresses of their registers.
  const auto *layout = reinterpret_cast<const ip_layout *>(section(top, IP_LAYOUT).first);
  std::vector<std::pair<uint64_t, std::string>> names;
  for (int i = 0; i < layout->m_count; i += 1) {
    const std::string name = reinterpret_cast<const char *>(layout->m_ip_data[i].m_name);
    names.emplace_back(layout->m_ip_data[i].m_base_address, name.substr(0, name.find(':')));
  }
  const auto *links = reinterpret_cast<const connectivity *>(section(top, CONNECTIVITY).first);
  for (int i = 0; i < links->m_count; i += 1) {
    const connection &link = links->m_connection[i];
    for (Unit &unit : d.units)
      if (unit.name == names[size_t(link.m_ip_layout_index)].second)
        unit.arguments[size_t(link.arg_index)].bank = link.mem_data_index;
  }
  std::sort(names.begin(), names.end());
  std::vector<Unit> sorted;
  for (const auto &[address, name] : names)
    for (Unit &unit : d.units)
      if (unit.name == name) sorted.push_back(std::move(unit));
  if (sorted.size() != names.size()) fail("the units of the xclbin are not those of its libraries");
  d.units = std::move(sorted);
}

// Before another xclbin: a card loses its memory there, and its driver refuses while somebody uses it.
void unload(Device &d) {
  if (!d.queue.empty() || !d.waiting.empty()) fail("another xclbin is loaded while a kernel of the one before runs");
  if (!d.buffers.empty())
    fail("another xclbin is loaded while the host has " + std::to_string(d.buffers.size()) +
         " buffers of the one before, whose memory is lost");
  d.units.clear();
  d.kernels.clear();
  d.banks.clear();
  d.pointers.clear();
  d.loaded.clear();
}

void load(Self self, const axlf *top) {
  Device &d = device();
  {
    const std::lock_guard<std::mutex> lock(d.mutex);
    const std::vector<unsigned char> uuid(top->m_header.uuid, top->m_header.uuid + sizeof top->m_header.uuid);
    if (!d.loaded.empty() && d.loaded != uuid) unload(d);
    if (d.loaded.empty()) {
      load_libraries(d, top);
      place_arguments(d, top);
      place_memory(d, top);
      d.loaded = uuid;
    }
  }
  vendor.load(self, top);
}

// Commands -----------------------------------------------------------------------------------------------------------------------

// XRT gives the memory of a command that nobody has any more to the next one, registers and all: a host that forgets an argument
// would get that of the launch before. So registers of pointers are cleared at the end, and put back where the same run is started
// again, whose type still has a mark: XRT gives a new run its type.
constexpr uint32_t USED_BEFORE = 8;

char *registers_of(ert_packet *packet) {
  auto *start = reinterpret_cast<ert_start_kernel_cmd *>(packet);
  return reinterpret_cast<char *>(start->data + start->extra_cu_masks);
}

void take_out(Device &d, unsigned handle, ert_packet *packet, const Unit &unit) {
  std::map<unsigned, uint64_t> &kept = d.pointers[handle];
  kept.clear();
  for (const Argument &argument : unit.arguments) {
    if (argument.port == nullptr) continue;
    char *at = registers_of(packet) + argument.offset;
    std::memcpy(&kept[argument.offset], at, sizeof(uint64_t));
    std::memset(at, 0, sizeof(uint64_t));
  }
  packet->type |= USED_BEFORE;
}

void put_back(Device &d, unsigned handle, ert_packet *packet) {
  if ((packet->type & USED_BEFORE) == 0) return;
  packet->type &= ~USED_BEFORE;
  for (const auto &[offset, value] : d.pointers[handle]) {
    char *at = registers_of(packet) + offset;
    if (std::all_of(at, at + sizeof value, [](char byte) { return byte == 0; })) std::memcpy(at, &value, sizeof value);
  }
}

void end(Device &d, Launch &launch, ert_cmd_state state) {
  for (auto &[name, command] : launch.commands) {
    if (command.packet == nullptr) continue;
    take_out(d, command.handle, command.packet, *command.unit);
    command.packet->state = state;
    d.completed += 1;
  }
  d.ended.notify_all();
}

void compute(Launch &launch, std::string &failure) {
  std::vector<void *> pointers(launch.kernel->ports.size());
  std::vector<int> scalars(launch.kernel->scalars.size() + 1);
  for (auto &[name, command] : launch.commands)
    for (size_t i = 0; i < command.unit->arguments.size(); i += 1) {
      const Argument &argument = command.unit->arguments[i];
      if (argument.port != nullptr) pointers[argument.position] = command.pointers[i];
      else scalars[argument.position] = command.scalars[i];
    }
  std::vector<char> message(1 << 16);
  if (!launch.kernel->launch(pointers.data(), scalars.data(), message.data(), message.size())) failure = message.data();
}

void work() {
  Device &d = device();
  std::unique_lock<std::mutex> lock(d.mutex);
  while (true) {
    d.arrived.wait(lock, [&] { return d.stopping || !d.queue.empty(); });
    if (d.stopping) return;
    const std::shared_ptr<Launch> launch = d.queue.front();
    trace("begin", launch->kernel->name);
    lock.unlock();
    const auto begin = Clock::now();
    std::string failure;
    compute(*launch, failure);
    std::this_thread::sleep_until(begin + LEAST_TIME);
    lock.lock();
    for (auto &[name, command] : launch->commands)
      for (auto &[argument, buffer] : command.buffers) {
        if (!argument->port->writes) continue;
        buffer->computed = true;
        buffer->fetched = false;
        if (!argument->port->updates) buffer->result_of = name + "." + argument->name;  // a cache stays where it is
      }
    for (auto &[name, command] : launch->commands)  // what a launch writes and reads again is no result of its own
      for (auto &[argument, buffer] : command.buffers)
        if (argument->port->reads) buffer->fetched = true;
    if (!failure.empty()) std::fprintf(stderr, "kernel %s: %s\n", launch->kernel->name.c_str(), failure.c_str());
    trace("end", launch->kernel->name);
    d.queue.pop_front();
    end(d, *launch, failure.empty() ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_ERROR);
  }
}

const Unit &unit_of(Device &d, const ert_start_kernel_cmd *start) {
  for (unsigned word = 0; word <= start->extra_cu_masks; word += 1)
    for (unsigned bit = 0; bit < 32; bit += 1)
      if (((word == 0 ? start->cu_mask : start->data[word - 1]) >> bit & 1) != 0) {
        if (word * 32 + bit >= d.units.size()) fail("a command for a compute unit that the xclbin does not have");
        return d.units[word * 32 + bit];
      }
  fail("a command for no compute unit");
}

std::string named(const Unit &unit, const Argument &argument) { return "argument '" + argument.name + "' of " + unit.name; }

std::shared_ptr<Buffer> bound(Device &d, const Unit &unit, const Argument &argument, uint64_t address) {
  const std::string name = named(unit, argument);
  std::shared_ptr<Buffer> buffer = d.at(address);
  if (buffer == nullptr) fail(name + " is no address of a buffer");
  const std::string bank = d.bank(unsigned(argument.bank)).tag;
  if (buffer->local_copy)
    fail(name + " is a copy that XRT made, because the host's buffer lies in another bank than " + bank +
         ", which the port is linked to");
  if (buffer->bank != unsigned(argument.bank))
    fail(name + " is a buffer in " + d.bank(buffer->bank).tag + "; the port is linked to " + bank);
  const uint64_t left = buffer->address + buffer->size - address;
  if (left < argument.port->bytes)
    fail(name + " is a buffer of " + std::to_string(left) + " bytes; the port takes " + std::to_string(argument.port->bytes));
  return buffer;
}

// What the kernel only reads has been sent as the host has it.
void require_sent(Self self, Device &d, const Unit &unit, const Command &command) {
  for (const auto &[argument, buffer] : command.buffers) {
    const bool written = std::any_of(command.buffers.begin(), command.buffers.end(),
                                     [buffer = buffer](const auto &it) { return it.second == buffer && it.first->port->writes; });
    if (written || buffer->computed) continue;
    if (!buffer->sent) fail(named(unit, *argument) + " is a buffer that nothing was sent to (sync TO_DEVICE)");
    for (const auto &[handle, other] : d.buffers)
      if (other == buffer && std::memcmp(vendor.map(self, handle, true), buffer->memory.get(), buffer->size) != 0)
        fail(named(unit, *argument) + " is a buffer that the host has written to since it was sent (sync TO_DEVICE)");
  }
}

void require_free(Device &d, const Unit &unit, const Command &command) {
  for (const auto &[argument, buffer] : command.buffers) {
    const std::string user = user_of(d, buffer, !argument->port->writes);
    if (user.empty()) continue;
    const Kernel *kernel = unit.kernel;
    if (user != unit.name && kernel->started.count(user) != 0 && d.waiting.count(kernel->name) != 0) continue;
    fail(unit.name + " is started while " + user + " still runs, which uses the buffer of " + named(unit, *argument) +
         ": the host has not waited for it");
  }
}

void start(Self self, Device &d, unsigned handle, ert_packet *packet, const Unit &unit) {
  const char *registers = registers_of(packet);
  Command command{handle, packet, &unit, {}, {}, {}};
  const auto value_of = [&](const Argument &argument) {
    uint64_t value = 0;
    std::memcpy(&value, registers + argument.offset, argument.port != nullptr ? 8 : 4);
    return value;
  };
  for (const Argument &argument : unit.arguments)
    if (argument.port != nullptr && value_of(argument) == 0) fail(named(unit, argument) + " is not set");
  for (const Argument &argument : unit.arguments) {
    const uint64_t value = value_of(argument);
    command.scalars.push_back(int(value));
    command.pointers.push_back(nullptr);
    if (argument.port == nullptr) continue;
    const std::shared_ptr<Buffer> buffer = bound(d, unit, argument, value);
    command.buffers.emplace_back(&argument, buffer);
    command.pointers.back() = buffer->memory.get() + (value - buffer->address);
  }
  require_free(d, unit, command);
  require_sent(self, d, unit, command);
  std::shared_ptr<Launch> &launch = d.waiting[unit.kernel->name];
  if (launch == nullptr) launch = std::make_shared<Launch>();
  if (launch->commands.count(unit.name) != 0) fail(unit.name + " is started again before the other units of its kernel");
  launch->kernel = unit.kernel;
  launch->begun = Clock::now();
  launch->commands.emplace(unit.name, std::move(command));
  packet->state = ERT_CMD_STATE_RUNNING;
  if (launch->commands.size() < unit.kernel->started.size()) return;
  d.queue.push_back(launch);
  d.waiting.erase(unit.kernel->name);
  if (!d.worker.joinable()) {
    d.worker = std::thread(work);
    std::atexit([] { device().stop(); });
  }
  d.arrived.notify_all();
}

void exec(Self self, unsigned handle) {
  auto *packet = static_cast<ert_packet *>(vendor.map(self, handle, true));
  Device &d = device();
  const std::lock_guard<std::mutex> lock(d.mutex);
  if (packet->opcode != ERT_START_CU) {  // settings of the scheduler
    packet->state = ERT_CMD_STATE_COMPLETED;
    d.completed += 1;
    d.ended.notify_all();
    return;
  }
  const Unit &unit = unit_of(d, reinterpret_cast<const ert_start_kernel_cmd *>(packet));
  put_back(d, handle, packet);
  try {
    start(self, d, handle, packet, unit);
  } catch (...) {
    take_out(d, handle, packet, unit);
    throw;
  }
}

// A kernel whose other units nobody starts would never end.
void give_up(Device &d) {
  for (auto it = d.waiting.begin(); it != d.waiting.end();) {
    if (!d.queue.empty() || Clock::now() - it->second->begun < PATIENCE) {
      ++it;
      continue;
    }
    std::string missing;
    for (const std::string &unit : it->second->kernel->started)
      if (it->second->commands.count(unit) == 0) missing += (missing.empty() ? "" : ", ") + unit;
    std::fprintf(stderr, "kernel %s: nobody has started %s\n", it->first.c_str(), missing.c_str());
    end(d, *it->second, ERT_CMD_STATE_ERROR);
    it = d.waiting.erase(it);
  }
}

int wait(Self, int milliseconds) {
  Device &d = device();
  std::unique_lock<std::mutex> lock(d.mutex);
  if (!d.ended.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return d.completed != 0; })) give_up(d);
  if (d.completed == 0) return 0;
  d.completed -= 1;
  return 1;
}

// The table ----------------------------------------------------------------------------------------------------------------------

struct Slot {
  const char *name;
  void *ours;
  void **theirs;
};

#define SHIM(function) "_ZN8xrt_core4shimINS_11device_pcieEE" function

void install() {
  void *library = dlopen(STC_REAL_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) fail(std::string("cannot load XRT's driver: ") + dlerror());
  auto **table = static_cast<void **>(dlsym(library, "_ZTVN8xrt_core4noop6deviceE"));
  const Slot slots[] = {
      {SHIM("8alloc_boEmj"), reinterpret_cast<void *>(alloc), reinterpret_cast<void **>(&vendor.alloc)},
      {SHIM("8alloc_boEPvmj"), reinterpret_cast<void *>(alloc_user), reinterpret_cast<void **>(&vendor.alloc_user)},
      {SHIM("7free_boEj"), reinterpret_cast<void *>(free_buffer), reinterpret_cast<void **>(&vendor.free)},
      {SHIM("6map_boEjb"), nullptr, reinterpret_cast<void **>(&vendor.map)},
      {"_ZNK8xrt_core4shimINS_11device_pcieEE17get_bo_propertiesEjP15xclBOProperties", reinterpret_cast<void *>(properties),
       reinterpret_cast<void **>(&vendor.properties)},
      {SHIM("7sync_boEj18xclBOSyncDirectionmm"), reinterpret_cast<void *>(sync), nullptr},
      {SHIM("7copy_boEjjmmm"), reinterpret_cast<void *>(copy), nullptr},
      {SHIM("8exec_bufEj"), reinterpret_cast<void *>(exec), nullptr},
      {"_ZNK8xrt_core4shimINS_11device_pcieEE9exec_waitEi", reinterpret_cast<void *>(wait), nullptr},
      {SHIM("9load_axlfEPK4axlf"), reinterpret_cast<void *>(load), reinterpret_cast<void **>(&vendor.load)},
  };
  constexpr size_t ENTRIES = 80;  // of 71 in 2.13; what follows are other tables
  const long page = sysconf(_SC_PAGESIZE);
  for (const Slot &slot : slots) {
    void *theirs = dlsym(library, slot.name);
    void **entry = table == nullptr || theirs == nullptr ? nullptr : std::find(table, table + ENTRIES, theirs);
    if (entry == nullptr || entry == table + ENTRIES)
      fail("XRT's driver is not that of XRT 2.13; accepted: Debian 12's package libxrt1, or --device csim");
    if (slot.theirs != nullptr) *slot.theirs = theirs;
    if (slot.ours == nullptr) continue;
    const auto begin = reinterpret_cast<uintptr_t>(entry) / uintptr_t(page) * uintptr_t(page);
    if (mprotect(reinterpret_cast<void *>(begin), size_t(page), PROT_READ | PROT_WRITE) != 0)
      fail("XRT's driver cannot be changed in memory");
    *entry = slot.ours;
    mprotect(reinterpret_cast<void *>(begin), size_t(page), PROT_READ);
  }
}

struct Installed {
  Installed() {
    try {
      install();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "error: %s\n", error.what());
      std::_Exit(2);
    }
  }
} installed;

}  // namespace
