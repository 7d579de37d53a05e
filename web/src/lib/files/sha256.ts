/**
 * Returns the SHA-256 in hex. Uses the browser's implementation, which requires HTTPS or localhost, else
 * JavaScript.
 */
export async function sha256(bytes: ArrayBuffer): Promise<string> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  const hash = subtle
    ? new Uint8Array(await subtle.digest('SHA-256', bytes))
    : (await import('@noble/hashes/sha2.js')).sha256(new Uint8Array(bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
