import type { Context } from '../../../platform/context.ts';
import { selectUserRequests } from './queries.ts';

/** Returns the caller's access requests, oldest first. */
export async function listOwnRequests({ db, caller }: Context) {
  return selectUserRequests(db, caller.userId);
}
