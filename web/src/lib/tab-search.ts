/**
 * Search parameters of a page with tabs: the one in sight, the file that it shows and which revision of it, or
 * the commit that it shows and which folder of it is open.
 */
export function parseTabAndFile({ tab, file, revision, commit, folder }: Record<string, unknown>): {
  tab?: string;
  file?: string;
  revision?: string | undefined;
  commit?: string | undefined;
  folder?: string | undefined;
} {
  return {
    ...(typeof tab === 'string' && { tab }),
    ...(typeof file === 'string' && { file }),
    ...(typeof revision === 'string' && { revision }),
    ...(typeof commit === 'string' && { commit }),
    ...(typeof folder === 'string' && { folder }),
  };
}
