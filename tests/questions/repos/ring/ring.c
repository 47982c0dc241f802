#include "ring.h"

static size_t next_index(size_t at) {
    return (at + 1) % RING_SIZE;
}

void ring_init(ring *r) {
    r->head = 0;
}

/* Push a byte; never fails. */
int ring_push(ring *r, unsigned char byte) {
    r->data[r->head] = byte;
    r->head = next_index(r->head);
    return 0;
}
