import type { TestServer, TestUser } from './test-server.ts';

/** For tests: signs up a new operator. */
export async function signUpOperator(
  { signUp, services }: Pick<TestServer, 'signUp' | 'services'>,
  name = 'Operator',
): Promise<TestUser> {
  const operator = await signUp(name);
  services.config.operators.push(operator.email);
  await services.db
    .updateTable('users')
    .set({ email_verified: true })
    .where('id', '=', operator.userId)
    .execute();
  await services.rowChanges.catchUp();
  return operator;
}
