import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

/** Returns true if an API key may still run models. */
export async function mayKeyInfer(db: Database, keyId: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from api_keys
    where id = ${keyId} and revoked_at is null and (expires_at is null or expires_at > ${now}) and scopes && '{everything,inference}'`.execute(
    db,
  );
  return rows.length > 0;
}
