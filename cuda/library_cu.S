//go:build cuda && linux && (amd64 || arm64)

/* Every function of the driver that gorgonia.org/cu refers to, as a jump
 * through a slot that library_cu.c fills when the driver is opened. So the
 * program does not link the driver, and starts where there is none.
 *
 * The names are hidden: the driver must find its own functions, not these. */

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
