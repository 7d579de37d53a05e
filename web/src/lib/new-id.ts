/**
 * Returns a random id of 32 hex digits. Not `crypto.randomUUID`, which requires https or localhost; Bakehouse
 * also runs over plain http in local networks.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns a random UUID (version 4), for APIs that require one. */
export function newUuid(): string {
  const digits = newId();
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const marked = `${digits.slice(0, 12)}4${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
