import { createHash, randomInt } from 'node:crypto';

/** Crockford's alphabet: no letter looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** A random code of 80 bits, such as 'K7QF-3M9T-XR2A-8VWD'. */
export function makeCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** A code as it is hashed, however it was typed: in lower case, without dashes, with O for 0. */
export function hashCode(typed: string): Buffer {
  const code = typed
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return createHash('sha256').update(code).digest();
}

/** Its last characters, by which people tell codes apart. */
export function hintOf(code: string): string {
  return code.slice(-GROUP_LENGTH);
}
