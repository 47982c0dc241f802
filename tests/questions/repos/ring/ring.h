#ifndef RING_H
#define RING_H

#include <stddef.h>

#define RING_SIZE 64

/* A buffer that overwrites its oldest byte. */
typedef struct ring {
    unsigned char data[RING_SIZE];
    size_t head;
} ring;

void ring_init(ring *r);
int ring_push(ring *r, unsigned char byte);

#endif
