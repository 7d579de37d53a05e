import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { askHub, unreachable } from './ask-hub.ts';
import { fileUrl } from './file-url.ts';
import { type HubClient, nameOf, type Repo, type RepoFile } from './hub-client.ts';
import { refuseAnswer } from './refuse-answer.ts';

/** A configuration is small, but a repository may contain anything under its name. */
const BYTES_MAX = 512 * 1024;

const object = z.record(z.string(), z.unknown());

/**
 * Returns the object in a small JSON file of a repository; null if there is none. Throws the errors of
 * `askHub` and `refuseAnswer`.
 */
export async function readRemoteJson(
  { access }: HubClient,
  {
    repo,
    revision,
    file,
    signal,
  }: { repo: Repo; revision: string; file: RepoFile | undefined; signal: AbortSignal },
): Promise<Record<string, unknown> | null> {
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  const answer = await askHub(access, fileUrl(access.url, repo, revision, file.path), { signal });
  const { statusCode = 0, headers } = answer;
  if (statusCode !== 200 || Number(headers['content-length'] ?? 0) > BYTES_MAX) {
    answer.destroy();
    throw refuseAnswer({ statusCode, headers }, { what: nameOf(repo), token: access.token });
  }
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) answer.destroy(new SyntaxError('too long'));
  });
  try {
    return object.safeParse(JSON.parse(await text(answer))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    signal.throwIfAborted();
    throw unreachable(error);
  }
}
