import type { Context } from '../../platform/context.ts';
import { selectLinksOf } from './queries.ts';

/** What the caller shares by links, oldest first; without the links, which open without a key. */
export async function listShareLinks({ db, caller }: Context) {
  return selectLinksOf(db, caller.userId);
}
