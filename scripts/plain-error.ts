/** Something that the person at the terminal can act on: printed as its sentence, without a stack. */
export class PlainError extends Error {}
