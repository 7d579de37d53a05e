import { HUB_UNREACHABLE, type HubRepository, type RepoType } from '@bakehouse/contract/hub/public';
import { datasetInfo, listDatasets, listFiles, listModels, modelInfo, whoAmI } from '@huggingface/hub';
import * as z from 'zod';
import { AppError } from '../../../platform/errors.ts';
import type { HubAccess } from './ask-hub.ts';
import { hubFetch } from './hub-fetch.ts';

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
 * Client of the public hub for one user. Validates all responses: throws AppErrors, and the reason of
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
          // A licence outside the hub's list has its own name.
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
          if (files.length >= max) throw tooMany(repo, max);
          files.push(toFile(entry));
        }
        return files;
      }),
    /**
     * Throws AppError 'conflict' if the user may not read a gated repository. A hub without this call gates
     * nothing.
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

const word = z.string().max(200);

const entryFacts = z.object({
  name: word,
  gated: z.union([z.boolean(), word]).catch(false),
  downloads: z.number().catch(0),
  likes: z.number().catch(0),
  task: word.nullish(),
  updatedAt: z.date().nullable().catch(null),
});

function toRepository(type: RepoType, entry: unknown): HubRepository {
  const { name, gated, downloads, likes, task, updatedAt } = entryFacts.parse(entry);
  return {
    ...{ repo_id: name, repo_type: type, gated: gated !== false, downloads, likes },
    ...{ task: task ?? null, updated_at: updatedAt?.toISOString() ?? null },
  };
}

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

function toFile(entry: unknown): RepoFile {
  const { path, size, oid, lfs } = treeEntry.parse(entry);
  return { path, sizeBytes: lfs?.size ?? size, sha256: lfs?.oid ?? null, gitSha1: oid };
}

/** Passes AppErrors and the signal's reason through; converts parse errors to AppErrors. */
async function checked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || !isUnreadable(error)) throw error;
    throw new AppError('unavailable', {
      publicMessage: `${HUB_UNREACHABLE}: it answers something else`,
      cause: error,
    });
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError || error instanceof TypeError;
}

/** Returns the repository's name for messages. */
export function nameOf({ type, id }: Repo): string {
  return `${type} ${id}`;
}

function tooMany(repo: Repo, max: number): AppError {
  return new AppError('conflict', {
    publicMessage: `The ${nameOf(repo)} has more than ${max.toLocaleString('en-GB')} files, and no more can be cloned`,
  });
}
