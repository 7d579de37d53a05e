import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { screenChunks } from './screen-chunks.ts';

/** Where the build writes the measured sizes. */
export const FIRST_SCREENS_FILE = 'first-screens.json';

/**
 * The first screens: the modules in src, besides the entry, that must load before the screen shows, and their
 * limit in bytes of gzipped JavaScript.
 */
export const firstScreens = {
  'landing page': { modules: ['modules/home/landing/landing-page.tsx'], bytesMax: 150_000 },
  dashboard: {
    modules: [
      'shell/app-shell.tsx',
      'shell/header/own-header.tsx',
      'shell/search/header-search.tsx',
      'modules/home/dashboard-page.tsx',
    ],
    bytesMax: 150_000,
  },
  'generator page of a visitor': {
    modules: ['shell/public-shell.tsx', 'modules/generators/generator-page.tsx'],
    bytesMax: 170_000,
  },
};

/** Prints the gzipped JavaScript of each first screen, and fails the build if one exceeds its limit. */
export function firstScreenBudget(): Plugin {
  return {
    name: 'first-screen-budget',
    apply: 'build',
    generateBundle: {
      // After other plugins have added preload lists to the chunks.
      order: 'post',
      handler(_options, bundle) {
        const measured: Record<string, number> = {};
        for (const [screen, { modules, bytesMax }] of Object.entries(firstScreens)) {
          const needed = screenChunks(modules, bundle);
          if (!needed) return this.error(`${screen}: a module of this screen has moved`);
          const bytes = needed.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
          const text = `${screen}: ${(bytes / 1000).toFixed(1)} kB of gzipped JavaScript`;
          if (bytes > bytesMax)
            this.error(`${text}, more than the ${bytesMax / 1000} kB that this screen may need`);
          measured[screen] = bytes;
          this.info(text);
        }
        this.emitFile({ type: 'asset', fileName: FIRST_SCREENS_FILE, source: JSON.stringify(measured) });
      },
    },
  };
}
