import type { Context } from '../../platform/context.ts';
import { selectAcceptances } from './queries.ts';

/** Which licences the caller has accepted in which version, oldest first. */
export async function listOwnAcceptances({ db, caller }: Context) {
  return selectAcceptances(db, caller.userId);
}
