int answer();

int twice_the_answer() {
  return 2 * answer();
}
