import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const LENGTH_MIN = 32;

/**
 * The server's secret from `<dataDir>/secret`, made with mode 600 when missing. Two processes that
 * start at once get the same one. Throws a plain sentence when the file is not usable.
 */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret');
  await mkdir(dataDir, { recursive: true });
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    // A link appears whole or not at all, and never replaces what is there.
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret.length < LENGTH_MIN) {
    throw new Error(
      `${file} holds no usable secret: restore it from a backup; a new one ends all sessions and hides the API keys that the web app shows`,
    );
  }
  return secret;
}
