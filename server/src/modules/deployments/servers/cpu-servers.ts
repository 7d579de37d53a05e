/**
 * Model servers that may run on the CPU of a machine at once. They idle most of the time, and a server is
 * replaced by starting its successor beside it, so there must be room for more than are wanted. Three of them are for the starter models.
 */
export const CPU_SERVERS = 6;
