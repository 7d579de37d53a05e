import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertTraining } from '../../deployments/testing/test-models.ts';

/** For tests: a fine-tune of the user that has ended, with what both models said to held-out rows. Returns its id. */
export async function insertRun(
  { db }: Pick<Services, 'db'>,
  owner: TestUser,
  rows: HeldOutAnswers['rows'],
): Promise<string> {
  return inTransaction(db, async (tx) => {
    const id = await insertTraining(tx, []);
    // Nobody needs the hold, the models and the dataset here.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into runs (id, kind, user_id, title, model_asset_id, base_asset_id, base_revision_id, base_title,
        dataset_asset_id, dataset_revision_id, dataset_title, file_name, parameters, price_id, devices, quote, work_flops,
        hold_id, held_micro, hold_expires_at, created_at, ceiling_micro, unit_price_micro, charged_micro)
      values (${id}, 'text', ${owner.userId}, 'Rye', ${id}, ${id}, ${id}, 'Starter', ${id}, ${id}, 'Rows', 'rows.csv', '{}',
        'training:CPU', 1, '{"items": [], "total": "1"}', 1, ${id}, 1, now(), now(), 1, 1, 0)`.execute(tx);
    const answers: HeldOutAnswers = { task: 'answer', rows, skipped: null };
    await sql`insert into held_out_answers values (${id}, ${JSON.stringify(answers)})`.execute(tx);
    return id;
  });
}
