import { expect, test } from 'vitest';
import { sleepsAfterMinutes } from './plan-model-server.ts';

test.each([
  ['by the setting', 45, { auto_scale: false, min_replicas: 1 }, 45],
  ['by the setting if all replicas may stop', 45, { auto_scale: true, min_replicas: 0 }, 45],
  ['never with a minimum of one replica', 45, { auto_scale: true, min_replicas: 1 }, null],
  ['never if the setting disables it', 0, { auto_scale: false, min_replicas: 1 }, null],
])('a deployment sleeps %s', (_when, idleMinutes, deployment, minutes) => {
  expect(sleepsAfterMinutes({ idleMinutes }, deployment)).toBe(minutes);
});
