import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export type FolderFile = { path: string; localPath: string; sizeBytes: number };

/**
 * Lists the files of a folder and its subfolders, sorted by relative path. Links are followed, because the
 * cache of the hub's clients consists of links. Empty files, hidden files and hidden folders such as `.git`
 * are skipped, and listed in `leftOut`.
 */
export async function readFolder(folder: string): Promise<{ files: FolderFile[]; leftOut: string[] }> {
  const files: FolderFile[] = [];
  const leftOut: string[] = [];
  const walk = async (inside: string): Promise<void> => {
    for (const entry of await readdir(path.join(folder, inside), { withFileTypes: true })) {
      const at = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (entry.name.startsWith('.')) {
        leftOut.push(at);
        continue;
      }
      if (entry.isDirectory()) {
        await walk(at);
        continue;
      }
      const localPath = await realpath(path.join(folder, at));
      const found = await stat(localPath);
      if (found.isFile() && found.size > 0) files.push({ path: at, localPath, sizeBytes: found.size });
      else leftOut.push(at);
    }
  };
  await walk('');
  return {
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    leftOut: leftOut.toSorted(),
  };
}
