const open: (() => Promise<void>)[] = [];

/**
 * Runs `close` when the test file ends, in reverse order of registration. Returns a function that closes
 * earlier and may be called repeatedly.
 */
export function onFileEnd(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | null = null;
  const once = () => (closing ??= close());
  open.push(once);
  return once;
}

/** Closes everything that the test file has registered. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}
