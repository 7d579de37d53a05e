import path from 'node:path';
import { run } from '../child.ts';
import type { Command } from '../command.ts';

const generators = ['gen-runtime-protocol.ts', 'gen-database.ts', 'gen-openapi.ts'];

/** Writes all generated files; `--check` writes none and fails if one is stale. */
export const gen: Command = async ({ check }) => {
  let worst = 0;
  for (const generator of generators) {
    const file = path.join(import.meta.dirname, generator);
    const code = await run(process.execPath, check ? [file, '--check'] : [file]);
    worst = Math.max(worst, code);
  }
  return worst;
};
