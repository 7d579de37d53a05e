import type { ChangeEvent } from '@bakehouse/contract/events';
import { beforeAll, expect, it, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { recordingDatabase } from '../../../testing/recording-database.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { selectDeployments } from '../find-deployments.ts';
import { viewDeployments } from '../read-deployment.ts';
import { reconcileModelServer } from '../servers/reconcile-model-server.ts';
import { listModelServersInUse } from '../servers/server-queries.ts';
import { starterServing } from '../testing/starter-serving.ts';

/* Tests deployments that get no requests and do not change. */

const { server, clock, nextUser, makeFineTune, deploy, untilRunning } = await starterServing();
const { services } = server;
let user: TestUser;

beforeAll(async () => {
  user = await nextUser();
  for (const title of ['Rye', 'Spelt', 'Wheat'])
    await untilRunning((await deploy(await makeFineTune(user, title))).pod_id);
});

it('quiet deployments publish no events when their servers are reconciled every minute', async () => {
  const heard: ChangeEvent[] = [];
  const leave = services.events.subscribe(user.userId, (event) => heard.push(event));
  /** Waits until all earlier events have been received. */
  const untilHeard = async (id: string) => {
    announceChange(services.db, user.userId, { topic: 'asset', id });
    await vi.waitFor(() => expect(heard).toContainEqual(expect.objectContaining({ id })));
  };
  await untilHeard('before');
  heard.length = 0;
  const servers = await listModelServersInUse(services.db);
  expect(servers).not.toEqual([]);
  for (const { id } of servers) await inTransaction(services.db, (tx) => reconcileModelServer(tx, clock, id));
  await untilHeard('after');
  expect(heard.filter(({ topic }) => topic === 'deployment')).toEqual([]);
  leave();
});

it('quiet deployments are read with the same number of queries as a single one', async () => {
  const { db, asked } = recordingDatabase(server.databaseUrl);
  const rows = await selectDeployments(db, { userId: user.userId, includeTerminated: false });
  const queriesFor = async (count: number) => {
    asked.length = 0;
    expect(await viewDeployments({ ...services, db }, rows.slice(0, count))).toHaveLength(count);
    return asked.length;
  };
  expect(await queriesFor(3)).toBe(await queriesFor(1));
});
