import { describe, expect, test } from 'vitest';
import { decryptApiKey, encryptApiKey, hashApiKey, isApiKey, makeApiKey } from './api-key.ts';

describe('API keys', () => {
  test('have the prefix, 43 random characters and a checksum of 6', () => {
    const key = makeApiKey();
    expect(key).toMatch(/^bk_[0-9A-Za-z]{49}$/);
    expect(isApiKey(key)).toBe(true);
    expect(makeApiKey()).not.toBe(key);
  });

  test('with one wrong character are rejected without the database', () => {
    const key = makeApiKey();
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
    expect(isApiKey('')).toBe(false);
    expect(isApiKey(`${key}0`)).toBe(false);
  });

  test('hash to 32 bytes', () => {
    expect(hashApiKey(makeApiKey())).toHaveLength(32);
  });

  test('are decrypted only with the same secret for the same owner', () => {
    const key = makeApiKey();
    const owner = { userId: 'ada', secret: 'a secret of at least 32 characters' };
    const encrypted = encryptApiKey(key, owner);
    expect(encrypted.includes(key)).toBe(false);
    expect(decryptApiKey(encrypted, owner)).toBe(key);
    expect(() => decryptApiKey(encrypted, { ...owner, userId: 'bob' })).toThrow();
    expect(() =>
      decryptApiKey(encrypted, { ...owner, secret: 'another secret of 32 characters!' }),
    ).toThrow();
    encrypted[20] = (encrypted[20] ?? 0) ^ 1;
    expect(() => decryptApiKey(encrypted, owner)).toThrow();
  });
});
