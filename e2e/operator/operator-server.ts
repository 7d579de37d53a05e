import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { startOwnServer } from '../../scripts/client/own-server.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { userIdOf } from '../credits/move-credits.ts';
import { signUp, type Visitor } from '../sign-up.ts';

const OPERATOR = 'operator@example.com';

/** A server of the journey's own, on which one may become an operator. */
export async function operatorServer(settings: Record<string, string> = {}) {
  const server = await startOwnServer({
    BAKEHOUSE_OPERATORS: OPERATOR,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
    ...settings,
  });
  onTestFinished(server.stop);
  const change = async (page: Page, values: { email: string; email_verified: boolean }) => {
    const db = connect(await server.databaseUrl());
    await db
      .updateTable('users')
      .set(values)
      .where('id', '=', await userIdOf(page))
      .execute();
    await db.destroy();
  };
  return {
    ...server,
    /** Signs somebody up on the page, and makes an operator of them: nobody can sign up as one. */
    signUpOperator: async (page: Page): Promise<Visitor> => {
      const visitor = await signUp(page);
      await change(page, { email: OPERATOR, email_verified: true });
      return visitor;
    },
  };
}
