import type { Database } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findNames } from '../accounts/steps.ts';
import { findTitles } from '../assets/find-titles.ts';

/** The fields of entries that contain ids, by kind. */
const fields = {
  users: ['recipient_id', 'payer_id', 'inviter_id', 'to_user_id'],
  keys: ['key_id'],
  assets: ['asset_id', 'model_id'],
};

/** Returns the current names of the ids in these details, without deleted ones. */
export async function findSubjects(
  db: Database,
  details: Record<string, string>[],
): Promise<Map<string, string>> {
  const idsIn = (names: string[]) => [
    ...new Set(details.flatMap((detail) => names.flatMap((name) => detail[name] ?? []))),
  ];
  // Other entries use these fields for the name of a restricted model.
  const uuidsIn = (names: string[]) => idsIn(names).filter(isUuid);
  const [named, titled] = await Promise.all([
    findNames(db, { userIds: idsIn(fields.users), keyIds: uuidsIn(fields.keys) }),
    findTitles(db, uuidsIn(fields.assets)),
  ]);
  return new Map([...named, ...titled]);
}
