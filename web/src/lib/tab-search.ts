/**
 * Search parameters of a page with tabs: the tab, and either the file and its revision or the commit and its
 * open folder.
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
