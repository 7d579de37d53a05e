import type { Database } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findNames } from '../accounts/steps.ts';
import { findTitles } from '../assets/find-titles.ts';

/** Where entries name what they are about, by its kind. */
const fields = {
  users: ['recipient_id', 'payer_id', 'inviter_id', 'to_user_id'],
  keys: ['key_id'],
  assets: ['asset_id', 'model_id'],
};

/** What the ids in these details stand for, as it is called now; what is gone is left out. */
export async function findSubjects(
  db: Database,
  details: Record<string, string>[],
): Promise<Map<string, string>> {
  const idsIn = (names: string[]) => [
    ...new Set(details.flatMap((detail) => names.flatMap((name) => detail[name] ?? []))),
  ];
  // A restricted model has a name of its own where others have such an id.
  const uuidsIn = (names: string[]) => idsIn(names).filter(isUuid);
  const [named, titled] = await Promise.all([
    findNames(db, { userIds: idsIn(fields.users), keyIds: uuidsIn(fields.keys) }),
    findTitles(db, uuidsIn(fields.assets)),
  ]);
  return new Map([...named, ...titled]);
}
