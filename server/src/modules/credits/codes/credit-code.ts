import { createHash, randomInt } from 'node:crypto';

/** Crockford's alphabet: no letter resembles a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** Returns a random code of 80 bits, such as 'K7QF-3M9T-XR2A-8VWD'. */
export function makeCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** Returns the hash of a code. Ignores case and dashes, and reads O as 0, and I and L as 1. */
export function hashCode(typed: string): Buffer {
  const code = typed
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return createHash('sha256').update(code).digest();
}

/** Returns the last characters of a code, to tell codes apart. */
export function hintOf(code: string): string {
  return code.slice(-GROUP_LENGTH);
}
