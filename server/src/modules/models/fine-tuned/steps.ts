import type { Database, Transaction } from '../../../platform/db/database.ts';
import { toModelName } from '../names/model-name.ts';
import { insertName, selectFineTunes } from './queries.ts';

/** Prefix of every fine-tune's name, reserved for fine-tunes. */
export const FINE_TUNE_PREFIX = 'ft:';

/** Length limits within the name; the rest is for the username and id. */
const BASE_LENGTH_MAX = 60;
const SUFFIX_LENGTH_MAX = 64;

type Names = { baseTitle: string; username: string; suffix: string };

/**
 * Names a model produced by a run `ft:BASE:USERNAME:SUFFIX:ID`, as OpenAI does. Its owner calls it by this
 * name.
 */
export async function nameFineTune(
  tx: Transaction,
  { assetId, baseTitle, username, suffix }: Names & { assetId: string },
): Promise<void> {
  const base = toModelName(baseTitle).slice(0, BASE_LENGTH_MAX);
  const end = suffix === '' ? '' : toModelName(suffix).slice(0, SUFFIX_LENGTH_MAX);
  await insertName(tx, { assetId, name: ['ft', base, username, end, assetId.slice(0, 8)].join(':') });
}

export type FineTune = Awaited<ReturnType<typeof selectFineTunes>>[number];

/** Returns the caller's own fine-tune with this name, if any. */
export async function findFineTune(
  db: Database | Transaction,
  own: { userId: string; name: string },
): Promise<FineTune | undefined> {
  const [found] = own.name.startsWith(FINE_TUNE_PREFIX) ? await selectFineTunes(db, own) : [];
  return found;
}

/** Returns a user's fine-tunes: those with these ids, or all. */
export async function listFineTunes(
  db: Database | Transaction,
  own: { userId: string; assetIds?: string[] },
): Promise<FineTune[]> {
  return own.assetIds?.length === 0 ? [] : selectFineTunes(db, own);
}
