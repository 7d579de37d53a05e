/** How PNG, JPEG and WebP begin. */
const BEGINNINGS = ['\x89PNG\r\n', '\xff\xd8\xff', 'RIFF'];

/** The bytes of a picture in a cell: the cell itself, or as the library `datasets` has them, with a path beside them. */
export function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  const { bytes }: { bytes?: unknown } = Object(value);
  return bytes instanceof Uint8Array ? bytes : null;
}

/** Whether a cell holds a picture, by how its bytes begin. */
export function isPicture(value: unknown): boolean {
  const begin = Buffer.from(bytesOf(value)?.subarray(0, 8) ?? []).toString('latin1');
  return BEGINNINGS.some((magic) => begin.startsWith(magic));
}
