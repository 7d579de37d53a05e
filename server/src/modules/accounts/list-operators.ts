import type { Config } from '../../config.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { selectVerifiedUsers } from './queries.ts';

/** Step: the ids of the operators who have an account (`isOperator`). */
export async function listOperators(tx: Transaction, config: Config): Promise<string[]> {
  if (config.operators.length === 0) return [];
  return selectVerifiedUsers(tx, config.operators);
}
