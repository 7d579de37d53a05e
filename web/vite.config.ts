/// <reference types="vitest/config" />
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { chunkGroups, fetchedAlong } from './chunks.ts';
import { compressed } from './compress-plugin.ts';
import { endpointsWithoutSchemas } from './contract-plugin.ts';
import { documentTitles } from './document-title-plugin.ts';
import { firstFrames } from './first-frames-plugin.ts';
import { firstScreenBudget } from './first-screen-plugin.ts';
import { iconImports } from './icon-imports-plugin.ts';
import { documentationForModels } from './llms-plugin.ts';
import { preloadFont } from './preload-font-plugin.ts';
import { preloadScreens } from './preload-screens-plugin.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    endpointsWithoutSchemas(),
    documentTitles(),
    iconImports(),
    react(),
    tailwindcss(),
    firstScreenBudget(),
    preloadFont(),
    preloadScreens(),
    firstFrames(),
    documentationForModels(),
    compressed(),
  ],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    // All browsers with es2023 support modulepreload.
    modulePreload: { polyfill: false, resolveDependencies: fetchedAlong },
    // Zod schemas have no side effects, so unused ones can be dropped.
    rolldownOptions: {
      // Users who build the product don't need plugin timings.
      checks: { pluginTimings: false },
      treeshake: { manualPureFunctions: ['z', 'endpoint'] },
      output: { codeSplitting: { groups: chunkGroups } },
    },
  },
  test: {
    // Isolates documents per test file without a process per file.
    pool: 'vmThreads',
    // The contract plugin's output also depends on the file's imports, which the cache doesn't track.
    fsModuleCache: false,
    setupFiles: ['test-setup.ts', 'test-tabs.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
  server: {
    proxy: {
      '^/(api|v1|hub|huggingface)/': { target: process.env.BAKEHOUSE_API ?? 'http://127.0.0.1:4080' },
    },
  },
});
