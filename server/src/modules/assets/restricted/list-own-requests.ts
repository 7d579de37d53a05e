import type { Context } from '../../../platform/context.ts';
import { selectUserRequests } from './queries.ts';

/** What the caller has asked for, oldest first. */
export async function listOwnRequests({ db, caller }: Context) {
  return selectUserRequests(db, caller.userId);
}
