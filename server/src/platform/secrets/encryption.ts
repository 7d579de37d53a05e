import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The owner and the purpose of the text, and the server's secret. */
export type Encryption = { userId: string; purpose: string; secret: string };

/**
 * Encrypts with AES-256-GCM under a key derived from the server's secret for this purpose only, bound to the
 * owner: nonce, ciphertext, tag.
 */
export function encrypt(text: string, { userId, ...of }: Encryption): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(of), nonce);
  cipher.setAAD(Buffer.from(userId));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the secret is not the one used for encryption, or the bytes were changed. */
export function decrypt(encrypted: Buffer, { userId, ...of }: Encryption): string {
  const nonce = encrypted.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', encryptionKey(of), nonce);
  decipher.setAAD(Buffer.from(userId));
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
  const text = [decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
  return Buffer.concat(text).toString('utf8');
}

function encryptionKey({ purpose, secret }: Omit<Encryption, 'userId'>): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
