import { inject } from 'vitest';
import type { JourneyServer } from './global-setup.ts';

/** Returns the server of the current worker. */
export function journeyServer(): JourneyServer {
  const server = inject('servers')[Number(process.env.VITEST_POOL_ID) - 1];
  if (!server) throw new Error('There are more workers than servers');
  return server;
}
