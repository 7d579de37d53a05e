import { afterAll } from 'vitest';

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

// This file is a setup file of vitest: the hook belongs to the test file, wherever a test opens things.
afterAll(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
