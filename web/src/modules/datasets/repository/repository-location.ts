import { isDataFile } from '../files/data-file.ts';

/** A parsed repository URL, as printed by the hub's clients; `search` selects the part of its page. */
export type RepositoryLocation = {
  namespace: string;
  name: string;
  search: { tab?: string; file?: string; commit?: string; folder?: string };
};

/** Revision names that mean the newest commit. */
const NEWEST = new Set(['main', 'HEAD']);

/**
 * Parses the path after the type: `ada/loaf`, `ada/loaf/tree/main/data`, `ada/loaf/blob/main/a.csv` or
 * `ada/loaf/commit/<id>`. Returns null if it names no repository.
 */
export function parseRepositoryPath(type: 'datasets' | 'models', path: string): RepositoryLocation | null {
  const [namespace, name, view, revision = 'main', ...rest] = path.split('/').filter(Boolean);
  if (namespace === undefined || name === undefined) return null;
  const isNewest = NEWEST.has(revision);
  const search = () => {
    if (view === 'commits') return { tab: 'history' };
    if (view === 'commit') return { tab: 'history', commit: revision };
    if (view !== 'tree' && view !== 'blob') return {};
    // A commit's page lists its files by folder.
    if (!isNewest) {
      const folder = (view === 'tree' ? rest : rest.slice(0, -1)).join('/');
      return { tab: 'history', commit: revision, ...(folder && { folder }) };
    }
    const file = rest.join('/');
    if (view === 'blob' && file === 'README.md') return { tab: 'card' };
    if (view === 'blob' && type === 'datasets' && isDataFile(file)) return { tab: 'rows', file };
    return { tab: 'files' };
  };
  return { namespace, name, search: search() };
}
