import { randomUUID } from 'node:crypto';
import type { AuditAction } from '@bakehouse/contract/audit';
import { getBalance, listTransactions, transferTokens } from '@bakehouse/contract/credits';
import type { CallOf } from '@bakehouse/contract/endpoint';
import type { Config } from '../../../config.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { buyForTest } from './test-user.ts';

/** For tests: a server on which nobody begins with given credits, which cannot be sent, and what its people do with theirs. */
export async function creditsServer(config: Partial<Config> = {}) {
  const server = await testServer({ config: { startingGrantBgl: '0', ...config } });
  const { db } = server.services;
  /** A new person who has bought 125 BGL. */
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
    /** What the audit log says that the person did of this kind, the first first. */
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
    /** A new person who is one of the operators, and has bought as much. */
    signUpOperator: async (): Promise<TestUser> => {
      const operator = await signUpOperator(server);
      await buyForTest(db, operator.userId, 125_000_000n);
      return operator;
    },
  };
}
