/** Returns an API key with its middle hidden. */
export function maskKey(key: string): string {
  return `${key.slice(0, 6)}${'•'.repeat(Math.max(0, key.length - 10))}${key.slice(-4)}`;
}
