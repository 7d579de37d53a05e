/// <reference types="vitest/config" />
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { endpointsWithoutSchemas } from './contract-plugin.ts';
import { firstScreenBudget } from './first-screen-plugin.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [endpointsWithoutSchemas(), react(), tailwindcss(), firstScreenBudget()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    // Building a zod schema has no effect, so a schema that nobody imports may be left out.
    rolldownOptions: {
      treeshake: { manualPureFunctions: ['z', 'endpoint'] },
      // What every page needs, in one file: it compresses better and is cached across releases.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'framework',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual)[a-z-]+)\//,
            },
          ],
        },
      },
    },
  },
  test: { setupFiles: ['test-setup.ts'] },
  server: {
    proxy: { '^/(api|v1)/': { target: process.env.BAKEHOUSE_API ?? 'http://127.0.0.1:4080' } },
  },
});
