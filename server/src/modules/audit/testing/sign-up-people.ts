import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import type { TestServer } from '../../../testing/test-server.ts';

/** For tests: signs up an operator, who reads the log, and two users, who appear in it. */
export async function signUpPeople(server: TestServer) {
  const olga = await signUpOperator(server, 'Olga');
  return { olga, ada: await server.signUp('Ada'), bob: await server.signUp('Bob') };
}
