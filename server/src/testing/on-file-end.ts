const open: (() => Promise<void>)[] = [];

/**
 * Runs `close` when the test file ends, last opened first. Returns it as a function that may be
 * called earlier and more than once.
 */
export function onFileEnd(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | null = null;
  const once = () => (closing ??= close());
  open.push(once);
  return once;
}

/** Closes what the test file has opened. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}
