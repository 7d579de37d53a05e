import { randomUUID } from 'node:crypto';
import type { AuditAction } from '@bakehouse/contract/audit';
import { getBalance, listTransactions, transferTokens } from '@bakehouse/contract/credits';
import type { CallOf } from '@bakehouse/contract/endpoint';
import type { Config } from '../../../config.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { buyForTest } from './test-user.ts';

/** For tests: starts a server without starting grants, with helpers for its users' credits. */
export async function creditsServer(config: Partial<Config> = {}) {
  const server = await testServer({ config: { startingGrantBgl: '0', ...config } });
  const { db } = server.services;
  /** Signs up a user who has bought 125 BGL. */
  const signUp = async (name: string): Promise<TestUser> => {
    const user = await server.signUp(name);
    await buyForTest(db, user.userId, 125_000_000n);
    return user;
  };
  return {
    server,
    db,
    signUp,
    balanceOf: (who: TestUser) => server.request(getBalance, { params: { userId: who.userId } }, { as: who }),
    statementOf: (who: TestUser, query: CallOf<typeof listTransactions>['query'] = {}) =>
      server.request(listTransactions, { params: { userId: who.userId }, query }, { as: who }),
    send: (
      from: TestUser,
      recipient_id: string,
      amount: string | number,
      idempotencyKey: string = randomUUID(),
    ) =>
      server.request(
        transferTokens,
        { body: { user_id: from.userId, recipient_id, amount } },
        { as: from, idempotencyKey },
      ),
    /** Returns the user's audit log entries of these actions, oldest first. */
    auditOf: (who: TestUser, ...actions: AuditAction[]) =>
      db
        .selectFrom('audit_log')
        .select(['action', 'detail'])
        .where('user_id', '=', who.userId)
        .where('action', 'in', actions)
        .orderBy('id')
        .execute(),
    usernameOf: async (who: TestUser) =>
      (await db.selectFrom('users').select('username').where('id', '=', who.userId).executeTakeFirstOrThrow())
        .username,
    /** Signs up an operator who has bought 125 BGL. */
    signUpOperator: async (): Promise<TestUser> => {
      const operator = await signUpOperator(server);
      await buyForTest(db, operator.userId, 125_000_000n);
      return operator;
    },
  };
}
