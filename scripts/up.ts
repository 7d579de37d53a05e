import type { Command } from './command.ts';
import { ensureWebBuild } from './prepare/web-build.ts';
import { supervise } from './supervise.ts';

/** Builds stale artifacts, and runs the server until it is told to end. */
export const up: Command = async ({ services }) => {
  await ensureWebBuild();
  process.env.BAKEHOUSE_LOG_FORMAT ??= 'text';
  return supervise('server/src/main.ts', services === undefined ? [] : [`--services=${services}`]);
};
