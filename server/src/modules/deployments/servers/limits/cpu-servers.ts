/** The starter models that everybody uses: one of text, one that generates and one that edits. */
export const STARTER_SERVERS = 3;

/**
 * Model servers that may run on the CPU of a machine at once, the starter models' among them. They idle most of the
 * time, and a server is replaced by starting its successor beside it, so there must be room for more than are wanted.
 */
export const CPU_SERVERS = STARTER_SERVERS + 3;
