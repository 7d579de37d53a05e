/** True in `./bakehouse test --soak`, which may take long. */
export const isSoak = process.env.BAKEHOUSE_TEST_SOAK === 'true';

/** Returns a small effort for ordinary test runs, and a large one for a soak. */
export function effort<Value>({ usual, soak }: { usual: Value; soak: Value }): Value {
  return isSoak ? soak : usual;
}
