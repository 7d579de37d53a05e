import { run } from './child.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';

/** Runs vite's server with our server behind it, which restarts on every change. Ends if either ends. */
export const dev: Command = async () => {
  const { publicUrl } = readSettings();
  const env = { BAKEHOUSE_LOG_FORMAT: 'text', BAKEHOUSE_API: publicUrl, ...process.env };
  const ending = new AbortController();
  const { signal } = ending;
  const watch = ['--watch', '--watch-preserve-output', 'server/src/main.ts'];
  const server = run(process.execPath, watch, { env, signal, ownGroup: true });
  const web = run('node_modules/.bin/vite', ['web'], { env, signal });
  const first = await Promise.race([server, web]);
  ending.abort();
  await Promise.all([server, web]);
  return first;
};
