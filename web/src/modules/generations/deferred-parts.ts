import { loadable } from '../../lib/loadable.tsx';

/** What a generator has made, on its page; it is loaded where there can be something. */
export const GeneratorResults = loadable(
  async () => (await import('./generator-results.tsx')).GeneratorResults,
);
/** Where a picture is given that is to be edited; what sends it comes along. */
export const SourceField = loadable(async () => {
  const [field] = await Promise.all([
    import('./edit-picture/source-field.tsx'),
    import('./edit-picture/send-source.ts'),
  ]);
  return field.SourceField;
});
/** An edit until it is under way. */
export const EditStart = loadable(async () => (await import('./edit-picture/edit-start.tsx')).EditStart);
/** The last pictures of one generator. */
export const PictureHistory = loadable(
  async () => (await import('./gallery/picture-history.tsx')).PictureHistory,
);
/** The last pictures of all. */
export const RecentGenerations = loadable(
  async () => (await import('./gallery/recent-generations.tsx')).RecentGenerations,
);
