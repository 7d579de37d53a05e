import { defineConfig } from 'oxlint';

/** Lint rules; formatting is biome's. The import directions are in scripts/lint/directions.ts. */
export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'vitest'],
  jsPlugins: ['./scripts/lint/plugin.ts'],
  ignorePatterns: ['**/dist/**', '**/*.generated.ts', 'runtime/**', 'models/**'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'bakehouse/direction': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'no-console': 'error',
    'no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'import/no-unassigned-import': ['error', { allow: ['**/*.css'] }],
    // These rules are a matter of taste, or report correct code.
    'import/no-named-as-default-member': 'off',
    'no-new': 'off',
    'no-underscore-dangle': 'off',
    'no-unmodified-loop-condition': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/no-useless-spread': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/no-standalone-expect': 'off',
    'vitest/require-mock-type-parameters': 'off',
    'vitest/require-to-throw-message': 'off',
  },
  overrides: [
    { files: ['scripts/**', 'e2e/**', 'server/src/main.ts'], rules: { 'no-console': 'off' } },
    {
      files: ['web/src/**'],
      plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'vitest', 'react', 'jsx-a11y'],
      rules: {
        // `import { type A }` would still load the file.
        'typescript/no-import-type-side-effects': 'error',
        'react/rules-of-hooks': 'error',
        'react/exhaustive-deps': 'error',
        'no-restricted-imports': [
          'error',
          {
            paths: [
              {
                name: '@tanstack/react-query',
                importNames: ['useMutation'],
                message: 'A double click would write twice: use lib/mutation/use-mutation.ts.',
              },
              {
                name: '@tanstack/react-query',
                importNames: ['infiniteQueryOptions'],
                message: 'Every event would reload all pages: use lib/live/paged-query.ts.',
              },
            ],
            patterns: [
              {
                group: ['**/format-time.ts'],
                importNames: ['relativeTime'],
                message: 'The text would not update over time: use ui/relative-time.tsx.',
              },
            ],
          },
        ],
        // The JSX transform imports React automatically.
        'react/react-in-jsx-scope': 'off',
        'jsx-a11y/prefer-tag-over-role': 'off',
      },
    },
    {
      files: [
        'web/src/lib/mutation/use-mutation.ts',
        'web/src/lib/live/paged-query.ts',
        // A revision never changes, so events never reload its pages.
        'web/src/modules/datasets/files/viewer/viewer-calls.ts',
        'web/src/ui/relative-time.tsx',
        'web/src/lib/format/format-time.test.ts',
      ],
      rules: { 'no-restricted-imports': 'off' },
    },
  ],
});
