#include "actors/worker/placement.hpp"

#include <hwloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace troupe::actors {

namespace {

struct free_bitmap {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, free_bitmap>;

class machine {
 public:
  machine() {
    loaded_ = hwloc_topology_init(&topology_) == 0 && hwloc_topology_load(topology_) == 0;
  }
  ~machine() { hwloc_topology_destroy(topology_); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  bool loaded() const { return loaded_; }
  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

std::string list_of(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, set);
  std::string out = text == nullptr ? "" : text;
  std::free(text);
  return out;
}

}  // namespace

outcome<void> bind_thread(pthread_t thread, const std::string& cpus) {
  if (cpus.empty()) return {};
  const machine here;
  if (!here.loaded())
    return fail(errc::bad_configuration, "worker.cpus: hwloc cannot read this machine's topology");
  const bitmap wanted(hwloc_bitmap_alloc());
  const bitmap allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(here.get())));
  if (hwloc_bitmap_list_sscanf(wanted.get(), cpus.c_str()) != 0 ||
      !hwloc_bitmap_intersects(wanted.get(), allowed.get()))
    return fail(errc::bad_configuration, "worker.cpus = \"" + cpus +
                                             "\" names no processor this process may use; it may "
                                             "use " +
                                             list_of(allowed.get()));
  if (hwloc_set_thread_cpubind(here.get(), thread, wanted.get(), 0) != 0)
    return fail(failure{error{errc::bad_configuration, errno},
                        "worker.cpus = \"" + cpus + "\": " + std::strerror(errno)});
  return {};
}

}  // namespace troupe::actors
