import OpenAI from 'openai';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFineTune, insertStarter } from './test-models.ts';

export const STARTER = 'starter-model';

/** For tests: a server with a starter model. Calls without an explicit user are made by the newest user. */
export async function starterServing() {
  const serving = await testServing();
  const { server, stub } = serving;
  const starter = await insertStarter(server.services, STARTER);
  let user: TestUser;
  const openai = (as: TestUser = user) =>
    new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
  return {
    ...{ serving, stub, server, starter, openai, clock: serving.clock, driver: serving.driver },
    /** Creates a new user, and resets how the stub answers. */
    nextUser: async () => {
      stub.answer = 'ok';
      stub.says = null;
      stub.failure = null;
      stub.brokenAdapter = null;
      stub.gate = Promise.resolve();
      stub.requests.length = 0;
      user = await server.signUp();
      return user;
    },
    ask: (model: string, as: TestUser = user) =>
      openai(as).chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'What do you bake?' }],
      }),
    makeFineTune: (owner: TestUser, title: string) => insertFineTune(server.services, starter, owner, title),
    deploy: async (modelId: string, owner: TestUser = user, idempotencyKey?: string) => ({
      pod_id: await serving.deploy(owner, modelId, idempotencyKey),
    }),
    status: (podId: string, owner: TestUser = user) => serving.status(owner, podId),
    untilRunning: (podId: string, owner: TestUser = user) => serving.untilRunning(owner, podId),
    terminate: (podId: string, owner: TestUser = user) => serving.terminate(owner, podId),
    balance: (owner: TestUser = user) => serving.balance(owner),
  };
}
