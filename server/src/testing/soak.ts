/** Whether this is `./bakehouse test --soak`, which nobody waits for. */
const isSoak = process.env.BAKEHOUSE_TEST_SOAK === 'true';

/** How often to do, or how much to try: little in every run, much in a soak. */
export function effort<Value>({ usual, soak }: { usual: Value; soak: Value }): Value {
  return isSoak ? soak : usual;
}
