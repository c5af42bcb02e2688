/* A signal handler that counts how often Python looks for signals: it sends its signal again. See processes.more_looks. */
extern int PyErr_SetInterruptEx(int);
long looks = 0;
void look(int number, void *frame) {
    looks++;
    PyErr_SetInterruptEx(number);
}
