/** Magic bytes of PNG, JPEG and WebP. */
const BEGINNINGS = ['\x89PNG\r\n', '\xff\xd8\xff', 'RIFF'];

/**
 * Returns the bytes of a picture cell: the cell itself, or the `bytes` field that the library `datasets`
 * writes.
 */
export function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  const { bytes }: { bytes?: unknown } = Object(value);
  return bytes instanceof Uint8Array ? bytes : null;
}

/** True if the cell holds a picture, by its magic bytes. */
export function isPicture(value: unknown): boolean {
  const begin = Buffer.from(bytesOf(value)?.subarray(0, 8) ?? []).toString('latin1');
  return BEGINNINGS.some((magic) => begin.startsWith(magic));
}
