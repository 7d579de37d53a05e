import { type Encryption, encrypt } from '../../../platform/secrets/encryption.ts';
import type { XTokens } from './x-client.ts';

/** Encrypts tokens for the database. */
export function toTokenColumns(
  { accessToken, refreshToken, expiresInSeconds }: XTokens,
  encryption: Encryption,
  now: Date,
) {
  return {
    access_token: encrypt(accessToken, encryption),
    refresh_token: encrypt(refreshToken, encryption),
    expires_at: new Date(now.getTime() + expiresInSeconds * 1000),
  };
}
