# Sets TROUPE_VERBS_FOUND: whether net/verbs can be built. Its absence is no error here; who asks
# for transport.lanes = verbs without it hears why.
set(TROUPE_VERBS_FOUND OFF)
if(TROUPE_WITH_VERBS)
  find_path(TROUPE_VERBS_HEADERS infiniband/verbs.h)
  find_library(TROUPE_VERBS_LIBRARY ibverbs)
  if(TROUPE_VERBS_HEADERS AND TROUPE_VERBS_LIBRARY)
    set(TROUPE_VERBS_FOUND ON)
  else()
    message(STATUS "net/verbs is left out: no infiniband/verbs.h (Debian, Ubuntu: libibverbs-dev)")
  endif()
endif()
