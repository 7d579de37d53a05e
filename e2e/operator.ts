import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type OwnServer, startOwnServer } from '../scripts/client/own-server.ts';
import { connect } from '../server/src/platform/db/database.ts';
import { userIdOf } from './credits/move-credits.ts';
import { signUp, type Visitor } from './sign-up.ts';

const OPERATOR = 'operator@example.com';

/** A server of the journey's own, with nothing on it yet, whose settings name an operator. */
export async function startOperatorServer(): Promise<OwnServer> {
  const server = await startOwnServer({
    BAKEHOUSE_OPERATORS: OPERATOR,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
  });
  onTestFinished(server.stop);
  return server;
}

/** Signs somebody up on a page of this server, and makes the operator of them: nobody can sign up as one. */
export async function signUpOperator(page: Page, server: OwnServer): Promise<Visitor> {
  const visitor = await signUp(page);
  const db = connect(await server.databaseUrl());
  try {
    await db
      .updateTable('users')
      .set({ email: OPERATOR, email_verified: true })
      .where('id', '=', await userIdOf(page))
      .execute();
  } finally {
    await db.destroy();
  }
  await page.reload();
  return { ...visitor, email: OPERATOR };
}
