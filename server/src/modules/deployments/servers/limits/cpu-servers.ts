/** The starter models that all users share: text, picture generation and picture editing. */
export const STARTER_SERVERS = 3;

/**
 * Model servers that may run concurrently on one machine's CPU, including the starter models. They are idle
 * most of the time, and a server is replaced by starting its successor first, so this exceeds the number
 * normally in use.
 */
export const CPU_SERVERS = STARTER_SERVERS + 3;
