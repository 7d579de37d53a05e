import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { HUB_UNREACHABLE, type HubRepository, type RepoType } from '@bakehouse/contract/hub/public';
import { datasetInfo, listDatasets, listFiles, listModels, modelInfo, whoAmI } from '@huggingface/hub';
import * as z from 'zod';
import { AppError, conflict, notFoundError, unavailable } from '../../../platform/errors.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { type HubAccess, requestHub, unreachable } from './request-hub.ts';

/** Maximum size of a response; the metadata of a thousand files is smaller. */
const ANSWER_BYTES_MAX = 16 * 1024 ** 2;

/** Maximum time from sending a request to receiving the last byte. */
const LIMIT_MS = 20_000;

const word = z.string().max(200);

const entryFacts = z.object({
  name: word,
  gated: z.union([z.boolean(), word]).catch(false),
  downloads: z.number().catch(0),
  likes: z.number().catch(0),
  task: word.nullish(),
  updatedAt: z.date().nullable().catch(null),
});

const TAGS_SHOWN_MAX = 20;

const facts = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  cardData: z
    .object({
      license: z
        .union([word, z.array(word).transform((all) => all.join(', '))])
        .nullish()
        .catch(null),
      license_name: word.nullish().catch(null),
    })
    .nullish()
    .catch(null),
  tags: z
    .array(word)
    .catch([])
    .transform((all) => all.slice(0, TAGS_SHOWN_MAX)),
});

const treeEntry = z.object({
  path: z.string().min(1),
  size: z.int().min(0),
  oid: z.string().regex(/^[0-9a-f]{40}$/),
  lfs: z
    .object({
      oid: z
        .string()
        .transform((oid) => oid.replace(/^sha256:/, ''))
        .pipe(z.string().regex(/^[0-9a-f]{64}$/)),
      size: z.int().min(0),
    })
    .nullish(),
});

/** Maximum number of files of a repository that are listed and cloned. */
export const FILES_MAX = 100_000;

export type Repo = { type: RepoType; id: string };

/** Properties of a repository on the hub. */
export type RepoInfo = HubRepository & {
  revision: string;
  licence: string | null;
  tags: string[];
};

/** A file as the hub lists it: large files have a SHA-256, others only Git's hash. */
export type RepoFile = { path: string; sizeBytes: number; sha256: string | null; gitSha1: string };

/**
 * Client of the public hub for one user. Validates all responses. Throws AppErrors, or the reason of
 * `signal`.
 */
export type HubClient = ReturnType<typeof hubClient>;

export function hubClient(access: HubAccess, signal: AbortSignal) {
  const fetchFor = (what: string) => hubFetch(access, { what, signal });
  const optionsFor = (what: string) => ({ hubUrl: access.url, fetch: fetchFor(what) });
  return {
    access,
    /** Returns up to `limit` repositories, most downloaded first. */
    search: (type: RepoType, query: string, limit: number): Promise<HubRepository[]> =>
      checked(async () => {
        const options = { ...optionsFor('repository'), search: { query }, limit, sort: 'downloads' as const };
        const found = type === 'model' ? listModels(options) : listDatasets(options);
        const repositories: HubRepository[] = [];
        for await (const entry of found) repositories.push(toRepository(type, entry));
        return repositories;
      }),
    /** Returns a repository's newest commit and card metadata. */
    describe: (repo: Repo): Promise<RepoInfo> =>
      checked(async () => {
        const options = { ...optionsFor(nameOf(repo)), name: repo.id };
        const additionalFields = ['sha', 'cardData', 'tags'] as const;
        const found =
          repo.type === 'model'
            ? await modelInfo({ ...options, additionalFields: [...additionalFields] })
            : await datasetInfo({ ...options, additionalFields: [...additionalFields] });
        const { sha, cardData, tags } = facts.parse(found);
        return {
          ...toRepository(repo.type, found),
          revision: sha,
          // The name of a licence that is not in the hub's list.
          licence:
            (cardData?.license === 'other' ? cardData.license_name : null) ?? cardData?.license ?? null,
          tags,
        };
      }),
    /** Returns the files of a commit. Throws AppError 'conflict' if there are more than `max`. */
    listFiles: (repo: Repo, revision: string, max: number): Promise<RepoFile[]> =>
      checked(async () => {
        const options = { ...optionsFor(nameOf(repo)), repo: { type: repo.type, name: repo.id } };
        const files: RepoFile[] = [];
        for await (const entry of listFiles({ ...options, revision, recursive: true })) {
          if (entry.type !== 'file') continue;
          if (files.length >= max)
            throw conflict(
              `The ${nameOf(repo)} has more than ${max.toLocaleString('en-GB')} files, and no more can be cloned`,
            );
          files.push(toFile(entry));
        }
        return files;
      }),
    /**
     * Throws AppError 'conflict' if the repository is gated and the user may not read it. A hub without this
     * endpoint has no gated repositories.
     */
    requireAccess: async (repo: Repo): Promise<void> => {
      try {
        await fetchFor(nameOf(repo))(`${access.url}/api/${repo.type}s/${repo.id}/auth-check`);
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      }
    },
    /** Returns the account name of the token. */
    whoAmI: (): Promise<string> =>
      checked(async () => {
        // The library accepts only huggingface.co tokens; `hubFetch` sends the real one.
        const { name } = await whoAmI({ ...optionsFor('account'), accessToken: 'hf_' });
        return z.string().max(200).parse(name);
      }),
  };
}

function toRepository(type: RepoType, entry: unknown): HubRepository {
  const { name, gated, downloads, likes, task, updatedAt } = entryFacts.parse(entry);
  return {
    ...{ repo_id: name, repo_type: type, gated: gated !== false, downloads, likes },
    ...{ task: task ?? null, updated_at: updatedAt?.toISOString() ?? null },
  };
}

function toFile(entry: unknown): RepoFile {
  const { path, size, oid, lfs } = treeEntry.parse(entry);
  return { path, sizeBytes: lfs?.size ?? size, sha256: lfs?.oid ?? null, gitSha1: oid };
}

/** Converts parse errors to AppErrors. Other errors pass unchanged. */
async function checked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || !isUnreadable(error)) throw error;
    throw unavailable(`${HUB_UNREACHABLE}: its answer cannot be read`, { cause: error });
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError || error instanceof TypeError;
}

/** Returns how messages name the repository, e.g. 'model ada/loaf'. */
export function nameOf({ type, id }: Repo): string {
  return `${type} ${id}`;
}

/**
 * Returns the `fetch` function for the hub's own client library; it requests JSON. It throws AppErrors, which
 * the library passes on: 'not_found', 'conflict' for a gated repository, and 'unavailable'. `what` names the
 * requested object in messages.
 */
function hubFetch(access: HubAccess, { what, signal }: { what: string; signal: AbortSignal }): typeof fetch {
  return async (input) => {
    using limited = linkSignals(AbortSignal.timeout(LIMIT_MS), signal);
    const url = new URL(input instanceof Request ? input.url : input);
    try {
      const answer = await requestHub(access, url, {
        headers: { accept: 'application/json' },
        signal: limited.signal,
      });
      const { statusCode = 0, headers } = answer;
      if (statusCode !== 200) {
        answer.destroy();
        throw hubResponseError({ statusCode, headers }, { what, token: access.token });
      }
      const { link } = headers;
      const body = await readBounded(answer);
      return new Response(body, {
        headers: { 'content-type': 'application/json', ...(link && { link: String(link) }) },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw limited.signal.aborted ? unreachable(error) : error;
    }
  };
}

async function readBounded(answer: Readable): Promise<Buffer<ArrayBuffer>> {
  let bytes = 0;
  const bounded = async function* () {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error('response larger than 16 MB');
      yield chunk;
    }
  };
  try {
    return await buffer(Readable.from(bounded()));
  } catch (error) {
    answer.destroy();
    throw unreachable(error);
  }
}

/** Returns the pause of a Retry-After header (seconds or a date) in milliseconds; null if there is none. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/**
 * Returns the error for a failed response of the public hub. Never returns 401 or 403: to our caller these
 * mean that their own API key is wrong.
 */
export function hubResponseError(
  { statusCode, headers }: { statusCode: number; headers: IncomingHttpHeaders },
  { what, token }: { what: string; token: string | null },
): AppError {
  const code = String(headers['x-error-code'] ?? '');
  if (code === 'GatedRepo') return gatedError(what, token);
  if (statusCode === 429) {
    const ms = readRetryAfter(headers['retry-after'], new Date());
    const when = ms === null ? 'a moment' : `${Math.ceil(ms / 1000)} s`;
    return unavailable(`The public hub accepts no more requests for now. Try again in ${when}`);
  }
  // The hub answers 401 or 404 for a private repository, as if it did not exist.
  if ([401, 403, 404].includes(statusCode)) {
    if (statusCode !== 404 && token !== null && code !== 'RepoNotFound')
      return conflict('The public hub refuses your access token. Save another one, or delete it');
    return notFoundError(`The public hub has no ${what} that you may read`);
  }
  return unreachable(new Error(`status ${statusCode}`));
}

function gatedError(what: string, token: string | null): AppError {
  return conflict(
    token === null
      ? `The ${what} is gated: accept its terms on the public hub, and save an access token of your account there`
      : `The ${what} is gated, and the account of your token has no access: accept its terms on the public hub`,
  );
}
