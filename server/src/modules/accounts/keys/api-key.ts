import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { decrypt, encrypt } from '../../../platform/secrets/encryption.ts';

const PREFIX = 'bk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 digits hold 32 bytes: 62^43 > 2^256. */
const RANDOM_LENGTH = 43;
/** 6 base62 digits hold a CRC-32: 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const shape = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** Separates the encryption of API keys from other uses of the server's secret. */
const PURPOSE = 'bakehouse api keys';

/**
 * Returns a new API key: a prefix, 32 random bytes in base62, and a CRC-32. The CRC-32 detects typing errors,
 * and lets secret scanners discard false positives.
 */
export function makeApiKey(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH);
  return PREFIX + random + checksum(random);
}

/** Returns true if the text has the format of a key. Does not query the database. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(PREFIX.length, -CHECKSUM_LENGTH)));
}

/** Returns the hash that identifies a key. Keys have 256 random bits, so they need no salt or slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Encrypts a key. The web app's key is stored encrypted, because it is shown again. */
export function encryptApiKey(key: string, owner: { userId: string; secret: string }): Buffer {
  return encrypt(key, { ...owner, purpose: PURPOSE });
}

/** Decrypts a key. Throws if the secret differs from the one at encryption, or if the bytes were changed. */
export function decryptApiKey(encrypted: Buffer, owner: { userId: string; secret: string }): string {
  return decrypt(encrypted, { ...owner, purpose: PURPOSE });
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
