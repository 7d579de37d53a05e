import type { Context } from '../../platform/context.ts';
import { selectUserMessages } from './queries.ts';

/** What the caller has written to the operators, oldest first. */
export async function listOwnMessages({ db, caller }: Context) {
  return selectUserMessages(db, caller.userId);
}
