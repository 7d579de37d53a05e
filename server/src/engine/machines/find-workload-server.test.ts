import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { testHeartbeat, testMachine } from '../testing/test-machine.ts';
import { findWorkloadServer } from './find-workload-server.ts';

const PUBLIC = 'https://bake.example.com';
const ELSEWHERE = 'http://10.0.0.2:4080';
const OWN = 'http://127.0.0.1:4080';
const bucket = { BAKEHOUSE_S3_BUCKET: 'loaves', BAKEHOUSE_S3_REGION: 'eu-central-1' };

test('work reaches this process if it serves requests, else the public URL, else a live process', async () => {
  const { db } = await testDatabase();
  const find = (roles: string[], settings: Record<string, string>) =>
    findWorkloadServer(db, readConfig(settings), roles);
  expect(await find(['reconciler'], bucket)).toBe(OWN);
  await testHeartbeat(db, await testMachine(db), new Date(), { url: ELSEWHERE });
  expect(await find(['reconciler'], bucket)).toBe(ELSEWHERE);
  expect(await find(['reconciler'], { ...bucket, BAKEHOUSE_PUBLIC_URL: PUBLIC })).toBe(PUBLIC);
  expect(await find(['web', 'reconciler'], { ...bucket, BAKEHOUSE_PUBLIC_URL: PUBLIC })).toBe(OWN);
  // A process that shares the data folder has the same settings.
  expect(await find(['reconciler'], {})).toBe(OWN);
});
