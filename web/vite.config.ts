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
    // Every browser that runs es2023 knows modulepreload.
    modulePreload: { polyfill: false, resolveDependencies: fetchedAlong },
    // Building a zod schema has no effect, so a schema that nobody imports may be left out.
    rolldownOptions: {
      // Whoever starts the product is not told how long its plugins take.
      checks: { pluginTimings: false },
      treeshake: { manualPureFunctions: ['z', 'endpoint'] },
      output: { codeSplitting: { groups: chunkGroups } },
    },
  },
  test: {
    // A document for each file, without a process for each file.
    pool: 'vmThreads',
    // What the contract plugin makes of a file depends on the files that it imports, which the cache does not know.
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
