import { expect, test } from 'vitest';
import { sleepsAfterMinutes } from './sleeps-after-minutes.ts';

test.each([
  ['by the setting', 45, { auto_scale: false, min_replicas: 1 }, 45],
  ['by the setting where replicas may end', 45, { auto_scale: true, min_replicas: 0 }, 45],
  ['never where one replica stays', 45, { auto_scale: true, min_replicas: 1 }, null],
  ['never where the setting says so', 0, { auto_scale: false, min_replicas: 1 }, null],
])('a deployment sleeps %s', (_when, idleMinutes, deployment, minutes) => {
  expect(sleepsAfterMinutes({ idleMinutes }, deployment)).toBe(minutes);
});
