import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { DB } from '../schema.generated.ts';

/** A batch takes well below a second; the limit of a statement is a minute. */
const BATCH = 10_000;

/** Deletes the rows with `column` before `time` in batches, because there may be millions of rows. */
export async function deleteBefore<Table extends keyof DB>(
  db: Database,
  table: Table,
  { column, time, batch = BATCH }: { column: keyof DB[Table] & string; time: Date; batch?: number },
): Promise<void> {
  const name = sql.table(table);
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from ${name} where ctid = any(array(
        select ctid from ${name} where ${sql.ref(column)} < ${time} limit ${batch}
      ))`.execute(db);
    if (!numAffectedRows) return;
  }
}
