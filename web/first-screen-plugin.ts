import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

export const FIRST_SCREEN_BYTES_MAX = 150_000;
/** Where the build leaves what it measured. */
export const FIRST_SCREENS_FILE = 'first-screens.json';

/** Each first screen: the modules in src that the browser fetches before it can show it, besides the entry. */
export const firstScreens = {
  'landing page': ['modules/accounts/landing/landing-page.tsx'],
  dashboard: ['shell/app-shell.tsx', 'modules/home/dashboard-page.tsx'],
};

/** Prints the gzipped JavaScript that the first screens need, and fails the build when one needs too much. */
export function firstScreenBudget(): Plugin {
  return {
    name: 'first-screen-budget',
    apply: 'build',
    generateBundle: {
      // After the others have written the lists of files to preload into the chunks.
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
        const measured: Record<string, number> = {};
        const entry = chunks.filter((chunk) => chunk.isEntry);
        for (const [screen, modules] of Object.entries(firstScreens)) {
          const found = modules.map((module) =>
            chunks.filter((chunk) => chunk.moduleIds.some((id) => id.endsWith(`/src/${module}`))),
          );
          const own = found.flat();
          const needed = new Set([...entry, ...own].map((chunk) => chunk.fileName));
          // A set that grows while it is walked: the imports of imports are walked too.
          for (const fileName of needed) {
            for (const imported of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? [])
              needed.add(imported);
          }
          const bytes = chunks
            .filter((chunk) => needed.has(chunk.fileName))
            .reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
          const text = `${screen}: ${(bytes / 1000).toFixed(1)} kB of gzipped JavaScript`;
          if (found.some(({ length }) => length !== 1))
            this.error(`${screen}: a module of this screen has moved`);
          if (bytes > FIRST_SCREEN_BYTES_MAX)
            this.error(
              `${text}, more than the ${FIRST_SCREEN_BYTES_MAX / 1000} kB that a first screen may need`,
            );
          measured[screen] = bytes;
          this.info(text);
        }
        this.emitFile({ type: 'asset', fileName: FIRST_SCREENS_FILE, source: JSON.stringify(measured) });
      },
    },
  };
}
