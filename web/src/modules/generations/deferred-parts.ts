import { loadable } from '../../lib/loadable.tsx';

/** Results on a generator's page. Loaded only if there can be any. */
export const GeneratorResults = loadable(
  async () => (await import('./generator-results.tsx')).GeneratorResults,
);
/** The field for a picture to edit. Also loads the code that sends it. */
export const SourceField = loadable(async () => {
  const [field] = await Promise.all([
    import('./edit-picture/source-field.tsx'),
    import('./edit-picture/send-source.ts'),
  ]);
  return field.SourceField;
});
/** An edit before it starts. */
export const EditStart = loadable(async () => (await import('./edit-picture/edit-start.tsx')).EditStart);
/** The latest pictures of one generator. */
export const PictureHistory = loadable(
  async () => (await import('./gallery/picture-history.tsx')).PictureHistory,
);
/** The latest pictures of all generators. */
export const RecentGenerations = loadable(
  async () => (await import('./gallery/recent-generations.tsx')).RecentGenerations,
);
