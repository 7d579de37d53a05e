/** Search parameters of a page with tabs: the one in sight, the file that it shows, and which revision of it. */
export function parseTabAndFile({ tab, file, revision }: Record<string, unknown>): {
  tab?: string;
  file?: string;
  revision?: string | undefined;
} {
  return {
    ...(typeof tab === 'string' && { tab }),
    ...(typeof file === 'string' && { file }),
    ...(typeof revision === 'string' && { revision }),
  };
}
