import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The owner and purpose of the text, and the server's secret. */
export type Encryption = { userId: string; purpose: string; secret: string };

/**
 * Encrypts a text with AES-256-GCM. The key is derived from the server's secret and the purpose, and the text
 * is bound to its owner. Returns nonce, ciphertext and tag.
 */
export function encrypt(text: string, { userId, ...of }: Encryption): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(of), nonce);
  cipher.setAAD(Buffer.from(userId));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a text. Throws if the server's secret or the bytes have changed. */
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
