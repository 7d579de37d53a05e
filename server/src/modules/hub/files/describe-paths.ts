import type { InputOf } from '@bakehouse/contract/endpoint';
import type { describePaths as endpoint } from '@bakehouse/contract/hub/files';
import type { TreeEntry } from '@bakehouse/contract/hub/shared';
import type { Context } from '../../../platform/context.ts';
import { findLastCommits } from '../../assets/revisions/list-commits.ts';
import { findFilesOf, hasFolder, spellFolder, spellingsOf } from '../../assets/revisions/read-tree.ts';
import { openRevision } from '../repositories/open-repository.ts';
import { toFileEntry, toFolderEntry } from './to-entry.ts';

/** Returns the files and folders among these paths that a revision has. Throws HubError. */
export async function describePaths(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
): Promise<TreeEntry[]> {
  const { asset, commit } = await openRevision(ctx, params);
  const paths = [...new Set(body.paths.map((path) => path.replace(/^\/+|\/+$/g, '')))].filter(Boolean);
  const of = { assetId: asset.id, number: commit.number, paths: paths.flatMap(spellingsOf) };
  const files = new Map((await findFilesOf(ctx.db, of)).map((file) => [file.path, file]));
  const lastCommits = body.expand ? await findLastCommits(ctx.db, of) : null;
  const entries: TreeEntry[] = [];
  for (const path of paths) {
    const [file] = spellingsOf(path).flatMap((spelling) => files.get(spelling) ?? []);
    if (file) {
      entries.push(toFileEntry(file, lastCommits?.get(file.path)));
      continue;
    }
    const folder = await spellFolder(ctx.db, { ...of, path });
    if (await hasFolder(ctx.db, { ...of, path: folder }))
      entries.push(toFolderEntry(folder, commit.commitId));
  }
  return entries;
}
