import type { Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { type SeparateServer, startSeparateServer } from '../scripts/client/separate-server.ts';
import { connect } from '../server/src/platform/db/database.ts';
import { getUserId } from './billing/move-credits.ts';
import { signUp, type Visitor } from './sign-up.ts';

/** Each operator signs up only once. */
const OPERATORS = Array.from({ length: 5 }, (_, number) => `operator-${number}@example.com`);
let signedUp = 0;

/** A server for this file, without data and with configured operators. It starts when it is first used. */
export function ownOperatorServer(): () => Promise<SeparateServer> {
  let server: Promise<SeparateServer> | null = null;
  afterAll(async () => (await server)?.stop());
  return () => {
    server ??= startSeparateServer({
      BAKEHOUSE_OPERATORS: OPERATORS.join(','),
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_DRIVER: 'fake',
    });
    return server;
  };
}

/**
 * Signs up a user on this server and then makes them an operator, because users cannot sign up as operators.
 */
export async function signUpOperator(page: Page, server: SeparateServer): Promise<Visitor> {
  const visitor = await signUp(page);
  const email = OPERATORS[signedUp];
  if (!email) throw new Error('There are no more operators');
  signedUp += 1;
  const db = connect(await server.databaseUrl());
  try {
    await db
      .updateTable('users')
      .set({ email, email_verified: true })
      .where('id', '=', await getUserId(page))
      .execute();
  } finally {
    await db.destroy();
  }
  await page.reload();
  return { ...visitor, email };
}
