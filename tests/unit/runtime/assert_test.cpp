#define BOOST_TEST_MODULE assert
#include "runtime/assert.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "runtime/inline_list.hpp"

namespace {

struct child_end {
  int signal = 0;
  std::string words;
};

// Runs `body` in a child process and says how the child ended and what it wrote to stderr.
template <class Body>
child_end end_of(Body body) {
  int pipe_ends[2];
  BOOST_REQUIRE_EQUAL(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  BOOST_REQUIRE_GE(child, 0);
  if (child == 0) {
    ::dup2(pipe_ends[1], STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    body();
    ::_exit(0);
  }
  ::close(pipe_ends[1]);
  child_end end;
  char text[512];
  for (ssize_t got = 0; (got = ::read(pipe_ends[0], text, sizeof text)) > 0;)
    end.words.append(text, static_cast<std::size_t>(got));
  ::close(pipe_ends[0]);
  int status = 0;
  BOOST_REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_broken_invariant_ends_the_process_and_names_condition_and_file) {
  const auto end = end_of([] { TROUPE_ASSERT(1 + 1 == 3); });
  BOOST_TEST(end.signal == SIGABRT);
  BOOST_TEST(end.words.find("1 + 1 == 3") != std::string::npos);
  BOOST_TEST(end.words.find("assert_test.cpp:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_invariant_that_holds_does_nothing) {
  const auto end = end_of([] { TROUPE_ASSERT(1 + 1 == 2); });
  BOOST_TEST(end.signal == 0);
  BOOST_TEST(end.words.empty());
}

BOOST_AUTO_TEST_CASE(the_debug_assertion_follows_NDEBUG) {
  const auto end = end_of([] { TROUPE_DASSERT(1 + 1 == 3); });
#ifdef NDEBUG
  BOOST_TEST(end.signal == 0);
#else
  BOOST_TEST(end.signal == SIGABRT);
#endif
}

BOOST_AUTO_TEST_CASE(a_list_past_its_capacity_is_a_broken_invariant) {
  const auto end = end_of([] {
    troupe::inline_list<int, 2> list;
    for (int i = 0; i < 3; ++i)
      list.push_back(i);
  });
  BOOST_TEST(end.signal == SIGABRT);
}
