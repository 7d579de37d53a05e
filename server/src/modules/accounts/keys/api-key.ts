import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'bk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256. */
const RANDOM_LENGTH = 43;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const shape = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A new API key: prefix, 32 random bytes in base62, and a CRC-32 that tells typing errors and secret scanners' false finds apart from keys. */
export function makeApiKey(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH);
  return PREFIX + random + checksum(random);
}

/** Whether the text could be a key, without asking the database. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(PREFIX.length, -CHECKSUM_LENGTH)));
}

/** What the database looks keys up by. The key has 256 random bits, so it needs no salt and no slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** AES-256-GCM under a key derived from the server's secret, bound to its owner: nonce, ciphertext, tag. */
export function encryptApiKey(key: string, owner: { userId: string; secret: string }): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(owner.secret), nonce);
  cipher.setAAD(Buffer.from(owner.userId));
  return Buffer.concat([nonce, cipher.update(key, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the secret is another one than at encryption, or the bytes were changed. */
export function decryptApiKey(encrypted: Buffer, owner: { userId: string; secret: string }): string {
  const decipher = createDecipheriv(
    'aes-256-gcm',
    encryptionKey(owner.secret),
    encrypted.subarray(0, NONCE_BYTES),
  );
  decipher.setAAD(Buffer.from(owner.userId));
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
  return Buffer.concat([
    decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES)),
    decipher.final(),
  ]).toString('utf8');
}

function encryptionKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'bakehouse api keys', 32));
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
