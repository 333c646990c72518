//go:build cuda && linux && (amd64 || arm64)

/* Every driver function that gorgonia.org/cu references, as a jump through a
 * slot that library_cu.c fills when the driver is opened. The program therefore
 * does not link the driver, and starts without it.
 *
 * The names are hidden, so that the driver calls its functions and not these. */

#if defined(__x86_64__)
#define JUMP(slot) movq slot(%rip), %r11 ; jmp *%r11
#elif defined(__aarch64__)
#define JUMP(slot) adrp x16, slot ; ldr x16, [x16, #:lo12:slot] ; br x16
#endif

#define SYMBOL(name) \
	.globl name ; .hidden name ; .type name, %function ; \
	name: JUMP(vssgp_slot_##name) ; .size name, .-name ;

	.text
	.balign 16
#include "symbols.h"

	.section .note.GNU-stack, "", %progbits
