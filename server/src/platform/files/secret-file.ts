import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readOrMakeFile } from './kept-file.ts';

const LENGTH_MIN = 32;

/** Returns the secret from `<dataDir>/secret`, created if missing. Throws a sentence if it is unusable. */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret');
  const secret = await readOrMakeFile(file, randomBytes(32).toString('base64url'));
  if (secret.length < LENGTH_MIN) {
    throw new Error(
      `${file} holds no usable secret: restore it from a backup; a new one ends all sessions and hides the API keys that the web app shows`,
    );
  }
  return secret;
}
