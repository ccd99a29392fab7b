// Starts and ends: what is tested is that the whole archive of one module links with only the
// dependencies that the module declares, and that its static initialisers run.
int main() {}
