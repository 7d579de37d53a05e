import type { Launch } from '../drivers/driver.ts';

/** For tests: work of no user, on the CPU. */
export const testPlace: Pick<Launch, 'userId' | 'deploymentId' | 'placement' | 'nodes' | 'devices'> = {
  userId: null,
  deploymentId: null,
  placement: { accelerator: null, count: 0 },
  nodes: 1,
  devices: [],
};
