/// <reference types="vitest/config" />
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressed } from './compress-plugin.ts';
import { endpointsWithoutSchemas } from './contract-plugin.ts';
import { documentTitles } from './document-title-plugin.ts';
import { firstScreenBudget, firstScreenGroup } from './first-screen-plugin.ts';
import { documentationForModels } from './llms-plugin.ts';
import { preloadFont } from './preload-font-plugin.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    endpointsWithoutSchemas(),
    documentTitles(),
    react(),
    tailwindcss(),
    firstScreenBudget(),
    preloadFont(),
    documentationForModels(),
    compressed(),
  ],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {
      // All browsers with es2023 support modulepreload.
      polyfill: false,
      // Only pages, which the entry imports: lists of what each part needs would enlarge the first screens.
      resolveDependencies: (_file, needed, { hostId, hostType }) =>
        hostType === 'html' || /\/index-[^/]+$/.test(hostId) ? needed : [],
    },
    // Zod schemas have no side effects, so unused ones can be dropped.
    rolldownOptions: {
      // Users who build the product don't need plugin timings.
      checks: { pluginTimings: false },
      treeshake: { manualPureFunctions: ['z', 'endpoint'] },
      // No other code imports the chunks, so they can export anything.
      preserveEntrySignatures: false,
      output: {
        // Shared chunks have no names, which would enlarge the list of pages.
        chunkFileNames: ({ isDynamicEntry }) =>
          isDynamicEntry ? 'assets/[name]-[hash].js' : 'assets/[hash].js',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'start', tags: ['$initial'] },
            { name: firstScreenGroup() },
            { name: 'icons', test: /node_modules\/lucide-react\//, minShareCount: 3 },
          ],
        },
      },
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
