/**
 * The order of the documentation's list, by path below `docs/`; unlisted documents follow under the last
 * heading.
 */
export const sections = [
  {
    label: 'Using Bakehouse',
    paths: [
      'getting-started',
      'data-files',
      'fine-tuning',
      'model-families',
      'api',
      'coding-agents',
      'pictures-and-videos',
      'credits',
      'hub-clients',
      'ipfs',
    ],
  },
  { label: 'Running it', paths: ['operations', 'deployment', 'connect-models', 'hub', 'troubleshooting'] },
  { label: 'How it works', paths: ['architecture', 'engine', 'text-serving', 'ledger'] },
] as const;

/** Documents for developers: not in the list, but linked and found by the search. */
export const forDevelopers: readonly string[] = ['specification', 'vocabulary', 'decisions'];

/** The page at `/docs`. */
export const FIRST_DOCUMENT = 'getting-started';
