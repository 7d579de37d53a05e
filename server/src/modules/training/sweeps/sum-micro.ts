/** The sum of an amount of each. Pure. */
export function sumMicro<T>(all: readonly T[], microOf: (one: T) => bigint): bigint {
  return all.reduce((sum, one) => sum + microOf(one), 0n);
}
