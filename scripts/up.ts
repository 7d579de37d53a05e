import type { Command } from './command.ts';
import { ensureWebBuild } from './prepare/web-build.ts';

/**
 * Builds what is stale and becomes the server, in this very process: signals reach it directly,
 * and nothing stays behind whichever way it ends.
 */
export const up: Command = async ({ services }) => {
  await ensureWebBuild();
  process.env.BAKEHOUSE_LOG_FORMAT ??= 'text';
  // The server reads arguments of its own.
  process.argv.splice(2, process.argv.length, ...(services === undefined ? [] : [`--services=${services}`]));
  await import('../server/src/main.ts');
  return 0;
};
