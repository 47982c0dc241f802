#include <stdio.h>
#include "ring.h"

int main(void) {
    ring r;
    ring_init(&r);
    for (int i = 0; i < RING_SIZE; i++) {
        ring_push(&r, (unsigned char)i);
    }
    printf("ring_push done\n");
    return 0;
}
