import { connect } from '../server/src/platform/db/database.ts';

/** The journeys' servers name this one in their settings. */
export const OPERATOR = 'operator@example.com';

/** Makes a user the operator: nobody can sign up as one. */
export async function makeOperator(databaseUrl: string, userId: string): Promise<void> {
  const db = connect(databaseUrl);
  try {
    await db
      .updateTable('users')
      .set({ email: OPERATOR, email_verified: true })
      .where('id', '=', userId)
      .execute();
  } finally {
    await db.destroy();
  }
}
