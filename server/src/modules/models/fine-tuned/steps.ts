import type { Database, Transaction } from '../../../platform/db/database.ts';
import { toModelName } from '../names/model-name.ts';
import { insertName, selectFineTunes } from './queries.ts';

/** What the name of every fine-tune begins with, and no other model's. */
export const FINE_TUNE_PREFIX = 'ft:';

/** Of the name: the rest is for the user and the id. */
const BASE_LENGTH_MAX = 60;
const SUFFIX_LENGTH_MAX = 64;

type Names = { baseTitle: string; username: string; suffix: string };

/** Step: names the model that a run has made `ft:BASE:USERNAME:SUFFIX:ID`, by which its owner calls it. */
export async function nameFineTune(
  tx: Transaction,
  { assetId, baseTitle, username, suffix }: Names & { assetId: string },
): Promise<void> {
  const base = toModelName(baseTitle).slice(0, BASE_LENGTH_MAX);
  const end = suffix === '' ? '' : toModelName(suffix).slice(0, SUFFIX_LENGTH_MAX);
  await insertName(tx, { assetId, name: ['ft', base, username, end, assetId.slice(0, 8)].join(':') });
}

export type FineTune = Awaited<ReturnType<typeof selectFineTunes>>[number];

/** The caller's own fine-tune of that name; undefined where there is none. */
export async function findFineTune(
  db: Database | Transaction,
  own: { userId: string; name: string },
): Promise<FineTune | undefined> {
  const [found] = own.name.startsWith(FINE_TUNE_PREFIX) ? await selectFineTunes(db, own) : [];
  return found;
}

/** All fine-tunes of a user, or those of these ids. */
export async function listFineTunes(
  db: Database | Transaction,
  own: { userId: string; assetIds?: string[] },
): Promise<FineTune[]> {
  return own.assetIds?.length === 0 ? [] : selectFineTunes(db, own);
}
