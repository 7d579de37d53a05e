/**
 * A random id of 32 hexadecimal digits. Not `crypto.randomUUID`: browsers have that only over https
 * and on localhost, and Bakehouse is also reached over plain http in a team's own network.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
