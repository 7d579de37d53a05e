import { expect, test } from 'vitest';
import { parseQueues } from '../../../platform/cluster-settings.ts';
import { queueOf } from './kueue.ts';

const onCpu = { accelerator: null, count: 0 } as const;
const onH100 = { accelerator: 'NVIDIA_H100_80GB', count: 8 };

test('a GPU type uses its own queues, other types use the default ones', () => {
  const queues = parseQueues('cpu=general, NVIDIA_H100_80GB=h100-a,NVIDIA_H100_80GB=h100-b,rest');
  expect(queueOf(queues, { userId: null, placement: onCpu })).toEqual({
    ...{ name: 'everybody-general', clusterQueue: 'general' },
  });
  expect(queueOf(queues, { userId: null, placement: { accelerator: 'L4', count: 1 } }).clusterQueue).toBe(
    'rest',
  );
  expect(() => queueOf(parseQueues('cpu=general'), { userId: null, placement: onH100 })).toThrow(
    'BAKEHOUSE_KUEUE_QUEUES has no queue for NVIDIA_H100_80GB',
  );
});

test('users are spread over the queues of a GPU type, each always in the same one, with a valid label name', () => {
  const queues = parseQueues('a,b,c,d');
  const users = Array.from({ length: 400 }, () => crypto.randomUUID());
  const counts = new Map<string, number>();
  for (const userId of users) {
    const { name, clusterQueue } = queueOf(queues, { userId, placement: onH100 });
    expect(name).toBe(`${userId.replaceAll('-', '')}-${clusterQueue}`);
    expect(name.length).toBeLessThanOrEqual(63);
    expect(queueOf(queues, { userId, placement: onH100 }).clusterQueue).toBe(clusterQueue);
    counts.set(clusterQueue, (counts.get(clusterQueue) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
  for (const count of counts.values()) expect(count).toBeGreaterThan(50);
});
